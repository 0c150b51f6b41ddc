"""One course for all tests of this folder, with lab 01 released, because making one is slow."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_class import guests

from autograder.course import release
from autograder.course.course import Course
from autograder.course.create import make_course

SLUG = "01-validation"


@pytest.fixture(scope="session")
def one_course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A copy for this process of tests; the first of them has made it for all."""
    base = tmp_path_factory.getbasetemp()
    original = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "course"
    with Path(f"{original}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not original.exists():
            made = make_course(original.with_name("course.new"))
            made.release("01")
            made.folder.rename(original)
    return Course(shutil.copytree(original, tmp_path_factory.mktemp("class") / "course"))


@pytest.fixture(scope="module")
def course(one_course: Course) -> Iterator[Course]:
    """The course for the learners of one file of tests, whom the next file does not meet."""
    with guests(one_course) as found:
        yield found


@pytest.fixture(scope="module")
def own_course(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A copy of the course for one file of tests alone, with nobody in it."""
    made = Course(tmp_path_factory.mktemp("own") / "spring")
    shutil.copytree(course.folder, made.folder)
    with made.gradebook() as book:
        for student in list(book.students):
            book.remove_student(student.id)
    return made


@pytest.fixture
def class_of_guests(course: Course) -> Iterator[Course]:
    """The course for learners of one test, who are gone afterwards."""
    with guests(course) as found:
        yield found


@pytest.fixture(scope="session")
def released() -> Any:
    """The notebook of lab 01 as a learner gets it."""
    return release.student_version(release.sources()[SLUG])


@pytest.fixture
def hand_ins(tmp_path: Path) -> Path:
    folder = tmp_path / "hand-ins"
    folder.mkdir()
    return folder
