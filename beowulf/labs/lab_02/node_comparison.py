"""What a Record of the node benchmarks says when its nodes, paper A's figures and the tools of others are beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from beowulf.labs.lab_02.node_neighbours import BESIDE, TOOL
from beowulf.labs.lab_02.node_rows import (
    RESULT,
    STREAMS,
    beside_paper_a,
    label,
    rows,
    times_faster,
)
from beowulf.measure.statistics import ratio
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

# A row is off on a node where it is so much faster or slower than the middle of all nodes.
OFF = 0.1
# A node that is off in so many rows is odd; in one or two, something disturbed it there.
SEVERAL = 3
# In these rows two processes wake each other. The time depends on whether the kernel has them on the same core or on
# two, which is drawn again in each run: a node that is off there need not be odd.
WAKING = (
    *("context switch (2 processes)", "context switch (ring of 4)", "TCP connect"),
    *("pipe", "fifo", "semaphore", "AF UNIX", "UDP", "RPC/UDP", "TCP", "RPC/TCP"),
    *(label("bandwidths", name) for name in STREAMS),
)
# But one whose round trips all take so much longer where they go through IP has a slow way through IP.
OVER_IP = ("UDP", "RPC/UDP", "TCP", "RPC/TCP")
SLOW_OVER_IP = 1.5  # of a row's best time to the middle of all nodes


@dataclass(frozen=True)
class Off:
    """A row in which a node leaves the middle of all nodes by more than OFF, at its best and with its interval."""

    node: str
    row: str
    program: str  # that measured it
    ratio: float  # its best to the middle of the best of all nodes

    def __str__(self) -> str:
        return f"{self.row} ({self.ratio:.2f} times the middle)"


def compared(record: Record) -> pd.DataFrame:
    """A line for each row: its unit, each node's median, paper A's two columns, and "times as fast".

    That is how often the first node is as fast as paper A's cluster; NaN where paper A has no such row.
    """
    first, *others = record.sweep["nodes"]
    frame = beside_paper_a(record, first).drop(columns="best")
    of_first = rows(record, first)
    for place, node in enumerate(others, start=3):
        known = rows(record, node)
        medians = [known[name].median if name in known else np.nan for name in frame["row"]]
        frame.insert(place, node, medians)
    frame["times as fast"] = [
        times_faster(of_first[name], theirs)
        for name, theirs in zip(frame["row"], frame["paper A"], strict=True)
    ]
    return frame


def shared_rows(record: Record) -> list[str]:
    """The rows that all nodes have: one may lack a cache that another shows."""
    of_nodes = [rows(record, node) for node in record.sweep["nodes"]]
    return [name for name in of_nodes[0] if all(name in each for each in of_nodes)]


def off_rows(record: Record) -> list[Off]:
    """Where a node is not like the others, in the order of the rows; rows of WAKING are left out.

    A node that had to wait for a core has a bad median, and one that was lucky once has a good best: both have to be
    off.
    """
    of_nodes = {node: rows(record, node) for node in record.sweep["nodes"]}
    off = []
    for name in shared_rows(record):
        if name in WAKING:
            continue
        middle = median(each[name].median for each in of_nodes.values())
        best = median(each[name].best for each in of_nodes.values())
        for node, each in of_nodes.items():
            row, ratio = each[name], each[name].best / best
            slow = row.low > middle * (1 + OFF) and ratio > 1 + OFF
            fast = row.high < middle * (1 - OFF) and ratio < 1 - OFF
            if slow or fast:
                off.append(Off(node, name, row.program, ratio))
    return off


def slow_over_ip(record: Record) -> dict[str, list[Off]]:
    """The nodes whose best is SLOW_OVER_IP in all rows that go through IP, and these rows."""
    of_nodes = {str(node): rows(record, node) for node in record.sweep["nodes"]}
    if any(name not in each for each in of_nodes.values() for name in OVER_IP):
        return {}
    slow: dict[str, list[Off]] = {node: [] for node in of_nodes}
    for name in OVER_IP:
        times = sorted(each[name].best for each in of_nodes.values())
        middle = times[(len(times) - 1) // 2]
        for node, each in of_nodes.items():
            if each[name].best > SLOW_OVER_IP * middle:
                slow[node].append(Off(node, name, each[name].program, each[name].best / middle))
    return {node: rows_ for node, rows_ in slow.items() if len(rows_) == len(OVER_IP)}


def odd_nodes(record: Record) -> dict[str, list[Off]]:
    """The nodes that are odd, each with the rows that say so: several, or all that go through IP.

    Of two nodes that differ nobody can say which is the odd one: then both are.
    """
    several, over_ip = _in_several_rows(record), slow_over_ip(record)
    odd = {}
    for node in record.sweep["nodes"]:
        rows_off = several.get(node, [])
        reasons = [*(rows_off if _runs(record, node, rows_off) > 1 else []), *over_ip.get(node, [])]
        if reasons:
            odd[node] = reasons
    return odd


def doubtful_nodes(record: Record) -> dict[str, list[Off]]:
    """The nodes that a single run of one program has off in several rows: what disturbs a second looks like that."""
    several, odd = _in_several_rows(record), odd_nodes(record)
    return {node: off for node, off in several.items() if node not in odd}


def _in_several_rows(record: Record) -> dict[str, list[Off]]:
    off: dict[str, list[Off]] = {}
    for each in off_rows(record):
        off.setdefault(each.node, []).append(each)
    return {node: several for node, several in off.items() if len(several) >= SEVERAL}


def _runs(record: Record, node: str, off: Sequence[Off]) -> int:
    """In how many runs of a program these rows of a node were measured."""
    programs = {each.program for each in off}
    runs = {
        (point.at["program"], point.at["launch"])
        for point in record.select(node=node)
        if RESULT in point.at and point.at["program"] in programs
    }
    return len(runs)


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
        of = ratio([(each["ours"], each["theirs"]) for each in facts], busy=record.busy)
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
