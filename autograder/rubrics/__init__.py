"""One rubric a lab: `NN_slug.py` with `score(submission)`, the points of each question and why.

A rubric runs outside the learner's kernel and reads only what was handed in, so that nothing in a
notebook can change it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec

from autograder.score import Score
from autograder.submission import Submission

Question = Callable[[Submission], Score]
Rubric = Callable[[Submission], dict[str, Score]]

_log = logging.getLogger(__name__)


def find(slug: str) -> Rubric | None:
    """The `score` of a lab's rubric; None for an assignment without one, as an instructor's own."""
    name = f"{__name__}.{slug.replace('-', '_')}"
    if not re.fullmatch(r"[0-9]{2}-[a-z0-9-]+", slug) or find_spec(name) is None:
        return None
    rubric: Rubric = import_module(name).score
    return rubric


def ask(
    questions: Mapping[str, tuple[float, Question]], submission: Submission
) -> dict[str, Score]:
    """Each question's Score; one whose grading fails gives no points and stops no other."""
    return {
        name: _ask(name, of, question, submission) for name, (of, question) in questions.items()
    }


def _ask(name: str, of: float, question: Question, submission: Submission) -> Score:
    try:
        return question(submission).within(of)
    except Exception as problem:
        # A fault of the rubric, or a Record that it does not foresee: the instructor looks at it.
        _log.exception("the question %s could not be scored", name)
        return Score(
            0.0,
            of,
            f"This question could not be scored ({type(problem).__name__}: {problem}).",
            "Your instructor looks at it.",
        )
