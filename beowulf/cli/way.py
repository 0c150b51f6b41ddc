"""Before a command changes the cluster: a measurement that is under way is not spoiled without a word."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[
    bool,
    typer.Option("--force", help="End a measurement that is under way; it keeps what it has."),
]
Wait = Annotated[
    bool, typer.Option("--wait", help="Wait until nobody else measures on the cluster.")
]


def make(command: str, force: bool, folder: Path | None = None) -> None:
    """Go on where nobody measures, or once the measurement has ended, by `force` or because a person says so.

    HeldError where nobody can be asked; the command ends where the person says no.
    """
    from beowulf import paths
    from beowulf.cluster import lock

    folder = folder or paths.state()
    found = lock.holder(folder)
    if found is None:
        return
    if not force:
        if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
            raise lock.LockedError(found, lock.FORCE)
        print(found)
        if not typer.confirm("End that measurement, which keeps what it has?"):
            raise typer.Exit(1)
    lock.end(folder, f"{command} --force" if force else command)


def say(sentence: str) -> None:
    """Tell a person what is waited for."""
    print(f"beowulf: {sentence}", file=sys.stderr, flush=True)
