"""What a person grades: the written answers one after the other, and points that are changed with a reason."""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbgrader.api import MissingEntry
from nbgrader.utils import is_grade, is_solution

from autograder.cells import text_of
from autograder.course.course import saving
from autograder.files import cannot_write, locked
from autograder.grading import one_submission
from autograder.grading import points as class_points
from autograder.grading.one_submission import Assignment
from autograder.intake.inspection import HandInError
from autograder.text import without_moments
from beowulf.errors import LabError, UsageError
from beowulf.this_machine import user

if TYPE_CHECKING:
    from autograder.course.course import Course

FILE = "changes.csv"  # in the course's folder: who changed which points, and why
COLUMNS = ("time", "by", "id", "lab", "question", "before", "after", "reason")
# How a part of an author's answer begins: what it is, and its points.
_ITEM = re.compile(r"^\*\*(.+?) \(([0-9.]+) points?\)[.:]?\*\*", re.MULTILINE)
LONGEST_FIGURE = 200  # characters
# Within a paragraph: where the author's line ended, a terminal's need not.
_LINE_END = re.compile(r"(?<=[^\n])\n(?![\n*+|0-9-])")


@dataclass(frozen=True)
class Answer:
    """A learner's answer that a person grades; `points` None as long as it waits, `given` what a person gave."""

    student: str
    question: str
    text: str
    of: float
    points: float | None
    given: float | None
    comment: str
    figures: list[str]  # what the learner measured and answered, and what a rubric gave for it


@dataclass(frozen=True)
class Item:
    """A part of the author's answer that earns points."""

    name: str
    points: float
    text: str


@dataclass(frozen=True)
class Asked:
    """A question that a person grades: as learners read it, and the author's answer, whole and by items."""

    text: str
    model: str
    items: list[Item]

    def points(self, typed: str) -> tuple[float, str]:
        """The points that were typed, and what each item got; ValueError where it is neither a number nor items.

        `2.5` is a number, `ac` two items by their letters, `ac0.5` the first one whole and half a point of the third.
        """
        if not typed[:1].isalpha():
            return _number(typed), ""
        letters = "abcdefghijklmno"[: len(self.items)] or "-"
        if not re.fullmatch(rf"(?:[{letters}][0-9.,]*)+", typed):
            raise ValueError(f"{typed!r} is neither points nor items.")
        given = dict.fromkeys(range(len(self.items)), 0.0)
        for letter, number in re.findall(r"([a-z])([0-9.,]*)", typed):
            item = letters.index(letter)
            most = self.items[item].points
            given[item] = _number(number) if number else most
            if given[item] > most:
                raise ValueError(
                    f"Item {letter} has {most:g} point{'s' * (most != 1)}, not {given[item]:g}."
                )
        each = (
            f"{item.name}: {given[n]:g} of {item.points:g}." for n, item in enumerate(self.items)
        )
        return sum(given.values()), " ".join(each)


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise ValueError(f"{text!r} is not a number.") from None


def questions(course: Course, slug: str) -> dict[str, Asked]:
    """The questions of a lab that a person grades, from the course's own source/."""
    asked: dict[str, Asked] = {}
    for path in sorted((course.folder / "source" / slug).glob("*.ipynb")):
        texts: list[str] = []
        for cell in nbformat.read(path, as_version=4).cells:
            if is_grade(cell) and is_solution(cell):
                name, model = cell.metadata.nbgrader.grade_id, text_of(cell)
                begins = f"**Question `{name}`**"
                text = next((each for each in reversed(texts) if begins in each), begins)
                asked[name] = Asked(text[text.index(begins) :], _joined(model), _items(model))
            elif cell.cell_type == "markdown":
                texts.append(cell.source)
    return asked


def _items(model: str) -> list[Item]:
    _, *parts = _ITEM.split(model)
    every = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return [Item(name, float(points), _joined(text.strip())) for name, points, text in every]


def _joined(text: str) -> str:
    return _LINE_END.sub(" ", text)


def answers(
    course: Course,
    slug: str,
    question: str,
    students: Collection[str] = (),
    *,
    again: bool = False,
    by_lot: bool = False,
) -> tuple[list[Answer], list[str]]:
    """The answers of a class to a question that wait, or all of them `again`; and why others are not shown.

    They are in the order of the learners' IDs, or `by_lot`, in one that says nothing about them.
    """
    found: list[Answer] = []
    notes: list[str] = []
    with course.gradebook() as book:
        assignment = Assignment.of(course, slug, book)
        for student in course.submitted(slug):
            if students and student not in students:
                continue
            if not one_submission.is_graded(assignment, student):
                notes.append(f"{student} has a hand-in that has not been graded yet.")
                continue
            try:
                texts = one_submission.sources(assignment, student)
            except HandInError as problem:
                notes.append(f"{student}: {problem.message}")
                continue
            notebook, grade = _grade(book, slug, student, question)
            waits = grade.needs_manual_grade
            if waits or again:
                comment = _comment(book, slug, student, notebook, question)
                points = None if waits else float(grade.score)
                said = (comment and comment.manual_comment) or ""
                text, of = texts.get(question, ""), float(grade.max_score)
                given, figures = grade.manual_score, _figures(course, slug, student)
                found.append(Answer(student, question, text, of, points, given, said, figures))
    if by_lot:
        found.sort(key=lambda each: hashlib.sha256(f"{question} {each.student}".encode()).digest())
    return found, notes


