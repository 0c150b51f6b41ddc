"""A lecturer changes what a course asks: do notebook, handout, grading, kit and export follow, and nothing else?"""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from running import first
from small_class import SLUG, enter, give, grade, hand_in
from typer.testing import CliRunner

from autograder.commands import app
from autograder.course import changes, dates, kit, limits
from autograder.course.course import Course
from autograder.files import locked, write_text
from autograder.grading import marking, regrade
from autograder.results import export, feedback
from autograder.rubrics import questions
from beowulf.course import lab_file
from beowulf.errors import LabError, UsageError
from tests import gold
from tests.gold import lab_01
from tests.gold.case import of_answers

IDLE = "[labs.01.questions.idle-mbit]\n"
OWN = """\
[labs.01.questions.own-text]
points = 2
asks = "What would your own network do?"
[labs.01.questions.own-number]
points = 1.5
asks = "How many cables are there?"
tolerance = 0.5
"""
RUBRIC = """\
from autograder.rubrics import answers
from autograder.rubrics.score import Score


def cables(submission, *, tolerance):
    right = answers.is_near(submission, "own_number", 4, tolerance)
    return Score(3 * right, 3, answers.given(submission, "own_number"), "4")


SCORERS = {"own-number": cables}
"""


@pytest.fixture
def changed(one_course: Course, tmp_path: Path) -> Any:
    """Writes into the course.toml of a course of this test alone."""
    course = Course(shutil.copytree(one_course.folder, tmp_path / "spring"))

    def change(text: str, functions: str = "") -> Course:
        (course.folder / limits.FILE).write_text(limits.TEXT + text)
        if functions:
            write_text(course.folder / questions.OWN / "lab_01.py", functions)
        return course

    return change


def notebook_of(course: Course) -> tuple[str, dict[str, Any]]:
    """The text of the course's notebook, and the cells of its questions by name."""
    notebook = nbformat.read(course.folder / "source" / SLUG / "validation.ipynb", as_version=4)
    text = "\n\n".join(cell.source for cell in notebook.cells)
    marked = [cell for cell in notebook.cells if cell.metadata.get("nbgrader")]
    return text, {cell.metadata.nbgrader.grade_id: cell for cell in marked}


def test_points_are_changed_in_one_place_and_every_text_follows(changed: Any) -> None:
    course = changed(f"{IDLE}points = 5\n")
    (said,) = changes.write(course.folder, SLUG)
    assert said == "idle-mbit: 5 points, and not 2 as before."
    text, cells = notebook_of(course)
    assert cells["idle-mbit"].metadata.nbgrader.points == 5
    assert "**Question `idle-mbit`** (5 points)" in text
    assert "**Points** 33" in text
    handout = (course.folder / "source" / SLUG / "README.md").read_text()
    assert "**Points** 33" in handout
    assert "| `idle-mbit` | 5 |" in handout
    assert changes.write(course.folder, SLUG) == []
    assert len(changes.write(changed("").folder, SLUG)) == 1
    assert "**Points** 30" in notebook_of(course)[0]


def test_what_a_course_does_not_change_is_as_the_lab_has_it(changed: Any) -> None:
    course = changed(f"{IDLE}tolerance_percent = 60\n")
    usual, now = (lab_file.read(SLUG, place).questions for place in (None, course.folder))
    assert now["idle-mbit"].limits == {**usual["idle-mbit"].limits, "tolerance_percent": 60}
    assert now["idle-mbit"].points == usual["idle-mbit"].points
    assert {name: each for name, each in now.items() if name != "idle-mbit"} == {
        name: each for name, each in usual.items() if name != "idle-mbit"
    }


@pytest.mark.parametrize(
    ("text", "functions", "says"),
    first(
        2,
        [
            (f"{IDLE}pionts = 3\n", "", "`pionts` is not a key of the question idle-mbit"),
            (f"{IDLE}points = -1\n", "", "`points` must be a number that is 0 or more, not -1"),
            ("[labs.01.questions]\nidle-mbit = 3\n", "", "the question idle-mbit is not a table"),
            ("[labs.01.questions.own]\npoints = 1\n", "", "the question own has no `asks`"),
            ('[labs.01.questions."Own one"]\npoints = 1\n', "", "small letters, digits"),
            (f"{IDLE}tolerances = 3\n", "", "tolerances"),
            ("", RUBRIC, "lab 01 has no such question"),
            (OWN, "SCORERS = {\n", "'{' was never closed"),
            (OWN, "\nimport nothing_of_that_name\n", "line 2: ModuleNotFoundError"),
            (OWN, "x = 1\n", "SCORERS"),
            (OWN, RUBRIC.replace("tolerance", "room"), "takes no `tolerance`"),
        ],
    ),
)
def test_a_mistake_in_what_a_course_changes_is_named(
    changed: Any, text: str, functions: str, says: str
) -> None:
    course = changed(text, functions)
    with pytest.raises(LabError) as refused:
        questions.of_lab(SLUG, course.folder)
    assert says in str(refused.value)
    line = text.splitlines() and not functions
    assert not line or f"{limits.FILE}, line " in str(refused.value)


