"""The points of a whole class in one lab, as nbgrader's database and the graded notebooks have them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nbgrader.api import BaseCell, Grade, SubmittedAssignment, SubmittedNotebook

from autograder.course import dates, roster
from autograder.grading import driver, lateness
from autograder.grading.lateness import Lateness
from autograder.intake import log
from autograder.intake.submissions import Collected
from autograder.rubrics.score import MIME_TYPE

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
    """Why a rubric gave what it gave: the score in a graded notebook."""

    student: str
    question: str
    points: float
    of: float
    found: str
    expected: str
    read: str
    outcome: str = ""


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
    questions: dict[str, float] = field(
        default_factory=dict
    )  # in the notebook's order, with points
    late: dict[str, Lateness] = field(default_factory=dict)
    taken_off: dict[str, float] = field(default_factory=dict)  # for that
    strangers: list[str] = field(default_factory=list)  # of whom dates.csv has a line

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
        questions = _questions(book, course.released(slug, book))
        given = list(_given(book, slug, questions))
        enrolled = [student.id for student in roster.enrolled(book)]
        taken_off = {
            each.student_id: float(each.late_submission_penalty or 0.0)
            for each in book.assignment_submissions(slug)
        }
    submitted = course.submitted(slug)
    graded = {each.student for each in given} & set(course.graded_students(slug))
    ungraded = driver.ungraded(course.folder, slug)
    problems = {name: why for name, why in ungraded.items() if name in submitted}
    for student in submitted:
        if student not in graded and student not in problems:
            problems[student] = "It was not graded yet."
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
        problems=problems,
        collected=log.remembered(course.folder, slug),
        questions=questions,
        late=lateness.of_class(course.folder, slug, submitted),
        strangers=sorted(
            dates.of_lab(course.folder, slug).exemptions.keys() - {*enrolled, *submitted}
        ),
        taken_off={student: points for student, points in taken_off.items() if points},
    )


def _questions(book: Any, notebooks: list[Any]) -> dict[str, float]:
    questions: dict[str, float] = {}
    for notebook in notebooks:
        worth = {
            cell.name: cell.max_score for cell in [*notebook.grade_cells, *notebook.task_cells]
        }
        order = [cell.name for cell in notebook.source_cells]
        names = sorted(worth, key=lambda name: order.index(name) if name in order else len(order))
        questions |= {name: float(worth[name] or 0) for name in names}
    return questions


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


def reasons(course: Course, slug: str, student: str) -> list[Reason]:
    """The reasons in the graded notebooks of one learner; none where none can be read."""
    reasons_found = []
    for path in sorted((course.folder / "autograded" / student / slug).glob("*.ipynb")):
        try:
            cells = json.loads(path.read_bytes())["cells"]
        except (OSError, ValueError, LookupError, TypeError):
            continue
        for cell in cells:
            name = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", "")
            for output in cell.get("outputs", ()):
                score = output.get("data", {}).get(MIME_TYPE)
                if isinstance(score, dict):
                    reasons_found.append(_reason(student, name, score))
    return reasons_found


def _reason(student: str, question: str, score: dict[str, Any]) -> Reason:
    texts = (str(score.get(name, "")) for name in ("found", "expected", "read", "outcome"))
    found, expected, read, outcome = texts
    points, of = (float(score.get(name) or 0) for name in ("points", "of"))
    return Reason(student, question, points, of, found, expected, read, outcome)
