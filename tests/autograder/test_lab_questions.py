"""A teacher changes lab.toml: does grading follow, and refuse what contradicts notebook, rubric or handout?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.course import release
from autograder.course.course import Course
from autograder.grading import driver
from autograder.rubrics import questions
from beowulf import paths
from beowulf.errors import LabError
from tests.gold import lab_01

SLUG = lab_01.SLUG
Edit = Callable[[str, str], None]


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Edit:
    """Replaces a text in a copy of lab 01's lab.toml, which stands for the one of the checkout."""
    copy = shutil.copytree(paths.labs()[SLUG], tmp_path / SLUG)
    labs = paths.labs() | {SLUG: copy}
    monkeypatch.setattr(paths, "labs", lambda: labs)

    def replace(old: str, new: str) -> None:
        file = copy / "lab.toml"
        text = file.read_text()
        assert text.count(old) == 1, old
        file.write_text(text.replace(old, new))

    return replace


def table(name: str, points: float, read: str) -> str:
    """How the table of a question begins."""
    return f'[questions.{name}]\npoints = {points:g}\nread = "{read}"\n'


IDLE = table("idle-mbit", 2, "Do: the idle wire")


def marks(released: Any) -> list[dict[str, Any]]:
    return [cell.metadata.get("nbgrader", {}) for cell in released.cells]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (IDLE, IDLE.replace("2", "3"), "idle-mbit has 3 points here, and 2 in its cell"),
        (
            "[questions.idle-mbit]",
            "[questions.idle-mbits]",
            "no cell of the notebook has the question idle-mbits. Perhaps you mean 'idle-mbit'.",
        ),
        (
            table("ring-messages", 1, "Do: one program on four nodes")
            + 'asks = "how many messages bring the token home"\n',
            "",
            "has no table [questions.ring-messages]",
        ),
        (
            "tolerance_percent = 1",
            "limits = { tolerance_percents = 1 }",
            "idle-mbit takes no `tolerance_percents`. Perhaps you mean 'tolerance_percent'.",
        ),
        ("tolerance_percent = 1", "", "the question idle-mbit has no `tolerance_percent`."),
        (
            IDLE,
            IDLE.replace("the idle", "an idle"),
            "a heading that labs/01-validation/README.md does not have. Perhaps you mean 'Do: the",
        ),
    ],
)
def test_a_lab_file_that_contradicts_something_is_refused(
    edit: Edit, released: Any, old: str, new: str, message: str
) -> None:
    questions.check(SLUG, marks(released))
    edit(old, new)
    with pytest.raises(LabError) as refused:
        questions.check(SLUG, marks(released))
    assert message in str(refused.value)
    assert str(refused.value).startswith("labs/01-validation/lab.toml")


def test_neither_release_nor_grading_go_on_with_such_a_lab_file(edit: Edit, course: Course) -> None:
    edit(IDLE, IDLE.replace("2", "3"))
    for refuses in (
        lambda: release.build(check=True),
        lambda: driver.grade(course, "01"),
    ):
        with pytest.raises(LabError, match="idle-mbit has 3 points here"):
            refuses()


def test_a_question_that_neither_rubric_nor_person_scores_is_refused(
    edit: Edit, released: Any
) -> None:
    more = {"grade_id": "new", "grade": True, "solution": False, "points": 1}
    edit(
        "[questions.explain]",
        f"{table('new', 1, 'The questions')}asks = 'x'\n\n[questions.explain]",
    )
    with pytest.raises(
        LabError, match="the rubric has no function for new, and it is not graded by hand"
    ):
        questions.check(SLUG, [*marks(released), more])
    questions.check(SLUG, [*marks(released), more | {"solution": True}])


def test_make_release_prints_what_is_wrong(edit: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    edit(IDLE, IDLE.replace("points = 2", "points = -2"))
    assert release.main(["--check"]) == 1
    assert "`points` must be a number that is 0 or more, not -2" in capsys.readouterr().err
