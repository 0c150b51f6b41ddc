"""`beowulf class collect`, `grade` and `regrade`: take in what is handed in, and score it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands import shared
from autograder.commands.shared import (
    AnyLab,
    AsJson,
    Jobs,
    Lab,
    Students,
    bar,
    chosen_labs,
    doing,
    found_course,
    show,
)
from autograder.text import counted, say

if TYPE_CHECKING:
    from autograder.course.course import Graded
    from autograder.grading.regrade import Change
    from autograder.intake.submissions import Collected


def collect(
    lab: Lab,
    place: Annotated[
        Path | None,
        typer.Argument(
            help="A folder or a zip, as Moodle or Canvas gives it; without it, the exchange."
        ),
    ] = None,
    older: Annotated[
        bool,
        typer.Option("--older", help="Also accept a submission older than the one collected."),
    ] = False,
    times: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Times of the hand-ins: Moodle's grading worksheet, or a table with id and handed_in.",
        ),
    ] = None,
) -> None:
    """Collect what learners handed in: notebooks with their records/.

    It exits with 1 when a hand-in could not be collected, or cannot be read.

    Example: beowulf class collect 01 hand-ins.zip
    """
    from autograder.intake import collection

    course = found_course()
    doing(f"Collecting {course.lab(lab)}")
    results = collection.collect(course, lab, place, older, times)
    for each in results:
        late = ", marked as late by the LMS" if each.late else ""
        say(f"{_who(each)}: {each.outcome}{late}")
        for note in each.notes:
            say(f"  {note}")
    bad = {what: sum(each.outcome == what for each in results) for what in ("refused", "unknown")}
    here = len(results) - sum(bad.values())
    say(f"Here: {here}. Refused: {bad['refused']}. Unknown: {bad['unknown']}.")
    if any(bad.values()):
        raise typer.Exit(1)


def _who(each: Collected) -> str:
    if not each.student:
        return f"“{each.sender}”"
    return f"{each.student} (“{each.sender}”)" if each.sender else each.student


def grade(
    lab: AnyLab = "",
    student: Students = None,
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Score every new submission without running it; the points go into nbgrader's database.

    It exits with 1 when a submission could not be graded.

    Example: beowulf class grade 01 --jobs 4
    """
    _grade_all(lab, student, jobs, as_json, again=False)


def regrade(
    lab: AnyLab = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show whose points would change, and why.")
    ] = False,
    student: Students = None,
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Grade again what was graded before, after a rubric or a tolerance was changed; points given by hand stay.

    Example: beowulf class regrade 01 --dry-run
    """
    if not dry_run:
        _grade_all(lab, student, jobs, as_json, again=True)
        return
    from autograder.grading import regrade as again

    course = found_course()
    changes: dict[str, list[Change]] = {}
    for slug in chosen_labs(course, lab):
        with bar("comparing") as progress:
            changes[slug] = list(again.changes(course, slug, progress, student))
    if as_json:
        say(shared.as_json(changes))
        return
    for slug, every in changes.items():
        _show_changes(every, slug)


def _grade_all(
    lab: str, students: list[str] | None, jobs: int, as_json: bool, *, again: bool
) -> None:
    from autograder.grading import driver

    course = found_course()
    graded: dict[str, list[Graded]] = {}
    for slug in chosen_labs(course, lab):
        doing(f"Grading {slug}")
        with bar("grading") as progress:
            every = driver.grade(course, slug, students, jobs=jobs, again=again, progress=progress)
            graded[slug] = sorted(every, key=lambda each: each.student)
    if as_json:
        say(shared.as_json(graded))
    else:
        for slug, found in graded.items():
            _show(found, slug)
        _next(each for found in graded.values() for each in found)
    if any(each.problem for found in graded.values() for each in found):
        raise typer.Exit(1)


def _show(graded: list[Graded], slug: str) -> None:
    rows = []
    for each in graded:
        notes = ["graded before" * each.skipped, each.late, each.doubted, each.errors]
        note = each.problem or " ".join(filter(None, notes))
        points = "" if each.problem else _points(each)
        rows.append((each.student, points, ", ".join(each.awaiting), note))
    show(f"Points in {slug}", ("learner", "points", "by hand", "note"), rows)


def _next(graded: Iterable[Graded]) -> None:
    if any(each.awaiting for each in graded):
        say("What waits for you: `beowulf class mark LAB`, or start `jupyter lab` here and choose")
        say("Nbgrader > Formgrader. When you have read it, give the class its points and reasons:")
    else:
        say("To give the class its points and reasons:")
    say("  beowulf class feedback")
    say("  beowulf class export")
    say("What the class did, on one page: beowulf class report")


def _show_changes(changes: list[Change], slug: str) -> None:
    if not changes:
        say(f"No points in {slug} would change.")
        return
    rows = []
    for each in changes:
        why = f"{each.why} (stays: points by hand)" if each.by_hand else each.why
        now, then = _of(each.before, each.of_before), _of(each.after, each.of)
        rows.append((each.student, each.question, now, then, why))
    show(f"What would change in {slug}", ("learner", "question", "now", "then", "why"), rows)
    whose = counted(len({each.student for each in changes}), "learner")
    them = "it" if len(changes) == 1 else "them"
    say(
        f"{counted(len(changes), 'change')} for {whose}. `beowulf class regrade {slug}` makes {them}."
    )


def _of(points: float | None, most: float) -> str:
    return f"waits (of {most:g})" if points is None else f"{points:g} of {most:g}"


def _points(graded: Graded) -> str:
    """The points and how many are possible, without those that still wait for a person."""
    reached = f"{graded.points - graded.taken_off:g} of {graded.of - graded.by_hand:g}"
    return f"{reached}, {graded.by_hand:g} by hand" if graded.by_hand else reached
