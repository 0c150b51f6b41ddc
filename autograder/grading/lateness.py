"""Whether a hand-in came late, how sure that is, and what it loses: shown everywhere, taken off only where it is sure.

What a learner's own files say of their time is never sure, because the learner sets the clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.exc import SQLAlchemyError

from autograder.course import dates
from autograder.course.dates import Dates
from autograder.files import locked
from autograder.grading.scoring import course_of
from autograder.intake import log, submissions
from autograder.intake.submissions import FILES, Collected
from autograder.text import counted
from beowulf.errors import LabError

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
    was_due = f"It was due on {_at(due)}" if due else ""
    came = f"came on {_at(when)}" if when else "came later"
    if marked and by == FILES:
        text = f"{was_due}, and the LMS marked it as late." if due else "The LMS marked it as late."
    elif by == FILES:
        return (
            f"{was_due}, and its files are of {_at(when)}. Files' times are no proof, so nothing is"
            " taken off."
        )
    else:
        text = f"{was_due} and {came}." if due else "The LMS marked it as late."
    lost = f" {counted(days, 'day')} late: {costs:g} taken off." if costs else ""
    return text + lost


def _at(when: datetime | None) -> str:
    return f"{when.astimezone():%Y-%m-%d %H:%M}" if when else ""


def of_class(course: Path, slug: str, students: list[str]) -> dict[str, Lateness]:
    """The lateness of each learner's hand-in of a lab; LabError when course.toml or dates.csv is wrong."""
    lab = dates.of_lab(course, slug)
    collected = {each.student: each for each in log.remembered(course, slug)}
    return {
        student: of(lab, student, collected.get(student), _stamp(course, slug, student))
        for student in students
    }


def _stamp(course: Path, slug: str, student: str) -> datetime | None:
    return submissions.timestamp(course / "submitted" / student / slug / submissions.TIMESTAMP)


def enter(book: Any, submission: Any, lateness: Lateness, config: Any) -> bool:
    """Put due date, time and what is taken off into the rows of a submission; whether that changed anything."""
    before = _state(submission)
    if lateness.handed_in:
        submission.timestamp = _naive(lateness.handed_in)
    if lateness.due and submission.assignment.duedate:
        submission.extension = _naive(lateness.due) - submission.assignment.duedate
    step, left = TakeLatePoints(config=config), lateness.costs
    if not left and not step.is_own:
        for notebook in submission.notebooks:
            notebook.late_submission_penalty = None
        return _state(submission) != before
    book.db.flush()
    for notebook in submission.notebooks:
        book.db.refresh(notebook, ["score"])
        penalty = step.penalty(submission, notebook.score, replace(lateness, costs=left))
        notebook.late_submission_penalty = penalty
        left -= penalty or 0.0
    return _state(submission) != before


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
        with course.gradebook() as book:
            graded = {each.student.id: each for each in book.assignment_submissions(slug)}
            if not _needed(course, slug, lab, graded):
                continue
            late = of_class(course.folder, slug, sorted(graded))
            try:
                set_due(book, slug, lab)
                changed = [
                    enter(book, graded[student], late[student], course.api.config)
                    for student in graded
                ]
                if not any(changed):
                    book.db.rollback()
                    continue
                with locked(course.folder):
                    book.db.commit()
            except SQLAlchemyError as fault:
                book.db.rollback()
                why = str(getattr(fault, "orig", None) or fault).splitlines()[0]
                raise LabError(
                    f"The dates of {slug} could not be written into the gradebook ({why}).",
                    "Make room, or wait until others are done with it, and try again.",
                ) from None


def _needed(course: Course, slug: str, lab: Dates, graded: Mapping[str, Any]) -> bool:
    """Whether a course has dates, or had some that it has no more: otherwise nothing is touched."""
    has_dates = lab.limits.due or lab.exemptions
    marked = any(each.late for each in log.remembered(course.folder, slug))
    taken_off = any(each.late_submission_penalty for each in graded.values())
    return bool(graded) and bool(has_dates or marked or taken_off)


class TakeLatePoints(AssignLatePenalties):  # type: ignore[misc]
    """Takes off what course.toml says for a late hand-in; a plug-in of the course's own decides in place of it."""

    @property
    def is_own(self) -> bool:
        """Whether the course has a plug-in of its own."""
        return self.plugin_class is not type(self).plugin_class.default_value

    def penalty(self, submission: Any, score: float, lateness: Lateness) -> float | None:
        """What a notebook with this score loses, never more than it has; None when it is not late."""
        if not self.is_own:
            penalty: float | None = lateness.costs or None
        else:
            self.init_plugin()
            late_s = lateness.late_s if lateness.sure else 0.0
            if lateness.due is None and lateness.sure and not lateness.is_late:
                late_s = submission.total_seconds_late  # the date was set in formgrader
            penalty = late_s and self.plugin_inst.late_submission_penalty(
                submission.student.id, score, late_s
            )
        # As nbgrader does: no penalty takes more than there is.
        return float(min(max(penalty, 0.0), score)) if penalty else None

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook as it is; the database has what is taken off."""
        about = resources["nbgrader"]
        student, slug = about["student"], about["assignment"]
        course = course_of(Path(resources["metadata"]["path"]))
        if course is None:
            return nb, resources
        with Gradebook(about["db_url"]) as book:
            set_due(book, slug, dates.of_lab(course, slug))
            submission = book.find_submission(slug, student)
            enter(book, submission, of_class(course, slug, [student])[student], self.config)
            book.db.commit()
        return nb, resources
