"""Does an instructor grade every written answer from the keyboard, and does each change of points keep its reason?"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from running import first
from small_class import SLUG, enter, give, guests
from typer.testing import CliRunner, Result

from autograder.commands import app
from autograder.course.course import Course
from autograder.files import locked
from autograder.grading import marking
from autograder.intake import submissions
from beowulf.errors import LabError, UsageError
from tests.gold import hand_in as hands
from tests.gold.case import Case
from tests.gold.hand_in import answered

STUDENTS = ("ann", "ben", "cleo")
HOSTILE = "Ann's answer [red]\x1b[31m\x07 <b>and</b> $x$"


@pytest.fixture
def waiting(course: Course, released: Any) -> Iterator[Course]:
    """Three learners with points by the rubric, whose written answers wait; nothing was run for that."""
    with guests(course):
        for student in STUDENTS:
            text = HOSTILE if student == "ann" else f"{student}'s answer"
            notebook = answered(released, {}, text)
            case = Case(SLUG, student, partial(hands.hand_in, notebook=notebook, kept=[]))
            enter(course, case, student, {"explain": None, "ordered-pairs": 0.0})
        yield course
    (course.folder / marking.FILE).unlink(missing_ok=True)


@pytest.fixture
def run(waiting: Course, monkeypatch: pytest.MonkeyPatch) -> Any:
    def invoke(*arguments: str, typed: str = "", names: str = "--names") -> Result:
        words = ["mark", "01", *arguments, *([names] if names else [])]
        return CliRunner().invoke(app, words, input=typed)

    monkeypatch.chdir(waiting.folder)
    monkeypatch.setenv("COLUMNS", "160")
    return invoke


def given(course: Course) -> dict[str, tuple[float | None, bool, str | None]]:
    found = {}
    with course.gradebook() as book:
        for student in STUDENTS:
            grade = book.find_grade("explain", "validation", SLUG, student)
            comment = book.find_comment("explain", "validation", SLUG, student)
            found[student] = (grade.manual_score, grade.needs_manual_grade, comment.manual_comment)
    return found


def test_every_answer_is_shown_beside_the_authors_and_takes_points_and_a_comment(
    waiting: Course, run: Any
) -> None:
    done = run(typed="3 Good, and short.\n\n2,5\n")
    assert done.exit_code == 0
    assert given(waiting) == {
        "ann": (3.0, False, "Good, and short."),
        "ben": (None, True, None),
        "cleo": (2.5, False, None),
    }
    shown = done.stdout
    for words in ("explain, 1 of 3", "explain, 3 of 3", "ben's answer", "the author's answer"):
        assert words in shown
    (asked,) = marking.questions(waiting, SLUG).values()
    assert [(each.name, each.points) for each in asked.items] == [
        *(("A node's own name first", 1), ("The idle wire", 1), ("The ring that waits", 2))
    ]
    assert asked.text.startswith("**Question `explain`** (4 points")
    for words in (
        asked.text.splitlines()[0],
        "a  A node's own name first (1): An MPI",
        "own figures",
    ):
        assert words in shown
    assert "SOLUTION" not in shown
    # What a learner wrote is text: no colour, no bell, no markup.
    assert "[red]" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown
    # Only who waits comes again.
    assert "explain, 1 of 1" in run(typed="q\n").stdout
    assert "explain, 1 of 3" in run("--again", typed="q\n").stdout


@pytest.mark.parametrize(
    ("typed", "said"),
    first(
        1,
        [
            ("5\n3\nq\n", "explain can have 0 to 4 points, not 5."),
            ("-1\n3\nq\n", "explain can have 0 to 4 points, not -1."),
            ("nan\n3\nq\n", "'nan' is neither points nor items."),
            ("good\n3\nq\n", "'good' is neither points nor items."),
            ("ad\n3\nq\n", "'ad' is neither points nor items."),
            ("c2.5\n3\nq\n", "Item c has 2 points, not 2.5."),
            ("1.2.3\n3\nq\n", "'1.2.3' is not a number."),
            ("\n-\n3\nq\n", "explain, 2 of 3"),
            ("3", "explain, 2 of 3"),
        ],
    ),
)
def test_a_slip_of_the_fingers_is_asked_again(
    waiting: Course, run: Any, typed: str, said: str
) -> None:
    done = run(typed=typed)
    assert done.exit_code == 0
    assert said in done.stdout
    assert {name: points for name, (points, *_) in given(waiting).items()} == {
        "ann": 3.0,
        "ben": None,
        "cleo": None,
    }


def test_items_give_their_points_and_the_learner_reads_which(waiting: Course, run: Any) -> None:
    assert run(typed="ac1 Why?\n0\nq\n").exit_code == 0
    points, waits, comment = given(waiting)["ann"]
    assert (points, waits) == (2.0, False)
    assert comment == (
        "A node's own name first: 1 of 1. The idle wire: 0 of 1. The ring that waits: 1 of 2. Why?"
    )
    assert given(waiting)["ben"] == (0.0, False, None)


def test_nobody_is_named_and_the_order_says_nothing_unless_it_is_asked_for(
    waiting: Course, run: Any
) -> None:
    shown = run(typed="\n\n\n", names="").stdout
    page = (waiting.folder / "reports" / SLUG / "explain.html").read_text()
    texts = ["Ann's answer", "ben's answer", "cleo's answer"]
    for place in (shown, page):
        assert all(f"answer {number}" in place for number in (1, 2, 3))
        bare = place.replace(str(waiting.folder), "")
        for text in texts:
            assert bare.count(text[1:]) or bare.count(text.replace("'", "&#x27;")[1:]), text
    for name in STUDENTS:
        assert f">{name}<" not in page
        assert f" {name} " not in shown
    by_lot, _ = marking.answers(waiting, SLUG, "explain", by_lot=True)
    assert {each.student for each in by_lot} == set(STUDENTS)


def test_of_two_instructors_the_second_sees_what_the_first_gave(waiting: Course) -> None:
    marking.give(waiting, SLUG, "ann", "explain", 3.0, before=None)
    with pytest.raises(LabError, match="ann has meanwhile been given 3 for explain"):
        marking.give(waiting, SLUG, "ann", "explain", 1.0, before=None)
    with locked(waiting.folder), pytest.raises(LabError, match="is at work"):
        marking.give(waiting, SLUG, "ann", "explain", 1.0)
    assert given(waiting)["ann"][0] == 3.0


def test_an_appeal_changes_any_question_and_keeps_its_reason(waiting: Course, run: Any) -> None:
    change = ["--student", "ben", "--question", "ordered-pairs", "--points", "1"]
    for missing in (change, [*change[2:], "--reason", "x"]):
        assert isinstance(run(*missing).exception, UsageError)
    done = run(*change, "--reason", "The Record\nhas 4 nodes")
    assert done.exit_code == 0
    with waiting.gradebook() as book:
        grade = book.find_grade("ordered-pairs", "validation", SLUG, "ben")
        assert (grade.score, grade.auto_score) == (1.0, 0.0)
    (row,) = csv.DictReader((waiting.folder / marking.FILE).open())
    assert [row[each] for each in ("id", "lab", "question", "before", "after")] == [
        *("ben", SLUG, "ordered-pairs", "0", "1")
    ]
    (reason,) = marking.reasons(waiting.folder, SLUG, "ben").values()
    assert "from 0 to 1: " in reason
    assert "The Record has 4 nodes" in reason
    assert marking.reasons(waiting.folder, SLUG, "ann") == {}
    # A new grading by the rubric does not take it away.
    give(waiting, "ben", {"ordered-pairs": 0.0})
    with waiting.gradebook() as book:
        assert book.find_grade("ordered-pairs", "validation", SLUG, "ben").score == 1.0


def test_what_is_not_graded_yet_is_named_and_not_shown(waiting: Course, run: Any) -> None:
    newer = waiting.folder / "submitted" / "ben" / SLUG / submissions.TIMESTAMP
    newer.write_text("2026-03-03 10:00:00.000000 UTC")
    done = run(typed="q\n")
    assert "ben has a hand-in that has not been graded yet." in done.stdout
    assert "explain, 1 of 2" in done.stdout
    assert isinstance(run("--question", "ring-messages").exception, UsageError)
    assert "nothing is waiting" in run("--student", "nobody").stdout
