"""Lab 02's Records as nobody measured them: nodes as fast as paper A's, one that is odd, rows of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from beowulf import papers
from beowulf.exercises.lab_02 import odd_node, own_rows
from beowulf.record import Point, Record
from beowulf.studies.lab_02.node_comparison import OVER_IP
from beowulf.studies.lab_02.node_rows import PROGRAMS, RESULT
from tests.gold.measured import LABEL, NODES, WHEN

SLUG = "02-node-benchmarks"
TWO = NODES[:2]
BLOCK = 65536
QUANTITIES = {
    "processes": "operation_us",
    "latencies": "full_round_trip_us",
    "bandwidths": "transfer_us",
    "memory": "load_ns",
}
# One load (ns), and the sizes (KiB) between which it takes as long.
LEVELS = {"L1 cache": (1.0, 4, 32), "L2 cache": (4.0, 48, 512), "Main memory": (100.0, 4096, 65536)}
# A node that is as fast as paper A's in all but two rows: 40 times in one, half as fast in another.
TIMES = {"mem write": 1 / 40, "exec proc": 2.0}
RIGHT: dict[str, Any] = {
    "null_call_us": 0.45,
    "null_calls_in_a_fork": 99 / 0.45,
    "program_alone_us": 688 - 99,
    "shell_alone_us": 2247 - 688,
    "tcp_full_us": 14.1,
    "tcp_beside_mpi_us": 7.05,
    "hand_copied_mb_per_s": 387.9,
    "hand_crossing_mb_per_s": 3 * 387.9,
    "faster_reread": "mmap",
    "file_reread_also_does": "copy",
    "l1_ns": 1.0,
    "main_memory_ns": 100,
    "l1_ends_at_kib": 32,
    "library_clock_asks_the_kernel": "no",
    "most_faster_row": "mem write",
    "least_faster_row": "exec proc",
    "grendel_faster_in_table_1": 4,
    "grendel_faster_in_table_2": 3,
    "af_unix_is_fast_because_of": "cache",
    "odd_one_out": "node02",
    "slow_rows_share": "ip",
    "predicted_half_round_trip_us": 7.05,
    "predicted_read_meanwhile_bytes": 1522 * 7.05,
    "predicted_cable_mb_per_s": 12.5,
}


def record(points: Iterable[Point], *nodes: str, **changes: Any) -> Record:
    """A Record of A3."""
    return Record(
        "A3",
        points=list(points),
        sweep={"nodes": list(nodes)},
        cluster={"rate": "100mbit"},
        warnings=[LABEL],
        learner="a test",
        **{**WHEN, **changes},
    )


def row_points(node: str, program: str, name: str, figure: float, times: float) -> list[Point]:
    """Samples of one row on one node, and what its program says of it."""
    at = {"node": node, "program": program, "launch": 0}
    extra: dict[str, Any] = {"row": name}
    us = figure
    if program == "bandwidths":
        us, extra = BLOCK / figure, {"row": name, "size_bytes": BLOCK}
    facts: dict[str, Any] = {}
    if name == "signal handle/catch":
        us, facts = figure + 0.45, {"less": "null call"}
    points = [Point({**at, **extra}, QUANTITIES[program], [us * times] * 12)]
    if program == "memory":
        ns, first, last = LEVELS[name]
        sizes = (first * 1024, last * 1024)
        points = [Point({**at, "size_bytes": s}, "load_ns", [ns * times] * 12) for s in sizes]
        facts = {"from_bytes": sizes[0], "to_bytes": sizes[1]}
    return [*points, Point({**at, RESULT: name}, facts=facts)]


def nodes(
    *names: str,
    times: Mapping[tuple[str, str], float] | None = None,
    without: str = "",
    only: Iterable[str] = (),
    **changes: Any,
) -> Record:
    """Nodes with paper A's figures, but for TIMES on all of them and `times` on some."""
    points = []
    for node in names:
        for program, (table, _) in PROGRAMS.items():
            for name, figure, _ in papers.table(table).to_numpy():
                if name != without and (not only or name in only):
                    own = (times or {}).get((node, name), 1.0) * TIMES.get(name, 1.0)
                    points += row_points(node, program, str(name), float(figure), own)
    return record(points, *names, **changes)


def odd(*slow: str, rows: Iterable[str] = OVER_IP) -> Record:
    """Four nodes, of which the `slow` ones need five times as long in these rows."""
    times = {(node, name): 5.0 for node in slow for name in rows}
    only = ("null call", "pipe", "mem read", *OVER_IP)
    return nodes(*NODES, times=times, only=only, variant=odd_node.VARIANT)


def own(**us: float) -> Record:
    """A learner's rows with these times; `null`, `library`, `system`, `pipe`."""
    named = {
        "null": own_rows.EXAMPLE,
        "library": own_rows.LIBRARY,
        "system": own_rows.SYSTEM_CALL,
        "pipe": own_rows.PIPE,
    }
    points = [
        Point({"row": named[name], "node": "node00", "launch": 0}, own_rows.QUANTITY, [value] * 33)
        for name, value in us.items()
    ]
    return record(points, "node00", variant=own_rows.VARIANT)


GOOD = {"null": 0.16, "library": 0.022, "system": 0.24, "pipe": 0.66}


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 02 has."""
    return [nodes(*TWO), odd("node02"), own(**GOOD)]
