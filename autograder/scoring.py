"""Points from outside the learner's kernel: found before it starts, written after it ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from autograder import rubrics
from autograder.cells import node
from autograder.score import Score
from autograder.submission import Submission

_SCORES = "beowulf_scores"


class AssessSubmission(NbGraderPreprocessor):  # type: ignore[misc]
    """Asks the lab's rubric for the points, before the learner's code could change a file."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook as it is, and the Scores among the resources."""
        rubric = rubrics.find(resources["nbgrader"]["assignment"])
        if rubric is not None:
            submission = Submission.read(Path(resources["metadata"]["path"]), nb)
            resources[_SCORES] = rubric(submission)
        return nb, resources


class WriteScores(NbGraderPreprocessor):  # type: ignore[misc]
    """Replaces the output of every test cell, so that nbgrader counts the rubric's points.

    An assignment without a rubric keeps what its own test cells said.
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
            self.log.error("the rubric gives %s %g points, the notebook %g", name, score.of, of)
        data = score.within(of).as_output()
        # Nothing that the kernel printed stays: an error or a result before ours would count.
        result: dict[str, Any] = {
            "output_type": "execute_result",
            "metadata": {},
            "execution_count": None,
        }
        cell.outputs = [node(result | {"data": data})]
        cell.execution_count = None
