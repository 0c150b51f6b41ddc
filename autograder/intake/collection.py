"""Collects what a class handed in: from nbgrader's exchange, a folder, or a zip of an LMS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect

from autograder.course import roster
from autograder.course.course import Course
from autograder.course.roster import Directory, fault_of_id
from autograder.files import locked
from autograder.intake import archives, exchange, inspection, log, submissions, times
from autograder.intake.archives import Archive
from autograder.intake.exchange import HandIn
from autograder.intake.submissions import EXCHANGE, Collected, Wanted
from beowulf.errors import LabError

ACCEPT = (
    "If it is {student}'s all the same, copy it into a folder of your own as FOLDER/{student}, and"
    " `beowulf class collect LAB FOLDER`."
)


def collect(
    course: Course,
    name: str,
    place: Path | None = None,
    older: bool = False,
    table: Path | None = None,
) -> list[Collected]:
    """Collect the hand-ins of the lab of that name from a folder or a zip, or from the exchange, and save the notes.

    One that is older than what is there is left out unless `older` is set. Of the exchange, the newest that belongs to
    its learner counts. `table` is an LMS' own of the times.

    LabError when there is nothing, or `place` is neither; a hand-in that is refused stops no other.
    """
    slug = course.lab(name)
    wanted = _wanted(course, slug)
    learners = directory(course)
    given = times.read(table, learners) if table else {}
    with locked(course.folder):
        if place is None:
            results = _from_exchange(course, wanted, learners, older)
        else:
            submitted = course.folder / "submitted"
            came = submissions.collect(place, wanted, submitted, learners, older=older, times=given)
            if not (results := list(came)):
                raise LabError(
                    f"There is nothing to collect in {place}.",
                    "It must hold one folder per learner, named after the learner, with the notebook in it.",
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
    # Labs share names such as `explain`, which do not say whose notebook it is.
    others = {*(course.folder / "source").glob("*/*.ipynb")} - {*notebooks}
    cells -= set[str]().union(*map(inspection.grade_ids, others))
    return Wanted(slug, [path.name for path in notebooks], cells, course.folder)


def _from_exchange(
    course: Course, wanted: Wanted, learners: Directory, older: bool
) -> list[Collected]:
    there = exchange.hand_ins(course, wanted.slug)
    _must_have_owners(there)
    others = set(course.submitted(wanted.slug)) - set(there)
    results = [_newest(course, wanted, learners, there[each], older) for each in sorted(there)]
    results += [_as_it_was(course, wanted, student) for student in sorted(others)]
    if not results:
        raise LabError(
            f"No learner has handed in {wanted.slug} through the exchange yet.",
            "To collect from a folder, name it: `beowulf class collect LAB FOLDER`.",
        )
    for each in results:
        if each.student and not _may_be_here(each.student, learners):
            each.notes.append("This name is not on the roster.")
    return results


def _may_be_here(student: str, learners: Directory) -> bool:
    return not learners.complete or bool(learners.find(student)[0])


def _must_have_owners(there: Mapping[str, list[HandIn]]) -> None:
    """LabError where no folder belongs to the user in its name, as in a copy of an exchange."""
    every = [each for several in there.values() for each in several]
    if len(there) > 1 and all(each.fault.startswith(exchange.BELONGS) for each in every):
        raise LabError(
            f"None of the {len(every)} folders in the exchange can be collected: {every[0].folder.name}"
            f" {every[0].fault}.",
            "Where owners mean nothing, as in a copy of an exchange, set `c.ExchangeCollect.check_owner = False` in"
            " nbgrader_config.py.",
        )


def _newest(
    course: Course, wanted: Wanted, learners: Directory, several: list[HandIn], older: bool
) -> Collected:
    """Collect the newest of a learner's hand-ins that is believed and can be graded; say of others why they are not."""
    chosen = several[-1]
    student, folder = chosen.student, course.folder / "submitted" / chosen.student / wanted.slug
    notes = [
        f"{each.folder.name} in the exchange {each.fault}, and is not collected."
        for each in several
        if each.fault
    ]
    if fault_of_id(student) or (chosen.fault and not _may_be_here(student, learners)):
        return Collected("", "unknown", notes, student)
    if notes:
        notes.append(ACCEPT.format(student=student))
    if chosen.fault:
        was = _as_it_was(course, wanted, student)
        return Collected(student, was.outcome, [*notes, *was.notes])
    notes += [_still_to_come(each, chosen) for each in several if each.ahead and not each.fault]
    if chosen.changed:
        at = f"{chosen.changed:%Y-%m-%d %H:%M} UTC, after the time it was handed in"
        notes.append(f"Its folder in the exchange was changed at {at}.")
    believed = [
        each for each in reversed(several) if (each.fault, each.ahead) == ("", chosen.ahead)
    ]
    before = submissions.timestamp(folder)
    if before and not older and not submissions.faults_of(folder, wanted):
        believed = [each for each in believed if each.when > before]
    if before and not believed:
        was = _as_it_was(course, wanted, student)
        if chosen.when < before:
            notes.append(submissions.older_note(chosen.when, before))
        return Collected(student, was.outcome, [*notes, *was.notes])
    owner = exchange.owner(course, student)
    candidates = [(_archive(each, owner), each.when) for each in believed]
    submitted = course.folder / "submitted"
    collected = submissions.take_newest(
        student, candidates, wanted, submitted, older=older, by=EXCHANGE
    )
    return replace(collected, sender="", notes=[*notes, *collected.notes])


def _archive(each: HandIn, owner: int | None) -> Archive:
    """What is in a folder of the exchange, under the folder's name."""
    hand_in = archives.of_folder(each.folder, each.folder.name, owner)
    hand_in.pieces = [piece for piece in hand_in.pieces if piece.path.name != submissions.TIMESTAMP]
    return hand_in


def _as_it_was(course: Course, wanted: Wanted, student: str) -> Collected:
    """What is in its place from before, with the notes on it."""
    folder = course.folder / "submitted" / student / wanted.slug
    if not folder.is_dir():
        return Collected(student, "refused")
    return Collected(student, *submissions.looked_at(folder, student, wanted))


def _still_to_come(each: HandIn, chosen: HandIn) -> str:
    what = f"{each.folder.name} in the exchange has a time that is still to come"
    if each is chosen:
        return f"{what}: it counts as handed in now."
    return f"{what}, and is left out: the one of {chosen.when:%Y-%m-%d %H:%M} UTC is collected."


class Collect(ExchangeCollect):  # type: ignore[misc]  # nbgrader has no types
    """nbgrader's own `collect`, which formgrader has as a button, by our rules."""

    def init_src(self) -> None:
        if self.before_duedate:
            self.fail(
                "before_duedate is not supported here: dates are in course.toml and dates.csv."
            )

    def copy_files(self) -> None:
        try:
            results = collect(Course(Path(self.coursedir.root)), self.coursedir.assignment_id)
        except LabError as problem:
            self.fail(str(problem))
        for each in results:
            self.log.info("%s: %s", each.student or each.sender, each.outcome)
            for note in each.notes:
                self.log.warning("%s: %s", each.student or each.sender, note)
