"""What several commands for a class share: arguments, options, the course, the labs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.text import say
from beowulf.errors import LabError

if TYPE_CHECKING:
    from autograder.course.course import Course


Lab = Annotated[str, typer.Argument(help="The lab's number or name, as 01.")]
AnyLab = Annotated[
    str,
    typer.Argument(help="The lab's number or name, as 01; without it, all labs with hand-ins."),
]
Students = Annotated[
    list[str] | None,
    typer.Option("--student", help="Only this learner; may be given more than once."),
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=256, help="How many at the same time.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print plain data for a script.")]


def found_course() -> Course:
    """The course in whose folder the command was typed."""
    from autograder.course.course import Course
    from beowulf import paths

    return Course.find(paths.here())


def chosen_labs(course: Course, lab: str) -> list[str]:
    """The named lab, or else all labs of which something was collected."""
    if lab:
        return [course.lab(lab)]
    collected = [slug for slug in course.labs if course.submitted(slug)]
    if not collected:
        raise LabError(
            "Nothing was collected yet.",
            "`beowulf class collect LAB FOLDER` collects what was handed in.",
        )
    return collected


def doing(what: str) -> None:
    """Say what is done now: beside the results, so that a script which reads those does not get it."""
    say(f"{what} …", to=sys.stderr)
