"""What a hand-in is given, found as in grading but without a gradebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from autograder import rubrics
from autograder.cells import KnownCell, identify, known_in, restored
from autograder.grading import scoring
from autograder.intake import inspection
from autograder.rubrics.score import Score
from tests.gold.hand_in import file_name, released


@dataclass(frozen=True)
class Outcome:
    """The Score of each question, or the `problem` for which there are none."""

    scores: dict[str, Score] = field(default_factory=dict)
    problem: str = ""

    @property
    def points(self) -> dict[str, float]:
        """The points of each question."""
        return {name: score.points for name, score in self.scores.items()}


def graded(slug: str, folder: Path, student: str = "", course: Path | None = None) -> Outcome:
    """What the hand-in of a lab in `folder` is given; it never raises for what a learner handed in."""
    path = folder / file_name(slug)
    if problem := inspection.notebook_fault(path):
        return Outcome(problem=problem)
    notebook = inspection.read(path)
    notebook.cells = restored(notebook.cells, known(slug))
    identify(notebook)
    rubric = rubrics.find(slug)
    assert rubric, f"{slug} has no rubric"
    return Outcome(dict(scoring.assess(rubric, folder, notebook, student, course).scores))


@cache
def known(slug: str) -> dict[str, KnownCell]:
    """The cells of a lab's notebook that a gradebook knows once it was released."""
    return known_in(released(slug).cells)
