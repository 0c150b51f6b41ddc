"""The command behind `make lab`: cluster up, validated, JupyterLab with the home page, all of it down on Ctrl-C."""

from __future__ import annotations

import os
from typing import Annotated

import typer


def lab(
    name: Annotated[
        str,
        typer.Argument(
            help="The lab's number or name, or play: its page is opened. \\[default: the home page]"
        ),
    ] = "",
    port: Annotated[
        int, typer.Option(help="JupyterLab's port; the next free one if it is taken.")
    ] = 8888,
) -> None:
    """Boot the cluster and open JupyterLab; Ctrl-C ends both.

    The cluster is validated first. The home page has all labs with your progress, and the cluster; a lab's page has
    its handout and its notebook side by side. You work on copies in the folder `work`; what you changed there is never
    overwritten. `play` is a notebook without questions: your own MPI, capture and plot on one page.
    BEOWULF_NO_BROWSER=1 only prints the address.

    Example: beowulf lab
    """
    from beowulf.desk import jupyter

    jupyter.serve(name, port, open_browser=not os.environ.get("BEOWULF_NO_BROWSER"))
