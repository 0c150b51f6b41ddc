"""B2, time difference: how much longer do non-blocking calls take, for 2, 3 and 4 nodes?

Paper B, figures 3 and 4: the difference falls with more nodes, jumps at 100,000 bytes, and above that falls from 3 to 4
nodes, in sweeps up to 100,000 and up to 10,000,000 bytes. Its programs came from MPICH 1.2.0, whose long messages began
between 100,000 and 131,072 bytes; MPICH's default over sockets still is 131,072. We measure in two ways. Ours: every
rank of a ring sends to the next, which means the same for 2, 3 and 4 ranks. Blocking ranks take turns (MPI_Send and
MPI_Recv); MPI_Sendrecv would post both and wait, as non-blocking ones do. The paper's, probably: mpptest with -bisect,
which we run up to 500,000 bytes. The paper's text has no numbers for these differences, so a fall or a jump must be at
least 2 % of the blocking time; less counts as no difference, which contradicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_04 import few_and_many
from beowulf.labs.lab_04.few_and_many import at, in_both_ways, rises, times
from beowulf.measure.differences import CLEAR, JUMP_BYTES, as_mpptest, rings
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import EXCHANGE
from beowulf.record import Record
from beowulf.studies.quantity import all_hold
from beowulf.studies.roundtrip_sweep import sweep
from beowulf.studies.study import CABLE, Judgement, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

QUICK_SIZES = (1_000, 10_000, 50_000, 75_000, 100_000, 150_000, 200_000, 500_000, 1_000_000)
SIZES = (*QUICK_SIZES, 2_000_000, 10_000_000)


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """Blocking and non-blocking, alternating: exchanges in rings of 2, 3 and 4 ranks, and mpptest's pairs."""
    if sizes is None:
        sizes = QUICK_SIZES if quick else SIZES
    return sweep(cluster, rings(sizes), quick=quick, mpptest=as_mpptest(sizes, quick=quick))


def jumps(rows: pd.DataFrame, record: Record) -> Judgement:
    """Figure 3: for each np, the difference at 100,000 bytes is clearly above that at the size before."""
    jump = rows[rows["size_bytes"] == JUMP_BYTES].set_index("ranks")
    smaller = rows[rows["size_bytes"] < JUMP_BYTES].sort_values("size_bytes")
    before = smaller.groupby("ranks").last()
    ranks = sorted({*jump.index} & {*before.index})
    if not ranks:
        raise LabError(f"{JUMP_BYTES:,} bytes or a smaller size is missing.", "Measure both.")
    judges = [
        at(f"np {n}, at {JUMP_BYTES:,} bytes", jump.loc[n])
        - at(f"at {before['size_bytes'][n]:,} bytes", before.loc[n])
        > 100 * CLEAR
        for n in ranks
    ]
    return all_hold(*judges)(record)


def picture(record: Record) -> Figure:
    """The difference over the size, for np = 2, 3 and 4: figures 3 and 4 combined, on a logarithmic axis.

    It is drawn as a share of the blocking time: in microseconds, the largest message would hide all others.
    The table contains both.
    """
    title = "Extra time of a non-blocking exchange in a ring"
    return few_and_many.picture(record, times, STUDY.title, title)


STUDY = Study(
    id="B2",
    title="Time difference of non-blocking and blocking calls",
    plan=plan,
    simulates=True,
    judged=in_both_ways(
        times,
        [
            (
                "falls-with-nodes",
                "the difference falls with more nodes (here from 2 to 4), below 100,000 bytes",
                "figure 3",
                partial(rises, few=2, many=4, above=False, falls=True),
            ),
            ("jumps-at-100000", "the difference jumps at 100,000 bytes", "figure 3", jumps),
            (
                "falls-from-3-to-4",
                "the difference falls from 3 to 4 nodes, above 100,000 bytes",
                "figure 4",
                partial(rises, few=3, many=4, above=True, falls=True),
            ),
        ],
    ),
    draw=picture,
    troubles=partial(trouble, quantity=EXCHANGE),
    needs=(CABLE,),
    differs={
        "holds": (
            "Blocking ranks of a ring wait for each other's turns, whose number depends on the nodes, and non-blocking"
            " ones do not wait, so the difference changes with the nodes."
        ),
        "contradicted": (
            "In mpptest's pairs both calls take equally long from 10,000 bytes on, so nothing falls or jumps,"
            " whichever is subtracted; in a ring, blocking ranks take turns, two with 2 or 4 ranks and three with 3."
        ),
        "inconclusive": (
            "The paper's text has no numbers, so a difference must be at least 2 % of the blocking time, and where four"
            " ranks share two cores it scatters by more; four cores, PCs or the simulated cluster can decide it."
        ),
    },
)
