"""How far a measurement is: a bar with the time that is left, and in a notebook the figure of what there is so far."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from html import escape
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from beowulf.figures import Figure
    from beowulf.record import Record

    Draw = Callable[[Record], Figure]

# Between two drawings at least this passes, and so many times as long as the last one took.
EVERY_S, TIMES = 2.0, 4
REST_S = 0.2  # for the browser to show it, before anything runs again

# called with how much is done, of how much, and what is being done
Progress = Callable[[float, float, str], None]


def no_progress(done: float, of: float, what: str) -> None:
    """Show nothing."""


def in_cell() -> bool:
    """Whether this runs in a cell of a notebook."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


def aside() -> TextIO:
    """Where a sentence goes that is no result: stderr; in a cell stdout, since stderr looks like a failure there."""
    return sys.stdout if in_cell() else sys.stderr


@contextmanager
def bar(title: str, *, shown: bool = True, draw: Draw | None = None) -> Iterator[Progress]:
    """A function to be called with how much is done, of how much, and what is being done; in a cell an InCell."""
    if not shown:
        yield no_progress
        return
    if in_cell():
        with closing(InCell(title, draw)) as cell:
            yield cell
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


class InCell:
    """A notebook's cell: a bar, and below it what `draw` makes of the Record so far; both are taken away at the end."""

    # Not a widget, which would be missing when the saved notebook is opened again.

    def __init__(self, title: str, draw: Draw | None = None) -> None:
        from IPython import display

        self._room: Any = display  # it has no types
        self._draw = draw
        self._began, self._next = time.monotonic(), 0.0
        self._bar = self._room.display(self._room.HTML(escape(title)), display_id=True)
        self._figure: Any = draw and self._room.display(self._room.HTML(""), display_id=True)

    def __call__(self, done: float, of: float, what: str) -> None:
        """Move the bar."""
        if not done:  # what is waited for at first tells nothing of the rest
            self._began = time.monotonic()
        passed = time.monotonic() - self._began
        left = f", {passed * (of - done) / done:.0f} s left" if done and of else ""
        drawn = f'<progress value="{done}" max="{of or 1}"></progress>'
        self._bar.update(self._room.HTML(f"{drawn} {escape(what)}{left}"))

    def show(self, record: Callable[[], Record], *, now: bool = False) -> None:
        """Between two launches, draw a Record, unless one was just drawn; where that fails, the last one stays."""
        began = time.monotonic()
        if self._draw is None or (began < self._next and not now):
            return
        # A figure of few launches can fail in any way, and must not end their measurement.
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figure = self._draw(record())
            if any(axes.has_data() for axes in figure.drawing.axes):
                self._figure.update(figure._repr_mimebundle_(), raw=True)
                time.sleep(REST_S)
        ended = time.monotonic()
        self._next = ended + max(EVERY_S, TIMES * (ended - began))

    def clear(self) -> None:
        """Take the figure away: `picture(record)` draws the whole one."""
        if self._figure:
            self._figure.update(self._room.HTML(""))

    def close(self) -> None:
        """Take the bar away."""
        self._bar.update(self._room.HTML(""))
