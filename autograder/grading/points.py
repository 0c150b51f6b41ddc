"""The points of a whole class in one lab, as nbgrader's database and the graded notebooks have them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nbgrader.api import BaseCell, Grade, SubmittedAssignment, SubmittedNotebook

from autograder.cells import known
from autograder.course import roster
from autograder.grading import driver, lateness
from autograder.grading.lateness import Lateness
from autograder.intake import log
from autograder.intake.submissions import Collected
from autograder.rubrics.score import Score, score_of

if TYPE_CHECKING:
    from autograder.course.course import Course


@dataclass(frozen=True)
class Given:
    """What one learner has for one question; `points` None as long as it waits for a person."""

    student: str
    question: str
    points: float | None
    of: float
    by_rubric: float | None = None  # before a person changed it
    by_hand: bool = False


@dataclass(frozen=True)
class Reason:
    """Why a rubric gave what it gave: the Score in a graded notebook."""

    student: str
    question: str
    score: Score


@dataclass
class ClassOfLab:
    """One lab of a class: who is in it, what was handed in, what it earned and why."""

    slug: str
    roster: list[str]
    submitted: list[str]
    given: list[Given]
    reasons: list[Reason]
    problems: dict[str, str]  # the learners whose hand-in could not be graded, and why
    collected: list[Collected]
    # In the notebook's order, with points.
    questions: dict[str, float] = field(default_factory=dict)
    late: dict[str, Lateness] = field(default_factory=dict)
    taken_off: dict[str, float] = field(default_factory=dict)  # for that

    @property
    def graded(self) -> list[str]:
        """The learners who have points; a newer hand-in that cannot be graded does not remove them."""
        return sorted({each.student for each in self.given})

    @property
    def waiting(self) -> list[Given]:
        """What a person still has to grade."""
        return [each for each in self.given if each.points is None]

    def of_student(self, student: str) -> dict[str, Given]:
        """What one learner has, by question."""
        return {each.question: each for each in self.given if each.student == student}


def gather(course: Course, slug: str, *, with_reasons: bool = False) -> ClassOfLab:
    """All results of a lab in a course; LabError when it was not released.

    The reasons are in the graded notebooks, and are read only where they are needed.
    """
    with course.gradebook() as book:
        notebooks = course.released(slug, book)
        cells = [cell for each in notebooks for cell in known(each).cells.values()]
        questions = {cell.name: cell.points for cell in cells if cell.grade or cell.task}
        given = list(_given(book, slug, questions))
        enrolled = [student.id for student in roster.enrolled(book)]
        taken_off = {
            each.student_id: float(each.late_submission_penalty or 0.0)
            for each in book.assignment_submissions(slug)
        }
    submitted = course.submitted(slug)
    graded = {each.student for each in given} & set(course.graded_students(slug))
    why = dict.fromkeys(set(submitted) - graded, "It has not been graded yet.")
    why |= driver.ungraded(course.folder, slug)
    return ClassOfLab(
        slug=slug,
        roster=enrolled,
        submitted=submitted,
        given=[each for each in given if each.student in graded],
        reasons=[
            each
            for student in (sorted(graded) if with_reasons else ())
            for each in reasons(course, slug, student)
        ],
        problems={name: why[name] for name in submitted if name in why},
        collected=log.remembered(course.folder, slug),
        questions=questions,
        late=lateness.of_class(course.folder, slug, submitted),
        taken_off={student: points for student, points in taken_off.items() if points},
    )


def _given(book: Any, slug: str, questions: dict[str, float]) -> Iterator[Given]:
    assignment = book.find_assignment(slug)
    # One question to the database for the class, and not some for every cell of every learner.
    rows = (
        book.db.query(
            SubmittedAssignment.student_id,
            BaseCell.name,
            Grade.auto_score,
            Grade.manual_score,
            Grade.extra_credit,
            Grade.needs_manual_grade,
        )
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(BaseCell, BaseCell.id == Grade.cell_id)
        .filter(SubmittedAssignment.assignment_id == assignment.id)
        .order_by(SubmittedAssignment.student_id)
    )
    for student, question, auto, manual, extra, waits in rows:
        by_hand = manual is not None
        points = float(manual if by_hand else auto or 0.0) + float(extra or 0.0)
        yield Given(
            student,
            question,
            None if waits and not by_hand else points,
            questions.get(question, 0.0),
            None if auto is None else float(auto),
            by_hand,
        )


def reasons(course: Course, slug: str, student: str) -> Iterator[Reason]:
    """The reasons in the graded notebooks of one learner."""
    for cell in _graded_cells(course, slug, student):
        if score := score_of(cell):
            yield Reason(student, cell["metadata"]["nbgrader"]["grade_id"], score)


def worth_when_graded(course: Course, slug: str, student: str) -> dict[str, float]:
    """What each question was worth when a learner's hand-in was graded."""
    marks = [cell["metadata"].get("nbgrader", {}) for cell in _graded_cells(course, slug, student)]
    return {each["grade_id"]: float(each["points"]) for each in marks if "points" in each}


def _graded_cells(course: Course, slug: str, student: str) -> Iterator[Any]:
    for path in sorted((course.folder / "autograded" / student / slug).glob("*.ipynb")):
        yield from json.loads(path.read_bytes())["cells"]
