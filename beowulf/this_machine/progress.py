"""How far a measurement is: a bar with the time that is left, in a terminal and in a notebook."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

# called with how much is done, of how much, and what is being done
Progress = Callable[[float, float, str], None]


def no_progress(done: float, of: float, what: str) -> None:
    """Show nothing."""


@contextmanager
def bar(title: str, *, shown: bool = True) -> Iterator[Progress]:
    """A function to be called with how much is done, of how much, and what is being done."""
    if not shown:
        yield no_progress
        return
    from IPython.core.getipython import get_ipython

    if type(get_ipython()).__name__ == "ZMQInteractiveShell":
        with _in_cell(title) as report:
            yield report
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with RichProgress(*columns, console=console, transient=True) as lines:
        task = lines.add_task(title, total=None)

        def report(done: float, of: float, what: str) -> None:
            lines.update(task, completed=done, total=of, description=what)

        yield report


@contextmanager
def _in_cell(title: str) -> Iterator[Progress]:
    # Plain HTML that is taken away at the end: a widget would be missing when the saved notebook is opened again.
    from IPython import display

    room: Any = display  # it has no types
    began = time.monotonic()
    cell = room.display(room.HTML(escape(title)), display_id=True)

    def report(done: float, of: float, what: str) -> None:
        nonlocal began
        if not done:  # what is waited for at first tells nothing of the rest
            began = time.monotonic()
        passed = time.monotonic() - began
        left = f", {passed * (of - done) / done:.0f} s left" if done and of else ""
        drawn = f'<progress value="{done}" max="{of or 1}"></progress>'
        cell.update(room.HTML(f"{drawn} {escape(what)}{left}"))

    try:
        yield report
    finally:
        cell.update(room.HTML(""))
