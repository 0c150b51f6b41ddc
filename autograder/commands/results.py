"""`beowulf class feedback`, `report` and `export`: what learners, instructor and LMS get."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.shared import AnyLab, Jobs, Students, bar, chosen_labs, doing, found_course
from autograder.text import counted, say
from beowulf.errors import UsageError


def feedback(
    lab: AnyLab = "",
    student: Students = None,
    to_exchange: Annotated[
        bool, typer.Option("--release", help="Also put the pages into the exchange.")
    ] = False,
    jobs: Jobs = 2,
) -> None:
    """Write a page for each learner: answers, expected values, what to read.

    Example: beowulf class feedback 01
    """
    from autograder.course import dates
    from autograder.grading.lateness import minute
    from autograder.results import feedback as feedback_pages

    course = found_course()
    bad = 0
    for slug in chosen_labs(course, lab):
        doing(f"Writing the pages of {slug}")
        with bar("feedback") as progress:
            pages = list(feedback_pages.generate(course, slug, student, progress, jobs=jobs))
        for page in pages:
            if page.problem:
                say(f"{page.student}: {page.problem}")
        bad += sum(bool(page.problem) for page in pages)
        written = sum(len(page.files) for page in pages)
        say(f"{slug}: {counted(written, 'page')} in {course.folder / 'feedback'}/LEARNER/{slug}/.")
        if (last := dates.of_lab(course.folder, slug).last) and last > datetime.now(UTC):
            say(
                f"Without what was expected: someone has until {minute(last)}. Write the pages again then."
            )
        if to_exchange:
            there = [course.release_feedback(slug, page.student) for page in pages if page.files]
            say(f"In the exchange, each for its learner: {sum(there)}.")
            if not all(there):
                others = len(there) - sum(there)
                say(f"Not there, because the hand-in did not come through the exchange: {others}.")
    if bad:
        raise typer.Exit(1)


def report(lab: AnyLab = "") -> None:
    """Write a page about the class: points, common mistakes, copies, answers to mark.

    Example: beowulf class report 01
    """
    from autograder.results import report as class_report

    course = found_course()
    for slug in chosen_labs(course, lab):
        with bar("report") as progress:
            page = class_report.write(course, slug, progress)
        say(f"{page} (with tables and pictures beside it)")


def export(
    lab: Annotated[
        list[str] | None, typer.Argument(help="Labs by number or name; without any, all.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="nbgrader, canvas or moodle.")] = "nbgrader",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write.")
    ] = None,
) -> None:
    """Write the points as CSV, for a spreadsheet or for an LMS to import.

    Example: beowulf class export --format canvas
    """
    from autograder.results import export as grades

    if form not in grades.FORMATS:
        raise UsageError(
            f"There is no format {form!r}.", f"There are: {', '.join(grades.FORMATS)}."
        )
    course = found_course()
    slugs = [course.lab(name) for name in lab or []]
    export = grades.write(course, form, output, slugs)
    say(f"{export.to}: the points of {counted(export.learners, 'learner')} in the format {form}.")
    if export.gaps:
        say(
            f"{counted(export.gaps, 'cell')} of it without points: an import clears what is there."
            " Name one lab at a time to leave them out."
        )
    if export.late:
        say(
            f"{counted(export.late, 'hand-in')} came late or may have, which this format has no column for:"
            " `beowulf class export` writes the sentences into grades.csv."
        )
    if waiting := grades.waiting(course, slugs):
        say(f"Without the points of answers that wait to be graded by hand: {waiting}.")
