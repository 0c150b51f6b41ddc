"""C7, synchronisation: what does a barrier cost as nodes are added?

Paper C calls the overhead of global synchronisation high, and its effect on the scaling of its codes modest (abstract);
it prints no time of a barrier. Of its gas code's overhead on 16 processors most appears to be synchronisation at the
end of a step, not communication; its other code's load balancing is limited by the bandwidth of the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_08.tokens import LAB, PROGRAM
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import Summary
from beowulf.measure.table import summary_of
from beowulf.record import Point, Record
from beowulf.studies.quantity import Quantity
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

QUANTITY = "barrier_s"
NODES = (2, 4, 8, 16)
FULL, QUICK = (3, 12, 100), (2, 6, 30)  # launches, passes, ms of each


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Barriers of two nodes, four, and so on to all that there are; one rank a node."""
    launches, passes, ms = QUICK if quick else FULL
    counts = [n for n in NODES if n <= len(cluster.nodes)]

    def steps(measurement: Measurement) -> None:
        words = ["--barrier", "--ms", str(ms), "--passes", str(passes)]
        for number in range(launches):
            for count in counts:
                measurement.launch(paths.lab(LAB) / PROGRAM, count, words, launch=number)

    about = {"nodes": counts, "launches": launches, "passes": passes, "ms": ms}
    return Plan(launches * len(counts), about, steps)


def times(record: Record) -> dict[int, Summary]:
    """By nodes, the µs of a barrier; LabError without any."""
    points: dict[int, list[Point]] = {}
    for point in record.points:
        if point.quantity == QUANTITY and point.samples:
            us = replace(point, samples=[1e6 * each for each in point.samples])
            points.setdefault(int(point.at["ranks"]), []).append(us)
    if len(points) < 2:
        raise LabError("There are no barriers of two numbers of nodes.", "Measure again.")
    return {nodes: summary_of(points[nodes], busy=record.busy) for nodes in sorted(points)}


def table(facts: dict[int, Summary]) -> pd.DataFrame:
    """A row for each number of nodes."""
    import pandas as pd

    return pd.DataFrame(
        [
            {"nodes": n, "barrier_us": each.median, "low": each.low, "high": each.high}
            for n, each in facts.items()
        ]
    )


def barrier(of: Callable[[Iterable[int]], int], says: str) -> Quantity:
    """The time of a barrier of so many nodes as there are at one end of the sweep."""
    return Quantity(f"a barrier of the {says} nodes", lambda facts: facts[of(facts)], "µs")


FEWEST, MOST = barrier(min, "fewest"), barrier(max, "most")


def less_than_in_proportion(facts: dict[int, Summary]) -> Judgement:
    """Four times as many nodes may take less than four times as long."""
    grown = max(facts) / min(facts)
    return (grown > MOST / FEWEST)(facts)


def picture(facts: dict[int, Summary]) -> Figure:
    """The µs of a barrier over the nodes."""
    from beowulf.figures import lines

    return lines(
        table(facts),
        "nodes",
        "barrier_us",
        title="A barrier of all nodes",
        x_title="nodes",
        y_title="barrier (µs)",
        low="low",
        high="high",
    )


STUDY = Study(
    id="C7",
    title="Synchronisation: a barrier by number of nodes",
    plan=plan,
    facts=times,
    judged=[
        Claim("grows", "a barrier takes longer as nodes are added", MOST > FEWEST),
        Claim(
            "less-than-proportional",
            "but less than in proportion to the nodes",
            less_than_in_proportion,
        ),
    ],
    draw=picture,
    troubles=partial(trouble, quantity=QUANTITY),
    simulates=True,
    needs=(CABLE,),
    differs={
        "holds": "A barrier is a few rounds of empty messages, one round more for twice as many nodes, each a latency.",
        "contradicted": "Nodes that share a machine's cores wait for a core as well, one after the other.",
        "inconclusive": "Nodes that share cores with other programs wait for a core for longer than for a message.",
    },
)