@pytest.mark.nightly
def test_an_own_question_is_asked_scored_and_read(changed: Any, tmp_path: Path) -> None:
    course = changed(OWN, RUBRIC)
    said: list[str] = []
    released = course.release("01", said.append)
    assert [each.split()[0] for each in said] == ["own-text", "own-number"]
    text, cells = notebook_of(course)
    assert "(2 points, read by a person). What would your own network do?" in text
    assert "**Points** 33.5" in text
    assert cells["own-text"].cell_type == "markdown"
    assert "SOLUTION" not in (released / "validation.ipynb").read_text()
    answers = {**lab_01.RIGHT, "own_number": 4.2}
    case = of_answers(SLUG, "ada", answers, lab_01.records, {})
    hand_in(course, {"ada": case})
    path = course.folder / "submitted" / "ada" / SLUG / "validation.ipynb"
    notebook = nbformat.read(released / "validation.ipynb", as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        written = {
            "own-number-answer": "own_number = 4.2",
            "own-text": "It would.",
            "explain": "So.",
        }
        cell.source = written.get(name, cell.source)
    nbformat.write(notebook, path)
    found = grade(course)["ada"]
    assert found.questions["own-number"] == 1.5
    assert {"own-text", "explain"} <= set(found.awaiting)
    assert found.of == 33.5
    # What the class works on is the same in a kit, with the list of what the own question needs.
    kit.write(tmp_path / "kit", course.folder)
    needs = json.loads((tmp_path / "kit" / "labs" / SLUG / "needs.json").read_text())
    assert needs["own-number"] == []
    assert "own-number" in (tmp_path / "kit" / limits.FILE).read_text()
    # Once someone is graded, nothing more is asked.
    changed(OWN + '[labs.01.questions.late]\npoints = 1\nasks = "?"\n')
    with pytest.raises(LabError, match="late is new, but hand-ins") as refused:
        course.release("01")
    assert "Delete this table from course.toml" in refused.value.hint
    with pytest.raises(
        LabError, match=r"line \d+: the notebook .* has no cell for the question late"
    ):
        grade(course)
    changed(OWN)
    course.release("01")
    assert grade(course)["ada"].skipped


@pytest.mark.nightly
def test_points_and_tolerances_that_change_after_grading_change_what_was_given(
    changed: Any,
) -> None:
    course = changed("")
    answers = {**lab_01.RIGHT, "idle_mbit_per_s": 1.5 * lab_01.RIGHT["idle_mbit_per_s"]}
    hand_in(course, {"ada": of_answers(SLUG, "ada", answers, lab_01.records, {})})
    assert grade(course)["ada"].questions["idle-mbit"] == 0
    marking.give(course, SLUG, "ada", "explain", 3.0)
    changed(f"{IDLE}tolerance_percent = 60\n")
    (change,) = regrade.changes(course, SLUG)
    assert (change.question, change.before, change.after) == ("idle-mbit", 0, 2)
    changed(f"{IDLE}tolerance_percent = 60\npoints = 5\n[labs.01.questions.explain]\npoints = 2\n")
    with pytest.raises(
        LabError, match=r"idle-mbit has 5 points here, and 2 in its cell.*release 01"
    ):
        grade(course, again=True)
    course.release("01")
    of = [(each.question, each.of_before, each.of) for each in regrade.changes(course, SLUG)]
    assert of == [("explain", 4, 2), ("idle-mbit", 2, 5)]
    (said,) = marking.keep_within(course, SLUG)
    assert said == "explain: ada had 3 by hand, has 2 of 2 now, and waits for you."
    ada = grade(course, again=True)["ada"]
    assert (ada.questions["idle-mbit"], ada.of) == (5, 31)
    assert ada.awaiting == ["explain"]
    assert list(regrade.changes(course, SLUG)) == []


def test_a_question_that_is_worth_more_is_reported_though_nobodys_points_change(
    changed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = changed("[labs.01.questions.explain]\npoints = 5\n")
    with course.gradebook() as book:  # as a release does
        book.find_grade_cell("explain", "validation", SLUG).max_score = 5
        book.db.commit()
    enter(course, gold.hand_ins(SLUG)["empty"], "ada", {"explain": None})
    monkeypatch.chdir(course.folder)
    printed = CliRunner().invoke(app, ["regrade", "01", "--dry-run"]).stdout
    assert re.search(r"ada.+explain.+waits \(of 4\).+waits \(of 5\).+read by a person", printed)
    assert "1 change for 1 learner." in printed
    marking.give(course, SLUG, "ada", "explain", 3.0)
    (change,) = regrade.changes(course, SLUG)
    assert (change.before, change.of_before, change.after, change.of) == (3, 4, 3, 5)


def test_a_lab_that_is_left_out_after_hand_ins_is_nowhere_and_nothing_is_lost(
    changed: Any, tmp_path: Path
) -> None:
    course = changed("")
    enter(course, gold.hand_ins(SLUG)["perfect"], "ada", {"a2-record": 1.0})
    changed("[labs.01]\nleave_out = true\n")
    assert SLUG not in course.labs
    with pytest.raises(UsageError, match=r"course\.toml leaves 01-validation out"):
        course.lab("01")
    assert export.write(course, "nbgrader", tmp_path / "grades.csv", []).learners == 0
    changed("")
    export.write(course, "nbgrader", tmp_path / "grades.csv", [])
    (row,) = csv.DictReader((tmp_path / "grades.csv").open())
    assert float(row["score"]) == 1


def test_a_kit_has_no_notebook_and_no_handout_of_a_lab_that_is_left_out(tmp_path: Path) -> None:
    course = tmp_path / "course"
    course.mkdir()
    (course / limits.FILE).write_text("[labs.08]\nleave_out = true\n")
    kit.write(tmp_path / "kit", course)
    released = tmp_path / "kit" / "notebooks" / "release"
    assert not list(released.glob("08-*"))
    assert list(released.glob("09-*/*.ipynb"))
    (handout,) = (tmp_path / "kit" / "labs").glob("08-*/README.md")
    assert handout.read_text().endswith("\n\nThis course leaves this lab out.\n")


def test_a_course_of_another_version_says_what_to_do(changed: Any) -> None:
    course = changed("")
    marks = [cell.metadata.nbgrader for cell in notebook_of(course)[1].values()]
    older = [each for each in marks if each.grade_id != "own-ring"]
    with pytest.raises(LabError, match=r"no cell of the notebook has the question own-ring") as one:
        questions.check(SLUG, older, course.folder)
    more = {"grade_id": "a3-record", "grade": True, "points": 1}
    with pytest.raises(LabError, match=r"no table \[questions.a3-record\]") as two:
        questions.check(SLUG, [*marks, more], course.folder)
    for refused in (one, two):
        assert "source/01-validation is from another version" in refused.value.hint


def test_while_someone_has_time_no_expected_value_is_printed(changed: Any) -> None:
    course = changed("")
    hand_in(course, {"ada": gold.hand_ins(SLUG)["average"]})
    grade(course)
    (course.folder / dates.FILE).write_text("id,lab,due\nbob,01,2096-01-01\n")
    (page,) = feedback.generate(course, SLUG, ["ada"])
    text = page.files[0].read_text()
    assert "What was expected will be on a later page" in text
    assert "2096" not in text  # another learner's date
    assert '<th scope="row" style="text-align:left; vertical-align:top; padding:0.2em' in text
    assert ">Expected</th><td" not in text
    (course.folder / dates.FILE).write_text("id,lab,due\nbob,01,2026-01-01\n")
    (page,) = feedback.generate(course, SLUG, ["ada"])
    assert ">Expected</th><td" in page.files[0].read_text()


def test_of_two_instructors_one_releases_and_the_other_is_told(changed: Any) -> None:
    course = changed("")
    with locked(course.folder), pytest.raises(LabError, match="is at work in this course"):
        course.release("01")


def test_a_mistyped_learner_in_the_dates_is_named_by_the_next_command(
    changed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = changed("")
    enter(course, gold.hand_ins(SLUG)["empty"], "learner-01", {})
    give(course, "learner-01", {})
    (course.folder / dates.FILE).write_text("id;lab;due\nlearner-10;01;2030-01-01\n")
    monkeypatch.chdir(course.folder)
    done = CliRunner().invoke(app, ["mark", "01"])
    assert "dates.csv, line 2: nobody in this class is 'learner-10'." in done.stderr
    assert "Perhaps you mean 'learner-01'." in done.stderr
