"""The world of a learner's engines: one IPython engine a node, in one MPI world, and how it starts and ends."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from beowulf.cluster import Cluster
from beowulf.engines import on_engine
from beowulf.engines.cell_error import CellError
from beowulf.engines.mpi_start import MpiStart
from beowulf.engines.places import Engine
from beowulf.engines.screen import MOST_SHOWN
from beowulf.errors import LabError

LONGEST_START_S = 120.0
LONGEST_S = 60.0  # of a cell, unless the learner says otherwise
AGAIN = "`engines.restart()` starts the engines again."
BEGIN = """\
_beowulf = {{"__name__": "beowulf_engine"}}
exec({source!r}, _beowulf)
_beowulf = _beowulf["OnEngine"](globals())
"""


class World:
    """One engine a node, in the order of their ranks. `restart()` starts them again, whatever they do."""

    def __init__(self, cluster: Cluster, timeout_s: float = LONGEST_S) -> None:
        self.cluster = cluster
        self.timeout_s = timeout_s
        self.patient = False  # how ranks wait for messages (see beowulf/native/patient_poll.c)
        self.ended = "No engines are running."  # why, while none do
        self._start: MpiStart | None = None
        self._client: Any = None
        self._engines: dict[int, Engine] = {}
        self._cells: dict[str, str] = {}  # the sources by the names of their files

    def start(self) -> Self:
        """Start controller and engines and wait until every engine answers."""
        if self.alive:
            return self
        self.stop()
        if dead := self.cluster.dead_nodes():
            raise LabError(
                f"{', '.join(dead)} {'is' if len(dead) == 1 else 'are'} down.",
                f"`beowulf up` starts {'it' if len(dead) == 1 else 'them'} again.",
                dead[0],
            )
        try:
            self._start = MpiStart(self.cluster)
            import ipyparallel  # which takes its time, and so do the engines

            self._await(self._start.ready)
            self._client = ipyparallel.Client(
                str(self._start.client_file),
                profile_dir=str(self._start.folder / "profile"),
                timeout=LONGEST_START_S,
            )
            self._await(lambda: len(self._client.ids) == len(self.cluster.nodes))
            self._begin()
        except BaseException:
            self.stop()
            raise
        self.ended = ""
        return self

    def _await(self, ready: Callable[[], bool]) -> None:
        assert self._start
        deadline = time.monotonic() + LONGEST_START_S
        while not ready():
            if not self._start.runs:
                message, hint = self._start.why()
                raise LabError(f"The engines did not start. {message}", hint)
            if time.monotonic() > deadline:
                raise LabError(
                    f"Not all engines started within {LONGEST_START_S:g} s.",
                    "`beowulf status` shows which nodes answer; then try again.",
                )
            time.sleep(0.02)

    def _begin(self) -> None:
        """Give each engine its names, and keep who it is. An engine's number need not be its rank."""
        from ipyparallel import Reference

        assert self._start
        nodes, folder = self.nodes, str(self._start.there)
        every = self._client[:]
        every.execute(BEGIN.format(source=inspect.getsource(on_engine)), block=True)
        ranks = every.apply_sync(Reference("_beowulf"), "rank")
        self._order = [n for _, n in sorted(zip(ranks, self._client.ids, strict=True))]
        # One rank a node, in the order of the nodes, is how they were started.
        asked = [
            self._client[number].apply_async(
                Reference("_beowulf"), "begin", node, folder, MOST_SHOWN + 1
            )
            for number, node in zip(self._order, nodes, strict=True)
        ]
        facts = [each.get(LONGEST_START_S) for each in asked]
        self.patient = all(fact["patient"] for fact in facts)
        self._engines = {
            rank: Engine(rank, node, fact["pid"], fact["thread"], fact["file"])
            for rank, (node, fact) in enumerate(zip(nodes, facts, strict=True))
        }
        self._cells = {}

    @property
    def alive(self) -> bool:
        """Whether all engines run."""
        return self._start is not None and self._start.runs and bool(self._engines)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node of each rank."""
        return self.cluster.nodes

    @property
    def view(self) -> Any:
        """All engines, as ipyparallel's DirectView, sorted by rank."""
        self._need()
        return self._client[self._order]

    def restart(self) -> None:
        """End all engines, whatever they are doing, and start them again in one MPI world."""
        self.stop()
        # A fault that was set up on purpose is not ours to heal.
        if not self.cluster.broken and self.cluster.dead_nodes():
            self.cluster.heal()
        self.start()
        print(self.about)

    def stop(self) -> None:
        """End engines and controller and remove their files."""
        client, start = self._client, self._start
        self._client, self._start, self._engines = None, None, {}
        self.ended = self.ended or "The engines were stopped."
        if client is not None:
            client.close(linger=0)
        if start is not None:
            start.end()

    @property
    def about(self) -> str:
        """One line that says which node has which rank."""
        ranks = ", ".join(f"{node} is rank {rank}" for rank, node in enumerate(self.nodes))
        return f"Engines in one MPI world: {ranks}."

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _need(self) -> None:
        """LabError unless all engines run."""
        if self.alive:
            return
        if self._start is not None:
            raise self._death({})
        raise LabError(self.ended, AGAIN)

    def _death(self, failed: Mapping[int, str]) -> CellError:
        """Say why mpiexec has ended, and end what is left."""
        assert self._start
        message, hint = self._start.why()
        self.stop()
        self.ended = message
        return CellError(list(failed.values()), [message], hint)
