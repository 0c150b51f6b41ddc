"""The commands that run programs on the cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    """Put this file's commands into `app`."""
    app.command(
        rich_help_panel="Programs and studies",
        context_settings={"allow_interspersed_args": False},
    )(run)


def run(
    program: Annotated[Path, typer.Argument(help="A program, a C source or a Python file.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="The program's own arguments.")
    ] = None,
    ranks: Annotated[int, typer.Option("-n", help="How many ranks.")] = 4,
    timeout: Annotated[
        float, typer.Option(min=0, help="Stop it after this many seconds; 0: never.")
    ] = 600.0,
) -> None:
    """Run an MPI program on the cluster, from node00, in the folder that you are in.

    A C source is compiled first. A node that dies and a program that hangs end the run with a sentence.

    Example: beowulf run -n 4 labs/01-validation/hello.c
    """
    from beowulf import mpi
    from beowulf.cluster import running
    from beowulf.errors import LabError

    done = mpi.launch(running(), program, ranks, arguments or (), timeout_s=timeout, show=True)
    if sentence := mpi.failure(done, program.name):
        raise LabError(sentence, "What it printed above says more.")
