"""What a Record of the node benchmarks says when its nodes, paper A's figures and the tools of others stand beside."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from beowulf.measure.statistics import ratio
from beowulf.record import Record
from beowulf.studies.node_neighbours import BESIDE, TOOL
from beowulf.studies.node_rows import beside_paper_a, rows, times_faster

if TYPE_CHECKING:
    import pandas as pd

ODD = 0.1  # a node is the odd one out where it is so much faster or slower than the middle of all


@dataclass(frozen=True)
class Odd:
    """A node that leaves the middle of all nodes in a row by more than ODD, with its whole interval.

    Of two nodes that differ nobody can say which is the odd one: then both are.
    """

    node: str
    row: str
    ratio: float  # its median to the middle of all nodes

    def __str__(self) -> str:
        return f"{self.node} in {self.row} ({self.ratio:.2f} times the middle)"


def compared(record: Record) -> pd.DataFrame:
    """A line for each row: its unit, each node's median, paper A's two columns, and "times as fast".

    That is how often the first node is as fast as paper A's cluster; NaN where paper A has no such row.
    """
    first, *others = record.sweep["nodes"]
    frame = beside_paper_a(record, first).drop(columns="best")
    of_first = rows(record, first)
    for place, node in enumerate(others, start=3):
        found = rows(record, node)
        medians = [found[name].median if name in found else np.nan for name in frame["row"]]
        frame.insert(place, node, medians)
    frame["times as fast"] = [
        times_faster(of_first[name], theirs)
        for name, theirs in zip(frame["row"], frame["paper A"], strict=True)
    ]
    return frame


def shared_rows(record: Record) -> list[str]:
    """The rows that all nodes have: one may lack a cache that another shows."""
    found = [rows(record, node) for node in record.sweep["nodes"]]
    return [name for name in found[0] if all(name in each for each in found)]


def odd_nodes(record: Record) -> list[Odd]:
    """Each node that is not like the others in a row, in the order of the rows; empty when all are alike."""
    found = {node: rows(record, node) for node in record.sweep["nodes"]}
    odd = []
    for name in shared_rows(record):
        middle = median(each[name].median for each in found.values())
        for node, each in found.items():
            row = each[name]
            if row.low > middle * (1 + ODD) or row.high < middle * (1 - ODD):
                odd.append(Odd(node, name, row.median / middle))
    return odd


def neighbours(record: Record) -> pd.DataFrame:
    """Ours beside `perf bench` and LMBench, which ran in turns with it: medians, their ratio and its interval.

    The ratio is ours to theirs over the launches. With fewer than six of them the interval is hardly more than the
    range of what was seen. The frame is empty when no tool was there.
    """
    import pandas as pd

    places = {(p.at["node"], p.at[BESIDE], p.at[TOOL]): None for p in record.points if TOOL in p.at}
    lines = []
    for node, name, tool in places:
        facts = [p.facts for p in record.select(**{"node": node, BESIDE: name, TOOL: tool})]
        of = ratio([(each["ours"], each["theirs"]) for each in facts])
        lines.append(
            {
                "node": node,
                "row": name,
                "tool": tool,
                "unit": rows(record, node)[name].unit,
                "ours": float(np.median([each["ours"] for each in facts])),
                "theirs": float(np.median([each["theirs"] for each in facts])),
                "ratio": of.median,
                "low": of.low,
                "high": of.high,
                "launches": of.n,
            }
        )
    columns = ["node", "row", "tool", "unit", "ours", "theirs", "ratio", "low", "high", "launches"]
    return pd.DataFrame(lines, columns=columns)
