"""The commands that check a learner's work before it is handed in, and show progress."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from beowulf.cli.options import AsJson
from beowulf.errors import UsageError


def check(
    lab: Annotated[str, typer.Argument(help="The lab's number or name.")],
    hint: Annotated[
        str, typer.Option(metavar="QUESTION", help="Open one more hint for this question.")
    ] = "",
    solution: Annotated[
        str, typer.Option(metavar="QUESTION", help="Show the author's answer to this question.")
    ] = "",
    folder: Annotated[
        Path | None,
        typer.Option(help="Where the notebook is, if not here and not in the folder for work."),
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with exit status 1 while a question is open.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at a lab before you hand it in: what is still open?

    That is what is empty, malformed, not measured, or not yet right. It reads your notebook as it was saved last, and
    your Records. It runs nothing. How much of it a class sees is in its course's file course.toml.

    Example: beowulf check 04
    """
    from autograder.self_check import hints, solutions, states
    from autograder.self_check.work import find
    from beowulf.course.checklist import DONE
    from beowulf.desk import sharing

    if hint and solution:
        raise UsageError("A hint or a solution, not both.", "Ask for one after the other.")
    work = find(lab, folder)
    if hint or solution:
        said = hints.next_hint(work, hint) if hint else solutions.solution(work, solution)
        print(json.dumps({"says": said}) if as_json else said)
        return
    found = states.checklist(work)
    sharing.checked(work.slug, work.folder, {line.question: line.symbol for line in found.lines})
    if as_json:
        page = found._repr_html_()
        print(json.dumps(found.as_plain() | {"written": work.written(), "html": page}, indent=1))
    else:
        from rich.console import Console

        Console().print(found)
        for sentence in (*found.notes, found.summary):
            print(sentence)
    if exit_code and any(line.symbol != DONE for line in found.lines):
        raise typer.Exit(1)


def progress(as_json: AsJson = False) -> None:
    """Show how far you are in each lab.

    It counts answers, Records, sealed predictions, and the time between your Records.

    Example: beowulf progress
    """
    from autograder.self_check import progress as room

    found = room.progress()
    if as_json:
        print(json.dumps(found.as_plain(), indent=1))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("lab", "answered", "whole Records", "predictions sealed", "minutes", "note")
    for row in found.rows:
        table.add_row(
            row.lab,
            f"{row.answered} of {row.questions}",
            f"{row.whole} of {row.records}" if row.records else "none",
            f"{row.sealed} of {row.predictions}" if row.predictions else "",
            str(row.minutes or ""),
            escape(row.note),
        )
    Console().print(table)
    print("Minutes: from the first to the last Record of a day, all days together.")
    print(found.calibration)


def share(
    folder: Annotated[
        Path | None, typer.Argument(help="The folder of your class, on this machine.")
    ] = None,
    stop: Annotated[
        bool, typer.Option("--stop", help="Stop sharing, and delete what was shared.")
    ] = False,
) -> None:
    """Show your class your progress and measurements in a lab, without your name on the projector.

    Nothing is shared before you type this, and nothing leaves this machine. Without a folder it says whether you share.

    Example: beowulf share /srv/beowulf/exchange/spring/live
    """
    from beowulf.desk import sharing

    if stop:
        gone = sharing.stop()
        print(f"{gone} is deleted; you share nothing." if gone else "You share nothing.")
    elif folder:
        own = sharing.start(folder)
        print(f"From now on, this is written to {own}: {sharing.WRITTEN}.")
        print(
            "It is for you and your instructor. In a notebook, the cell with `connect` starts the sharing."
        )
        print("`beowulf share --stop` ends it, and deletes all of that.")
    else:
        now = sharing.place()
        print(f"You share in {now}: {sharing.WRITTEN}." if now else "You share nothing.")
