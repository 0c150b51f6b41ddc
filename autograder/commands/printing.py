"""`beowulf class key`: the points and answers of a lab, for an instructor to print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.files import cannot_write
from autograder.text import counted, say


def key(
    lab: Annotated[
        str, typer.Argument(help="The lab's number or name, as 01; without it, all.")
    ] = "",
    output: Annotated[Path, typer.Option("-o", "--output", help="The page to write.")] = Path(
        "key.html"
    ),
) -> None:
    """Write a page to print: each question with its points and the author's answer; in a course's folder, as it asks.

    Example: beowulf class key 01 -o key-01.html
    """
    from autograder.course.course import folder_of
    from autograder.results import answer_key
    from beowulf import paths

    course = folder_of(paths.here())
    labs = answer_key.chosen(lab, course)
    page = answer_key.key(labs, course)
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as problem:
        raise cannot_write(output, problem) from None
    say(
        f"{output}: the key of {counted(len(labs), 'lab')}, for you alone. A browser shows and prints it."
    )
