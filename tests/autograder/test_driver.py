"""Is every submission of a class graded, whatever one of them does, and does nothing that was graded get lost?"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from small_class import HANDED_IN, SLUG, grade, gradebook_of, guests
from sqlalchemy.exc import OperationalError

from autograder.course.course import Course
from autograder.grading import driver, one_submission, workers
from autograder.grading.gradebook import Entries
from autograder.grading.one_submission import Outcome
from autograder.rubrics.score import MIME_TYPE
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_01 import a5_no_load
from beowulf.record import Record
from tests.gold import hand_in as hands
from tests.gold import lab_01

WORTH = 26  # of a perfect hand-in, without what a person gives


@pytest.fixture
def course(one_course: Course) -> Iterator[Course]:
    """The course of all tests, with no hand-in of another test in it."""
    with guests(one_course) as found:
        yield found


@pytest.fixture
def perfect(released: Any) -> Any:
    """Everything right."""
    return hands.answered(released, lab_01.RIGHT)


def hand_in(course: Course, student: str, notebook: Any, *, records: bool = True) -> Path:
    folder = course.folder / "submitted" / student / SLUG
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    hands.hand_in(folder, notebook, lab_01.records() if records else [])
    (folder / "timestamp.txt").write_text(HANDED_IN)
    return folder


def handed_in_again(folder: Path, day: int = 4) -> None:
    (folder / "timestamp.txt").write_text(f"2026-02-{day:02} 10:00:00.000000 UTC")


def rows(course: Course, student: str) -> dict[str, Any]:
    """What nbgrader's database has of a submission."""
    with course.gradebook() as book:
        (notebook,) = book.find_submission(SLUG, student).notebooks
        found: dict[str, Any] = {
            grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            for grade in notebook.grades
        }
        found |= {f"{each.name}, comment": each.auto_comment for each in notebook.comments}
    return found


def autograded(course: Course, student: str) -> Any:
    path = course.folder / "autograded" / student / SLUG / "validation.ipynb"
    return nbformat.read(path, as_version=4)


# ---------------------------------------------------------------- the same as nbgrader's own way


def test_the_rows_and_the_files_are_those_that_nbgraders_own_command_writes(
    course: Course, released: Any
) -> None:
    """A cell of code and the explanation are as they were released."""
    answers = {name: value for name, value in lab_01.RIGHT.items() if name != "ordered_pairs"}
    explanation = next(
        c.source
        for c in released.cells
        if c.metadata.get("nbgrader", {}).get("grade_id") == "explain"
    )
    notebook = hands.answered(released, answers, explanation)
    (hand_in(course, "ada", notebook) / "ring.c").write_text("/* mine */")
    ours = grade(course)["ada"]
    assert (ours.points, ours.of, ours.awaiting) == (WORTH - 1, 30, [])
    place = course.folder / "autograded" / "ada" / SLUG
    by_us, files, text = rows(course, "ada"), _files(place), autograded(course, "ada")
    result = course.api.autograde(SLUG, "ada", force=True)
    assert result["success"], result
    assert rows(course, "ada") == by_us
    assert _files(place) == files
    assert _without_outputs(autograded(course, "ada")) == _without_outputs(text)
    assert _scores(autograded(course, "ada")) == _scores(text)
    assert not (course.folder / "autograded" / one_submission.NEW).exists()


def _files(place: Path) -> dict[str, int]:
    return {str(path.relative_to(place)): path.stat().st_mode for path in sorted(place.rglob("*"))}


def _without_outputs(notebook: Any) -> list[Any]:
    return [(cell.id, cell.cell_type, cell.source, cell.metadata) for cell in notebook.cells]


def _scores(notebook: Any) -> list[Any]:
    data = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", [])]
    return [each[MIME_TYPE] for each in data if MIME_TYPE in each]


# ---------------------------------------------------------------- one spoils nothing for the others


def test_what_is_no_notebook_gets_its_sentence_and_stops_no_other(
    course: Course, perfect: Any
) -> None:
    bad = {"a-empty": (b"", "is empty"), "b-cut": (json.dumps(perfect).encode()[:5000], "JSON")}
    for name, (content, _) in bad.items():
        (hand_in(course, name, perfect) / "validation.ipynb").write_bytes(content)
    renamed = hand_in(course, "c-renamed", perfect)
    (renamed / "validation.ipynb").rename(renamed / "validation (1).ipynb")
    hand_in(course, "z-good", perfect)
    found = grade(course)
    for name, (_, why) in bad.items():
        assert why in found[name].problem, name
    assert "there is validation (1).ipynb" in found["c-renamed"].problem
    assert found["z-good"].points == WORTH
    kept = driver.ungraded(course.folder, SLUG)
    assert kept == {name: each.problem for name, each in found.items() if each.problem}
    # What is repaired is graded, and its sentence goes.
    (renamed / "validation (1).ipynb").rename(renamed / "validation.ipynb")
    assert grade(course, "c-renamed")["c-renamed"].points == WORTH
    assert "c-renamed" not in driver.ungraded(course.folder, SLUG)


@pytest.mark.nightly
def test_a_grading_process_that_dies_or_hangs_costs_one_submission() -> None:
    def work(student: str) -> Outcome:
        if student == "dies":
            os._exit(3)
        while student == "hangs":
            time.sleep(1)
        return Outcome(student)

    students = ["dies", "a", "hangs", "b", "c"]
    found = {each.student: each for each in workers.run(work, students, 2, most_s=6.0)}
    assert [found[name].problem for name in "abc"] == [""] * 3
    assert "ended with 3" in found["dies"].problem
    assert "more than 6 s" in found["hangs"].problem