def _figures(course: Course, slug: str, student: str) -> list[str]:
    """What each question that a rubric scores found in a hand-in, and what it expected where something is wrong."""
    figures = []
    for reason in class_points.reasons(course, slug, student):
        score = reason.score
        wanted = (
            f" Expected: {score.expected}" if score.expected and score.points < score.of else ""
        )
        text = without_moments(f"{score.found}{wanted}")
        text = text if len(text) <= LONGEST_FIGURE else text[: LONGEST_FIGURE - 1] + "…"
        figures.append(f"{reason.question} ({score.points:.3g} of {score.of:g}): {text}")
    return figures


def give(
    course: Course,
    slug: str,
    student: str,
    question: str,
    points: float,
    *,
    comment: str = "",
    reason: str = "",
    before: float | object | None = ...,
) -> float | None:
    """Give points for a question; what a person had given before.

    The learner reads the comment, which only a written answer can have, and the reason of a change, which is kept.
    `before` is what a person had given when it was shown. LabError where another instructor gave others meanwhile.
    """
    with locked(course.folder), course.gradebook() as book, saving("The points"):
        notebook, grade = _grade(book, slug, student, question)
        of, earlier = float(grade.max_score), grade.manual_score
        if not (math.isfinite(points) and 0 <= points <= of):
            raise UsageError(f"{question} can have 0 to {of:g} points, not {points:g}.")
        if before is not ... and before != earlier:
            raise LabError(
                f"{student} has meanwhile been given {_text(earlier)} for {question}.",
                "Look at the answer again with `--again`.",
            )
        score = float(grade.score)
        grade.manual_score, grade.needs_manual_grade = points, False
        about = _comment(book, slug, student, notebook, question)
        if about is not None and comment:
            about.manual_comment = comment
        if reason:
            _log(course.folder, student, slug, question, score, points, reason)
        book.db.commit()
    return None if earlier is None else float(earlier)


def keep_within(course: Course, slug: str) -> list[str]:
    """Let points that a person gave wait again if the question is now worth less; a sentence for each."""
    said = []
    with locked(course.folder), course.gradebook() as book, saving("The points"):
        for submission in book.assignment_submissions(slug):
            for grade in (each for notebook in submission.notebooks for each in notebook.grades):
                given, of, student = (
                    grade.manual_score,
                    float(grade.max_score),
                    submission.student.id,
                )
                if given is not None and given > of:
                    said.append(
                        f"{grade.name}: {student} had {given:g} by hand, has {of:g} of {of:g} now, and waits for you."
                    )
                    grade.manual_score, grade.needs_manual_grade = of, True
                    reason = "the question is worth less"
                    _log(course.folder, student, slug, grade.name, given, of, reason)
        book.db.commit()
    return said


def reasons(course: Path, slug: str, student: str) -> dict[str, str]:
    """Why a learner's points were changed last, by question, in a sentence."""
    if not (course / FILE).is_file():
        return {}
    with (course / FILE).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["id"], row["lab"]) == (student, slug)]
    return {
        row["question"]: f"Your instructor changed it on {row['time'][:10]} from {row['before']} to"
        f" {row['after']}: {row['reason']}"
        for row in rows
    }


def _log(course: Path, student: str, slug: str, question: str, *change: Any) -> None:
    before, after, reason = change
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    points = (f"{before:g}", f"{after:g}")
    line = [now, user.learner(), student, slug, question, *points, " ".join(reason.split())]
    try:
        with (course / FILE).open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not file.tell():
                writer.writerow(COLUMNS)
            writer.writerow(line)
    except OSError as problem:
        raise cannot_write(course / FILE, problem) from None


def _grade(book: Any, slug: str, student: str, question: str) -> tuple[str, Any]:
    """The notebook of a question, and a learner's row for it; UsageError where there is none."""
    try:
        submission = book.find_submission(slug, student)
    except MissingEntry:
        raise UsageError(f"{student} has not been graded in {slug} yet.") from None
    names = []
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            names.append(grade.name)
            if grade.name == question:
                return notebook.name, grade
    raise UsageError(f"{slug} has no question {question!r}.", f"There are: {', '.join(names)}.")


def _comment(book: Any, slug: str, student: str, notebook: str, question: str) -> Any:
    try:
        return book.find_comment(question, notebook, slug, student)
    except MissingEntry:
        return None


def _text(points: float | None) -> str:
    return "no points" if points is None else f"{points:g}"
