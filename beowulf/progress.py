"""A progress bar with the time that is left, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from beowulf.studies import Progress, no_progress


@contextmanager
def bar(title: str, *, shown: bool = True) -> Iterator[Progress]:
    """A function to be told how much is done, of how much, and what is being done."""
    if not shown:
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with RichProgress(*columns, console=console, transient=True) as lines:
        task = lines.add_task(title, total=None)

        def told(done: float, of: float, what: str) -> None:
            lines.update(task, completed=done, total=of, description=what)

        yield told
