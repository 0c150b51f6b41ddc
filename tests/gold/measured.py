"""Fabricated Records, given what a measurement leaves by itself: a clock's digits, circumstances, the time it took.

They say in their warnings that nobody measured them, which grading reports; `as_handed_in` gives one that stands for an
honest one. The medians stay what they were.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from autograder.evidence import invented
from beowulf import predictions
from beowulf.exercises import own_plot
from beowulf.measure.measurement import PER_SECOND
from beowulf.record import Point, Record

LABEL = "fabricated for a test, nobody measured this"
NODES = ("node00", "node01", "node02", "node03")
WHEN = {"started": "2024-01-05T10:00:00.000Z", "ended": "2024-01-05T10:01:00.000Z"}
SEALED = {"started": "2024-01-05T09:50:00.000Z", "ended": "2024-01-05T09:50:00.000Z"}
KERNEL = "6.1.0"
VERSIONS = {"beowulf-labs": "1.0", "python": "3.11.2", "kernel": KERNEL, "machine": "x86_64"}
BEFORE = {
    **{"load_1min": 0.1, "load_5min": 0.1, "cores": 2, "running_processes": 1},
    **{"waiting_for_a_core_percent_10s": 0.0, "memory_available_bytes": 4_000_000_000},
    "involuntary_switches": 100,
}
AFTER = BEFORE | {"involuntary_switches": 140}
CHUNK_S = 5e-4  # repetitions are chosen so that they last so long together
SPREAD = 1.234567e-5  # from one sample to the next, as a share
PROGRAM = "message_sweep.c"  # of ours, that stands for any other and prints no seed
LEAST_S = 90.0  # that a fabricated measurement takes, whatever its samples say


def record(study: str, points: Iterable[Point], **changes: Any) -> Record:
    """A Record that nobody measured, with the label that says so."""
    about: dict[str, Any] = {"warnings": [LABEL], "learner": "a test", **WHEN}
    return Record(study, points=list(points), **{**about, **changes})


def sealed(
    lab: int, name: str, value: float, low: float, high: float, study: str, **other: Any
) -> Record:
    """A prediction of a lab that was sealed before anything was measured."""
    facts = {"value": value, "low": low, "high": high, "study": study, "unit": "", "late": False}
    points = [Point({"prediction": name}, facts=facts)]
    return record(f"P{lab}", points, variant=name, **{**SEALED, **other})


def plot(
    study: str,
    name: str,
    lines: Mapping[str, Mapping[Any, float]],
    /,
    kind: str = "line",
    cluster: dict[str, Any] | None = None,
    **facts: Any,
) -> Record:
    """A learner's plot with these lines, as a Record keeps it."""
    held = [
        {"kind": kind, "label": label, "points": len(line), "x": [*line], "y": [*line.values()]}
        for label, line in lines.items()
    ]
    usual: dict[str, Any] = {"x_scale": "linear", "y_scale": "linear", "title": ""}
    points = [Point({"axes": 0}, facts={**usual, "legend": [*lines], "lines": held, **facts})]
    return record(study, points, variant=name, cluster=cluster or {})


def as_measured(record: Record, student: str = "") -> Record:
    """The Record with digits, circumstances and times as if `student` had measured it; what it has of these stays."""
    chance = random.Random(f"{student} {record.study} {record.variant}")
    points = [_sampled(point, chance) for point in record.points]
    started = datetime.fromisoformat(record.started)
    ended = datetime.fromisoformat(record.ended)
    if record.study[0] in (predictions.LETTER, own_plot.LETTER):
        # Nothing is timed there, and no two learners seal or draw in the same millisecond.
        started += timedelta(milliseconds=chance.randrange(1, 1000))
    lasted_s = sum(_seconds(point) for point in points) + LEAST_S
    if (ended - started).total_seconds() < lasted_s:
        ended = started + timedelta(seconds=lasted_s)
    return replace(
        record,
        points=points,
        program=record.program or {"name": "fabricated.c", "arguments": [], "sha256": ""},
        cluster={"kind": "namespaces", "nodes": list(NODES), **deepcopy(record.cluster)},
        circumstances={
            "before": BEFORE | record.circumstances.get("before", {}),
            "after": AFTER | record.circumstances.get("after", {}),
        },
        versions=VERSIONS | record.versions,
        learner=student or record.learner,
        started=_written(started),
        ended=_written(ended),
    )


def as_handed_in(record: Record, student: str = "") -> Record:
    """The same as if an honest learner had measured it: of a program of ours, and without the label."""
    made = as_measured(record, student)
    if not made.program["sha256"]:
        ours = [each for each in made.program["name"].split(", ") if each in invented.known()]
        name = ours[0] if ours else PROGRAM
        digest = min(invented.known()[name])
        named = made.program["name"] if ours else PROGRAM
        made.program = {**made.program, "name": named, "sha256": digest}
    made.warnings = [each for each in made.warnings if each != LABEL]
    return made


def _written(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _sampled(point: Point, chance: random.Random) -> Point:
    """The Point with samples that a program of ours could have printed, spread evenly about what they were."""
    if "began_ns" in point.facts:  # no two runs on a timeline begin in the same nanosecond
        return replace(point, facts={**point.facts, "began_ns": chance.randrange(10**9, 10**14)})
    per = next((n for unit, n in PER_SECOND.items() if point.quantity.endswith(unit)), 0.0)
    few = len(point.samples) < 5 or "check" in point.at
    if not per or few or point.quantity.endswith("_per_s") or "repetitions" in point.facts:
        return point
    ways = 2 if point.quantity.startswith("half_round_trip") else 1
    n = len(point.samples)
    # Each with its opposite, so that the median stays.
    steps = [place - (n - 1) / 2 for place in range(n)]
    chance.shuffle(steps)
    times = max(1, round(CHUNK_S * per / (ways * max(point.samples))))
    samples = []
    for value, step in zip(point.samples, steps, strict=True):
        moved = ways * value * times / per * (1 + SPREAD * step * chance.uniform(0.9, 1.0))
        samples.append(float(f"{moved:.9g}") / times * per / ways)
    facts: dict[str, Any] = {**deepcopy(point.facts), "repetitions": [times] * n}
    facts.setdefault("pass", list(range(n)))
    return Point(dict(point.at), point.quantity, samples, facts)


def _seconds(point: Point) -> float:
    times = point.facts.get("repetitions", [1] * len(point.samples))
    per = next((n for unit, n in PER_SECOND.items() if point.quantity.endswith(unit)), 0.0)
    if not per or point.quantity.endswith("_per_s"):
        return 0.0
    return float(sum(2 * s * n / per for s, n in zip(point.samples, times, strict=True)))
