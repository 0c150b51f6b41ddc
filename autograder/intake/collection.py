"""Collects what a class handed in: from nbgrader's exchange, a folder, or a zip of an LMS."""

from __future__ import annotations

from pathlib import Path

from autograder.course import roster
from autograder.course.course import Course
from autograder.course.roster import Directory
from autograder.intake import inspection, log, submissions
from autograder.intake.submissions import Collected, Wanted
from beowulf.errors import LabError


def collect(
    course: Course, name: str, place: Path | None = None, older: bool = False
) -> list[Collected]:
    """Collect the hand-ins of the lab of that name from a folder or a zip, or from the exchange, and save the notes.

    One that is older than what is there is left out unless `older` is set; the exchange gives the newest.

    LabError when there is nothing, or `place` is neither; a hand-in that is refused stops no other.
    """
    slug = course.lab(name)
    wanted = _wanted(course, slug)
    learners = directory(course)
    if place is None:
        results = _from_exchange(course, wanted, learners)
    else:
        submitted = course.folder / "submitted"
        results = list(submissions.collect(place, wanted, submitted, learners, older=older))
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
        if learners.complete and not learners.find(student)[0]:
            notes.append("This name is not on the roster.")
        results.append(
            Collected(student, outcome, [*notes, *submissions.notes_on(folder, student, wanted)])
        )
    if not results:
        raise LabError(
            f"No learner has handed in {slug} through the exchange yet.",
            "To collect from a folder, name it: `beowulf class collect LAB FOLDER`.",
        )
    return results


def _stamp(course: Course, student: str, slug: str) -> str:
    path = course.folder / "submitted" / student / slug / submissions.TIMESTAMP
    return path.read_text() if path.exists() else ""
