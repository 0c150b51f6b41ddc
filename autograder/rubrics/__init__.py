"""One rubric a lab: `NN_slug.py` with `score(submission)`, the points of each question and why.

A rubric runs outside the learner's kernel and reads only what was handed in, so that nothing in a
notebook can change it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec

from autograder.score import Score
from autograder.submission import Submission

Rubric = Callable[[Submission], dict[str, Score]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """What a question is worth, where a learner reads about it, and how it is scored."""

    of: float
    read: str
    score: Callable[[Submission], Score]


def find(slug: str) -> Rubric | None:
    """The `score` of a lab's rubric; None for an assignment without one, as an instructor's own."""
    name = f"{__name__}.{slug.replace('-', '_')}"
    if not re.fullmatch(r"[0-9]{2}-[a-z0-9-]+", slug) or find_spec(name) is None:
        return None
    rubric: Rubric = import_module(name).score
    return rubric


def ask(questions: Mapping[str, Question], submission: Submission) -> dict[str, Score]:
    """Each question's Score; one whose grading fails gives no points and stops no other."""
    return {name: _ask(name, question, submission) for name, question in questions.items()}


def _ask(name: str, question: Question, submission: Submission) -> Score:
    try:
        score = question.score(submission).within(question.of)
    except Exception as problem:
        # A fault of the rubric, or a Record that it does not foresee: the instructor looks at it.
        _log.exception("the question %s could not be scored", name)
        said = f"This question could not be scored ({type(problem).__name__}: {problem})."
        return Score(0.0, question.of, said, "Your instructor looks at it.")
    return score if score.points == question.of else replace(score, read=question.read)
