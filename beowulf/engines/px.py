"""`%%px` in a notebook: a cell, or a line, that runs on a learner's engines."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from beowulf.engines.learner_engines import Engines

NONE = LabError(
    "No engines are running.", "`engines = start_engines(cluster)` starts one on each node."
)


class _Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%%px: {message}.", f"Its options: {self.format_usage().strip()}")


def _options() -> _Options:
    """The options of `%%px`: some of ipyparallel's, by its names, and our own --timeout and --trace."""
    reader = _Options(prog="%%px", add_help=False, allow_abbrev=False)
    reader.add_argument("-t", "--targets", default="", metavar="0,1")
    reader.add_argument("--timeout", type=float, metavar="S")
    reader.add_argument("--trace", default="", metavar="NAME")
    return reader


def ranks(text: str, count: int) -> tuple[int, ...]:
    """The ranks that `--targets` names: `all`, one, several with commas, or a slice such as `1:`; () is all."""
    if text in ("", "all"):
        return ()
    every = range(count)
    try:
        if ":" in text:
            ends = (int(end) if end.strip() else None for end in text.split(":"))
            chosen = tuple(every[slice(*ends)])
        else:
            chosen = tuple(every[int(each)] for each in text.strip("[]()").split(",") if each)
    except (ValueError, TypeError, IndexError):
        chosen = ()
    if not chosen:
        raise UsageError(
            f"%%px: --targets {text} names no ranks; the ranks are 0 to {count - 1}.",
            "Write `0`, `0,2` (without spaces), `1:` or `all`.",
        )
    return chosen


class Px:
    """What `%%px` and `%px` do."""

    def __init__(self, engines: Engines) -> None:
        self.engines = engines

    def cell(self, line: str, cell: str) -> None:
        """Run a cell on the engines."""
        asked_for = _options().parse_args(line.split())
        chosen = ranks(asked_for.targets, len(self.engines.nodes))
        # So that lines are counted as in the notebook; what is a magic of its own has to come first.
        numbered = cell if cell.lstrip().startswith("%%") else f"# %%px\n{cell}"
        with self._recorded(asked_for.trace):
            self.engines.run(numbered, chosen, timeout_s=asked_for.timeout)

    @contextmanager
    def _recorded(self, name: str) -> Iterator[None]:
        """Record the ranks into a folder of that name, and show what they did; nothing where there is no name."""
        if not name:
            yield
            return
        folder = Path(f"{name}.trace")
        with self.engines.recorded(folder):
            yield
        from rich.console import Console

        from beowulf.timeline import analysis

        Console().print(analysis.read(folder))

    def line(self, line: str) -> None:
        """Run a line on all engines."""
        self.engines.run(line)


def register(engines: Engines) -> None:
    """Make `%%px` and `%px` of this notebook those of these engines; nothing outside of a notebook."""
    from IPython.core.getipython import get_ipython

    px = Px(engines)
    if shell := get_ipython():
        _enter(shell, px.cell, px.line)


def announce() -> None:
    """Let `%%px` say what to do in a notebook that has started no engines."""
    from IPython.core.getipython import get_ipython

    def none(*_: str) -> NoReturn:
        raise NONE

    shell: Any = get_ipython()
    if shell and "px" not in shell.magics_manager.magics["cell"]:
        _enter(shell, none, none)


def _enter(shell: Any, cell: Any, line: Any) -> None:
    from IPython.core.magic import no_var_expand

    def px_cell(text: str, body: str) -> None:
        cell(text, body)

    def px_line(text: str) -> None:
        line(text)

    # What is in braces is Python of the engines, and not a variable of the notebook.
    shell.register_magic_function(no_var_expand(px_cell), "cell", "px")
    shell.register_magic_function(no_var_expand(px_line), "line", "px")
