"""The rows of nbgrader's database for what was graded: written by one process, each submission completely or not."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.preprocessors import AssignLatePenalties

from autograder.course import dates
from autograder.course.course import Graded
from autograder.grading import lateness
from autograder.grading.one_submission import Assignment, Outcome, when
from autograder.intake import log


class Entries:
    """An open gradebook, for the submissions of one lab."""

    def __init__(self, book: Any, assignment: Assignment) -> None:
        self.book = book
        self.assignment = assignment
        # What was just written need not be read again.
        book.db().expire_on_commit = False
        # Kept, so that the names of the cells are read once and not for every learner.
        self._notebooks = list(book.find_assignment(assignment.slug).notebooks)
        self._cells = [cell for each in self._notebooks for cell in _cells(each)]
        self._late = any(issubclass(step, AssignLatePenalties) for step in assignment.autograde)
        self._dates = dates.of_lab(assignment.course, assignment.slug)
        self._collected = {
            each.student: each for each in log.remembered(assignment.course, assignment.slug)
        }
        lateness.set_due(book, assignment.slug, self._dates)

    def knows(self, student: str) -> bool:
        """Whether there are rows for a learner's submission."""
        try:
            self.book.find_submission(self.assignment.slug, student)
        except MissingEntry:
            return False
        return True

    def enter(self, outcome: Outcome) -> None:
        """Write the points of a submission; points given by a person stay, and are marked to be checked again."""
        try:
            self._enter(outcome)
        except Exception:
            self.book.db.rollback()
            raise

    def _enter(self, outcome: Outcome) -> None:
        self.book.update_or_create_student(outcome.student)
        handed_in = when(self.assignment.submitted(outcome.student))
        more = {"timestamp": handed_in} if handed_in else {}
        submission = self.book.update_or_create_submission(
            self.assignment.slug, outcome.student, **more
        )
        for notebook in submission.notebooks:
            points = outcome.points.get(notebook.name, {})
            for grade in notebook.grades:
                if grade.name in points:
                    grade.auto_score = points[grade.name]
                    by_hand = grade.manual_score is not None or grade.auto_score is None
                    grade.needs_manual_grade = by_hand
            comments = outcome.comments.get(notebook.name, {})
            for comment in notebook.comments:
                if comment.name in comments:
                    comment.auto_comment = comments[comment.name]
        if self._late:
            lateness.enter(
                self.book, submission, self.late(outcome.student), self.assignment.config
            )
        self.book.db.commit()

    def late(self, student: str) -> lateness.Lateness:
        """Whether what a learner handed in is late."""
        stamp = when(self.assignment.submitted(student))
        known = stamp.replace(tzinfo=UTC) if stamp and stamp.tzinfo is None else stamp
        return lateness.of(self._dates, student, self._collected.get(student), known)

    def graded(self, student: str, skipped: bool = False) -> Graded:
        """The points of a submission as the rows have them."""
        submission = self.book.find_submission(self.assignment.slug, student)
        questions: dict[str, float | None] = {}
        points = of = by_hand = 0.0
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                worth = float(grade.cell.max_score)
                given = grade.auto_score if grade.manual_score is None else grade.manual_score
                reached = 0.0 if given is None else float(given) + float(grade.extra_credit or 0)
                points, of = points + reached, of + worth
                questions[grade.name] = None if grade.needs_manual_grade else reached
                if grade.needs_manual_grade and grade.manual_score is None:
                    by_hand += worth
        ordered = dict(sorted(questions.items()))
        late = self.late(student) if self._late else lateness.Lateness()
        taken_off = float(submission.late_submission_penalty or 0.0)
        return Graded(
            student,
            points,
            of,
            ordered,
            by_hand,
            skipped=skipped,
            late=late.says,
            taken_off=taken_off,
        )


def _cells(notebook: Any) -> list[Any]:
    return [*notebook.grade_cells, *notebook.solution_cells, *notebook.task_cells]
