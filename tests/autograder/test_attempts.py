"""Does any of the attempts that we know get more than its work is worth, or take anything from the others?"""

from __future__ import annotations

import csv
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attempts import RECORDS, SLUG, WORK, Attempt, every, honest
from small_class import HANDED_IN, grade, reached

from autograder.course.course import Course, Graded
from autograder.grading import one_submission
from autograder.intake import collection
from autograder.results import feedback, report
from tests.gold.broken_files import FULL
from tests.gold.lab_01 import MEASURED

LONGEST_S = 10.0  # of a worker, more than an honest hand-in takes
LARGEST_PAGE = 3_000_000
EVERY = every()
CLASS = 24
CLASSES = [EVERY[place : place + CLASS] for place in range(0, len(EVERY), CLASS)]
# Of each of these kinds one is drawn for `make test`, the same on each machine; all have this work.
QUICK, QUICK_WORK = ("notebook", "answer", "file"), RECORDS


@pytest.fixture
def seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, float]]:
    """How long a worker had a core for each hand-in."""
    kept, grade_one = tmp_path / "seconds", one_submission.grade
    kept.mkdir()

    def timed(assignment: Any, student: str) -> Any:
        used = time.process_time()
        outcome = grade_one(assignment, student)
        (kept / student).write_text(str(time.process_time() - used))
        return outcome

    monkeypatch.setattr(one_submission, "grade", timed)
    return lambda: {path.name: float(path.read_text()) for path in kept.iterdir()}


def in_class(
    course: Course, attempts: Sequence[Attempt], works: Sequence[str], hand_ins: Path
) -> dict[str, Attempt]:
    """Let these be handed in beside the honest ones: zips as an LMS gives them, others as the exchange does."""
    for work in works:
        student = f"honest-{work.lower()}"
        place = course.folder / "submitted" / student / SLUG
        honest(place, work, student)
        (place / "timestamp.txt").write_text(HANDED_IN)
    names = {f"m{number:02}": each for number, each in enumerate(attempts)}
    for student, each in names.items():
        if each.kind == "zip":
            each.write(hand_ins / student, student)
            continue
        place = course.folder / "submitted" / student / SLUG
        place.parent.mkdir(parents=True)
        each.write(place, student)
        if not any(path.name == "timestamp.txt" for path in place.iterdir()):
            (place / "timestamp.txt").write_text(HANDED_IN)
    if any(hand_ins.iterdir()):
        collection.collect(course, SLUG, hand_ins)
    return names


def pages(course: Course, students: Sequence[str]) -> dict[str, str]:
    """The pages of feedback of these learners."""
    made = {page.student: page for page in feedback.generate(course, SLUG, list(students))}
    assert not [page for page in made.values() if page.problem]
    return {student: made[student].files[0].read_text(encoding="utf-8") for student in students}


def _words(page: str) -> list[str]:
    """What a page says: what a cell printed in two pieces may come in one."""
    return re.sub(r"<[^>]*>", " ", page).split()


def rows(course: Course, students: Sequence[str]) -> list[dict[str, str]]:
    """What the report says of these learners."""
    page = report.write(course, SLUG).read_text(encoding="utf-8")
    assert "could not be made" not in page
    assert "<script" not in page
    assert len(page) < LARGEST_PAGE
    table = (course.folder / "reports" / SLUG / "points.csv").read_text("utf-8-sig")
    return [row for row in csv.DictReader(table.splitlines()) if row["learner"] in students]


def least(found: dict[str, Graded], attempt: Attempt) -> dict[str, float]:
    """What the work in an attempt deserves."""
    if attempt.points is not None:
        return {name: points for name, points in attempt.points.items() if points}
    return reached(found[f"honest-{attempt.work.lower()}"])


def refuse_gains(found: dict[str, Graded], attempts: dict[str, Attempt]) -> None:
    faults = {}
    for student, attempt in attempts.items():
        graded = found[student]
        deserved = least(found, attempt)
        more = {q: p for q, p in reached(graded).items() if p > deserved.get(q, 0.0) + 1e-9}
        if more:
            faults[attempt.name] = f"got {more}"
        elif "could not be graded" in graded.problem or "could not be scored" in graded.problem:
            faults[attempt.name] = graded.problem
        elif attempt.points is not None and not graded.problem and reached(graded) != deserved:
            faults[attempt.name] = f"got {reached(graded)}"
    assert not faults, json.dumps(faults, indent=1)


def check(
    course: Course,
    attempts: Sequence[Attempt],
    hand_ins: Path,
    seconds: Callable[[], dict[str, float]],
) -> None:
    names = in_class(course, attempts, WORK, hand_ins)
    neighbours = [f"honest-{work.lower()}" for work in WORK]
    alone = grade(course, *neighbours)
    before, said_before = pages(course, neighbours), rows(course, neighbours)
    there = [name for name in names if name in course.submitted(SLUG)]
    found = grade(course, *neighbours, *there, again=True)
    refuse_gains(found, {student: names[student] for student in there})
    for student in neighbours:
        assert not found[student].problem
        assert found[student].questions == alone[student].questions
    assert reached(found["honest-all"]) == {q: p for q, p in FULL.items() if p}

    spent = seconds()
    usual = max(spent[student] for student in neighbours)
    too_long = {names[s].name: spent[s] for s in there if spent[s] > LONGEST_S + usual}
    assert not too_long, f"{too_long}, and an honest one {usual:.1f} s"

    after = pages(course, [*neighbours, *(s for s in there if not found[s].problem)])
    for student in neighbours:
        assert _words(after[student]) == _words(before[student])
    large = {names[s].name: len(page) for s, page in after.items() if len(page) > LARGEST_PAGE}
    assert not large, large
    assert rows(course, neighbours) == said_before


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(len(CLASSES)))
def test_no_attempt_gets_more_than_its_work_or_takes_anything_from_the_class(
    class_of_guests: Course, number: int, hand_ins: Path, seconds: Callable[[], dict[str, float]]
) -> None:
    check(class_of_guests, CLASSES[number], hand_ins, seconds)


def test_a_few_attempts_get_no_more_than_their_work(
    class_of_guests: Course, hand_ins: Path
) -> None:
    draw = random.Random(22)
    drawn = [draw.choice([each for each in EVERY if each.kind == kind]) for kind in QUICK]
    names = in_class(class_of_guests, drawn, [QUICK_WORK], hand_ins)
    honest_one = f"honest-{QUICK_WORK.lower()}"
    found = grade(class_of_guests, honest_one, *names)
    assert reached(found[honest_one]) == {name: p for name, p in MEASURED.items() if p}
    refuse_gains(found, names)
