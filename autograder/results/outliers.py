"""What a class measured, side by side: whose values are far from the others', and how long it took."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

from autograder.evidence import record_files
from autograder.evidence.finding import is_number
from autograder.evidence.shared_records import LABEL
from beowulf.record import Record

# With fewer there is no middle from which a learner could be far.
LEAST_STUDENTS = 3
# Far is what is away from the class by this factor, and by this many times the class' own spread.
FAR_FACTOR, FAR_SPREADS = 1.5, 4.0
TO_STANDARD_DEVIATION = 1.4826  # of a median absolute deviation, if the values are normal
LONGEST_PAUSE_MIN = 30.0
# Facts with these ends are measured, and are compared as samples are.
MEASURED = ("_per_s", "_us", "_ms", "_ns")
# No quantity is smaller or larger, in whatever unit: a ratio of two values is a number that can be drawn.
LEAST_MEASURED, MOST_MEASURED = 1e-15, 1e21
LONGEST_MEASUREMENT = timedelta(days=7)


@dataclass(frozen=True)
class Compared:
    """One learner's values of a quantity as a multiple of the class' middle: 2 is twice as much."""

    study: str
    quantity: str
    student: str
    times: float
    places: int  # of a sweep, over which it is the middle
    odd: bool


def own_records(hand_in: Path) -> list[Record]:
    """What a learner measured; a file that is no Record, or one that the course gave, is left out."""
    files = record_files.records(hand_in / record_files.RECORDS)
    return [record for _, record, _ in files if record and LABEL not in record.cluster]


def minutes_spent(records: Sequence[Record]) -> float | None:
    """From the first measurement to the last, without pauses of more than half an hour; None without any."""
    times = [(datetime.fromisoformat(r.started), datetime.fromisoformat(r.ended)) for r in records]
    spans = sorted(
        (start, end) for start, end in times if timedelta() <= end - start <= LONGEST_MEASUREMENT
    )
    if not spans:
        return None
    total_min = 0.0
    began, ended = spans[0]
    for start, end in spans[1:]:
        if (start - ended).total_seconds() / 60 > LONGEST_PAUSE_MIN:
            total_min += (ended - began).total_seconds() / 60
            began = start
        ended = max(ended, end)
    return total_min + (ended - began).total_seconds() / 60


def compared(records: Mapping[str, Sequence[Record]]) -> list[Compared]:
    """Every learner compared with the class, for each quantity that at least three measured at the same places."""
    at_places: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for student, of_student in records.items():
        for (study, quantity, place), value in _values(of_student):
            at_places[study, quantity, place].setdefault(student, value)
    times: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (study, quantity, _), values in at_places.items():
        if len(values) < LEAST_STUDENTS:
            continue
        middle = median(values.values())
        for student, value in values.items():
            times[study, quantity][student].append(value / middle)
    comparisons = []
    for (study, quantity), of_students in sorted(times.items()):
        if len(of_students) >= LEAST_STUDENTS:
            comparisons += _beside(study, quantity, of_students)
    return comparisons


def _beside(study: str, quantity: str, of_students: Mapping[str, list[float]]) -> list[Compared]:
    typical = {student: median(ratios) for student, ratios in of_students.items()}
    logs = {student: math.log(value) for student, value in typical.items()}
    middle = median(logs.values())
    spread = TO_STANDARD_DEVIATION * median(abs(value - middle) for value in logs.values())
    far = max(math.log(FAR_FACTOR), FAR_SPREADS * spread)
    return [
        Compared(
            study,
            quantity,
            student,
            typical[student],
            len(of_students[student]),
            abs(logs[student] - middle) > far,
        )
        for student in sorted(typical)
    ]


def _values(records: Sequence[Record]) -> Iterator[tuple[tuple[str, str, str], float]]:
    """The positive values in Records, the newest Record first, each with study, quantity and place."""
    whole = [record for record in records if record.complete]
    for record in sorted(whole, key=lambda record: record.started, reverse=True):
        study = f"{record.study} {record.variant}".strip()
        for point in record.points:
            place = json.dumps(point.at, sort_keys=True)
            samples = list(filter(_is_positive, point.samples))
            if samples:
                yield (study, point.quantity, place), median(samples)
            for name, fact in point.facts.items():
                if name.endswith(MEASURED) and _is_positive(fact):
                    yield (study, name[:60], place), float(fact)


def _is_positive(value: object) -> bool:
    return is_number(value) and LEAST_MEASURED < value < MOST_MEASURED
