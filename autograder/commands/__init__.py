"""`beowulf class …`: the commands of an instructor."""

from __future__ import annotations

import typer

from autograder.commands import course, demo, grading, live, marking, printing, results

app = typer.Typer(
    no_args_is_help=True,
    help="Give the labs to a class, collect, grade, and return results.\n\n"
    "All but [bold]init[/bold], [bold]kit[/bold], [bold]key[/bold] and [bold]demo[/bold] run in the course's folder, "
    "beside nbgrader's own commands.",
)
for command in (
    course.init,
    course.codes,
    course.give,
    course.kit,
    course.release,
    live.live,
    printing.key,
    grading.collect,
    grading.grade,
    grading.regrade,
    marking.mark,
    results.feedback,
    results.report,
    results.export,
    demo.demo,
):
    app.command()(command)
