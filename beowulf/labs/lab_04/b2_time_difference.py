"""B2, time difference: how much longer do non-blocking calls take, for 2, 3 and 4 nodes?

Paper B, figures 3 and 4: the difference falls with more nodes and jumps at 100,000 bytes, in sweeps
up to 100,000 and up to 10,000,000 bytes. Its programs came from MPICH 1.2.0, whose long messages
began between 100,000 and 131,072 bytes; MPICH's default over sockets still is 131,072.
Here every rank of a ring sends to the next, which means the same for 2, 3 and 4 ranks. Blocking ranks take turns
(MPI_Send and MPI_Recv); MPI_Sendrecv would post both and wait, as non-blocking ones do. The paper prints no figures,
so what falls or jumps has to do so by 2 % of the blocking time; less is no difference, which contradicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.differences import CLEAR, JUMP_BYTES, differences, rings
from beowulf.studies.quantity import PERCENT, Quantity, Seen, all_hold, known
from beowulf.studies.roundtrip_sweep import sweep
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study

QUICK_SIZES = (1_000, 10_000, 50_000, 75_000, 100_000, 150_000, 200_000, 500_000, 1_000_000)
SIZES = (*QUICK_SIZES, 2_000_000, 10_000_000)
SHARE = ("share", "low_share", "high_share")


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """Blocking and non-blocking exchanges in turns, in rings of 2, 3 and 4 ranks."""
    if sizes is None:
        sizes = QUICK_SIZES if quick else SIZES
    return sweep(cluster, rings(sizes), quick=quick)


def share(says: str, row: Any) -> Quantity:
    """A difference as a percentage of the blocking time."""
    return known(says, Seen(*(100 * float(row[name]) for name in SHARE)), PERCENT)


def falls(rows: pd.DataFrame) -> Judgement:
    """Figure 3, up to where the difference jumps: the smallest number of nodes against the largest."""
    small = rows[rows["size_bytes"] < JUMP_BYTES]
    by_ranks = small.groupby("ranks")[list(SHARE)].median()
    if len(by_ranks) < 2:
        raise LabError("There are no smaller messages in two rings.", "Measure again.")
    few, many = (
        share(f"np {by_ranks.index[at]}, below {JUMP_BYTES:,} bytes", by_ranks.iloc[at])
        for at in (0, -1)
    )
    return (few - many > 100 * CLEAR)(rows)


def jumps(rows: pd.DataFrame) -> Judgement:
    """Figure 3: in each ring, the difference at 100,000 bytes is clearly above that at the size before."""
    at = rows[rows["size_bytes"] == JUMP_BYTES].set_index("ranks")
    smaller = rows[rows["size_bytes"] < JUMP_BYTES].sort_values("size_bytes")
    before = smaller.groupby("ranks").last()
    ranks = sorted({*at.index} & {*before.index})
    if not ranks:
        raise LabError(f"{JUMP_BYTES:,} bytes or a smaller size are missing.", "Measure both.")
    judges = [
        share(f"np {n}, at {JUMP_BYTES:,} bytes", at.loc[n])
        - share(f"at {before['size_bytes'][n]:,} bytes", before.loc[n])
        > 100 * CLEAR
        for n in ranks
    ]
    return all_hold(*judges)(rows)


def picture(rows: pd.DataFrame) -> Figure:
    """The difference over the size, for np = 2, 3 and 4: figures 3 and 4 in one, on a logarithmic axis.

    It is drawn as a share of the blocking time: in microseconds, the largest message would hide all others.
    The table has both.
    """
    from beowulf import figures

    names = {
        "share": "difference_percent",
        "low_share": "low_percent",
        "high_share": "high_percent",
    }
    rows = rows.rename(columns=names)
    rows[list(names.values())] *= 100
    return figures.over_sizes(
        rows.assign(np=[f"np {ranks}" for ranks in rows["ranks"]]),
        "difference_percent",
        "np",
        low="low_percent",
        high="high_percent",
        title="How much longer a non-blocking exchange in a ring takes",
        y_title="difference, median with 95 % interval (% of blocking)",
    )


STUDY = Study(
    id="B2",
    title="Time difference of non-blocking and blocking calls",
    plan=plan,
    facts=differences,
    judged=[
        Claim("falls-with-nodes", "The difference falls with more nodes", falls, place="figure 3"),
        Claim("jumps-at-100000", "The difference jumps at 100,000 bytes", jumps, place="figure 3"),
    ],
    draw=picture,
    needs=(CABLE,),
    differs={
        "holds": (
            "Non-blocking ranks of a ring use both directions of their cables at once, blocking "
            "ones take turns, and both change over to asking first at the library's eager limit, "
            "so the difference depends on nodes and size."
        ),
        "contradicted": (
            "The eager limit of MPICH is 131,072 bytes, so nothing begins at 100,000, and "
            "blocking ranks take two turns in a ring of 2 as in one of 4, so their loss does not "
            "shrink; the paper prints neither how its ranks were paired nor the sizes around its "
            "jump."
        ),
        "inconclusive": (
            "The paper prints no figures, so 2 % of the blocking time have to show, and where "
            "ranks share cores the difference of two calls scatters by more."
        ),
    },
)
