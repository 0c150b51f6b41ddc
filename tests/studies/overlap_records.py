"""Records of lab 05's studies as a quiet machine would make them, with outcomes to choose."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from beowulf.labs.lab_05.overlap import Way
from beowulf.record import Point, Record
from tests.studies.null_records import Noise

QUIET = {"load_1min": 0.1, "cores": 4, "waiting_for_a_core_percent_10s": 0.0}
BUSY = {**QUIET, "load_1min": 9.0}
LAUNCHES, PASSES = 1, 40


def record(study: str, points: Iterable[Point], **changes: Any) -> Record:
    """A Record of a study with these points."""
    cluster = {"kind": "namespaces", "nodes": ["node00", "node01"], "mpi": "classic"}
    made = Record(study, points=list(points), cluster=cluster, sweep={"quick": False})
    made.circumstances = {"before": dict(QUIET), "after": dict(QUIET)}
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def busy(made: Record) -> Record:
    """The same on a machine that had much else to do."""
    made.circumstances["before"] = dict(BUSY)
    return made


def around(middle: float, spread: float = 0.01, n: int = PASSES) -> list[float]:
    """`n` samples that lie within `spread` (a share) of `middle`, the same ones every time."""
    draw = random.Random(f"{middle}")
    return [middle * (1 + draw.uniform(-spread, spread)) for _ in range(n)]


def samples(
    quantity: str,
    at: dict[str, Any],
    seconds: float,
    launches: int = LAUNCHES,
    noise: Noise | None = None,
) -> list[Point]:
    """A Point for each launch, with its passes, as a session makes them."""
    points = []
    for launch in range(launches):
        times = [seconds * factor for factor in noise(PASSES)] if noise else around(seconds)
        facts = {"pass": list(range(len(times))), "repetitions": [1] * len(times)}
        points.append(Point({**at, "ranks": 2, "launch": launch}, quantity, times, facts))
    return points


def connected(way: Way, buffer_bytes: int | None = None) -> Point:
    """The first message of a launch, with the send buffer of its connection: that of the way, unless one is given."""
    seen = way.buffer_bytes or 87_040 if buffer_bytes is None else buffer_bytes
    at = {**way.at, "send_buffer_bytes": seen, "ranks": 2, "launch": 0}
    return Point(at, "first_message_s", [0.001])


def exchanged(
    way: Way, comm: float, work: float, during: float, noise: Noise | None = None, **at: Any
) -> list[Point]:
    """The four parts of an exchange that paper D times: alone, the work alone, one after the other, and together."""
    times = {"comm": comm, "comp": work, "before": comm + work, "during": during}
    parts = times.items()
    return [p for part, s in parts for p in timed(way, "duration_s", s, noise, **at, part=part)]


def timed(
    way: Way, quantity: str, seconds: float, noise: Noise | None = None, **at: Any
) -> list[Point]:
    """The same for one of paper D's ways."""
    return samples(quantity, {**way.at, **at}, seconds, noise=noise)
