"""Does each hand-in of the gold class get exactly its points, with its reason?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course.course import Course
from autograder.grading import driver
from tests import gold
from tests.gold import trial

CASES = gold.hand_ins()


@pytest.mark.parametrize("name", CASES)
def test_a_hand_in_gets_exactly_its_points_and_reasons(name: str, tmp_path: Path) -> None:
    case, folder = CASES[name], tmp_path / "hand-in"
    case.write(folder)
    found = trial.graded(case.slug, folder, "someone")
    if case.problem:
        assert case.problem in found.problem
        assert not found.scores
        return
    assert found.problem == ""
    assert set(case.points) <= set(found.points)
    assert found.points == pytest.approx(dict.fromkeys(found.points, 0.0) | dict(case.points))
    for question, said in case.said.items():
        score = found.scores[question]
        assert said in f"{score.found} {score.expected}"
    assert all(score.found for score in found.scores.values())


@pytest.fixture
def empty_course(course: Course) -> Iterator[Course]:
    """The course of all tests, left without the gold class's hand-ins."""
    yield course
    for folder in course.folder.glob("*/gold-*"):
        shutil.rmtree(folder)
    with course.gradebook() as book:
        for student in [each.id for each in book.students if each.id.startswith("gold-")]:
            book.remove_student(student)


def test_grading_with_the_gradebook_gives_a_handful_of_them_the_same(
    empty_course: Course,
) -> None:
    names = ("perfect", "ends its process", "a wire of no machine", "truncated")
    chosen = {f"gold-{name.replace(' ', '-')}": CASES[f"01-validation: {name}"] for name in names}
    for student, case in chosen.items():
        folder = empty_course.folder / "submitted" / student / case.slug
        folder.parent.mkdir(parents=True)
        case.write(folder)
        (folder / "timestamp.txt").write_text("2026-02-03 10:00:00.000000 UTC")
    found = {each.student: each for each in driver.grade(empty_course, "01", list(chosen), jobs=2)}
    assert set(found) == set(chosen)
    for student, case in chosen.items():
        graded = found[student]
        assert case.problem in graded.problem
        assert bool(case.problem) == bool(graded.problem)
        points = {name: p for name, p in graded.questions.items() if p}
        assert points == {name: p for name, p in case.points.items() if p}
