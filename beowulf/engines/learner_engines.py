"""A learner's engines: cells and functions that run on all nodes, and what is reported when they go wrong."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from beowulf.engines import places
from beowulf.engines.cell_error import CellError
from beowulf.engines.places import Place
from beowulf.engines.screen import Screen
from beowulf.engines.world import AGAIN, World
from beowulf.errors import LabError
from beowulf.schemas import plain
from beowulf.timeline import recording

LOOK_EVERY_S = 0.1
GRACE_S = 2.0  # that other ranks get when one has raised an exception
LONGEST_OUTPUT_S = 60.0  # until all that was printed has come, on however busy a machine
LONGEST_SENTENCE = 300


@dataclass(frozen=True)
class Asked:
    """What some ranks were asked to do: `result` is ipyparallel's AsyncResult."""

    result: Any
    ranks: tuple[int, ...]


class Engines(World):
    """One engine a node. `%%px` runs a cell on all of them; `view` is ipyparallel's own.

    What does not end within `timeout_s` seconds is ended with all engines, and it is reported where each rank was.
    """

    def run(
        self,
        cell: str,
        ranks: Sequence[int] = (),
        *,
        timeout_s: float | None = None,
    ) -> None:
        """Run a cell on these ranks (all, if none is named) and show what it prints; CellError when it goes wrong."""
        self.follow(self.submit(cell, ranks), timeout_s=timeout_s)

    def submit(self, cell: str, ranks: Sequence[int] = ()) -> Asked:
        """Let ranks begin with a cell, for `follow`; LabError when there is no such rank, or no engine."""
        view = self._view(ranks)
        # IPython counts lines from the first that is not empty.
        blank = len(cell) - len(cell.lstrip())
        self._cells[_file(cell)] = cell[cell.rfind("\n", 0, blank) + 1 :]
        asked = view.execute(cell, silent=False, block=False)
        return Asked(asked, tuple(ranks or self._engines))

    def _view(self, ranks: Sequence[int]) -> Any:
        self._need()
        if wrong := [rank for rank in ranks if rank not in self._engines]:
            raise LabError(f"There is no rank {wrong[0]}: the last one is {len(self.nodes) - 1}.")
        numbers = [self._order[rank] for rank in ranks or self._engines]
        # What a list of one gives cannot be split into ranks.
        return self._client[numbers if len(numbers) > 1 else numbers[0]]

    def follow(self, asked: Asked, *, timeout_s: float | None = None) -> dict[int, Any]:
        """Wait for what was asked of engines, and show what they print; what each rank gave.

        CellError when a rank raises an exception, ends, or does not end within `timeout_s` (0: there is no limit).
        """
        limit_s = self.timeout_s if timeout_s is None else timeout_s
        by_rank = dict(zip(asked.ranks, asked.result.split(), strict=True))
        screen = Screen(dict(enumerate(self.nodes)))
        failed: dict[int, str] = {}
        began = time.monotonic()
        failed_at = began
        try:
            while waiting := [rank for rank, part in by_rank.items() if not part.done()]:
                asked.result.wait(LOOK_EVERY_S)
                screen.show(by_rank)
                if new := self._failures(by_rank, failed):
                    failed_at = failed_at if failed else time.monotonic()
                    failed |= new
                if not self.alive:
                    raise self._death(failed)
                if failed and time.monotonic() - failed_at > GRACE_S:
                    raise self._stuck(waiting, failed, "")
                if limit_s and time.monotonic() - began > limit_s:
                    why = f"It did not end within {limit_s:g} s: a deadlock, or a loop without end."
                    raise self._stuck(waiting, failed, why)
        except KeyboardInterrupt:
            waiting = [rank for rank, part in by_rank.items() if not part.done()]
            raise self._stuck(waiting, failed, "It was stopped.") from None
        self._wait(asked.result.wait_for_output, LONGEST_OUTPUT_S)
        screen.show(by_rank, last=True)
        if any(_gone(part) for part in by_rank.values()):
            raise self._death(failed)
        failed |= self._failures(by_rank, failed)
        if failed:
            few = f"{len(failed)} of {len(by_rank)} ranks" if len(by_rank) > 1 else "The rank"
            raise CellError(list(failed.values()), [f"{few} raised an exception."])
        return {rank: part.result() for rank, part in by_rank.items()}

    def _wait(self, wait: Callable[[float], object], longest_s: float) -> None:
        """Wait for something from engines, as long as they live: those that are gone send nothing more."""
        deadline = time.monotonic() + longest_s
        while not wait(LOOK_EVERY_S) and self.alive and time.monotonic() < deadline:
            pass

    def _failures(self, by_rank: Mapping[int, Any], known: Mapping[int, str]) -> dict[int, str]:
        """Exceptions that have come since, by rank, as sentences; they are shown at once."""
        found = {}
        for rank, part in by_rank.items():
            if rank in known or not part.done() or not (error := part.exception()):
                continue
            if _gone(part):  # mpiexec says why
                continue
            found[rank] = self._sentence(rank, error)
            print(found[rank], file=sys.stderr, flush=True)
        return found

    def _sentence(self, rank: int, error: Any) -> str:
        if not hasattr(error, "ename"):  # ipyparallel's own
            return (
                f"{self._engines[rank]} did not begin it: the cell before had raised an exception."
            )
        message = (str(error.evalue).splitlines() or [""])[0]
        place = Place()
        with suppress(Exception):  # whatever it is, the exception itself is known
            from ipyparallel import Reference

            view = self._client[self._order[rank]]
            asked = view.apply_async(Reference("_beowulf"), "trouble")
            self._wait(asked.wait, places.LONGEST_ANSWER_S)
            place = Place(**asked.get(0))
        where = f", in {place}" if place.line else ""
        # From Python 3.13 on, a line that is not complete has an exception of its own, which no manual names.
        name = "SyntaxError" if error.ename == "_IncompleteInputError" else str(error.ename)
        what = f"{name}: {message}" if message else name
        return f"{self._engines[rank]}: {what[:LONGEST_SENTENCE]}{where}"

    def _stuck(self, waiting: Sequence[int], failed: Mapping[int, str], why: str) -> CellError:
        """Say where the ranks are that have not ended, and end all engines."""
        try:
            of = {self._engines[rank].node: self._engines[rank] for rank in waiting}
            found = places.ask(self.cluster, of, self._cells)
            lines = [f"{engine} {found[node].sentence}" for node, engine in of.items()]
        finally:
            self.stop()
            reason = why or "A rank had raised an exception, and others did not end."
            self.ended = f"The engines were ended: {reason[0].lower()}{reason[1:]}"
        sentences = [*([why] if why else []), *lines]
        return CellError(list(failed.values()), sentences, f"The engines were ended. {AGAIN}")

    def call(self, name: str, *arguments: Any, timeout_s: float | None = None) -> list[Any]:
        """What a function that a `%%px` cell defines gives for these arguments, by rank; CellError as for a cell."""
        return self._ask("call", name, list(arguments), timeout_s=timeout_s)

    def apply(
        self, function: Callable[..., Any], *arguments: Any, timeout_s: float | None = None
    ) -> list[Any]:
        """What a function of this project gives on each rank: it gets the learner's names, then `arguments`.

        It is sent as text, so it imports what it needs itself.
        """
        source = inspect.getsource(function)
        return self._ask("run", source, function.__name__, list(arguments), timeout_s=timeout_s)

    def source(self, name: str) -> str:
        """The text of a function that a `%%px` cell has defined; LabError when a rank has no such function."""
        return str(self._ask("source", name)[0])

    def gather(self, name: str) -> list[Any]:
        """The value of a variable, by rank, as plain data."""
        given = self._ask("value", name)
        try:
            values: list[Any] = plain(given)
        except ValueError as problem:
            raise LabError(f"{name} cannot be collected: {problem}.") from None
        return values

    @contextmanager
    def recorded(self, folder: Path) -> Iterator[None]:
        """Record what each rank does within the block, into a folder, for `beowulf.timeline`."""
        with recording.Recording(self.cluster, folder) as record:
            record.note({"program": folder.name})
            self._ask("record", record.there)
            try:
                yield
            finally:
                if self.alive:
                    self._ask("record", "")

    def _ask(self, what: str, *arguments: Any, timeout_s: float | None = None) -> list[Any]:
        from ipyparallel import Reference

        asked = self._view(()).apply_async(Reference("_beowulf"), what, *arguments)
        given = self.follow(Asked(asked, tuple(self._engines)), timeout_s=timeout_s)
        for rank, (why, _) in given.items():
            if why:
                raise LabError(f"On {self._engines[rank]} {why}.", "Run the cell that defines it.")
        return [value for _, value in given.values()]


def _gone(part: Any) -> bool:
    """Whether the engine that was to do this is gone."""
    return bool(part.done() and getattr(part.exception(), "ename", "") == "EngineError")


def _file(cell: str) -> str:
    """The name of the file that ipykernel gives a cell."""
    from ipykernel import compiler

    files: Any = compiler  # it has no types
    return PurePath(files.get_file_name(cell)).name
