"""Lab 05's Records as nobody measured them: messages that wait above the limit, and hide below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from beowulf.record import Point, Record
from beowulf.studies.lab_05 import d3_message_and_workload as d3
from beowulf.studies.lab_05.overlap import DEFAULT, KB, ONE_USER, SOLARIS, TESTED, THREADED, Way
from tests.gold.measured import LABEL, WHEN

SLUG = "05-overlap"
PASSES = 12
RIGHT: dict[str, Any] = {
    "one_user_39_kb": "not supported",
    "solaris_39_kb": "supported",
    "one_user_test_39_kb": "supported",
    "last_by_itself_kb": 10,
    "first_that_waits_kb": 20,
    "d3_percent": 4.0,
    "plain_percent": 0.0,
    "tested_percent": -40.0,
    "table_9_minimum_percent": -0.947,
    "misprinted_column": "nonoverlap",
}


def point(quantity: str, at: Mapping[str, Any], value: float) -> Point:
    """A Point with a sample a pass, nearly alike."""
    samples = [value * (1 + 0.001 * (number % 3)) for number in range(PASSES)]
    return Point({**at, "ranks": 2, "launch": 0}, quantity, samples, {"pass": list(range(PASSES))})


def record(study: str, points: Iterable[Point], **changes: Any) -> Record:
    """A Record of lab 05."""
    return Record(
        study, points=list(points), warnings=[LABEL], learner="a test", **{**WHEN, **changes}
    )


def one_message(waits: bool = True) -> Record:
    """D1: rank 1 is late with the small limit, unless `waits` says otherwise."""
    points = []
    for way, size in ((ONE_USER, 40_000), (SOLARIS, 40_000), (TESTED, 40_000)):
        late = way is ONE_USER and waits
        for name, value in {
            "0 worked": 0.1,
            "0 ended": 0.1001,
            "1 worked": 0.05,
            "1 ended": 0.104 if late else 0.0501,
        }.items():
            rank, event = name.split()
            at = {**way.at, "work": "delay", "size_bytes": size, "rank": int(rank), "event": event}
            points.append(point("since_barrier_s", at, value))
    return record("D1", points)


def sweep(jump_kb: int = 15) -> Record:
    """A D2 whose larger messages wait."""
    points = []
    for size in range(10, 90, 10):
        at = {**ONE_USER.at, "size_bytes": size * KB}
        points.append(point("duration_s", {**at, "rank": 0}, 0.1))
        late = size > jump_kb
        points.append(point("duration_s", {**at, "rank": 1}, 0.101 if late else 0.001))
    return record("D2", points)


def one_side() -> Record:
    """A D3 that loses 4 %."""
    times = {"message": 4e-4, "work": 4e-4, "both": 8.32e-4}
    return record(
        "D3",
        [
            point(
                "duration_s",
                {**ONE_USER.at, **d3.C, "size_bytes": size, "rank": 0, "part": part},
                value,
            )
            for size in (10 * KB, 65 * KB)
            for part, value in times.items()
        ],
    )


def both_sides(study: str, sizes: Iterable[int], ways: Iterable[Way], work_s: float) -> Record:
    """A D4 or D5: ways that hide the message gain 40 %."""
    points = []
    for way in ways:
        for size in sizes:
            hidden = way in (TESTED, THREADED) or size * KB <= way.limit_bytes
            for rank in (0, 1):
                comm = work_s
                before = comm + work_s
                times = {
                    "comm": comm,
                    "comp": work_s,
                    "before": before,
                    "during": before * (0.6 if hidden else 1.0),
                }
                points += [
                    point(
                        "duration_s",
                        {**way.at, "size_bytes": size * KB, "rank": rank, "part": part},
                        value,
                    )
                    for part, value in times.items()
                ]
    return record(study, points)


def own(gained: float = -0.4, **changes: float) -> Record:
    """A learner's own exchange that gained so much."""
    times = {"comm": 0.017, "comp": 0.02, "before": 0.037, "during": 0.037 * (1 + gained)}
    points = [
        point("duration_s", {"size_bytes": 200_000, "rank": rank, "part": part}, value)
        for rank in (0, 1)
        for part, value in (times | changes).items()
    ]
    return record("D4", points, variant="exchange")


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 05 has."""
    return [
        one_message(),
        sweep(),
        one_side(),
        both_sides("D4", (7, 70), (ONE_USER, DEFAULT, TESTED, THREADED), 377e-6),
        both_sides("D5", (7, 14, 28, 42, 56, 70), (ONE_USER, SOLARIS, TESTED, THREADED), 6e-3),
        own(),
    ]
