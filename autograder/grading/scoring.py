"""Points from outside the learner's kernel: computed before it starts, written after it ended."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from autograder import rubrics
from autograder.cells import node
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from autograder.sandbox import simulation
from beowulf.errors import LabError

# What is passed on among nbgrader's resources: the Scores, which Records are doubted, and tracebacks of errors of ours.
_SCORES, DOUBTED, ERRORS = "beowulf_scores", "beowulf_doubted", "beowulf_errors"
MOST_ERRORS, LONGEST_ERROR = 20, 10_000  # letters
CONFIGURATION = "nbgrader_config.py"  # which a course's folder has


def assess(
    slug: str,
    folder: Path,
    notebook: NotebookNode,
    student: str = "",
    course: Path | None = None,
) -> dict[str, Score] | None:
    """The points of one hand-in by the lab's rubric; None where an assignment has none.

    `folder` holds records/, `notebook` has been through RestoreCells. Nothing of it is run, and
    nothing that a learner wrote raises.
    """
    assessed = _assess(slug, folder, notebook, student, course)
    return assessed and assessed[0]


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


def _assess(
    slug: str, folder: Path, notebook: NotebookNode, student: str, course: Path | None
) -> tuple[dict[str, Score], str, list[str]] | None:
    """The points, which Records are doubted, and the tracebacks of what could not be scored."""
    rubric = rubrics.find(slug)
    if rubric is None:
        return None
    with _Errors() as errors:
        submission = Submission.read(folder, notebook, student, course)
        submission = replace(submission, simulate=simulation.outcomes)
        return rubric(submission), submission.doubted(), errors


def course_of(folder: Path) -> Path | None:
    """The folder of the course that a hand-in is in; None when it is in none."""
    for place in folder.absolute().parents:
        if (place / CONFIGURATION).is_file():
            return place
    return None


class AssessSubmission(NbGraderPreprocessor):  # type: ignore[misc]
    """Asks the lab's rubric for the points, before the learner's code could change a file."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook as it is, and the Scores among the resources."""
        folder, about = Path(resources["metadata"]["path"]), resources["nbgrader"]
        student = str(about.get("student", ""))
        assessed = _assess(about["assignment"], folder, nb, student, course_of(folder))
        if assessed is not None:
            resources[_SCORES], resources[DOUBTED], resources[ERRORS] = assessed
        return nb, resources


class WriteScores(NbGraderPreprocessor):  # type: ignore[misc]
    """Replaces the output of every test cell, so that nbgrader counts the rubric's points.

    An assignment without a rubric keeps the outputs of its own test cells.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with points and reasons in its test cells."""
        scores: dict[str, Score] | None = resources.get(_SCORES)
        if scores is None:
            return nb, resources
        for cell in nb.cells:
            if cell.cell_type == "code" and is_grade(cell) and not is_solution(cell):
                self._write(cell, scores)
        return nb, resources

    def _write(self, cell: NotebookNode, scores: dict[str, Score]) -> None:
        name, of = cell.metadata.nbgrader.grade_id, float(cell.metadata.nbgrader.points)
        score = scores.get(name)
        if score is None:
            self.log.error("the rubric knows no question %s, so it gives no points", name)
            score = Score(0.0, of, "The rubric has no such question.", "Tell your instructor.")
        elif score.of != of:
            what = f"lab.toml gives {name} {score.of:g} points, and the notebook {of:g}."
            raise LabError(what, "Write the same number in both and release the notebook again.")
        data = score.within(of).as_output()
        # Nothing that the kernel printed stays: an error or a result before ours would count.
        result: dict[str, Any] = {
            "output_type": "execute_result",
            "metadata": {},
            "execution_count": None,
        }
        cell.outputs = [node(result | {"data": data})]
        cell.execution_count = None
