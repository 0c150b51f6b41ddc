"""The simplest study: one program that times one thing, on several numbers of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.measurement import PER_SECOND, Measurement
from beowulf.measure.statistics import Summary
from beowulf.measure.table import summary_of
from beowulf.record import Point, Record
from beowulf.studies.quantity import Quantity
from beowulf.studies.study import Plan

if TYPE_CHECKING:
    import pandas as pd

Times = Mapping[int, Summary]  # by nodes, in µs


@dataclass(frozen=True)
class OneProgram:
    """A program with one rank a node, launched so often on each of these numbers of nodes.

    `times` are a study's facts, `on` a quantity of which its claims are made, `picture` draws them.
    """

    program: Path
    quantity: str  # of its samples
    says: str  # what one sample is: "a barrier"
    nodes: Sequence[int]
    words: Sequence[str | int] = ()
    quick: Sequence[str | int] = ()  # in place of the words
    launches: int = 6

    def plan(self, cluster: Cluster, *, quick: bool) -> Plan:
        """On as many of these numbers of nodes as there are, in turns."""
        words = self.quick if quick and self.quick else self.words
        launches = 2 if quick else self.launches
        counts = [n for n in self.nodes if n <= len(cluster.nodes)]

        def steps(measurement: Measurement) -> None:
            for number in range(launches):
                for count in counts:
                    measurement.launch(self.program, count, words, launch=number)

        about = {"nodes": counts, "launches": launches, "words": " ".join(map(str, words))}
        return Plan(launches * len(counts), about, steps)

    def times(self, record: Record) -> Times:
        """What one sample takes, by nodes; LabError unless there are two numbers of nodes."""
        points: dict[int, list[Point]] = {}
        for point in record.points:
            if point.quantity == self.quantity and point.samples:
                us = replace(point, samples=[each * self._to_us for each in point.samples])
                points.setdefault(int(point.at["ranks"]), []).append(us)
        if len(points) < 2:
            raise LabError(
                f"There are no times of {self.says} on two different numbers of nodes.",
                "Measure again.",
            )
        return {nodes: summary_of(points[nodes], busy=record.busy) for nodes in sorted(points)}

    def on(self, nodes: int) -> Quantity:
        """What one sample takes on so many nodes."""

        def of(times: Times) -> Summary:
            if nodes not in times:
                raise LabError(
                    f"The Record has no times of {self.says} on {nodes} nodes.", "Measure again."
                )
            return times[nodes]

        return Quantity(f"{self.says} of {nodes} nodes", of, "µs")

    def table(self, times: Times) -> pd.DataFrame:
        """A row for each number of nodes."""
        import pandas as pd

        rows = [
            {"nodes": n, self._us: each.median, "low": each.low, "high": each.high}
            for n, each in times.items()
        ]
        return pd.DataFrame(rows)

    def picture(self, times: Times) -> Figure:
        """What one sample takes, over the nodes."""
        from beowulf.figures import lines

        return lines(
            self.table(times),
            "nodes",
            self._us,
            title=f"{self.says[0].upper()}{self.says[1:]} of all nodes",
            x_title="nodes",
            y_title=f"{self.says} (µs)",
            low="low",
            high="high",
        )

    @property
    def _to_us(self) -> float:
        return PER_SECOND["_us"] / PER_SECOND[self.quantity[self.quantity.rindex("_") :]]

    @property
    def _us(self) -> str:
        return f"{self.quantity.rpartition('_')[0]}_us"
