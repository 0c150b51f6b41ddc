"""One rubric a lab: `NN_slug.py` with SCORERS, the function that scores each question of the lab's `lab.toml`.

A rubric runs outside the learner's kernel and reads only what was handed in, so that nothing in a
notebook can change it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from autograder import evidence
from autograder.rubrics import questions
from autograder.rubrics.questions import Question
from autograder.rubrics.score import INCONCLUSIVE, Score
from autograder.rubrics.submission import Submission

Rubric = Callable[[Submission], dict[str, Score]]

PARTIAL = 0.5  # of the points that rest on an inconclusive Record

_log = logging.getLogger(__name__)


def find(slug: str, course: Path | None = None) -> Rubric | None:
    """A lab's rubric, by its present lab.toml and what a course changes; None for an assignment without one.

    LabError when one of these is wrong.
    """
    return partial(ask, questions.of_lab(slug, course)) if questions.has_rubric(slug) else None


def ask(lab_questions: Mapping[str, Question], submission: Submission) -> dict[str, Score]:
    """Each question's Score; one whose grading fails gives no points and stops no other.

    Only this function distinguishes Records that contradict themselves, and Records that the course gave,
    from measured ones: a rubric reads what it gets.
    """
    scores = {name: _weigh_doubts(name, each, submission) for name, each in lab_questions.items()}
    return {name: score.within(score.of) for name, score in scores.items()}


def _weigh_doubts(name: str, question: Question, submission: Submission) -> Score:
    """A question's Score, less what rests on Records that cannot be what was measured."""
    score = _with_given_records(name, question, submission)
    if not submission.doubts or not score.points:
        return score
    # What is inconclusive gives a part, what is impossible gives nothing.
    sure = _with_given_records(name, question, submission.without(submission.doubts))
    if sure.points >= score.points:
        return sure
    cannot = {p for p, findings in submission.doubts.items() if evidence.cannot_be(findings)}
    likely = score
    if cannot:
        likely = _with_given_records(name, question, submission.without(cannot))
    if likely.points <= sure.points:
        return replace(sure, found=f"{submission.doubted()} {sure.found}")
    points = sure.points + PARTIAL * (likely.points - sure.points)
    return replace(
        likely,
        points=points,
        found=f"{submission.doubted()} {likely.found}",
        expected=f"{likely.expected.rstrip('.')}. Measure it again.".lstrip(". "),
        read=question.read,
        outcome=INCONCLUSIVE,
    )


def _with_given_records(name: str, question: Question, submission: Submission) -> Score:
    """Answers read from a Record that the course gave count in full; the points for measuring are not given."""
    score = _ask(name, question, submission)
    if not submission.given_by_course or not score.points:
        return score
    own = _ask(name, question, submission.without(submission.given_by_course))
    if own.points >= score.points:
        return own
    silent = _ask(name, question, replace(submission, answers={}, unread_answers={}))
    points = max(own.points, score.points - silent.points)
    if points >= score.points:
        return score
    note = "By a Record that the course gave: what is read from it counts, measuring does not."
    return replace(score, points=points, found=f"{note} {score.found}", read=question.read)


def _ask(name: str, question: Question, submission: Submission) -> Score:
    try:
        score = question.score(submission).worth(question.of)
    except Exception as problem:
        # An error of ours, or an edited Record or an answer that we do not foresee: the instructor looks at it.
        _log.exception("the question %s could not be scored", name)
        message = f"This question could not be scored ({type(problem).__name__}: {problem})."
        return Score(0.0, question.of, message, "Your instructor looks at it.").within(question.of)
    return score if score.points == question.of else replace(score, read=question.read)
