"""`beowulf class …`: the commands of an instructor."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.files import cannot_write
from autograder.text import counted, plain, say
from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from autograder.course.course import Course, Graded
    from autograder.grading.marking import Answer
    from autograder.grading.regrade import Change
    from autograder.intake.submissions import Collected

app = typer.Typer(
    no_args_is_help=True,
    help="Give the labs to a class, collect what is handed in, grade it, and return the results.\n\n"
    "All but [bold]init[/bold] and [bold]kit[/bold] run in the course's folder, beside nbgrader's own commands.",
)
MOST_SHOWN = 20_000  # characters of an answer
GIVE_CODES = (
    "Give each learner their own line only, for instance by mail merge, before they measure."
)
Lab = Annotated[str, typer.Argument(help="The lab's number or name, as 01.")]
AnyLab = Annotated[
    str,
    typer.Argument(help="The lab's number or name, as 01; without it, all labs with hand-ins."),
]
Students = Annotated[
    list[str] | None,
    typer.Option("--student", help="Only this learner; may be given more than once."),
]
Cluster = Annotated[
    str,
    typer.Option(
        metavar="ssh|mpi|slurm",
        help="Grade on a cluster's nodes, by engines that are started in this way.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        max=256,
        help="How many submissions are graded at the same time: 2, or with --cluster 1 on each node.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print plain data for a script.")]


@app.command()
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new or an empty folder, or a course.")
    ],
    name: Annotated[str, typer.Option(help="What nbgrader calls the course.")] = "beowulf",
    roster: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file of the learners: of your own, or as Canvas or Moodle export it."
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

    _doing(f"Building the notebooks of every lab for {folder}")
    course = make_course(folder, name, exchange, roster, codes=codes)
    say(f"The course is in {course.folder}; its labs: {', '.join(course.labs)}.")
    if roster:
        _show_roster(course)
        if has_codes(course):
            say(f"Personal codes: {course.folder / variants.WORDS}. {GIVE_CODES}")
    say(f"Next: cd {folder}; beowulf class release {course.labs[0][:2]}")


def _show_roster(course: Course) -> None:
    """How many learners there are, and who is not on the newest roster any more."""
    from autograder.course import roster

    on_it = {each.id for each in roster.read(course.folder / roster.FILE)}
    with course.gradebook() as book:
        known = [each.id for each in roster.enrolled(book)]
    say(f"Learners: {len(known)}.")
    if left := [plain(each) for each in known if each not in on_it]:
        say(f"Not on this roster, and kept with all that they have: {', '.join(left)}.")
        say(
            "`nbgrader db student remove ID` takes one out of the gradebook; --force with the points."
        )


@app.command()
def words() -> None:
    """Create a personal code for each learner, as `init` does; their variants are derived from it.

    Example: beowulf class words
    """
    from autograder.evidence import variants

    course = _course()
    with course.gradebook() as book:
        students = sorted(str(student.id) for student in book.students)
    if not students:
        raise LabError(
            "The roster is empty.", "`beowulf class init . --roster FILE.csv` reads one."
        )
    try:
        made = variants.issue(course.folder, students)
    except OSError as problem:
        raise cannot_write(course.folder / variants.WORDS, problem) from None
    say(f"{made}: a personal code for each of {counted(len(students), 'learner')}.")
    say(GIVE_CODES)


@app.command()
def give(
    lab: Lab,
    records: Annotated[Path, typer.Argument(help="A folder of Records that you measured.")],
) -> None:
    """Label your Records, for learners whose machine cannot run a cluster.

    Example: beowulf class give 01 work/01-validation/records
    """
    from autograder.evidence import shared_records

    course = _course()
    slug = course.lab(lab)
    if not records.is_dir():
        raise UsageError(f"There is no folder {records}.", "Name a folder of Records.")
    made = shared_records.prepare(course.folder, slug, records, course.api.course_id)
    where = course.folder / shared_records.FOLDER / slug
    say(f"{counted(len(made), 'file')} in {where}: give them out as records/.")
    say("What is read off them counts in full; the points for having measured do not.")


@app.command()
def kit(
    output: Annotated[
        Path | None, typer.Option(metavar="DIR|FILE.zip", help="A new folder, or a new zip.")
    ] = None,
    git: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A new git repository, or that of an earlier kit."),
    ] = None,
) -> None:
    """Make what a class is given: the labs without solutions, rubrics and tests.

    In a course's folder, the course's released notebooks and its course.toml go into it.

    Example: beowulf class kit --output labs.zip
    """
    from autograder.course import kit as kits
    from autograder.course.course import CONFIGURATION
    from beowulf import paths

    here = paths.here()
    course = next((p for p in (here, *here.parents) if (p / CONFIGURATION).is_file()), None)
    place = output or git
    if place is None or (output and git):
        raise UsageError("A kit needs one place.", "Name it by `--output` or by `--git`.")
    if git:
        count = kits.commit(git, course)
    elif place.suffix == ".zip":
        count = kits.write_zip(place, course)
    else:
        count = kits.write(place, course)
    whose = f"the course in {course}" if course else "this checkout"
    say(f"{place}: {counted(count, 'file')}, of {whose}, without solutions.")
    say("A learner who has it types `make lab` in it, as in a clone.")


@app.command()
def release(lab: Lab) -> None:
    """Make the learners' version of a lab and put it into the exchange.

    Example: beowulf class release 01
    """
    course = _course()
    slug = course.lab(lab)
    _doing(f"Making the learners' version of {slug}")
    say(f"It is in the exchange, {course.release(lab)}; hand-ins are graded by it.")
    if graded := course.graded_students(slug):
        say(
            f"By the version before, {counted(len(graded), 'hand-in')} of it were graded:"
            f" `beowulf class regrade {lab} --dry-run` shows what would change."
        )


@app.command()
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
            help="When each was handed in: Moodle's grading worksheet, or a table with id and handed_in.",
        ),
    ] = None,
) -> None:
    """Collect what learners handed in: notebooks with their records/.

    It ends with 1 when a hand-in could not be collected, or cannot be read.

    Example: beowulf class collect 01 hand-ins.zip
    """
    from autograder.intake import collection

    course = _course()
    _doing(f"Collecting {course.lab(lab)}")
    results = collection.collect(course, lab, place, older, times)
    for each in results:
        late = ", late by the LMS' mark" if each.late else ""
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


@app.command()
def grade(
    lab: AnyLab = "",
    student: Students = None,
    jobs: Jobs = None,
    cluster: Cluster = "",
    as_json: AsJson = False,
) -> None:
    """Run and score every new submission; the points go into nbgrader's database.

    It ends with 1 when a submission could not be graded.

    Example: beowulf class grade 01 --jobs 4
    """
    course = _course()
    how = (student, jobs, cluster)
    graded = {slug: _graded(course, slug, *how, again=False) for slug in _labs(course, lab)}
    _show_all(graded, as_json)


@app.command()
def regrade(
    lab: AnyLab = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show whose points would change, and why.")
    ] = False,
    student: Students = None,
    jobs: Jobs = None,
    cluster: Cluster = "",
    as_json: AsJson = False,
) -> None:
    """Grade again what was graded before, after a rubric was changed; points given by hand stay.

    Example: beowulf class regrade 01 --dry-run
    """
    course = _course()
    if not dry_run:
        how = (student, jobs, cluster)
        graded = {slug: _graded(course, slug, *how, again=True) for slug in _labs(course, lab)}
        _show_all(graded, as_json)
        return
    from autograder.grading import regrade as again
    from beowulf.progress import bar

    changes: dict[str, list[Change]] = {}
    for slug in _labs(course, lab):
        with bar("comparing", shown=sys.stderr.isatty()) as progress:
            changes[slug] = list(again.changes(course, slug, progress, student))
    if as_json:
        say(
            json.dumps(
                {slug: [asdict(each) for each in every] for slug, every in changes.items()},
                indent=1,
            )
        )
        return
    for slug, every in changes.items():
        _show_changes(every, slug)


@app.command()
def mark(
    lab: Lab,
    question: Annotated[
        str, typer.Option(help="Only this question; without it, each that a person grades.")
    ] = "",
    student: Students = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also show answers that have points already.")
    ] = False,
    points: Annotated[
        float | None,
        typer.Option(help="Give one learner these points for one question, of any kind, at once."),
    ] = None,
    reason: Annotated[
        str, typer.Option(help="Why, for --points: the learner reads it, and it is kept.")
    ] = "",
) -> None:
    """Grade the written answers, one learner after the other, beside the author's answer.

    Example: beowulf class mark 01
    """
    from autograder.grading import marking

    course = _course()
    slug = course.lab(lab)
    if points is not None:
        if not (question and student and len(student) == 1 and reason.strip()):
            raise UsageError(
                "--points needs one --student, one --question and a --reason.",
                'As in: `--student ab12 --question explain --points 3 --reason "both parts"`.',
            )
        marking.give(course, slug, student[0], question, points, reason=reason)
        say(f"{student[0]}, {question}: {points:g}. `beowulf class feedback {lab}` says why.")
        return
    models = marking.questions(course, slug)
    if question and question not in models:
        raise UsageError(f"No person grades {question!r}.", f"There are: {', '.join(models)}.")
    for name in [question] if question else models:
        answers, notes = marking.answers(course, slug, name, student or (), again=again)
        for note in notes:
            say(note)
        if not answers:
            say(f"{name}: nothing waits.")
        elif not _mark_all(course, slug, models[name], answers):
            break


def _mark_all(course: Course, slug: str, model: str, answers: list[Answer]) -> bool:
    """Show each answer and ask for its points; False when the instructor has enough."""
    from autograder.grading import marking

    given: dict[str, float | None] = {each.student: each.given for each in answers}
    place = 0
    while place < len(answers):
        answer = answers[place]
        _show_answer(answer, model, f"{place + 1} of {len(answers)}")
        now = given[answer.student]
        has = "" if now is None else f", has {now:g}"
        say(
            f"Points of {answer.of:g}{has}, and a comment if you like. Enter: later, b: back, q: end"
        )
        try:
            typed = input("> ").strip()
        except EOFError:
            return False
        first, _, comment = typed.partition(" ")
        if first == "q":
            return False
        if first == "b":
            place = max(place - 1, 0)
            continue
        if first:
            try:
                number = float(first.replace(",", "."))
                marking.give(
                    course,
                    slug,
                    answer.student,
                    answer.question,
                    number,
                    comment=comment.strip(),
                    before=now,
                )
            except ValueError:
                say(f"{first!r} is no number.")
                continue
            except LabError as problem:
                say(f"{problem.message} {problem.hint}")
                continue
            given[answer.student] = number
        place += 1
    return True


def _show_answer(answer: Answer, model: str, place: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Text has no markup, so that a learner's brackets stay brackets.
    table = Table(title=Text(f"{answer.question}, {place}"), expand=True, show_lines=True)
    table.add_column(Text(plain(answer.student)), ratio=1)
    table.add_column("the author's answer", ratio=1)
    shown = plain(answer.text[:MOST_SHOWN]) or "(nothing)"
    table.add_row(Text(shown), Text(plain(model)))
    if answer.comment:
        table.add_row(Text(f"Your comment: {plain(answer.comment)}"), "")
    Console().print(table)


@app.command()
def feedback(
    lab: AnyLab = "",
    student: Students = None,
    to_exchange: Annotated[
        bool, typer.Option("--release", help="Put the pages into the exchange, too.")
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=1, max=256, help="How many pages are made at the same time.")
    ] = 2,
) -> None:
    """Write a page for each learner: their answers, what was expected, where to read.

    Example: beowulf class feedback 01
    """
    from autograder.results import feedback as feedback_pages
    from beowulf.progress import bar

    course = _course()
    bad = 0
    for slug in _labs(course, lab):
        _doing(f"Writing the pages of {slug}")
        with bar("feedback", shown=sys.stderr.isatty()) as progress:
            pages = list(feedback_pages.generate(course, slug, student, progress, jobs=jobs))
        for page in pages:
            if page.problem:
                say(f"{page.student}: {page.problem}")
        bad += sum(bool(page.problem) for page in pages)
        written = sum(len(page.files) for page in pages)
        say(f"{slug}: {counted(written, 'page')} in {course.folder / 'feedback'}/LEARNER/{slug}/.")
        if to_exchange:
            there = [course.release_feedback(slug, page.student) for page in pages if page.files]
            say(f"In the exchange, each for its learner: {sum(there)}.")
            if not all(there):
                others = len(there) - sum(there)
                say(f"Not there, because the hand-in did not come by the exchange: {others}.")
    if bad:
        raise typer.Exit(1)


@app.command()
def report(lab: AnyLab = "") -> None:
    """Write a page about the class: points, common mistakes, odd clusters, copies, what waits for you.

    Example: beowulf class report 01
    """
    from autograder.results import report as class_report
    from beowulf.progress import bar

    course = _course()
    for slug in _labs(course, lab):
        with bar("report", shown=sys.stderr.isatty()) as progress:
            page = class_report.write(course, slug, progress)
        say(f"{page} (with tables and pictures beside it)")


@app.command()
def export(
    lab: Annotated[
        list[str] | None, typer.Argument(help="Labs by number or name; without any, all.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="nbgrader, canvas or moodle.")] = "nbgrader",
    to: Annotated[Path | None, typer.Option(help="The file to write.")] = None,
) -> None:
    """Write the points as CSV, for a spreadsheet or for an LMS to import.

    Example: beowulf class export --format canvas
    """
    from autograder.results import export as grades

    if form not in grades.FORMATS:
        raise UsageError(
            f"There is no format {form!r}.", f"There are: {', '.join(grades.FORMATS)}."
        )
    course = _course()
    slugs = [course.lab(name) for name in lab or []]
    export = grades.write(course, form, to, slugs)
    say(f"{export.path}: the points of {counted(export.learners, 'learner')} in the format {form}.")
    if export.gaps:
        say(
            f"{counted(export.gaps, 'cell')} of it without points: an import clears what is there."
            " Name one lab at a time to leave them out."
        )
    if waiting := grades.waiting(course, slugs):
        say(f"Without the points of answers that wait to be graded by hand: {waiting}.")


def _course() -> Course:
    from autograder.course.course import Course
    from beowulf import paths

    return Course.find(paths.here())


def _labs(course: Course, lab: str) -> list[str]:
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


def _graded(
    course: Course,
    slug: str,
    students: list[str] | None,
    jobs: int | None,
    cluster: str,
    *,
    again: bool,
) -> list[Graded]:
    from autograder.grading import driver
    from beowulf.progress import bar

    pool = None
    if cluster:
        from beowulf.engines import starters

        pool = starters.engine_pool(cluster, jobs or 1)
    where = f" on the nodes, by engines that {cluster} starts" if cluster else ""
    _doing(f"Grading {slug}{where}: every new notebook is run again, which takes some seconds each")
    try:
        with bar("grading", shown=sys.stderr.isatty()) as progress:
            every = driver.grade(
                course, slug, students, jobs=jobs or 2, again=again, progress=progress, pool=pool
            )
            return sorted(every, key=lambda each: each.student)
    finally:
        for message in pool.messages if pool else ():
            say(message, to=sys.stderr)


def _doing(what: str) -> None:
    # Beside the results, so that a script which reads those does not get it.
    say(f"{what} …", to=sys.stderr)


def _show_all(graded: dict[str, list[Graded]], as_json: bool) -> None:
    if as_json:
        every_lab = {slug: [asdict(each) for each in every] for slug, every in graded.items()}
        say(json.dumps(every_lab, indent=1))
    else:
        for slug, every in graded.items():
            _show(every, slug)
        _next(each for every in graded.values() for each in every)
    if any(each.problem for every in graded.values() for each in every):
        raise typer.Exit(1)


def _show(graded: list[Graded], slug: str) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("learner", "points", "by hand", "note", title=f"Points in {slug}")
    for each in graded:
        note = each.problem or " ".join(
            filter(None, ["graded before" * each.skipped, each.late, each.doubted])
        )
        points = "" if each.problem else _points(each)
        table.add_row(
            escape(plain(each.student)), points, ", ".join(each.awaiting), escape(plain(note))
        )
    Console().print(table)


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
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if not changes:
        say(f"No points in {slug} would change.")
        return
    table = Table("learner", "question", "now", "then", "why", title=f"What would change in {slug}")
    for each in changes:
        why = f"{each.why} (stays: points by hand)" if each.by_hand else each.why
        row = (each.student, each.question, f"{each.before:g}", f"{each.after:g}", why)
        table.add_row(*(escape(plain(text)) for text in row))
    Console().print(table)
    whose = counted(len({each.student for each in changes}), "learner")
    them = "it" if len(changes) == 1 else "them"
    say(
        f"{counted(len(changes), 'change')} for {whose}. `beowulf class regrade {slug}` makes {them}."
    )


def _points(graded: Graded) -> str:
    """The points and how many are possible, without those that still wait for a person."""
    reached = f"{graded.points - graded.taken_off:g} of {graded.of - graded.by_hand:g}"
    return f"{reached}, {graded.by_hand:g} by hand" if graded.by_hand else reached
