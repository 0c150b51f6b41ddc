"""Lab 02's Records as nobody measured them: nodes as fast as paper A's, one that is odd, programs of one's own."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import Any

from beowulf import papers
from beowulf.labs.lab_02 import array_sweep, odd_node, on_node, own_rows, timing_loop
from beowulf.labs.lab_02.node_comparison import OVER_IP
from beowulf.labs.lab_02.node_rows import PROGRAMS, RESULT
from beowulf.record import Point, Record
from tests import heat_records, timing_loops
from tests.gold import measured
from tests.gold.case import worth
from tests.gold.hand_in import plain_answers
from tests.gold.measured import NODES

SLUG = "02-node-benchmarks"
TWO = NODES[:2]
BLOCK, SAMPLES = 65536, 33
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
RIGHT: dict[str, Any] = plain_answers(SLUG) | {
    "kernel_row_us": 99,
    "null_calls_in_it": 99 / 0.45,
    "full_round_trip_us": 14.1,
    "beside_mpi_us": 7.05,
    "main_memory_ns": 100,
    "l1_ends_at_kib": 32,
    "library_clock_asks_the_kernel": "no",
    "most_faster_row": "mem write",
    "least_faster_row": "exec proc",
    "grendel_faster_in": 4,
    "af_unix_is_fast_because_of": "cache",
    "odd_one_out": "node02",
    "slow_rows_share": "ip",
    "predicted_read_meanwhile_bytes": 1522 * 7.05,
    "predicted_cable_mb_per_s": 12.5,
}
SIZES = [4096 * 2**power for power in range(15)]
WORTH = worth(SLUG)
# What needs no answer; of a learner's own rows one has an answer.
MEASURED = {
    **worth(SLUG, "timing-loop", "a3-record", "sweep", "bandwidth-plot"),
    **worth(SLUG, "heat-prediction", "heat-step"),
    "own-rows": 1.5,
}
sealed = partial(measured.sealed, 2)


def record(points: Iterable[Point], *nodes: str, **changes: Any) -> Record:
    """A Record of A3."""
    about = {"sweep": {"nodes": list(nodes)}, "cluster": {"rate": "100mbit"}}
    return measured.record("A3", points, **{**about, **changes})


def printed() -> dict[str, dict[str, float]]:
    """Paper A's own figures, by program and row."""
    return {
        program: {str(row): float(figure) for row, figure, _ in papers.table(table).to_numpy()}
        for program, (table, _) in PROGRAMS.items()
    }


def row_points(node: str, program: str, name: str, figure: float, times: float) -> list[Point]:
    """Samples of one row on one node, as many as claims need, and what its program says of it."""
    at = {"node": node, "program": program, "launch": 0}
    extra: dict[str, Any] = {"row": name}
    us = figure
    if program == "bandwidths":
        us, extra = BLOCK / figure, {"row": name, "size_bytes": BLOCK}
    facts: dict[str, Any] = {}
    if name == "signal handle/catch":
        us, facts = figure + 0.45, {"less": "null call"}
    points = [Point({**at, **extra}, QUANTITIES[program], [us * times] * SAMPLES)]
    if program == "memory":
        ns, first, last = LEVELS[name]
        sizes = (first * 1024, last * 1024)
        points = [Point({**at, "size_bytes": s}, "load_ns", [ns * times] * SAMPLES) for s in sizes]
        facts = {"from_bytes": sizes[0], "to_bytes": sizes[1]}
    return [*points, Point({**at, RESULT: name}, facts=facts)]


def nodes(
    *names: str,
    times: Mapping[tuple[str, str], float] | None = None,
    usual: Mapping[str, float] = TIMES,
    without: str = "",
    only: Iterable[str] = (),
    **changes: Any,
) -> Record:
    """Nodes with paper A's figures, but for the `usual` times of rows on all of them and `times` on some."""
    points = []
    for node in names:
        for program, rows in printed().items():
            for name, figure in rows.items():
                if name != without and (not only or name in only):
                    own = (times or {}).get((node, name), 1.0) * usual.get(name, 1.0)
                    points += row_points(node, program, name, figure, own)
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


@cache
def _asked(loop: Any, seed: int) -> list[dict[str, Any]]:
    return on_node.asked(loop, timing_loop.drawn(random.Random(seed)))


def timing(loop: Any = timing_loops.right, own_us: float = 0.13, seed: int = 1) -> Record:
    """A timing loop on calls of known length, which is as on a node, and on a real call, which is not."""
    trials = _asked(loop, seed)
    points = [Point({"trial": place}, facts={**trial}) for place, trial in enumerate(trials)]
    for launch in range(on_node.ROUNDS if not any(each["why"] for each in trials) else 0):
        at = {"node": "node00", "call": "getppid", "launch": launch}
        quantity, each = timing_loop.QUANTITY, on_node.REPEATS
        points += [
            Point({**at, "loop": timing_loop.OWN}, quantity, [own_us] * each, {"why": ""}),
            Point({**at, "loop": timing_loop.OURS}, quantity, [0.12] * each),
        ]
    return record(points, "node00", variant=timing_loop.VARIANT)


def copy_us(size_bytes: int) -> float:
    """A copy of a node whose caches end at 1 and 32 MiB; its call takes some time before the first byte moves."""
    mb_per_s = 20_000 if size_bytes <= 2**19 else 12_000 if size_bytes <= 2**24 else 6000
    return 0.3 + size_bytes / mb_per_s


def sweep(
    sizes: Iterable[int] = SIZES, times: float = 1.0, samples: int = 33, **changes: Any
) -> Record:
    """Copies of these sizes, `times` as long as ours."""
    points = []
    for size in sizes:
        at = {"node": "node00", "size_bytes": size}
        us = copy_us(size)
        mine, ours = ({**at, "loop": loop} for loop in (array_sweep.OWN, array_sweep.OURS))
        points.append(Point(mine, array_sweep.QUANTITY, [times * us] * samples))
        points.append(Point(ours, array_sweep.QUANTITY, [us] * 21))
    return record(points, "node00", variant=array_sweep.VARIANT, **changes)


def drawn(times: float = 1.0, **changes: Any) -> Record:
    """The plot of these copies."""
    rates = {size: times * size / copy_us(size) for size in SIZES}
    facts = {"x_scale": "log", "title": "Copies", "legend": ["copy, median", "L1", "L2", "L3"]}
    facts |= {"x_label": "size of the array (bytes)", "y_label": "copied (MB/s)"}
    return measured.plot("F2", array_sweep.PLOT, {"copy, median": rates}, **{**facts, **changes})


def steps(faults: Mapping[str, str] | None = None) -> Record:
    """The learner's steps; those with a fault are wrong and have no samples."""
    return heat_records.steps(faults=faults)


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 02 has."""
    return [
        *(nodes(*TWO), odd("node02"), own(**GOOD)),
        sealed("heat-step", 6.0, 3.0, 20.0, "H2"),
        *(timing(), sweep(), drawn(), steps()),
    ]
