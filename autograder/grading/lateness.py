"""Whether a hand-in came late, how sure that is, and what it loses: shown everywhere, taken off only where it is sure.

What a learner's own files say of their time is never sure, because the learner sets the clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.course import dates
from autograder.course.course import folder_of, saving
from autograder.course.dates import Dates
from autograder.files import locked
from autograder.intake import log, submissions
from autograder.intake.submissions import FILES, Collected
from autograder.text import counted

if TYPE_CHECKING:
    from autograder.course.course import Course

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Lateness:
    """One hand-in against its due date; `says` is a sentence, "" where it is not late. `late_s` counts if `sure`."""

    due: datetime | None = None
    handed_in: datetime | None = None
    late_s: float = 0.0
    sure: bool = True
    days: int = 0  # days and parts of a day
    costs: float = 0.0  # points, if there are as many
    says: str = ""

    @property
    def is_late(self) -> bool:
        """Whether it is late, or may be."""
        return self.late_s > 0


def of(lab: Dates, student: str, collected: Collected | None, stamp: datetime | None) -> Lateness:
    """The lateness of what a learner handed in: what is known of its time, by the best that is known.

    `stamp` is the time in its timestamp.txt, for what nbgrader's own command collected.
    """
    exemption, due = lab.exemptions.get(student), lab.due(student)
    when, by, marked = stamp, FILES, False
    arrived = None
    if collected is not None:
        when = submissions.as_time(collected.handed_in) or stamp
        by, marked = collected.by or FILES, collected.late
        arrived = submissions.as_time(collected.arrived)
    if exemption and exemption.handed_in:
        when, by, marked = exemption.handed_in, dates.FILE, False
    # What was here before its time was over is not late, whatever a clock says; another date excuses a mark as well.
    grace = timedelta(hours=lab.limits.grace_hours)
    if exemption and exemption.due:
        marked = False
    if due and arrived and arrived <= due + grace:
        return Lateness(due, min(when or arrived, arrived))
    over = when - due if due and when else timedelta(0)
    late = over if over > grace else timedelta(0)
    if not late and not marked:
        return Lateness(due, when)
    sure = by != FILES or marked
    # A mark says that it is late and not by how much: the least that it can be, if no better time is known.
    measured = late if by != FILES else timedelta(0)
    days = max(1, math.ceil(measured / DAY)) if sure else math.ceil(late / DAY)
    costs = days * lab.limits.late_points if sure else 0.0
    says = _sentence(due, when, by, marked, days, costs)
    return Lateness(due, when, max(late.total_seconds(), 1.0), sure, days, costs, says)


def _sentence(
    due: datetime | None, when: datetime | None, by: str, marked: bool, days: int, costs: float
) -> str:
    was_due = f"It was due on {minute(due)}"
    if by == FILES and not marked:
        return (
            f"{was_due}, and its files are of {minute(when)}. Files' times are no proof, so nothing is"
            " taken off."
        )
    if not due:
        text = "The LMS marked it as late."
    elif by == FILES:
        text = f"{was_due}, and the LMS marked it as late."
    else:
        text = f"{was_due} and came on {minute(when)}."
    return text + (f" {counted(days, 'day')} late: {costs:g} taken off." if costs else "")


def minute(when: datetime | None) -> str:
    """A time as people here read it, "" where there is none."""
    return f"{when.astimezone():%Y-%m-%d %H:%M}" if when else ""


def of_class(course: Path, slug: str, students: list[str]) -> dict[str, Lateness]:
    """The lateness of each learner's hand-in of a lab; LabError when course.toml or dates.csv is wrong."""
    lab = dates.of_lab(course, slug)
    collected = {each.student: each for each in log.remembered(course, slug)}
    stamps = {each: submissions.timestamp(course / "submitted" / each / slug) for each in students}
    return {
        student: of(lab, student, collected.get(student), stamp)
        for student, stamp in stamps.items()
    }


def enter(book: Any, submission: Any, lateness: Lateness) -> None:
    """Put due date, time and what is taken off into the rows of a submission."""
    if lateness.handed_in:
        submission.timestamp = _naive(lateness.handed_in)
    if lateness.due and submission.assignment.duedate:
        submission.extension = _naive(lateness.due) - submission.assignment.duedate
    left = lateness.costs
    book.db.flush()
    for notebook in submission.notebooks:
        book.db.refresh(notebook, ["score"])
        # As nbgrader does: no penalty takes more than there is.
        penalty = max(0.0, min(left, notebook.score))
        notebook.late_submission_penalty = penalty or None
        left -= penalty


def _state(submission: Any) -> tuple[Any, ...]:
    penalties = tuple(each.late_submission_penalty or 0.0 for each in submission.notebooks)
    return (submission.timestamp, submission.extension or timedelta(0), penalties)


def set_due(book: Any, slug: str, lab: Dates) -> None:
    """Give nbgrader the lab's due date; one that was set in formgrader stays where course.toml has none."""
    assignment = book.find_assignment(slug)
    if lab.limits.due and assignment.duedate != _naive(lab.limits.due):
        assignment.duedate = _naive(lab.limits.due)
        book.db.commit()


def _naive(when: datetime) -> datetime:
    # As nbgrader's database has them.
    return when.astimezone(UTC).replace(tzinfo=None)


def refresh(course: Course, slugs: list[str]) -> None:
    """Apply today's dates to what was graded, so that an extension needs no new grading.

    LabError when the files are wrong, or another command is at work.
    """
    for slug in slugs:
        lab = dates.of_lab(course.folder, slug)
        with course.gradebook() as book, saving(f"The dates of {slug}"):
            graded = {each.student.id: each for each in book.assignment_submissions(slug)}
            if not graded:
                continue
            before = {student: _state(each) for student, each in graded.items()}
            set_due(book, slug, lab)
            for student, late in of_class(course.folder, slug, sorted(graded)).items():
                enter(book, graded[student], late)
            if before == {student: _state(each) for student, each in graded.items()}:
                book.db.rollback()
                continue
            with locked(course.folder):
                book.db.commit()


class TakeLatePoints(NbGraderPreprocessor):  # type: ignore[misc]
    """Takes off what course.toml says for a late hand-in."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook as it is; the database has what is taken off."""
        about = resources["nbgrader"]
        student, slug = about["student"], about["assignment"]
        course = folder_of(Path(resources["metadata"]["path"]))
        if course is None:
            return nb, resources
        with Gradebook(about["db_url"]) as book:
            set_due(book, slug, dates.of_lab(course, slug))
            submission = book.find_submission(slug, student)
            enter(book, submission, of_class(course, slug, [student])[student])
            book.db.commit()
        return nb, resources
