"""The command behind `make demo`: a cluster of its own, one ping-pong, one page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def demo(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The page to write. \\[default: demo.html here, or at home if you may not write here]",
        ),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="Also write its figures into this folder, as .svg.")
    ] = None,
) -> None:
    """See what the labs are about: a ping-pong on four nodes, on one page.

    It boots four nodes, measures how long messages take, captures and records some of them, takes the nodes down and
    opens a page with a curve, the packets of one message and a timeline. A cluster that you have already stays as it
    is. BEOWULF_NO_BROWSER=1 only prints where the page is.

    Example: beowulf demo
    """
    from beowulf.desk import demo as first_look

    first_look.show(output, pictures, open_browser=not os.environ.get("BEOWULF_NO_BROWSER"))
