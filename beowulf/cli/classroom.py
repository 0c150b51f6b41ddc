"""`beowulf class …`: the commands of an instructor."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from autograder.course import Graded

app = typer.Typer(
    no_args_is_help=True,
    help="Give the labs to a class and grade them with nbgrader.\n\n"
    "All but [bold]init[/bold] run in the course's folder.",
)
Lab = Annotated[str, typer.Argument(help="The lab's number or name, as 01.")]


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or an empty folder.")],
    name: Annotated[str, typer.Option(help="What nbgrader calls the course.")] = "beowulf",
    exchange: Annotated[
        Path | None,
        typer.Option(help="nbgrader's exchange, if it shall not be in the course's own folder."),
    ] = None,
) -> None:
    """Make a course with every lab in it, or add the labs that a course lacks.

    Example: beowulf class init spring
    """
    from autograder.foundation import make_course

    _doing(f"Building the notebooks of every lab for {folder}")
    course = make_course(folder, name, exchange)
    print(f"The course is in {course.folder}; its labs: {', '.join(course.labs)}.")
    print(f"Next: cd {folder}; beowulf class release {course.labs[0][:2]}")


@app.command()
def release(lab: Lab) -> None:
    """Make the learners' version of a lab and put it into the exchange.

    Example: beowulf class release 01
    """
    from autograder.course import Course

    course = Course.find(Path.cwd())
    _doing(f"Making the learners' version of {course.lab(lab)}")
    print(f"Learners can fetch it from {course.release(lab)}.")


@app.command()
def collect(
    lab: Lab,
    folder: Annotated[
        Path | None, typer.Argument(help="One folder a learner; without it, the exchange.")
    ] = None,
) -> None:
    """Take in what learners handed in: notebooks with their records/.

    Example: beowulf class collect 01 hand-ins
    """
    from autograder.course import Course

    course = Course.find(Path.cwd())
    _doing(f"Taking in {course.lab(lab)}")
    found = course.collect(lab, folder)
    for each in found:
        print(f"{each.student}: {each.outcome}")
        for note in each.notes:
            print(f"  {note}")
    refused = sum(each.outcome == "refused" for each in found)
    print(f"Here: {len(found) - refused}. Refused: {refused}.")
    if refused:
        raise typer.Exit(1)


@app.command()
def grade(
    lab: Lab,
    student: Annotated[
        list[str] | None, typer.Option(help="Only this learner; may be given more than once.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also what was graded before; points by hand stay.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print plain data for a script.")] = False,
) -> None:
    """Run and score every new submission; the points go into nbgrader's database.

    It ends with 1 when a submission could not be graded.

    Example: beowulf class grade 01
    """
    from autograder.course import Course
    from beowulf.progress import bar

    course = Course.find(Path.cwd())
    slug = course.lab(lab)
    _doing(f"Grading {slug}: every new notebook is run again, which takes some seconds each")
    with bar("grading", shown=sys.stderr.isatty() and not as_json) as told:
        graded = list(course.autograde(lab, student, again, told))
    if as_json:
        print(json.dumps([asdict(each) for each in graded], indent=1))
    else:
        _show(graded, slug)
    if any(each.problem for each in graded):
        raise typer.Exit(1)


def _doing(what: str) -> None:
    # Beside the results, so that a script which reads those does not get it.
    print(f"{what} …", file=sys.stderr, flush=True)


def _show(graded: list[Graded], slug: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("learner", "points", "by hand", "note", title="Points")
    for each in graded:
        note = each.problem or ("graded before" if each.skipped else "")
        points = "" if each.problem else _points(each)
        table.add_row(each.student, points, ", ".join(each.awaiting), note)
    Console().print(table)
    if any(each.awaiting for each in graded):
        print("What waits for you: start `jupyter lab` here and choose Nbgrader > Formgrader.")
        print("When you have read it, give the class its points and reasons:")
    else:
        print("To give the class its points and reasons:")
    print(f"  nbgrader generate_feedback {slug}")
    print("  nbgrader export")


def _points(graded: Graded) -> str:
    """What was reached of what could be, without that which still waits for a person."""
    reached = f"{graded.points:g} of {graded.of - graded.by_hand:g}"
    return f"{reached}, {graded.by_hand:g} by hand" if graded.by_hand else reached
