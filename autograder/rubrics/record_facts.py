"""What a learner's own Records show, and points for answers that were read from them."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf.errors import LabError
from beowulf.record import Record

# A full Record of A11 has some hundred Points; far more would only take the grader's time.
MOST_POINTS = 20_000
MOST_RECORDS = 20  # of one study, the newest
# What reading a Record may raise: LabError where something is missing in it. Anything else is an error of ours, or the
# Record was edited.
UNREAD = (
    *(LabError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError),
    StopIteration,
)
_log = logging.getLogger(__name__)

# What a question needs from a Record, by the name of the answer.
Facts = dict[str, Any]
Reader = Callable[[Record], Facts]
# Scores a submission by the facts of one of its Records, with the Record's name; takes tolerances as a Scorer does.
Judge = Callable[..., Score]


def unread(record: Record, problem: Exception) -> str:
    """Why a Record cannot be read, as the end of a sentence; an error of ours is logged with its traceback."""
    if isinstance(problem, LabError):
        return f"something is missing in it ({problem.message})"
    _log.error("%s cannot be read", record.file_name, exc_info=problem)
    return f"it cannot be read ({type(problem).__name__}: {problem}): an error of ours, unless it was edited"


def read_records(
    read: Reader, study: str, variant: str, submission: Submission
) -> tuple[list[tuple[Facts, str]], str]:
    """The facts of the newest complete Records of a study, each with its name; and why another cannot be used."""
    return submission.once(
        (read, study, variant), lambda: _read_records(read, study, variant, submission)
    )


def _read_records(
    read: Reader, study: str, variant: str, submission: Submission
) -> tuple[list[tuple[Facts, str]], str]:
    records = submission.measured(study, variant)
    if not records:
        return [], submission.missing(study, variant)
    readings: list[tuple[Facts, str]] = []
    fault = ""
    for record in records[:MOST_RECORDS]:
        try:
            if len(record.points) > MOST_POINTS:
                raise LabError(f"it has more than {MOST_POINTS:,} Points")
            facts = read(record)
            if bad := [name for name, value in facts.items() if _is_no_fact(value)]:
                raise LabError(f"{', '.join(bad)} cannot be read")
            why = "" if record.complete else "it was cut short"
        except UNREAD as bad:
            facts, why = {}, unread(record, bad)
        if why:
            fault = fault or f"{record.file_name}: {why}."
        else:
            readings.append((facts, record.file_name))
    return readings, fault


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
    records = submission.measured(study, variant)[:MOST_RECORDS]
    if not records:
        return Score(0, 1, submission.missing(study, variant), expected)
    scores = (_judged(record, judge, expected) for record in records)
    return max(scores, key=lambda score: score.points)


def _judged(record: Record, judge: Callable[[Record, str], Score], expected: str) -> Score:
    """What the judge gives for one Record; nothing for one that it cannot read, which costs no other."""
    try:
        return judge(record, expected)
    except UNREAD as bad:
        return Score(0, 1, f"{record.file_name}: {unread(record, bad)}.", expected)


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


def numbers(*wanted: str) -> Judge:
    """The same points for each of these answers that is the Record's own number, exactly or nearly."""

    def judge(
        submission: Submission, facts: Facts, by: str, *, tolerance_percent: float = 0
    ) -> Score:
        share = tolerance_percent / 100
        right = sum(is_near(submission, n, facts[n], share * abs(facts[n])) for n in wanted)
        expected = ", ".join(f"{name}: {facts[name]:g}" for name in wanted)
        return Score(right, len(wanted), given(submission, *wanted), f"{expected} (by {by})")

    return judge


def words(*wanted: str) -> Judge:
    """The same points for each of these answers that is the Record's own word."""

    def judge(submission: Submission, facts: Facts, by: str) -> Score:
        right = sum(word(submission, name) == facts[name] for name in wanted)
        expected = ", ".join(f"{name}: {facts[name]}" for name in wanted)
        return Score(right, len(wanted), given(submission, *wanted), f"{expected} (by {by})")

    return judge


def numbers_and_words(*wanted: str) -> Judge:
    """The same points for each of these answers: a number as in numbers(), a word as in words().

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
        def right(name: str) -> bool:
            fact = facts[name]
            if isinstance(fact, str):
                return word(submission, name) == fact
            room = max(tolerance, tolerance_percent / 100 * abs(fact))
            return is_near(submission, name, fact, room)

        said = [
            f"{name}: {f if isinstance(f := facts[name], str) else f'{f:g}'}" for name in wanted
        ]
        expected = f"{', '.join(said)} (by {by})"
        return Score(sum(map(right, wanted)), len(wanted), given(submission, *wanted), expected)

    return judge


def _is_no_fact(value: Any) -> bool:
    return not isinstance(value, str | bool) and not (is_number(value) and not math.isnan(value))
