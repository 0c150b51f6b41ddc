"""Collects what a class handed in: from nbgrader's exchange, a folder, or a zip of an LMS."""

from __future__ import annotations

import glob
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autograder.course import roster
from autograder.course.course import Course
from autograder.course.roster import Directory
from autograder.files import locked
from autograder.intake import inspection, log, submissions, times
from autograder.intake.submissions import EXCHANGE, Collected, Wanted
from beowulf.errors import LabError

LATER_THAN_IT_SAYS = timedelta(hours=1)


def collect(
    course: Course,
    name: str,
    place: Path | None = None,
    older: bool = False,
    table: Path | None = None,
) -> list[Collected]:
    """Collect the hand-ins of the lab of that name from a folder or a zip, or from the exchange, and save the notes.

    One that is older than what is there is left out unless `older` is set; the exchange gives the newest. `table`
    is an LMS' own of the times.

    LabError when there is nothing, or `place` is neither; a hand-in that is refused stops no other.
    """
    slug = course.lab(name)
    wanted = _wanted(course, slug)
    learners = directory(course)
    given = times.read(table, learners) if table else {}
    with locked(course.folder):
        if place is None:
            results = _from_exchange(course, wanted, learners)
        else:
            submitted = course.folder / "submitted"
            results = list(
                submissions.collect(place, wanted, submitted, learners, older=older, times=given)
            )
            if not results:
                raise LabError(
                    f"There is nothing to collect in {place}.",
                    "It holds one folder a learner, named as the learner, with the notebook in it.",
                )
        log.remember(course.folder, slug, results)
    return results


def directory(course: Course) -> Directory:
    """The learners by all their names; complete when the course has a roster."""
    with course.gradebook() as book:
        students = roster.enrolled(book)
    return Directory(students, complete=(course.folder / roster.FILE).is_file())


def _wanted(course: Course, slug: str) -> Wanted:
    notebooks = sorted((course.folder / "source" / slug).glob("*.ipynb"))
    cells = set[str]().union(*map(inspection.grade_ids, notebooks))
    return Wanted(slug, [path.name for path in notebooks], cells, course.folder)


def _from_exchange(course: Course, wanted: Wanted, learners: Directory) -> list[Collected]:
    slug = wanted.slug
    before = {student: _stamp(course, student, slug) for student in course.submitted(slug)}
    course.collect_from_exchange(slug)
    results = []
    for student in course.submitted(slug):
        outcome = "new" if student not in before else "unchanged"
        if student in before and _stamp(course, student, slug) != before[student]:
            outcome = "updated"
        folder = course.folder / "submitted" / student / slug
        notes = submissions.rename(folder, wanted) if outcome != "unchanged" else []
        when = submissions.timestamp(folder / submissions.TIMESTAMP) or datetime.now(UTC)
        handed_in, by = (
            (submissions.as_stamp(when), EXCHANGE) if outcome != "unchanged" else ("", "")
        )
        if by:
            notes += _doubts_about_time(course, student, slug, when)
        if learners.complete and not learners.find(student)[0]:
            notes.append("This name is not on the roster.")
        if any(submissions.fault_of(folder / each, wanted) for each in wanted.notebooks):
            outcome = "refused"
        notes += submissions.notes_on(folder, student, wanted)
        arrived = submissions.as_stamp(datetime.now(UTC)) if by else ""
        results.append(
            Collected(student, outcome, notes, handed_in=handed_in, by=by, arrived=arrived)
        )
    if not results:
        raise LabError(
            f"No learner has handed in {slug} through the exchange yet.",
            "To collect from a folder, name it: `beowulf class collect LAB FOLDER`.",
        )
    return results


def _doubts_about_time(course: Course, student: str, slug: str, when: datetime) -> list[str]:
    """A sentence when a hand-in came to the exchange long after the time that it gives itself."""
    inbound = Path(course.api.exchange_root) / str(course.api.course_id) / "inbound"
    folders = inbound.glob(f"{glob.escape(f'{student}+{slug}+')}*")
    # The time of a folder's last change is the system's own; what is in the folder is the learner's.
    came = max((folder.stat().st_ctime for folder in folders), default=0.0)
    if came and datetime.fromtimestamp(came, UTC) - when > LATER_THAN_IT_SAYS:
        at = f"{datetime.fromtimestamp(came, UTC):%Y-%m-%d %H:%M} UTC"
        return [f"Its folder in the exchange was changed at {at}, after the time it was handed in."]
    return []


def _stamp(course: Course, student: str, slug: str) -> str:
    return submissions.stamp(course.folder / "submitted" / student / slug / submissions.TIMESTAMP)
