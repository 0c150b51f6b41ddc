"""G1, rounds or bytes: which of two ways of a broadcast, and of an allgather, is faster, and when?

Paper G (section 4) counts for each way its latencies and its bytes: few rounds with the whole message suit short
messages, more rounds with parts of it suit long ones. The ways are those of MPICH, made of single messages.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.measurement import Measurement, need_a_node_each
from beowulf.measure.statistics import Ratio
from beowulf.measure.table import summarised
from beowulf.record import Record
from beowulf.studies.quantity import TIMES, Quantity
from beowulf.studies.study import CABLE, Claim, Plan, Study
from beowulf.studies.wire_costs import measured, paired

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = Path(__file__).parent / "labs" / "10-collectives" / "rounds.c"
QUANTITY, RANKS = "operation_s", 4
SHORT, LONG = 1024, 524288
PASSES = {SHORT: 20, LONG: 5}
BROADCAST, ALLGATHER = "section 4, broadcast", "section 4, allgather"


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Both sizes in each launch; all ways of a size in each of its passes, in an order of their own."""
    launches = 2 if quick else 6
    need_a_node_each(cluster, RANKS)

    def steps(measurement: Measurement) -> None:
        for number in range(launches):
            for size, passes in PASSES.items():
                words = ["--sizes", size, "--passes", passes]
                measurement.launch(PROGRAM, RANKS, words, launch=number)

    return Plan(2 * launches, {"sizes": list(PASSES), "launches": launches}, steps)


def times(way: str, other: str, size: int) -> Quantity:
    """How many times as long one way takes as the other, of the same pass."""

    def of(record: Record) -> Ratio:
        one, two = (measured(record, QUANTITY, way=each, size_bytes=size) for each in (way, other))
        return paired(record, one, two)

    return Quantity(f"the time of {way} over that of {other}, {size:,} bytes", of, TIMES)


def table(record: Record) -> pd.DataFrame:
    """A row for each way and size: milliseconds with their interval."""
    rows = summarised(record, QUANTITY, ["way", "size_bytes"])
    columns = {"median": "operation_ms", "low": "low_ms", "high": "high_ms"}
    return rows[["way", "size_bytes"]].join(1e3 * rows[list(columns)].rename(columns=columns))


def draw(record: Record) -> Figure:
    """The time of each way, over the size."""
    from beowulf.figures import lines

    return lines(
        table(record),
        "size_bytes",
        "operation_ms",
        "way",
        title="Fewer rounds or fewer bytes, on four nodes",
        y_log=True,
        low="low_ms",
        high="high_ms",
    )


STUDY = Study(
    id="G1",
    title="Broadcast and allgather: fewer rounds or fewer bytes?",
    plan=plan,
    judged=[
        Claim(
            "short-broadcast",
            "a short message is broadcast faster by a binomial tree than by a scatter and an allgather",
            times("scatter", "tree", SHORT) > 1,
            place=BROADCAST,
        ),
        Claim(
            "long-broadcast",
            "a long one faster by a scatter and an allgather, which send fewer bytes",
            times("scatter", "tree", LONG) < 1,
            place=BROADCAST,
        ),
        Claim(
            "short-allgather",
            "short messages are gathered to all faster by recursive doubling than around a ring",
            times("ring", "doubling", SHORT) > 1,
            place=ALLGATHER,
        ),
    ],
    draw=draw,
    needs=(CABLE,),
    differs={
        "holds": "A message costs a latency and the time of its bytes, and a switch carries several at a time.",
        "contradicted": "Nodes that share cores take turns, so that a round of all nodes costs more than one latency.",
        "inconclusive": "On four nodes the ways differ by one to three latencies, which a busy machine exceeds.",
    },
)
