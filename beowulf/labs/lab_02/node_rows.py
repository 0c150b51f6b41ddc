"""The rows of the node benchmarks in a Record, and paper A's printed figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from beowulf import papers
from beowulf.errors import LabError
from beowulf.measure.statistics import summary
from beowulf.record import Point, Record

# The program that measures each of paper A's tables 1 to 4, and the unit of its rows.
PROGRAMS = {
    "processes": ("A-table-1", "µs"),
    "latencies": ("A-table-2", "µs, full round trip"),
    "bandwidths": ("A-table-3", "MB/s"),
    "memory": ("A-table-4", "ns"),
}
STREAMS = ("pipe", "AF UNIX", "TCP")  # rows of the bandwidths with the names of latencies
RESULT = "result"  # the coordinate of a Point that holds how to compute a row from the samples


@dataclass(frozen=True)
class Row:
    """One node's figure in one row: the median with its 95 % interval, and the best."""

    name: str
    program: str
    unit: str
    median: float
    low: float
    high: float
    best: float


class Nodes(dict[str, dict[str, Row]]):
    """By node, its rows; computed once, on first use."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.names = [str(node) for node in record.sweep["nodes"]]

    def __missing__(self, node: str) -> dict[str, Row]:
        return self.setdefault(node, rows(self.record, node))

    @property
    def first(self) -> dict[str, Row]:
        """The rows of the first node that was measured."""
        return self[self.names[0]]

    def named(self, row: str) -> list[Row]:
        """A row of each node; fewer where one lacks it."""
        return [self[node][row] for node in self.names if row in self[node]]


def label(program: str, name: str) -> str:
    """A row's name among the rows of all programs."""
    return f"{name} bandwidth" if program == "bandwidths" and name in STREAMS else name


def rows(record: Record, node: str) -> dict[str, Row]:
    """All rows of a node by label, in the order of the tables; LabError if it was not measured."""
    results = [p for p in record.points if RESULT in p.at and p.at.get("node") == node]
    if not results:
        raise LabError(
            f"The Record has no results for {node}.", "`beowulf study A3` measures them."
        )
    by_label = {}
    for point in results:
        name = label(str(point.at["program"]), str(point.at[RESULT]))
        if name not in by_label:
            by_label[name] = _row(record, node, point)
    programs = list(PROGRAMS)

    def place(row: Row) -> tuple[int, str]:
        # One launch may find a cache that those before it did not; it still comes before the main memory.
        return programs.index(row.program), row.name if row.program == "memory" else ""

    return dict(sorted(by_label.items(), key=lambda each: place(each[1])))


def _row(record: Record, node: str, result: Point) -> Row:
    program, name = str(result.at["program"]), str(result.at[RESULT])
    unit = PROGRAMS[program][1]
    if program == "memory":
        values = _plateau(record, node, name)
    else:
        values = _samples(record, node, program=program, row=name)
    if less := result.facts.get("less"):
        # Subtract what the repetition shares with another row; that row's own spread is ignored.
        values = values - np.median(_samples(record, node, program=program, row=less))
    if program == "bandwidths":
        size = record.select(node=node, program=program, row=name)[0].at["size_bytes"]
        with np.errstate(divide="ignore"):  # no time at all gives a rate that summary() refuses
            values = size / values  # bytes per microsecond are MB per second
    of = summary(values, busy=record.busy)
    best = float(values.max()) if program == "bandwidths" else of.min
    return Row(label(program, name), program, unit, of.median, of.low, of.high, best)


def _samples(record: Record, node: str, **at: object) -> np.ndarray[Any, np.dtype[np.float64]]:
    launches = [p.samples for p in record.select(node=node, **at) if p.quantity]
    if not launches:
        raise LabError(
            f"The Record has no samples of {', '.join(map(str, at.values()))} on {node}.",
            "Measure again.",
        )
    return np.concatenate(launches)


def _plateau(record: Record, node: str, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The samples of all sizes on a plateau; for main memory, those of the largest size only."""
    values = []
    for point in record.select(node=node, **{RESULT: name}):
        first, last = point.facts["from_bytes"], point.facts["to_bytes"]
        launched = record.select(node=node, launch=point.at["launch"])
        sizes = [p for p in launched if p.quantity == "load_ns"]
        if last == max(p.at["size_bytes"] for p in sizes):
            first = last
        values += [p.samples for p in sizes if first <= p.at["size_bytes"] <= last]
    return np.concatenate(values)


def printed_rows() -> dict[str, tuple[float, float]]:
    """Paper A's and Grendel's figures for each row of tables 1 to 4, by label."""
    return {
        label(program, str(line[0])): (float(line[1]), float(line[2]))
        for program, (table, _) in PROGRAMS.items()
        for line in papers.table(table).itertuples(index=False)
    }


def times_faster(row: Row, other: float) -> float:
    """How many times as fast this row is as another figure: more is better for rates, less for times."""
    return row.median / other if row.program == "bandwidths" else other / row.median
