"""A Record of the node benchmarks, compared from node to node and with paper A's figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from beowulf.cluster.description import on_one_machine
from beowulf.labs.lab_02.node_rows import (
    RESULT,
    STREAMS,
    Nodes,
    label,
    printed_rows,
    times_faster,
)
from beowulf.record import Record
from beowulf.studies.study import Judgement, undecided

if TYPE_CHECKING:
    import pandas as pd

# A row is off on a node where it is so much faster or slower than the median of all nodes.
OFF = 0.1
# A node that is off in so many rows is odd; if it is off in only one or two, something disturbed it.
SEVERAL = 3
# In these rows two processes wake each other. The kernel may put them on one core or on two, differently in each run,
# and the time depends on it: a node that is off there need not be odd.
WAKING = (
    *("context switch (2 processes)", "context switch (ring of 4)", "TCP connect"),
    *("pipe", "fifo", "semaphore", "AF UNIX", "UDP", "RPC/UDP", "TCP", "RPC/TCP"),
    *(label("bandwidths", name) for name in STREAMS),
)
# Nodes of one machine share its file systems: which node finds one slow is chance.
OF_FILES = tuple(f"file {what}" for what in ("create", "delete", "create 10K", "delete 10K"))
# But a node whose round trips over IP all take so much longer has a slow path through IP.
OVER_IP = ("UDP", "RPC/UDP", "TCP", "RPC/TCP")
SLOW_OVER_IP = 1.5  # a row's best time over the median of all nodes
MOST_NAMED = 5


@dataclass(frozen=True)
class Off:
    """A row in which a node is more than OFF away from the median of all nodes, with its best and its interval."""

    node: str
    row: str
    program: str  # that measured it
    ratio: float  # its best over the median of the best of all nodes

    def __str__(self) -> str:
        return f"{self.row} ({self.ratio:.2f} times the median)"


ByNode = Mapping[str, Sequence[Off]]


def compared(record: Record) -> pd.DataFrame:
    """A line for each row: its unit, each node's median, paper A's two columns, and "times as fast".

    That is how many times as fast as paper A's cluster the first node is; NaN if paper A has no such row.
    """
    import pandas as pd

    nodes, printed = Nodes(record), printed_rows()
    lines = []
    for name, row in nodes.first.items():
        paper_a, grendel = printed.get(name, (np.nan, np.nan))
        of_nodes = {
            node: nodes[node][name].median if name in nodes[node] else np.nan
            for node in nodes.names
        }
        beside = {
            "paper A": paper_a,
            "Grendel": grendel,
            "times as fast": times_faster(row, paper_a),
        }
        lines.append({"row": name, "unit": row.unit, **of_nodes, **beside})
    return pd.DataFrame(lines)


def shared_rows(nodes: Nodes) -> list[str]:
    """The rows that all nodes have, without those that do not count; a node may lack a cache that another shows."""
    no_sign = WAKING + (OF_FILES if on_one_machine(nodes.record.cluster) else ())
    return [
        name
        for name in nodes.first
        if name not in no_sign and len(nodes.named(name)) == len(nodes.names)
    ]


def off_rows(nodes: Nodes) -> list[Off]:
    """The rows in which a node differs from the others, in the order of the rows.

    A node that had to wait for a core has a bad median, and a node that was lucky once has a good best: both have to
    be off.
    """
    off = []
    for name in shared_rows(nodes):
        middle = median(row.median for row in nodes.named(name))
        best = median(row.best for row in nodes.named(name))
        for node in nodes.names:
            row = nodes[node][name]
            ratio = row.best / best
            slow = row.low > middle * (1 + OFF) and ratio > 1 + OFF
            fast = row.high < middle * (1 - OFF) and ratio < 1 - OFF
            if slow or fast:
                off.append(Off(node, name, row.program, ratio))
    return off


def slow_over_ip(nodes: Nodes) -> dict[str, list[Off]]:
    """The nodes whose best is SLOW_OVER_IP in all rows that go through IP, and these rows."""
    slow: dict[str, list[Off]] = {node: [] for node in nodes.names}
    for name in OVER_IP:
        times = sorted(row.best for row in nodes.named(name))
        if len(times) < len(nodes.names):
            return {}
        middle = times[(len(times) - 1) // 2]
        for node in nodes.names:
            row = nodes[node][name]
            if row.best > SLOW_OVER_IP * middle:
                slow[node].append(Off(node, name, row.program, row.best / middle))
    return {node: rows for node, rows in slow.items() if len(rows) == len(OVER_IP)}


def odd_nodes(nodes: Nodes, off: Iterable[Off]) -> tuple[ByNode, ByNode]:
    """The nodes that are odd, each with the rows that show it: several, or all that go through IP; and doubtful ones.

    A node is doubtful if it is off in several rows of one single run of a program: a short disturbance looks like that.
    If two nodes differ, both are odd, because nobody can say which one is.
    """
    of_nodes: dict[str, list[Off]] = {node: [] for node in nodes.names}
    for each in off:
        of_nodes[each.node].append(each)
    several = {node: rows for node, rows in of_nodes.items() if len(rows) >= SEVERAL}
    over_ip = slow_over_ip(nodes)
    odd = {}
    for node in nodes.names:
        again = several.get(node, [])
        again = again if _runs(nodes.record, node, again) > 1 else []
        if reasons := [*again, *over_ip.get(node, [])]:
            odd[node] = reasons
    return odd, {node: rows for node, rows in several.items() if node not in odd}


def _runs(record: Record, node: str, off: Sequence[Off]) -> int:
    """In how many runs of a program these rows of a node were measured."""
    programs = {each.program for each in off}
    results = [point.at for point in record.select(node=node) if RESULT in point.at]
    return len({(at["program"], at["launch"]) for at in results if at["program"] in programs})


def nodes_alike(nodes: Nodes) -> Judgement:
    """Whether no node is odd; single rows are only reported."""
    if len(nodes.names) < 2:
        advice = "Measure all nodes (`beowulf study A3`), and look for the odd one out."
        return undecided("only one node was measured", advice)
    off = off_rows(nodes)
    odd, doubtful = odd_nodes(nodes, off)
    numbers = {"odd": len(odd), "off": len(off)}
    if odd:
        return Judgement("contradicted", _odd(odd, len(nodes.names)), numbers)
    if doubtful:
        return Judgement("inconclusive", _doubtful(doubtful), numbers)
    return Judgement("holds", _single(nodes, off), numbers)


def _odd(odd: ByNode, nodes: int) -> str:
    each = [f"{node} in {len(off)} rows: {some(map(str, off))}" for node, off in odd.items()]
    if len(odd) == 1:
        return f"the odd one out is {each[0]}"
    nobody = "; with two nodes, nobody can say which is the odd one" if nodes == 2 else ""
    return f"these differ from the others: {'; '.join(each)}{nobody}"


def _doubtful(doubtful: ByNode) -> str:
    each = [
        f"{node} is off in {len(off)} rows, all from one run of {off[0].program}.c: {some(map(str, off))}"
        for node, off in doubtful.items()
    ]
    return f"{'; '.join(each)}; something may have disturbed that run"


def _single(nodes: Nodes, off: Sequence[Off]) -> str:
    if off:
        single = some(f"{each.node} in {each}" for each in off)
        return f"no node is off in {SEVERAL} rows, so none is odd; single rows differ: {single}"
    return (
        f"no node is odd: none is clearly more than {OFF:.0%} off the middle in any of {len(shared_rows(nodes))} rows;"
        " rows in which one process wakes another do not count"
    )


def some(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    first = list(names)
    more = len(first) - MOST_NAMED
    return ", ".join(first[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
