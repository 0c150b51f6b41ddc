"""Constructed Records of A3: nodes that have paper A's own figures, but for what a test changes."""

from __future__ import annotations

import numpy as np

from beowulf import papers
from beowulf.labs.lab_02.node_neighbours import BESIDE, TOOL
from beowulf.labs.lab_02.node_rows import PROGRAMS, RESULT
from beowulf.record import Point, Record

QUIET = {"load_1min": 0.2, "cores": 2, "waiting_for_a_core_percent_10s": 0.0}
BLOCK = 65536
QUANTITIES = {
    "processes": "operation_us",
    "latencies": "full_round_trip_us",
    "bandwidths": "transfer_us",
}
LEVELS = {"L1 cache": (1.0, 4096), "L2 cache": (4.0, 65536), "Main memory": (100.0, 2**26)}


def printed() -> dict[str, dict[str, float]]:
    """Paper A's own figures, by program and row."""
    found = {}
    for program, (table, _) in PROGRAMS.items():
        lines = papers.table(table).itertuples(index=False)
        found[program] = {str(line[0]): float(line[1]) for line in lines}
    return found


def made(
    *nodes: str,
    factors: dict[tuple[str, str], float] | None = None,
    spread: float = 0.01,
    load: float = 0.2,
    beside: dict[tuple[str, str, str], list[tuple[float, float]]] | None = None,
) -> Record:
    """A Record whose nodes have paper A's figures; `factors` changes the time of a row on a node.

    `beside` has, for node, row and tool, what ours and the tool found in each launch.
    """
    draw = np.random.default_rng(1)
    points = []
    for node in nodes:
        for program, figures in printed().items():
            for name, figure in figures.items():
                at = {"node": node, "program": program, "launch": 0}
                us, extra, facts = figure, {"row": name}, {}
                if program == "bandwidths":
                    us, extra = BLOCK / figure, {"row": name, "size_bytes": BLOCK}
                elif program == "memory":
                    us, size = LEVELS[name]
                    extra = {"size_bytes": size, "pages": "huge"}
                    facts = {"from_bytes": size, "to_bytes": size}
                elif name == "signal handle/catch":
                    us, facts = figure + figures["null call"], {"less": "null call"}
                us *= (factors or {}).get((node, name), 1.0)
                samples = list(us * (1 + spread * draw.random(33)))
                quantity = QUANTITIES.get(program, "load_ns")
                points.append(Point({**at, **extra}, quantity, samples))
                points.append(Point({**at, RESULT: name}, facts=facts))
    for (node, name, tool), pairs in (beside or {}).items():
        for launch, (ours, theirs) in enumerate(pairs):
            at = {TOOL: tool, BESIDE: name, "node": node, "launch": launch}
            points.append(Point(at, facts={"ours": ours, "theirs": theirs}))
    circumstances = {"before": {**QUIET, "load_1min": load}, "after": QUIET}
    sweep = {"nodes": list(nodes), "turns": [[node] for node in nodes]}
    return Record("A3", points=points, circumstances=circumstances, sweep=sweep)
