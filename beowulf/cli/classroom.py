"""`beowulf class …`: the commands of an instructor."""

from __future__ import annotations

import json
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

    course = make_course(folder, name, exchange)
    print(f"The course is in {course.folder}; its labs: {', '.join(course.labs)}.")
    print(f"Next: cd {folder}; beowulf class release {course.labs[0][:2]}")


@app.command()
def release(lab: Lab) -> None:
    """Make the learners' version of a lab and put it into the exchange.

    Example: beowulf class release 01
    """
    from autograder.course import Course

    print(f"Learners can fetch it from {Course.find(Path.cwd()).release(lab)}.")


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

    found = Course.find(Path.cwd()).collect(lab, folder)
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
    from rich.progress import track

    from autograder.course import Course

    course = Course.find(Path.cwd())
    count = len(student or course.submitted(course.lab(lab)))
    found = course.autograde(lab, student, again)
    shown = track(found, "grading", total=count, disable=as_json, transient=True)
    graded = list(shown)
    if as_json:
        print(json.dumps([asdict(each) for each in graded], indent=1))
    else:
        _show(graded, course.lab(lab))
    if any(each.problem for each in graded):
        raise typer.Exit(1)


def _show(graded: list[Graded], slug: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("learner", "points", "by hand", "", title="Points")
    for each in graded:
        said = each.problem or ("graded before" if each.skipped else "")
        points = "" if each.problem else f"{each.points:g} of {each.of:g}"
        table.add_row(each.student, points, ", ".join(each.awaiting), said)
    Console().print(table)
    print(f"The reasons, for each learner: nbgrader generate_feedback {slug}")
    if any(each.awaiting for each in graded):
        print("What waits for you: start `jupyter lab` here and choose Nbgrader > Formgrader.")
