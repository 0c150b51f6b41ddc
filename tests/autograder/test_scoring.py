"""Does nbgrader count exactly the rubric's points, whatever is saved in the notebook?"""

from __future__ import annotations

from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.utils import determine_grade

from autograder import rubrics
from autograder.grading.scoring import write_scores
from autograder.rubrics import Question
from autograder.rubrics.record_facts import ByRecord, numbers_and_words
from autograder.rubrics.score import MIME_TYPE, Score
from autograder.rubrics.submission import Submission
from beowulf.errors import LabError
from beowulf.record import Record


def graded_cell(points: float = 3) -> Any:
    marks = {"grade_id": "q", "grade": True, "solution": False, "points": points}
    forged = [
        new_output("stream", name="stderr", text="a warning, which would cost all points"),
        new_output("execute_result", data={"text/plain": "nan"}),
        new_output("error", ename="AssertionError", evalue="", traceback=[]),
    ]
    return new_code_cell("assert True", metadata={"nbgrader": marks}, outputs=forged)


@pytest.mark.parametrize(
    ("points", "counted"), [(1 / 3, 1 / 3), (-2, 0), (7, 3), (float("nan"), 0), (float("inf"), 0)]
)
def test_nbgrader_counts_the_score_within_zero_and_the_cells_worth(
    points: float, counted: float
) -> None:
    notebook = new_notebook(cells=[graded_cell()])
    write_scores(notebook, {"q": Score(points, 3, "found")})
    assert determine_grade(notebook.cells[0]) == (counted, 3)


def test_a_question_that_the_rubric_does_not_know_gives_nothing_and_says_so() -> None:
    notebook = new_notebook(cells=[graded_cell()])
    write_scores(notebook, {})
    assert determine_grade(notebook.cells[0]) == (0, 3)
    assert "no such question" in notebook.cells[0].outputs[0].data["text/html"]


def test_cells_graded_by_hand_are_left_alone() -> None:
    marks = {"grade_id": "explain", "grade": True, "solution": True, "points": 4}
    cells = [
        make("text", metadata={"nbgrader": marks}) for make in (new_markdown_cell, new_code_cell)
    ]
    write_scores(new_notebook(cells=cells), {})
    assert [determine_grade(cell) for cell in cells] == [(None, 4), (None, 4)]


def test_what_a_learner_wrote_is_text_in_the_reason() -> None:
    output = Score(1, 2, "<script>alert(1)</script>", "<b>", "labs").as_output()
    assert "<script>" not in output["text/html"]
    assert "&lt;script&gt;" in output["text/html"]
    assert output[MIME_TYPE]["found"] == "<script>alert(1)</script>"


def test_a_question_that_cannot_be_scored_does_not_stop_the_others() -> None:
    def fails(submission: Submission) -> Score:
        raise KeyError("facts")

    def works(submission: Submission) -> Score:
        return Score(1, 1, "well")

    submission = Submission([], [], {}, {}, new_notebook())
    scores = rubrics.ask(
        {"bad": Question(2, "there", fails), "good": Question(1, "there", works)}, submission
    )
    assert scores["good"].points == 1
    assert (scores["bad"].points, scores["bad"].of) == (0, 2)
    assert "could not be scored (KeyError" in scores["bad"].found


def test_a_slip_in_a_reader_is_no_missing_part_of_a_record_and_its_traceback_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def slips(record: Record) -> dict[str, Any]:
        return {"samples": record.sample_count}  # type: ignore[attr-defined]

    def lacks(record: Record) -> dict[str, Any]:
        raise LabError("it has no samples")

    submission = Submission([Record("A2")], [], {}, {}, new_notebook())
    for read, said in (
        (lacks, "it cannot be used here (it has no samples)"),
        (slips, "an error of ours"),
    ):
        assert not caplog.records
        (score,) = rubrics.ask(
            {"q": Question(1, "", ByRecord(read, "A2", numbers_and_words("samples")))}, submission
        ).values()
        assert score.points == 0
        assert said in score.found
    assert "in slips" in caplog.text
    assert "AttributeError: 'Record' object has no attribute 'sample_count'" in caplog.text
