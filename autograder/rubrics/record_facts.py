"""What a learner's own Records show, and points for answers that were read from them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from autograder.rubrics.answers import doubt, given, is_near, word
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf.errors import LabError
from beowulf.record import Record

T = TypeVar("T")
# A full Record of D4 has 64,000, and one of A3 of four nodes 900 Points; far more would only take the grader's time.
MOST_SAMPLES, MOST_POINTS = 200_000, 5_000
MOST_RECORDS = 20  # of one study, the newest
_log = logging.getLogger(__name__)

# What a question needs from a Record, by the name of the answer.
Facts = dict[str, Any]
Reader = Callable[[Record], Facts]
# Scores a submission by the facts of one of its Records, with the Record's name; takes tolerances as a Scorer does.
Judge = Callable[..., Score]


def attempt(read: Callable[[Record], T], record: Record) -> tuple[T | None, str]:
    """What is read from a Record, and why it cannot be, as the end of a sentence: one of both.

    LabError is what a reader says where something is missing. Any other exception is an error of ours, or of a Record
    that was edited: it is logged with its traceback, and costs no other Record anything.
    """
    try:
        if len(record.points) > MOST_POINTS:
            raise LabError(f"it has more than {MOST_POINTS:,} Points")
        if sum(len(point.samples) for point in record.points) > MOST_SAMPLES:
            raise LabError(f"it has more than {MOST_SAMPLES:,} samples")
        return read(record), ""
    except LabError as problem:
        return None, f"it cannot be used here ({problem.message})"
    except Exception as problem:
        _log.exception("%s cannot be read", record.file_name)
        why = f"it cannot be read ({type(problem).__name__}: {problem})"
        return None, f"{why}: an error of ours, unless it was edited"


def each_read(read: Callable[[Record], T], records: Sequence[Record]) -> Iterator[tuple[Record, T]]:
    """The newest of these Records that can be read, each with what was read."""
    for record in records[:MOST_RECORDS]:
        found, why = attempt(read, record)
        if found is not None and not why:
            yield record, found


def read_records(
    read: Reader, study: str, variant: str, submission: Submission
) -> tuple[list[tuple[Facts, str]], str]:
    """The facts of the newest complete Records of a study, each with its name; and why another cannot be used."""

    def whole(record: Record) -> Facts:
        facts = read(record)
        read_well = {n for n, v in facts.items() if isinstance(v, str | bool) or is_number(v)}
        if bad := [name for name in facts if name not in read_well]:
            raise LabError(f"{', '.join(bad)} cannot be read")
        return facts

    def look() -> tuple[list[tuple[Facts, str]], str]:
        records = submission.measured(study, variant)
        readings: list[tuple[Facts, str]] = []
        fault = "" if records else submission.missing(study, variant)
        for record in records[:MOST_RECORDS]:
            facts, why = attempt(whole, record)
            if facts is None or not record.complete:
                fault = fault or f"{record.file_name}: {why or 'it was cut short'}."
            else:
                readings.append((facts, record.file_name))
        return readings, fault

    return submission.once((read, study, variant), look)


def record_of(read: Reader, study: str, submission: Submission) -> Score:
    """All points for a whole Record of a study that has what the questions ask for."""
    readings, why = read_records(read, study, "", submission)
    if not readings:
        return Score(0, 1, why, f"A whole Record {study}. `beowulf study {study} --quick`.")
    return Score(1, 1, f"{readings[0][1]} is whole.")


def best_of_own(
    study: str,
    variant: str,
    expected: str,
    judge: Callable[[Record, str], Score],
    submission: Submission,
) -> Score:
    """The best Score of the learner's newest Records of an exercise, whole or not."""
    scores = []
    for record in submission.measured(study, variant)[:MOST_RECORDS]:
        score, why = attempt(lambda each: judge(each, expected), record)
        scores.append(score or Score(0, 1, f"{record.file_name}: {why}.", expected))
    if not scores:
        return Score(0, 1, submission.missing(study, variant), expected)
    return max(scores, key=lambda score: score.points)


@dataclass(frozen=True)
class ByRecord:
    """Scores answers against the Record that they fit best: a learner may have measured again since."""

    read: Reader
    study: str
    judge: Judge
    variant: str = ""

    def __call__(self, submission: Submission, **limits: float) -> Score:
        """The best Score that the judge gives."""
        facts, why = read_records(self.read, self.study, self.variant, submission)
        if not facts:
            name = f"{self.study} ({self.variant})" if self.variant else self.study
            return Score(0, 1, why, f"A whole Record {name}.")
        scores = (self.judge(submission, *each, **limits) for each in facts)
        return max(scores, key=lambda score: score.points)


def near(
    submission: Submission,
    wanted: Mapping[str, Any],
    by: str,
    tolerance: float = 0,
    tolerance_percent: float = 0,
) -> Score:
    """The same points for each of these answers that is the number, nearly, or the word that is wanted.

    In a tuple each number is right, and the first is shown. `by` says where they come from.
    """

    def right(name: str, value: Any) -> bool:
        if isinstance(value, str):
            return word(submission, name) == value
        room = max(tolerance, tolerance_percent / 100 * abs(value))
        return is_near(submission, name, value, room)

    wrong, shown, doubts = [], [], []
    for name, value in wanted.items():
        first, *others = value if isinstance(value, tuple) else (value,)
        if not any(right(name, each) for each in (first, *others)):
            wrong.append(name)
            if not isinstance(first, str):
                doubts.append(doubt(submission, name, first))
        shown.append(f"{name}: {first if isinstance(first, str) else f'{first:.6g}'}")
    found = given(submission, *wanted)
    if 0 < len(wrong) < len(wanted):
        found += f"; not right: {', '.join(wrong)}"
    if asked := " ".join(filter(None, doubts)):
        found += f". {asked}"
    points = len(wanted) - len(wrong)
    return Score(points, len(wanted), found, f"{', '.join(shown)} ({by})")


def numbers_and_words(*names: str) -> Judge:
    """The same points for each of these answers that is the Record's own number, nearly, or its own word.

    `tolerance` is how far a number may be off besides, in its own unit.
    """

    def judge(
        submission: Submission,
        facts: Facts,
        by: str,
        *,
        tolerance: float = 0,
        tolerance_percent: float = 0,
    ) -> Score:
        wanted, rooms = {name: facts[name] for name in names}, (tolerance, tolerance_percent)
        return near(submission, wanted, f"by {by}", *rooms)

    return judge
