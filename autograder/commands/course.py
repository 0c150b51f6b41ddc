"""`beowulf class init`, `codes`, `give`, `kit` and `release`: the course, and what it gives to learners."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.shared import Lab, doing, found_course
from autograder.files import cannot_write
from autograder.text import counted, plain, say
from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from autograder.course.course import Course

GIVE_CODES = (
    "Give each learner their own line only, for instance by mail merge, before they measure."
)


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new or an empty folder, or a course.")
    ],
    name: Annotated[str, typer.Option(help="What nbgrader calls the course.")] = "beowulf",
    roster: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file of the learners: your own, or an export of Canvas or Moodle."
        ),
    ] = None,
    exchange: Annotated[
        Path | None,
        typer.Option(help="nbgrader's exchange, if it is not to be in the course's own folder."),
    ] = None,
    codes: Annotated[
        bool, typer.Option(help="Make a personal code for each learner of a new course.")
    ] = True,
) -> None:
    """Make a course with every lab in it, or add the labs and learners that a course lacks.

    A new course with a roster gets a personal code for each learner, without which no Record of theirs counts.

    Example: beowulf class init spring --roster roster.csv
    """
    from autograder.course.create import has_codes, make_course
    from autograder.evidence import variants

    doing(f"Building the notebooks of every lab for {folder}")
    course = make_course(folder, name, exchange, roster, codes=codes)
    say(f"The course is in {course.folder}; its labs: {', '.join(course.labs)}.")
    if roster:
        _show_roster(course)
        if has_codes(course):
            say(f"Personal codes: {course.folder / variants.WORDS}. {GIVE_CODES}")
    if not (course.folder / "release").exists():
        go = "" if course.folder.samefile(Path.cwd()) else f"cd {folder}; "
        say(f"Next: {go}beowulf class release {course.labs[0][:2]}")


def _show_roster(course: Course) -> None:
    """How many learners there are, and who is no longer on the newest roster."""
    from autograder.course import roster

    on_it = {each.id for each in roster.read(course.folder / roster.FILE)}
    with course.gradebook() as book:
        known = [each.id for each in roster.enrolled(book)]
    say(f"Learners: {len(known)}.")
    if left := [plain(each) for each in known if each not in on_it]:
        say(f"Not on this roster, but kept with all that they have: {', '.join(left)}.")
        say(
            "`nbgrader db student remove ID` removes one from the gradebook; --force also deletes the points."
        )


def codes() -> None:
    """Create a personal code for each learner, as `init` does; their variants are derived from it.

    Example: beowulf class codes
    """
    from autograder.evidence import variants

    course = found_course()
    with course.gradebook() as book:
        students = {str(student.id): student.email for student in book.students}
    if not students:
        raise LabError(
            "The roster is empty.", "`beowulf class init . --roster FILE.csv` reads one."
        )
    try:
        made = variants.issue(course.folder, students, students)
    except OSError as problem:
        raise cannot_write(course.folder / variants.WORDS, problem) from None
    say(f"{made}: a personal code for each of {counted(len(students), 'learner')}.")
    say(GIVE_CODES)


def give(
    lab: Lab,
    records: Annotated[Path, typer.Argument(help="A folder of Records that you measured.")],
) -> None:
    """Label your Records, for learners whose machine cannot run a cluster.

    Example: beowulf class give 01 ../beowulf-labs/work/01-validation/records
    """
    from autograder.evidence import shared_records

    course = found_course()
    slug = course.lab(lab)
    if not records.is_dir():
        raise UsageError(f"There is no folder {records}.", "Name a folder of Records.")
    made = shared_records.prepare(course.folder, slug, records, course.api.course_id)
    where = course.folder / shared_records.FOLDER / slug
    say(f"{counted(len(made), 'file')} in {where}: give them out as records/.")
    say("What is read off them counts in full; there are no points for having measured.")


def kit(
    output: Annotated[
        Path, typer.Option(metavar="DIR|FILE.zip", help="A new folder, or a new zip.")
    ],
) -> None:
    """Make a kit for the class: the labs without solutions, rubrics and tests.

    In a course's folder, the course's released notebooks and its course.toml go into it.

    Example: beowulf class kit --output labs.zip
    """
    from autograder.course import kit as kits
    from autograder.course.course import folder_of
    from beowulf import paths

    course = folder_of(paths.here())
    write = kits.write_zip if output.suffix == ".zip" else kits.write
    count = write(output, course)
    whose = f"the course in {course}" if course else "this checkout"
    say(f"{output}: {counted(count, 'file')}, of {whose}, without solutions.")
    say("A learner who has it types `make lab` in it, as in a clone.")
    say(
        "`beowulf check` in it looks only at the form of answers, whatever `check` in course.toml says."
    )


def release(lab: Lab) -> None:
    """Make the learners' version of a lab and put it into the exchange, with what course.toml changes in its questions.

    Example: beowulf class release 01
    """
    from autograder.course import dates
    from autograder.grading import marking
    from autograder.grading.lateness import minute

    course = found_course()
    slug = course.lab(lab)
    doing(f"Making the learners' version of {slug}")
    say(f"It is in the exchange, {course.release(lab, say)}; hand-ins are graded against it.")
    for each in marking.keep_within(course, slug):
        say(each)
    dated = dates.of_lab(course.folder, slug)
    last, day = dated.last, dated.limits.solutions_from
    if last and day and day <= last.date():
        say(f"`beowulf check` shows solutions from {day} on, but someone has until {minute(last)}.")
    if graded := course.graded_students(slug):
        say(
            f"Graded by the previous version: {counted(len(graded), 'hand-in')} of it."
            f" `beowulf class regrade {lab} --dry-run` shows what would change."
        )
