"""B2, time difference: how much longer do non-blocking calls take, for 2, 3 and 4 nodes?

Paper B, figures 3 and 4: the difference falls with more nodes and jumps at 100,000 bytes, in sweeps
up to 100,000 and up to 10,000,000 bytes. Its programs came from MPICH 1.2.0, whose long messages
began between 100,000 and 131,072 bytes; MPICH's default over sockets still is 131,072.
Here every rank of a ring sends to the next, which means the same for 2, 3 and 4 ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.differences import JUMP_BYTES, differences, rings
from beowulf.measure.judgement import below
from beowulf.studies.roundtrip_sweep import sweep
from beowulf.studies.study import Claim, Judgement, Plan, Study
from beowulf.verdict import Outcome

QUICK_SIZES = (1_000, 10_000, 50_000, 75_000, 100_000, 150_000, 200_000, 500_000, 1_000_000)
SIZES = (*QUICK_SIZES, 2_000_000, 5_000_000, 10_000_000)
NEAR = 2.0  # the jump is looked for between half and twice 100,000 bytes
CLEAR = 0.02  # a smaller share of the time is no difference that could fall or jump


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """Blocking and non-blocking exchanges in turns, in rings of 2, 3 and 4 ranks."""
    if sizes is None:
        sizes = QUICK_SIZES if quick else SIZES
    return sweep(cluster, rings(sizes), quick=quick)


class _Share(NamedTuple):
    """A difference as a share of the blocking time, with its interval."""

    median: float
    low: float
    high: float


def falls(rows: pd.DataFrame) -> Judgement:
    """Figures 3 and 4, up to where the difference jumps: the largest number of nodes against the smallest."""
    small = rows[rows["size_bytes"] <= JUMP_BYTES]
    by_ranks = small.groupby("ranks")[["share", "low_share", "high_share"]].median()
    shares = {int(str(ranks)): _Share(*map(float, row)) for ranks, row in by_ranks.iterrows()}
    listed = ", ".join(f"np {ranks}: {each.median:+.1%}" for ranks, each in shares.items())
    return Judgement(
        below(shares[max(shares)], shares[min(shares)]),
        f"up to {JUMP_BYTES:,} bytes, non-blocking takes longer by {listed} of the blocking time",
        {f"np_{ranks}": each.median for ranks, each in shares.items()},
        advice="There is hardly a difference that could fall; more launches narrow the intervals.",
    )


def jumps(rows: pd.DataFrame) -> Judgement:
    """Figures 3 and 4: a clear difference just above 100,000 bytes in most rings where there is none just below."""
    size = rows["size_bytes"]
    before = rows[(size <= JUMP_BYTES) & (size >= JUMP_BYTES / NEAR)]
    after = rows[(size > JUMP_BYTES) & (size <= JUMP_BYTES * NEAR)]
    if before.empty or after.empty:
        return Judgement(
            "inconclusive",
            f"there are no sizes on both sides of {JUMP_BYTES:,} bytes",
            advice="Measure sizes from 50,000 to 200,000 bytes.",
        )
    clear_before, clear_after = _clear(before), _clear(after)
    new = clear_after - clear_before
    ranks = sorted(set(rows["ranks"]))
    outcome: Outcome = "inconclusive"
    if new and len(new) > len(ranks) / 2:
        outcome = "holds"
    elif not new:
        outcome = "contradicted"
    listed = [
        f"np {r}: {_share(before, r):+.1%} before and {_share(after, r):+.1%} after" for r in ranks
    ]
    return Judgement(
        outcome,
        f"difference as a share of the blocking time: {'; '.join(listed)}",
        {"before": sorted(clear_before), "after": sorted(clear_after)},
        advice="Only some of the rings show it; measure again.",
    )


def _clear(rows: pd.DataFrame) -> set[int]:
    """The numbers of ranks at which the difference is clear, at half of the sizes or more."""
    clear = (rows["low_share"] > CLEAR) | (rows["high_share"] < -CLEAR)
    return {int(r) for r in set(rows["ranks"]) if clear[rows["ranks"] == r].mean() >= 0.5}


def _share(rows: pd.DataFrame, ranks: int) -> float:
    return float(rows[rows["ranks"] == ranks]["share"].median())


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
        Claim("falls-with-nodes", "The difference falls with more nodes", falls),
        Claim("jumps-at-100000", "The difference jumps at 100,000 bytes", jumps),
    ],
    draw=picture,
)
