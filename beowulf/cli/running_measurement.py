"""Before a command changes the cluster: no measurement that is under way is disturbed without a question."""

from __future__ import annotations

import sys

import typer


def ask_before(command: str, force: bool) -> None:
    """Return when no measurement is under way; else end it, with `force` or when the user agrees.

    LockedError without a terminal; the command ends when the user says no.
    """
    from beowulf import paths
    from beowulf.cluster.holding import lock

    folder = paths.state()
    holder = lock.holder(folder)
    if holder is None:
        return
    if not force:
        if not at_terminal():
            raise lock.LockedError(holder, lock.FORCE)
        print(holder)
        if not typer.confirm("End that measurement, which keeps what it has?"):
            raise typer.Exit(1)
    lock.end(folder, f"{command} --force" if force else command)


def at_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def report(sentence: str) -> None:
    """Print for a person what the command waits for, or what went wrong meanwhile."""
    print(f"beowulf: {sentence}", file=sys.stderr, flush=True)
