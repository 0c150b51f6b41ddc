"""`beowulf class demo`: a course to look at before there is a class."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.shared import bar, doing
from autograder.text import say
from beowulf.errors import LabError

if TYPE_CHECKING:
    from autograder.course.course import Course

NAME = "beowulf-demo"  # of the folder, and of the course in it
LAB = "01"
DATES = "\n[labs.01]\ndue = 2024-01-12T18:00:00\nlate_points = 1\n"
# Of some learners the written answer is graded already, the others wait.
BY_HAND = {
    "learner-01": (4.0, "All three, with your own figure."),
    "learner-02": (2.0, "What did your own idle wire carry?"),
    "learner-03": (0.5, "Which rank waits is a consequence: which line names the cause?"),
}
NEXT = """\
Look at it:
  the class     {folder}/reports/{slug}/index.html
  feedback      {folder}/feedback/learner-01/{slug}/validation.html, and of six others
  by hand       cd {folder}; beowulf class mark 01
  formgrader    cd {folder}; jupyter lab, then Nbgrader > Formgrader
  grades        cd {folder}; beowulf class export 01
Remove it: beowulf class demo {folder} --remove"""


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to make or to remove.")
    ] = Path(NAME),
    remove: Annotated[bool, typer.Option("--remove", help="Remove the demo course.")] = False,
) -> None:
    """Make a course of eight made-up learners: lab 01 handed in, graded, with report and feedback.

    One hand-in is late, one has a different due date, one is a copy, one has a doubtful Record, one cannot be read.

    Example: beowulf class demo
    """
    if remove:
        _remove(folder)
    else:
        _make(folder)


def _remove(folder: Path) -> None:
    from autograder.course.course import CONFIGURATION

    settings = folder / CONFIGURATION
    if not (settings.is_file() and f"course_id = {NAME!r}" in settings.read_text(encoding="utf-8")):
        raise LabError(
            f"{folder} is not a demo course.", "Only a demo course can be removed like this."
        )
    shutil.rmtree(folder)
    say(f"{folder} has been removed.")


def _make(folder: Path) -> None:
    from autograder.course import dates, limits
    from autograder.course.create import make_course
    from autograder.grading import driver, marking
    from autograder.intake import collection
    from beowulf import paths

    if not (paths.root() / "tests" / "gold").is_dir():
        raise LabError(
            "This copy of the labs has no made-up hand-ins.", "Use a clone of the project."
        )
    if folder.exists():
        raise LabError(
            f"{folder} exists.", f"`beowulf class demo {folder} --remove` removes a demo course."
        )
    with TemporaryDirectory() as aside:
        doing("Making the hand-ins of eight learners")
        _hand_ins(Path(aside))
        doing(f"Making the course {folder}")
        course = make_course(folder, NAME, None, Path(aside, "roster.csv"))
        with (course.folder / limits.FILE).open("a", encoding="utf-8") as file:
            file.write(DATES)
        shutil.copy(Path(aside, dates.FILE), course.folder)
        course.release(LAB)
        doing("Collecting and grading")
        collection.collect(course, LAB, Path(aside, "hand-ins"), table=Path(aside, "times.csv"))
    slug = course.lab(LAB)
    with bar("grading") as progress:
        list(driver.grade(course, slug, jobs=2, progress=progress))
    for student, (points, comment) in BY_HAND.items():
        marking.give(course, slug, student, "explain", points, comment=comment)
    _write_results(course, slug)
    say(NEXT.format(folder=folder, slug=slug))


def _hand_ins(place: Path) -> None:
    """Let the tests' learners write what they hand in; LabError where they cannot."""
    from beowulf import paths

    done = subprocess.run(
        [sys.executable, "-m", "tests.gold.demo_class", str(place)],
        cwd=paths.root(),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise LabError(f"The hand-ins could not be made:\n{done.stderr.strip()}")


def _write_results(course: Course, slug: str) -> None:
    from autograder.results import feedback, report

    doing("Writing feedback and report")
    with bar("feedback") as progress:
        list(feedback.generate(course, slug, progress=progress, jobs=2))
    with bar("report") as progress:
        report.write(course, slug, progress)