# ---------------------------------------------------------------- gone on with, and points by hand


def test_a_second_run_grades_only_what_is_new_and_was_broken_off(
    course: Course, perfect: Any, released: Any
) -> None:
    for name in ("ada", "bob", "eve"):
        hand_in(course, name, perfect)
    broken_off = driver.grade(course, "01", jobs=1)
    done = next(broken_off).student
    broken_off.close()
    rest = grade(course)
    assert [name for name, each in rest.items() if each.skipped] == [done]
    assert all(each.points == WORTH for each in rest.values())
    assert all(each.skipped for each in grade(course).values())
    handed_in_again(hand_in(course, "bob", released, records=False))
    third = grade(course)
    assert [name for name, each in third.items() if not each.skipped] == ["bob"]
    assert third["bob"].points == 0


def test_points_by_hand_survive_and_wait_where_the_answer_or_the_rubric_s_points_changed(
    course: Course, perfect: Any
) -> None:
    folder = hand_in(course, "ada", perfect)
    grade(course)
    with course.gradebook() as book:
        for name, points in (("explain", 3.5), ("ring-messages", 0.25)):
            given = book.find_grade(name, "validation", SLUG, "ada")
            given.manual_score, given.needs_manual_grade = points, False
        book.db.commit()
    handed_in_again(folder)
    again = grade(course)["ada"]
    assert not again.skipped
    assert again.points == WORTH - 1 + 3.5 + 0.25
    assert again.awaiting == []
    for path in folder.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "explain":
                cell.source += "\n# Once more."
        nbformat.write(notebook, path)
    handed_in_again(folder, 5)
    again = grade(course)["ada"]
    assert again.points == WORTH - 1 + 3.5 + 0.25
    assert again.awaiting == ["explain"]
    assert again == gradebook_of(course, "ada")
    assert rows(course, "ada")["explain"] == (None, 3.5, True)
    assert rows(course, "ada")["ring-messages"] == (1, 0.25, False)


# ---------------------------------------------------------------- a full disk


@pytest.mark.nightly
def test_a_full_disk_in_the_middle_loses_nothing_that_was_graded(
    course: Course, perfect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ada", "bob", "eve"):
        hand_in(course, name, perfect)
    grade(course, "bob")
    handed_in_again(course.folder / "submitted" / "bob" / SLUG)
    before = rows(course, "bob")
    copy, enter = shutil.copyfile, Entries.enter

    def full_for_ada(source: Path, target: Path) -> object:
        if "/ada/" in str(target):
            raise OSError(28, "No space left on device")
        return copy(source, target)

    def full_for_bob(self: Entries, outcome: Outcome, unchanged: set[str]) -> None:
        if outcome.student == "bob":
            raise OperationalError("", {}, Exception("database or disk is full"))
        enter(self, outcome, unchanged)

    with monkeypatch.context() as patched:
        patched.setattr(one_submission.shutil, "copyfile", full_for_ada)
        patched.setattr(Entries, "enter", full_for_bob)
        found = grade(course)
    assert "No space left" in found["ada"].problem
    assert "disk is full" in found["bob"].problem
    assert found["eve"].points == WORTH
    assert rows(course, "bob") == before
    assert (course.folder / "autograded" / "bob" / SLUG / "validation.ipynb").exists()
    assert {each.points for each in grade(course).values()} == {WORTH}


def test_what_cannot_be_graded_is_reported_before_anything_is_done(
    course: Course, perfect: Any
) -> None:
    with pytest.raises(LabError, match="No submission"):
        driver.grade(course, "01")
    hand_in(course, "ada", perfect)
    with pytest.raises(UsageError, match="no submission of 01-validation by 'bob'"):
        driver.grade(course, "01", ["bob"])
    with pytest.raises(LabError, match="not been released"):
        driver.grade(course, "02")
    first = driver.grade(course, "01")
    next(first)
    with pytest.raises(LabError, match="Another command"):
        next(driver.grade(course, "01"))
    first.close()


def test_a_hand_in_of_too_many_files_is_not_graded_and_says_so(
    course: Course, perfect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = hand_in(course, "mallory", perfect, records=False)
    there = sum(path.is_file() for path in folder.rglob("*"))
    monkeypatch.setattr(one_submission.submissions, "MOST_FILES", there)
    (folder / "one-more.txt").touch()
    (folder / "and-another.txt").touch()
    assert f"more than {there} files" in grade(course)["mallory"].problem


def test_an_error_of_ours_is_named_with_its_traceback_and_the_class_is_graded(
    course: Course, perfect: Any
) -> None:
    def broken(record: Record) -> Any:
        return record.begun  # type: ignore[attr-defined]  # an author's slip

    honest = hand_in(course, "ada", perfect)
    file = course.folder / "reports" / SLUG / "errors-ada.txt"
    hand_in(course, "bob", perfect, records=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(a5_no_load, "seen", broken)
        found = grade(course)
    assert not found["ada"].problem
    assert 0 < found["ada"].points < WORTH
    assert str(file.relative_to(course.folder)) in found["ada"].errors
    traceback = file.read_text()
    assert 'test_driver.py", line ' in traceback
    assert "AttributeError: 'Record' object has no attribute 'begun'" in traceback
    assert not found["bob"].errors
    handed_in_again(honest)
    assert grade(course, "ada")["ada"].points == WORTH
    assert not file.exists()
