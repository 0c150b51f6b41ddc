"""Do the files of grades hold what Canvas and Moodle import, and nothing that clears what is there?"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder import files
from autograder.course.course import Course
from autograder.results import export

# nbgrader's own way of adding; nothing that could be fixed here.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type")
LABS = ("first", "second", "third")
LEARNERS = {"ada": ("One", "Ada", "71"), "linus": ("", "", ""), "grace": ("", "Grace", "73")}
GRADED = {("first", "ada"): 0.1 + 0.2, ("third", "grace"): 2.0, ("first", "grace"): 0.0}


@pytest.fixture
def book(course: Course, tmp_path: Path) -> Iterator[Any]:
    """Three learners and three labs; linus handed in nothing, and the second lab nobody did."""
    kept = tmp_path / "gradebook.db"
    shutil.copy(Path(course.api.coursedir.root) / "gradebook.db", kept)
    with Gradebook(f"sqlite:///{kept}") as made:
        for known in list(made.assignments):
            made.remove_assignment(known.name)
        for known in list(made.students):
            made.remove_student(known.id)
        for lab in LABS:
            made.add_assignment(lab)
            made.add_notebook("notebook", lab)
            made.add_grade_cell("q", "notebook", lab, max_score=3, cell_type="code")
        for student, (last, first, number) in LEARNERS.items():
            made.add_student(student, last_name=last, first_name=first, lms_user_id=number)
        for (lab, student), points in GRADED.items():
            made.add_submission(lab, student)
            grade = made.find_grade("q", "notebook", lab, student)
            grade.auto_score, grade.needs_manual_grade = points, False
        made.db.commit()
        yield made


def written(plugin: export.Table, book: Any, to: Path, *labs: str) -> list[list[str]]:
    plugin.to, plugin.assignment = str(to), list(labs)
    plugin.export(book)
    return list(csv.reader(to.read_text(encoding="utf-8").splitlines()))


def test_canvas_gets_its_columns_and_finds_everybody_by_number_or_login(
    book: Any, tmp_path: Path
) -> None:
    canvas = export.Canvas()
    canvas.columns = {"third": "The third lab (4711)"}
    heading, most, *lines = written(canvas, book, tmp_path / "canvas.csv")
    # Canvas wants these five in this order, and takes what comes behind them for assignments.
    assert heading[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert heading[5:] == ["first", "The third lab (4711)"]
    assert (most[0].strip(), most[5:]) == ("Points Possible", ["3", "3"])
    assert lines == [
        ["One, Ada", "71", "", "ada", "", "0.3", ""],
        ["Grace", "73", "", "grace", "", "0", "2"],
    ]
    assert (canvas.learners, canvas.gaps) == (2, 1)


def test_one_lab_by_itself_leaves_no_cell_empty(book: Any, tmp_path: Path) -> None:
    for plugin in (export.Canvas(), export.Moodle()):
        rows = written(plugin, book, tmp_path / "one.csv", "third")
        assert rows[0][-1] == "third"
        assert rows[-1][-1] == "2"
        assert not any("linus" in row or "ada" in row for row in rows)
        assert (plugin.learners, plugin.gaps) == (1, 0)


def test_moodle_gets_who_it_is_in_the_first_columns(book: Any, tmp_path: Path) -> None:
    heading, *lines = written(export.Moodle(), book, tmp_path / "moodle.csv")
    assert heading == ["Username", "First name", "Last name", "Email address", "first", "third"]
    assert lines == [
        ["ada", "Ada", "One", "", "0.3", ""],
        ["grace", "Grace", "", "", "0", "2"],
    ]


def test_no_number_has_the_dust_of_adding_up(book: Any, tmp_path: Path) -> None:
    (heading, *lines) = written(export.Grades(), book, tmp_path / "grades.csv")
    assert len(lines) == len(LABS) * len(LEARNERS)
    scores = {
        (row[0], row[heading.index("student_id")]): row[heading.index("score")] for row in lines
    }
    assert scores[("first", "ada")] == "0.3"
    assert scores[("third", "grace")] == "2"
    assert scores[("second", "linus")] == "0"
    row = [float("nan"), None, 2 / 3, 1e-7, "=1", "e\x1b[31mv"]
    assert files.as_csv([row]) == ",,0.666666666667,1e-07,'=1,e [31mv\n"
