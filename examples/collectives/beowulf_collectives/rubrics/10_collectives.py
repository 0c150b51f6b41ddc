"""Lab 10: points for the model's prediction and for what a learner's own Record shows."""

from __future__ import annotations

from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import ByRecord, Facts, near, numbers_and_words
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf.record import Record
from beowulf_collectives.g1_rounds import LONG, times

# By the table of the paper, on p = 4: 2 n (p - 1) / p over n lg p.
MODEL = {"model_times": (2 * 3 / 4) / 2}


def model(submission: Submission, *, tolerance: float) -> Score:
    """All points for the quotient of the two numbers of bytes."""
    return near(submission, MODEL, "1.5 n over 2 n", tolerance=tolerance)


def measured(record: Record) -> Facts:
    """How many times as long scatter and ring take as the tree, for the long message."""
    return {"measured_times": times("scatter", "tree", LONG).of(record).median}


SCORERS: dict[str, Scorer] = {
    "model": model,
    "measured": ByRecord(measured, "G1", numbers_and_words("measured_times")),
}
