"""What several commands for a class share: arguments, options, the course, the labs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.text import plain, say
from beowulf.errors import LabError

if TYPE_CHECKING:
    from autograder.course.course import Course
    from beowulf.this_machine.progress import Progress


Lab = Annotated[str, typer.Argument(help="The lab's number or name, as 01.")]
AnyLab = Annotated[
    str,
    typer.Argument(help="The lab's number or name, as 01; without it, all labs with hand-ins."),
]
Students = Annotated[
    list[str] | None,
    typer.Option("--student", help="Only this learner; may be repeated."),
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=256, help="How many to grade at once.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print plain data for a script.")]


def found_course() -> Course:
    """The course in whose folder the command was typed; a mistyped ID in its table of dates is named at once."""
    from autograder.course import dates
    from autograder.course.course import Course
    from beowulf import paths

    course = Course.find(paths.here())
    if (course.folder / dates.FILE).is_file():
        with course.gradebook() as book:
            known = {str(student.id) for student in book.students}
        known |= {path.name for path in course.folder.glob("submitted/[!.]*")}
        for each in dates.unknown_learners(course.folder, known) if known else []:
            say(each, to=sys.stderr)
    return course


def chosen_labs(course: Course, lab: str) -> list[str]:
    """The named lab, or else all labs of which something was collected."""
    if lab:
        return [course.lab(lab)]
    collected = [slug for slug in course.labs if course.submitted(slug)]
    if not collected:
        raise LabError(
            "Nothing has been collected yet.",
            "`beowulf class collect LAB FOLDER` collects what was handed in.",
        )
    return collected


def bar(what: str) -> AbstractContextManager[Progress]:
    """A bar in a terminal, as long as something is done; nothing where the output goes to a file."""
    from beowulf.this_machine import progress

    return progress.bar(what, shown=sys.stderr.isatty())


def as_json(by_lab: Mapping[str, Sequence[Any]]) -> str:
    """What dataclasses of each lab hold, as plain data."""
    plain = {slug: [asdict(each) for each in every] for slug, every in by_lab.items()}
    return json.dumps(plain, indent=1)


def show(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; what learners wrote in it is only text."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*headings, title=title)
    for row in rows:
        table.add_row(*(escape(plain(text)) for text in row))
    Console().print(table)


def doing(what: str) -> None:
    """Say what is done now: beside the results, so that a script which reads those does not get it."""
    say(f"{what} …", to=sys.stderr)
