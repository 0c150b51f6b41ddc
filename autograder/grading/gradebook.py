"""The rows of nbgrader's database for what was graded: written by one process, each submission completely or not."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nbgrader.api import MissingEntry

from autograder.course import dates
from autograder.course.course import Graded
from autograder.grading import lateness
from autograder.grading.lateness import Lateness
from autograder.grading.one_submission import Assignment, Outcome
from autograder.intake import log, submissions


class Entries:
    """An open gradebook, for the submissions of one lab."""

    def __init__(self, book: Any, assignment: Assignment) -> None:
        self.book = book
        self.assignment = assignment
        # What was just written need not be read again.
        book.db().expire_on_commit = False
        # Kept, so that the names of the cells are read once and not for every learner.
        self._notebooks = list(book.find_assignment(assignment.slug).notebooks)
        self._cells = [
            cell
            for each in self._notebooks
            for cell in (*each.grade_cells, *each.solution_cells, *each.task_cells)
        ]
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

    def enter(self, outcome: Outcome, unchanged: Collection[str] = ()) -> None:
        """Write the points of a submission; points that a person gave stay, and wait for another look.

        They do not wait where the learner's text is `unchanged` since, and a rubric gives what it gave.
        """
        student = outcome.student
        try:
            self.book.update_or_create_student(student)
            submission = self.book.update_or_create_submission(self.assignment.slug, student)
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    if grade.name in outcome.points:
                        before, now = grade.auto_score, outcome.points[grade.name]
                        grade.auto_score = now
                        if grade.manual_score is None:
                            grade.needs_manual_grade = now is None
                        elif grade.name not in unchanged or now != before:
                            grade.needs_manual_grade = True
                for comment in notebook.comments:
                    if comment.name in outcome.comments:
                        comment.auto_comment = outcome.comments[comment.name]
            lateness.enter(self.book, submission, self.late(student))
            self.book.db.commit()
        except Exception:
            self.book.db.rollback()
            raise

    def late(self, student: str) -> Lateness:
        """Whether what a learner handed in is late."""
        stamp = submissions.timestamp(self.assignment.submitted(student))
        return lateness.of(self._dates, student, self._collected.get(student), stamp)

    def graded(self, student: str, skipped: bool = False) -> Graded:
        """The points of a submission as the rows have them."""
        submission = self.book.find_submission(self.assignment.slug, student)
        questions: dict[str, float | None] = {}
        points = of = by_hand = 0.0
        for grade in (each for notebook in submission.notebooks for each in notebook.grades):
            worth = float(grade.cell.max_score)
            given = grade.auto_score if grade.manual_score is None else grade.manual_score
            reached = 0.0 if given is None else float(given) + float(grade.extra_credit or 0)
            points, of = points + reached, of + worth
            questions[grade.name] = None if grade.needs_manual_grade else reached
            # A hand-in that is graded again keeps its points by hand until a person looks again.
            if grade.needs_manual_grade and grade.manual_score is None:
                by_hand += worth
        return Graded(
            student,
            points,
            of,
            dict(sorted(questions.items())),
            by_hand,
            skipped=skipped,
            late=self.late(student).says,
            taken_off=float(submission.late_submission_penalty or 0.0),
        )
