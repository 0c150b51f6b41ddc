"""What each engine of a learner's knows beside IPython. It is sent there as text: a node need not have this project.

A notebook calls the one object of this file by its name `_beowulf`; the learner's own names are none of ours.
"""

from __future__ import annotations

import ctypes
import faulthandler
import inspect
import linecache
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

# Asks where a rank is, whatever it does: the answer is written by C. MPICH has SIGUSR1.
ASKS_WHERE = signal.SIGUSR2
# ipykernel gives each cell a file of its own in a folder of such a name.
CELLS = "ipykernel_"


class OnEngine:
    """What a notebook asks of one engine, by the names of its methods; `names` are the learner's."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        self._most = self._left = 0
        self._file: Any = None

    def __call__(self, what: str, *arguments: Any) -> Any:
        """Do what a method of that name does."""
        return getattr(self, what)(*arguments)

    def rank(self) -> int:
        """The rank of this engine."""
        from mpi4py import MPI

        return int(MPI.COMM_WORLD.Get_rank())

    def begin(self, node: str, folder: str, most_output: int) -> dict[str, Any]:
        """Give the learner's names their values; who this engine is, and how it is asked where it is."""
        import numpy as np  # here, because this file is also read where there are no engines
        from mpi4py import MPI

        world = MPI.COMM_WORLD
        rank = world.Get_rank()
        self.names.update(
            {"MPI": MPI, "np": np, "world": world, "rank": rank, "ranks": world.Get_size()}
        )
        self.names["node"] = node
        os.makedirs(folder, exist_ok=True)
        self._file = open(f"{folder}/where-{rank}", "w")  # noqa: SIM115, faulthandler writes there
        faulthandler.register(ASKS_WHERE, self._file, all_threads=True)
        self._limit(most_output)
        return {
            "pid": os.getpid(),
            "thread": threading.main_thread().ident,
            "file": self._file.name,
            "patient": os.environ.get("BEOWULF_POLLING") == "patient",
        }

    def _limit(self, most: int) -> None:
        """Let each cell print so many characters; what comes after them is left out."""
        self._most = self._left = most

        def limited(write: Callable[[str], Any]) -> Callable[[str], int]:
            def some(text: str) -> int:
                room, self._left = self._left, self._left - len(text)
                if room > 0:
                    write(text[:room])
                return len(text)

            return some

        stream: Any
        for stream in (sys.stdout, sys.stderr):
            stream.write = limited(stream.write)
        from IPython.core.getipython import get_ipython

        shell: Any = get_ipython()
        shell.events.register("pre_run_cell", self._renew)

    def _renew(self, *_: object) -> None:
        self._left = self._most

    # Each of these gives "" and what was asked for, or why it cannot be given.

    def call(self, name: str, arguments: list[Any]) -> tuple[str, Any]:
        """What a function of the learner's gives."""
        self._renew()
        function = self.names.get(name)
        if not callable(function):
            return f"there is no function {name}", None
        return "", function(*arguments)

    def run(self, source: str, name: str, arguments: list[Any]) -> tuple[str, Any]:
        """What a function in this `source` gives, which gets the learner's names first."""
        self._renew()
        known: dict[str, Any] = {"__name__": "beowulf_run"}
        exec(source, known)
        return "", known[name](self.names, *arguments)

    def value(self, name: str) -> tuple[str, Any]:
        """The value of a variable."""
        if name not in self.names:
            return f"there is no {name}", None
        value = self.names[name]
        if not _plain(value):
            kind = type(value).__name__
            return f"{name} is a {kind}; numbers, texts, lists and arrays can be collected", None
        return "", value

    def source(self, name: str) -> tuple[str, Any]:
        """The text of a function."""
        try:
            return "", inspect.getsource(self.names[name])
        except KeyError:
            return f"there is no function {name}", None
        except (OSError, TypeError):
            return f"{name} is not a function that a cell defines", None

    def record(self, folder: str) -> tuple[str, Any]:
        """Begin to record MPI calls into a folder (beowulf/timeline/recorder.c), or end it where none is named."""
        library = ctypes.CDLL(None)
        if not hasattr(library, "beowulf_trace_start"):
            return "the recorder is not loaded", None
        if not folder:
            return "", library.beowulf_trace_stop()
        os.makedirs(folder, mode=0o700, exist_ok=True)
        failed = library.beowulf_trace_start(folder.encode())
        return "nothing can be recorded" if failed else "", None

    def trouble(self) -> dict[str, Any]:
        """What went wrong last, and in which line of a cell."""
        error = getattr(sys, "last_value", None)
        line, function, text = 0, "", ""
        if isinstance(error, SyntaxError) and CELLS in (error.filename or ""):
            line, text = error.lineno or 0, error.text or ""
        for frame, number in traceback.walk_tb(getattr(sys, "last_traceback", None)):
            file = frame.f_code.co_filename
            if CELLS in file:
                line, function = number, frame.f_code.co_name
                text = linecache.getline(file, number)
        return {
            "line": line,
            "function": "" if function.startswith("<") else function,
            "text": text.strip(),
        }


def _plain(value: Any) -> bool:
    if value is None or isinstance(value, str | bool | int | float) or hasattr(value, "dtype"):
        return True
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(value[key]) for key in value)
    return False
