"""A lab's rubric asked by a test: of a hand-in that is right but for what the test changes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from nbformat.v4 import new_notebook

from autograder import rubrics
from autograder.rubrics import questions
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf.record import Record


class Marked:
    """What a lab's module in autograder/gold holds right, and the rubric that looks at it."""

    def __init__(self, gold: ModuleType) -> None:
        self.gold = gold
        self.rubric: Any = import_module(f"{rubrics.__name__}.{gold.SLUG.replace('-', '_')}")
        self.questions = questions.of_lab(gold.SLUG)
        self.worth = {name: question.of for name, question in self.questions.items()}

    def submission(
        self, kept: list[Record] | None = None, answers: Mapping[str, Any] | None = None
    ) -> Submission:
        """A hand-in of these Records and answers; all of the lab's where none are given."""
        found = self.gold.records() if kept is None else kept
        values = dict(self.gold.RIGHT if answers is None else answers)
        return Submission(found, [], values, {}, new_notebook())

    def score(self, submission: Submission, *only: str) -> dict[str, Score]:
        """Every question's Score of a hand-in; of these alone where some are named."""
        asked = {name: self.questions[name] for name in only or self.questions}
        return rubrics.ask(asked, submission)

    def scores(self, kept: list[Record] | None = None, **answers: Any) -> dict[str, Score]:
        """Every question's Score, with these answers in place of the right ones."""
        return self.score(self.submission(kept, {**self.gold.RIGHT, **answers}))

    def one(self, question: str, kept: list[Record] | None = None, **answers: Any) -> Score:
        """The Score of one question, because each reads the Records again."""
        found = self.submission(kept, {**self.gold.RIGHT, **answers})
        return self.score(found, question)[question]

    def instead(self, *others: Record) -> list[Record]:
        """All Records of a whole hand-in, with these in place of their like."""
        same = {(other.study, other.variant) for other in others}
        kept = [each for each in self.gold.records() if (each.study, each.variant) not in same]
        return [*kept, *others]


def points(found: Mapping[str, Score]) -> dict[str, float]:
    """The points by question."""
    return {name: score.points for name, score in found.items()}


def earned(found: Mapping[str, Score]) -> set[str]:
    """The questions that give points."""
    return {name for name, score in found.items() if score.points}
