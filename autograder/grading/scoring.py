"""Points by a lab's rubric, from Records, answers and sources, as what nbgrader counts. No notebook is run."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from autograder import rubrics
from autograder.cells import known, node, restore
from autograder.course.course import folder_of
from autograder.intake import inspection
from autograder.rubrics import Rubric
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from autograder.sandbox import Simulator
from beowulf.errors import LabError

MOST_ERRORS, LONGEST_ERROR = 20, 10_000  # letters


@dataclass(frozen=True)
class Assessed:
    """What a rubric gives a hand-in."""

    scores: Mapping[str, Score] = field(default_factory=dict)
    doubted: str = ""  # which Records are doubted, and why
    errors: list[str] = field(default_factory=list)  # of ours, as tracebacks


def assess(
    rubric: Rubric,
    folder: Path,
    notebook: NotebookNode,
    student: str = "",
    course: Path | None = None,
) -> Assessed:
    """The points of one hand-in by a lab's rubric.

    `folder` holds records/, `notebook` is restored. Nothing that a learner wrote raises.
    """
    with _Errors() as errors:
        submission = Submission.read(folder, notebook, student, course)
        scores = rubric(replace(submission, simulate=Simulator()))
        return Assessed(scores, submission.doubted(), errors)


class _Errors(logging.Handler):
    """What is logged while a hand-in is scored, with tracebacks: each once, within limits, as text for a file."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        text = self.format(record)[:LONGEST_ERROR].encode("utf-8", "replace").decode()
        if text not in self.texts and len(self.texts) < MOST_ERRORS:
            self.texts.append(text)

    def __enter__(self) -> list[str]:
        logging.getLogger("autograder").addHandler(self)
        return self.texts

    def __exit__(self, *_: object) -> None:
        logging.getLogger("autograder").removeHandler(self)


def write_scores(notebook: NotebookNode, scores: Mapping[str, Score]) -> None:
    """Replace the output of every test cell, so that nbgrader counts the rubric's points."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and is_grade(cell) and not is_solution(cell):
            name, of = cell.metadata.nbgrader.grade_id, float(cell.metadata.nbgrader.points)
            unknown = Score(0.0, of, "The rubric has no such question.", "Tell your instructor.")
            score = scores.get(name, unknown)
            if score.of != of:
                what = f"lab.toml gives {name} {score.of:g} points, and the notebook {of:g}."
                hint = "Write the same number in both and release the notebook again."
                raise LabError(what, hint)
            # Nothing that a learner saved there stays: an error or a result before ours would count.
            data = score.within(of).as_output()
            result: dict[str, Any] = {"output_type": "execute_result", "execution_count": None}
            cell.outputs = [node({**result, "metadata": {}, "data": data})]
            cell.execution_count = None


class RestoreCells(NbGraderPreprocessor):  # type: ignore[misc]
    """Makes a submitted notebook what the gradebook has for it; nbgrader's own steps follow."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with its cells restored."""
        about = resources["nbgrader"]
        nb.cells = [node(inspection.kept(cell)) for cell in nb.cells]
        with Gradebook(about["db_url"]) as gradebook:
            restore(nb, known(gradebook.find_notebook(about["notebook"], about["assignment"])))
        return nb, resources


class AssessSubmission(Execute):  # type: ignore[misc]
    """Writes the points of the lab's rubric into the test cells, and runs nothing.

    An instructor's own assignment, which has no rubric, is run as nbgrader does, and has its own test cells.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with points and reasons in its test cells."""
        folder, about = Path(resources["metadata"]["path"]), resources["nbgrader"]
        course, student = folder_of(folder), str(about.get("student", ""))
        rubric = rubrics.find(about["assignment"], course)
        if rubric is None:
            return super().preprocess(nb, resources, km)  # type: ignore[no-any-return]
        assessed = assess(rubric, folder, nb, student, course)
        write_scores(nb, assessed.scores)
        return nb, resources
