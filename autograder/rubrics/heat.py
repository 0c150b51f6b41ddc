"""Points for the heat program, from the Records H2 to H7: right data, own source, measured; never for a time.

A lab's rubric has `heat.right("H4", {"exchange_nonblocking": 1})` among its SCORERS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import Facts, best_of_own
from autograder.rubrics.score import Score
from beowulf.errors import LabError
from beowulf.exercises.heat import program, reading, timelines
from beowulf.exercises.timelines import longest
from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.record import Record

# The way that a function is measured by.
WAYS = {
    "step_loops": "loops",
    "step_numpy": "numpy",
    "heat_step": "C",
    "run": "run",
    "exchange_send_first": "send_first",
    "exchange_nonblocking": "nonblocking",
}
SECOND = 1  # of the ranks: the first that may have a neighbour on both sides
# Checked before `run` is, and not timed: right where that one is not, too.
UNTIMED = {"my_rows"}


def right(study: str, worth: Mapping[str, float]) -> Scorer:
    """For each of these functions its points when it is right, of the learner's own, and measured often enough."""
    expected = f"{', '.join(worth)}: right, of your own, and measured"
    return partial(best_of_own, study, "", expected, partial(_right, worth))


def _right(worth: Mapping[str, float], record: Record, expected: str) -> Score:
    known = reading.functions(record)
    points, found = 0.0, []
    for name, of in worth.items():
        why = _why_not(record, name, known.get(name))
        points += 0.0 if why else of
        found.append(f"{name}: {why or 'right'}")
    return Score(points, sum(worth.values()), f"{record.file_name}: {'; '.join(found)}", expected)


def _why_not(record: Record, name: str, facts: Facts | None) -> str:
    """Why a function gives no points by a Record; empty where it does."""
    if facts is None:
        return "it is not in the Record"
    if facts.get("right") is not True:
        return str(facts.get("why") or "it is not right")
    if facts.get("given") or not program.is_own(name, str(facts.get("source", ""))):
        return "it is as it was given, and not your own"
    if why := reading.not_asked(record, name):
        return why
    if name in UNTIMED:
        return ""
    points = [p for p in record.select(way=WAYS[name]) if p.quantity in reading.QUANTITIES]
    places: Counter[tuple[object, ...]] = Counter()
    for point in points:
        place = (point.at.get(each) for each in ("ranks", "rows", "columns"))
        places[(point.quantity, *place)] += len(point.samples)
    if not places or min(places.values()) < LEAST_PAIRS:
        return f"it is not measured {LEAST_PAIRS} times at each place"
    return ""


def exchanges_timeline(record: Record) -> Facts:
    """What a Record of T4 shows of the deadlock, and the longest wait of the exchange in turns."""
    waits_for = timelines.stuck(record)
    if SECOND not in waits_for:
        raise LabError(f"rank {SECOND} does not wait forever in it")
    turns = longest(record, timelines.TURNS)
    return {
        "rank_1_waits_for": waits_for[SECOND],
        "circle_lowest_rank": timelines.circle(record)[0],
        "turns_reason": str(turns["reason"]),
        "turns_wait_ms": float(turns["wait_ms"]),
    }


def overlap_timeline(record: Record) -> Facts:
    """The longest waits of a Record of T5, with short rows and with long ones."""
    short, long = (longest(record, run) for run in (timelines.SHORT, timelines.LONG))
    return {
        "short_wait_ms": float(short["wait_ms"]),
        "long_wait_ms": float(long["wait_ms"]),
        "long_reason": str(long["reason"]),
    }
