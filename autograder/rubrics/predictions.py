"""Points for having sealed a prediction before the measurement, whatever it says."""

from __future__ import annotations

from datetime import datetime

from autograder.rubrics.questions import Scorer
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf.predictions import LETTER, Prediction, of_record

EXPECTED = "a number with its range, sealed before the first Record of its study"


def sealed(name: str) -> Scorer:
    """A point for a prediction that was sealed in time; being right gives none."""

    def score(submission: Submission) -> Score:
        why = _why_not(submission, name)
        return Score(0 if why else 1, 1, why or f"{name} was sealed in time.", EXPECTED)

    return score


def _why_not(submission: Submission, name: str) -> str:
    """Why a prediction gives no points, in a sentence; empty where it does."""
    found = [each for r in submission.measured(LETTER, name) if (each := of_record(r))]
    if not found:
        return f"{name} was not sealed."
    first = min(found, key=lambda each: datetime.fromisoformat(each.sealed))
    if first.late or _measured_before(submission, first):
        return f"{name} was sealed when there was a Record of {first.study} already."
    return ""


def _measured_before(submission: Submission, prediction: Prediction) -> bool:
    """Whether a Record of its study that the learner measured is older than the prediction."""
    study, _, variant = prediction.study.partition("-")
    sealed = datetime.fromisoformat(prediction.sealed)
    return any(
        (record.study, record.variant) == (study, variant)
        and place not in submission.given_by_course
        and datetime.fromisoformat(record.started) < sealed
        for place, record in enumerate(submission.records)
    )
