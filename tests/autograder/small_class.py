"""A handful of learners of the tests' course, who hand in and are graded, and of whom nothing is left."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import SAWarning

from autograder.course.course import Course, Graded
from autograder.grading import driver
from autograder.grading.gradebook import Entries
from autograder.grading.one_submission import Assignment, Outcome
from tests.gold.case import Case

SLUG = "01-validation"
HANDED_IN = "2026-02-03 10:00:00.000000 UTC"


def hand_in(course: Course, cases: Mapping[str, Case]) -> None:
    """Put what these learners hand in where it is graded."""
    for student, case in cases.items():
        folder = course.folder / "submitted" / student / SLUG
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        case.write(folder)
        (folder / "timestamp.txt").write_text(HANDED_IN)


def enter(course: Course, case: Case, student: str, points: Mapping[str, float | None]) -> None:
    """Let a learner have handed in and have these points, without running anything."""
    hand_in(course, {student: case})
    shutil.copytree(
        *(course.folder / each / student / SLUG for each in ("submitted", "autograded"))
    )
    give(course, student, points)


def give(course: Course, student: str, points: Mapping[str, float | None]) -> None:
    """Let the rubric have given these points."""
    with course.gradebook() as book, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's own way of adding
        Entries(book, Assignment.of(course, SLUG, book)).enter(Outcome(student, dict(points)))


def gradebook_of(course: Course, student: str, slug: str = SLUG) -> Graded:
    """What the gradebook has of a submission."""
    with course.gradebook() as book:
        return Entries(book, Assignment.of(course, slug, book)).graded(student)


def grade(course: Course, *students: str, **how: Any) -> dict[str, Graded]:
    found = driver.grade(course, "01", list(students) or None, **{"jobs": 2, **how})
    return {each.student: each for each in found}


def expected(case: Case) -> dict[str, float]:
    """The questions that give something, with their points."""
    return {name: points for name, points in case.points.items() if points}


def reached(graded: Graded) -> dict[str, float]:
    return {name: points for name, points in graded.questions.items() if points}


@contextmanager
def guests(course: Course) -> Iterator[Course]:
    """The course, from which each learner who came in between is gone afterwards."""
    places = [course.folder / name for name in ("submitted", "autograded", "feedback")]
    before = {path for place in places for path in place.glob("*")}
    try:
        yield course
    finally:
        new = {path for place in places for path in place.glob("*")} - before
        for path in new:
            shutil.rmtree(path)
        shutil.rmtree(course.folder / "reports", ignore_errors=True)
        with course.gradebook() as book:
            for student in {path.name for path in new} & {each.id for each in book.students}:
                book.remove_student(student)
