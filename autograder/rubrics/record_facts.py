"""What a learner's own Records tell, and points for answers that were read off them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf.errors import LabError
from beowulf.record import Record

# A full Record of A11 has some hundred Points; far more would only keep the grader busy.
MOST_POINTS = 20_000
MOST_RECORDS = 20  # of one study, the newest
# What a Record that somebody edited makes of reading it.
_UNFORESEEN = (LookupError, TypeError, ValueError, AttributeError, StopIteration)

# A Record, read: what a question asks of it, by the name of the answer.
Facts = dict[str, Any]
Tell = Callable[[Record], Facts]
# Scores a submission by the facts of one of its Records, with the Record's name; takes tolerances as a Scorer does.
Judge = Callable[..., Score]


def told(
    tell: Tell, study: str, variant: str, submission: Submission
) -> tuple[list[tuple[Facts, str]], str]:
    """What the newest whole Records of a study tell, each with its name, and why others tell nothing."""
    return submission.once((tell, study, variant), lambda: _told(tell, study, variant, submission))


def _told(
    tell: Tell, study: str, variant: str, submission: Submission
) -> tuple[list[tuple[Facts, str]], str]:
    found = submission.measured(study, variant)
    if not found:
        return [], submission.missing(study, variant)
    seen_in: list[tuple[Facts, str]] = []
    said = ""
    for record in found[:MOST_RECORDS]:
        try:
            if len(record.points) > MOST_POINTS:
                raise LabError(f"it has more than {MOST_POINTS:,} Points")
            seen = tell(record)
            if bad := [name for name, value in seen.items() if _is_no_fact(value)]:
                raise LabError(f"{', '.join(bad)} cannot be read off")
            why = "" if record.complete else "it was cut short"
        except (LabError, ArithmeticError, *_UNFORESEEN) as bad:
            seen, why = {}, f"something is missing in it ({_first(bad)})"
        if why:
            said = said or f"{record.file_name}: {why}."
        else:
            seen_in.append((seen, record.file_name))
    return seen_in, said


def record_of(tell: Tell, study: str, submission: Submission) -> Score:
    """All points for a whole Record of a study that has what the questions ask for."""
    found, why = told(tell, study, "", submission)
    if not found:
        return Score(0, 1, why, f"A whole Record {study}. `beowulf study {study} --quick`.")
    return Score(1, 1, f"{found[0][1]} is whole.")


def best_of_own(
    study: str,
    variant: str,
    expected: str,
    judge: Callable[[Record, str], Score],
    submission: Submission,
) -> Score:
    """The best Score of the learner's newest Records of an exercise, whole or not."""
    found = submission.measured(study, variant)[:MOST_RECORDS]
    if not found:
        return Score(0, 1, submission.missing(study, variant), expected)
    return max((judge(record, expected) for record in found), key=lambda score: score.points)


@dataclass(frozen=True)
class ByRecord:
    """Scores answers against the Record that they fit best: a learner may have measured again since."""

    tell: Tell
    study: str
    judge: Judge
    variant: str = ""

    def __call__(self, submission: Submission, **limits: float) -> Score:
        """The best Score that the judge gives."""
        facts, why = told(self.tell, self.study, self.variant, submission)
        if not facts:
            name = f"{self.study} ({self.variant})" if self.variant else self.study
            return Score(0, 1, why, f"A whole Record {name}.")
        scores = (self.judge(submission, *each, **limits) for each in facts)
        return max(scores, key=lambda score: score.points)


def numbers(*wanted: str) -> Judge:
    """The same points for each of these answers that is the Record's own number, exactly or nearly."""

    def judge(
        submission: Submission, found: Facts, by: str, *, tolerance_percent: float = 0
    ) -> Score:
        share = tolerance_percent / 100
        right = sum(is_near(submission, n, found[n], share * abs(found[n])) for n in wanted)
        expected = ", ".join(f"{name}: {found[name]:g}" for name in wanted)
        return Score(right, len(wanted), given(submission, *wanted), f"{expected} (by {by})")

    return judge


def words(*wanted: str) -> Judge:
    """The same points for each of these answers that is the Record's own word."""

    def judge(submission: Submission, found: Facts, by: str) -> Score:
        right = sum(word(submission, name) == found[name] for name in wanted)
        expected = ", ".join(f"{name}: {found[name]}" for name in wanted)
        return Score(right, len(wanted), given(submission, *wanted), f"{expected} (by {by})")

    return judge


def _is_no_fact(value: Any) -> bool:
    return not isinstance(value, str | bool) and not (is_number(value) and not math.isnan(value))


def _first(problem: Exception) -> str:
    return (
        problem.message if isinstance(problem, LabError) else f"{type(problem).__name__}: {problem}"
    )
