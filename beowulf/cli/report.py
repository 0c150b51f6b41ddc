"""The command that writes a learner's report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from beowulf.cli.running_measurement import report as say


def report(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Folders with Records, or with those of labs; without one, your own in `work` and `records`.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The page; .json and .png are written next to it."),
    ] = Path("report.html"),
) -> None:
    """Write a page of what you built and found, and a picture to share.

    It has your own programs, predictions, and the papers' figures beside yours.

    Example: beowulf report --output lab-04.html work/04-blocking-nonblocking
    """
    from beowulf.report import report_page

    report_page.refuse(output)
    made = report_page.make(folders or [])
    files = made.save(output)
    for sentence in made.content["passed_over"]:
        say(f"passed over: {sentence}")
    shown = len(made.content["studies"])
    print(
        f"{shown} {'study' if shown == 1 else 'studies'} with {made.content['records']}"
        f" Record{'s' * (made.content['records'] != 1)}."
    )
    print(f"Written: {files[0]}, {files[1]}, and a picture to share: {files[2]}.")
