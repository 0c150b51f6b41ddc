"""What a class measured, side by side: whose values are far from the others', and how long it took."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from autograder.evidence import record_files
from autograder.evidence.finding import is_number
from autograder.evidence.shared_records import LABEL

# With fewer there is no middle from which a learner could be far.
LEAST_STUDENTS = 3
# Far is what is away from the class by this factor, and by this many times the class' own spread.
FAR_FACTOR, FAR_SPREADS = 1.5, 4.0
TO_STANDARD_DEVIATION = 1.4826  # of a median absolute deviation, if the values are normal
LONGEST_PAUSE_MIN = 30.0
# Facts with these ends are measured, and are compared as samples are.
MEASURED = ("_per_s", "_us", "_ms", "_ns")
MOST_POINTS = 5_000
# No quantity is smaller or larger, in whatever unit: a ratio of two values is a number that can be drawn.
LEAST_MEASURED, MOST_MEASURED = 1e-15, 1e21
LONGEST_MEASUREMENT = timedelta(days=7)

Plain = dict[str, Any]


@dataclass(frozen=True)
class Compared:
    """One learner's values of a quantity as a multiple of the class' middle: 2 is twice as much."""

    study: str
    quantity: str
    student: str
    times: float
    places: int  # of a sweep, over which it is the middle
    odd: bool


def plain_records(hand_in: Path) -> list[Plain]:
    """What a learner measured, as plain data; a file that is no Record, or one that the course gave, is left out."""
    records: list[Plain] = []
    for path, fault in record_files.files(hand_in / record_files.RECORDS):
        if fault:
            continue
        try:
            content = json.loads(path.read_bytes())
            if _is_own(content):
                records.append(content)
        except (OSError, ValueError, RecursionError, MemoryError):
            continue
    return records


def _is_own(content: object) -> bool:
    if not isinstance(content, dict) or not isinstance(content.get("points"), list):
        return False
    cluster = content.get("cluster")
    return not (isinstance(cluster, dict) and LABEL in cluster)


def minutes_spent(records: list[Plain]) -> float | None:
    """From the first measurement to the last, without pauses of more than half an hour; None without any."""
    spans = sorted(filter(None, map(_span, records)))
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


def _span(record: Plain) -> tuple[datetime, datetime] | None:
    try:
        started, ended = (
            datetime.fromisoformat(str(record[when])) for when in ("started", "ended")
        )
    except (LookupError, ValueError, OverflowError):
        return None
    both = [each if each.tzinfo else each.replace(tzinfo=UTC) for each in (started, ended)]
    lasted = both[1] - both[0]
    return (both[0], both[1]) if timedelta() <= lasted <= LONGEST_MEASUREMENT else None


def compared(records: Mapping[str, list[Plain]]) -> list[Compared]:
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


def _values(records: list[Plain]) -> Iterator[tuple[tuple[str, str, str], float]]:
    """The positive values in Records, the newest Record first, each with study, quantity and place."""
    newest = sorted(records, key=lambda record: str(record.get("started", "")), reverse=True)
    for record in newest:
        if record.get("complete") is False:
            continue
        study = " ".join(str(record.get(name) or "")[:60] for name in ("study", "variant")).strip()
        for point in record["points"][:MOST_POINTS]:
            if not isinstance(point, dict):
                continue
            place = json.dumps(point.get("at"), sort_keys=True, default=str)
            samples = point.get("samples")
            quantity = str(point.get("quantity") or "")[:60]
            if quantity and isinstance(samples, list) and (value := _middle(samples)) is not None:
                yield (study, quantity, place), value
            facts = point.get("facts")
            for name, fact in facts.items() if isinstance(facts, dict) else ():
                if str(name).endswith(MEASURED) and _is_positive(fact):
                    yield (study, str(name)[:60], place), float(fact)


def _middle(samples: list[Any]) -> float | None:
    values = [float(each) for each in samples if _is_positive(each)]
    return median(values) if values else None


def _is_positive(value: object) -> bool:
    return is_number(value) and LEAST_MEASURED < value < MOST_MEASURED
