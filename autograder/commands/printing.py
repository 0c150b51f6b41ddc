"""`beowulf class points` and `key`: what an instructor prints, from the labs themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.files import cannot_write
from autograder.text import counted, say
from beowulf.errors import UsageError

SomeLab = Annotated[str, typer.Argument(help="The lab's number or name, as 01; without it, all.")]


def points(
    lab: SomeLab = "",
    form: Annotated[str, typer.Option("--format", help="markdown or csv.")] = "markdown",
) -> None:
    """Print what each question is worth, who gives the points, and what is asked, from lab.toml.

    Example: beowulf class points --format csv > points.csv
    """
    from autograder.results import answer_key

    if form not in answer_key.FORMATS:
        raise UsageError(
            f"There is no format {form!r}.", f"There are: {', '.join(answer_key.FORMATS)}."
        )
    say(answer_key.FORMATS[form](answer_key.chosen(lab)).rstrip("\n"))


def key(
    lab: SomeLab = "",
    output: Annotated[Path, typer.Option("-o", "--output", help="The page to write.")] = Path(
        "key.html"
    ),
) -> None:
    """Write a page to print: each question with its points and the author's answer.

    Example: beowulf class key 01 -o key-01.html
    """
    from autograder.results import answer_key

    labs = answer_key.chosen(lab)
    page = answer_key.key(labs)
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as problem:
        raise cannot_write(output, problem) from None
    say(
        f"{output}: the key of {counted(len(labs), 'lab')}, for you alone. A browser shows and prints it."
    )
