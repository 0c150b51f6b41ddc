"""A pool of IPython engines, each of which works for itself on a cluster's nodes; starters.py starts them.

Each start has a key, which its engines get; where an engine ends, those of other starts go on.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from beowulf import mpi, paths
from beowulf.cluster.shells import missing, surroundings
from beowulf.engines.controller import NAME, controller, listen
from beowulf.errors import LabError

# An engine finds its start's key, and a folder on its node that goes when the pool does, under these names.
KEY, FOLDER = "BEOWULF_ENGINE", "BEOWULF_ENGINES"
# Their end is seen by that of their start; where a core is shared by many, a heartbeat may be late.
PATIENT = "--HeartMonitor.max_heartmonitor_misses=40"
# What ended before this had not come so far as to work.
LONGEST_FAILURE_S = 20.0
CONNECTION = f"profile/security/ipcontroller-{NAME}-engine.json"


@dataclass
class Start:
    """What was started to bring so many engines up, on one node or on all."""

    key: str
    engines: int
    process: subprocess.Popen[bytes]
    complaints: IO[bytes]
    job: str = ""  # the mark of MPI's processes
    began: float = field(default_factory=time.monotonic)
    at_once: bool = False  # it ended before it can have done anything

    @property
    def message(self) -> str:
        """The last line of its complaint."""
        self.complaints.seek(0)
        lines = self.complaints.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"it ended with {self.process.returncode}"


class EnginePool(ABC):
    """Engines in a `with` block; `each` of them on a node. They come when they are up, and may go at any time."""

    networked = False  # the engines reach the controller over a network

    def __init__(self, each: int = 1) -> None:
        self.each = each
        self.starts: dict[str, Start] = {}
        self.absent: dict[str, str] = {}  # nodes that were not even tried, and why
        self.messages: list[str] = []  # what went wrong on nodes, in sentences
        self._set: Any = None
        self._client: Any = None

    @abstractmethod
    def keys(self) -> list[str]:
        """What is to be started."""

    @abstractmethod
    def node(self, key: str) -> str:
        """The node on which a start's engine is, where it is one."""

    @abstractmethod
    def _start(self, key: str, engine: list[str]) -> tuple[list[str], int, str]:
        """The words that start an `engine`, how many engines that gives, and MPI's mark."""

    def start(self, key: str) -> None:
        """Start the engines of a key; LabError when its node cannot be reached."""
        words, engines, job = self._start(key, _engine(self.folder))
        complaints = tempfile.TemporaryFile()  # noqa: SIM115, it is read when the start has ended
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                start_new_session=True,
                env={**surroundings(), **self._engine_environment(key)},
            )
        except OSError as error:
            raise missing(error) from error
        self.starts[key] = Start(key, engines, process, complaints, job)

    def ended(self) -> list[Start]:
        """The starts that have ended since the last call."""
        ended_starts = [each for each in self.starts.values() if each.process.poll() is not None]
        for each in ended_starts:
            each.at_once = time.monotonic() - each.began < LONGEST_FAILURE_S
            del self.starts[each.key]
            self._clear(each)
        return ended_starts

    def end(self, key: str) -> None:
        """End the engines of a start; ended() then has it."""
        if start := self.starts.get(key):
            self._stop(start)

    @property
    def ids(self) -> set[int]:
        """The engines that are there now, by their numbers."""
        return set(self._client.ids)

    def call(self, engine: int, function: Callable[..., Any], *arguments: object) -> Any:
        """Let an engine call a function of this project; a Future. LabError when it has gone."""
        try:
            return self._client[engine].apply_async(function, *arguments)
        except (IndexError, LookupError, OSError) as problem:
            raise LabError(f"Engine {engine} has gone ({problem}).") from None
        except Exception as problem:  # ipyparallel's own, for a pool without any engine
            raise LabError(f"No engine is there ({problem}).") from None

    def __enter__(self) -> EnginePool:
        # Whatever TMPDIR is: the name of a socket has at most 108 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="beowulf-engines-", dir="/tmp"))
        try:
            self._set = controller(self.folder, networked=self.networked, words=(PATIENT,))
            listen(self._set, self.folder, networked=self.networked)
            self._client = self._set.connect_client_sync()
            for key in self.keys():
                try:
                    self.start(key)
                except LabError as problem:
                    self.absent[self.node(key)] = str(problem)
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        for start in self.starts.values():
            if start.process.stdin:
                start.process.stdin.close()  # all at once, then one after the other
        for start in self.starts.values():
            self._stop(start)
            self._clear(start)
        self.starts = {}
        if self._client is not None:
            self._client.close()
        if self._set is not None:
            self._set.stop_cluster_sync()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._client = self._set = None

    def _engine_environment(self, key: str) -> Mapping[str, str]:
        return {KEY: key, FOLDER: str(self.folder)}

    def _stop(self, start: Start) -> None:
        mpi.stop(start.process)

    def _clear(self, start: Start) -> None:
        with suppress(OSError):
            assert start.process.stdin
            start.process.stdin.close()


def _engine(folder: Path) -> list[str]:
    words = [str(paths.python_bin() / "python"), "-P", "-m", "ipyparallel.engine"]
    words += [f"--file={folder / CONNECTION}", f"--profile-dir={folder / 'profile'}"]
    # On a busy machine the controller answers late.
    return [*words, "--timeout=120", "--IPEngine.enable_nanny=False", "--log-level=40"]
