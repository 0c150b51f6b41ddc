"""Engines on a recorded cluster: they run nothing, and give what was kept when a learner measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Self

from beowulf.cluster.recorded import recall
from beowulf.engines.learner_engines import Asked, Engines, called
from beowulf.errors import LabError

RECORDED = "Recorded: this cell ran on your nodes when you measured; it is not run again."


class RecordedEngines(Engines):
    """The same methods as Engines have, for a notebook that is replayed."""

    def start(self) -> Self:
        """Nothing to start."""
        return self

    @property
    def alive(self) -> bool:
        """As long as there are Records."""
        return True

    @property
    def view(self) -> NoReturn:
        """Not available."""
        raise _not_here("engines")

    @property
    def about(self) -> str:
        """One line for a notebook."""
        return "Recorded engines: what your engines gave is played back, and nothing is run."

    def restart(self) -> None:
        """Nothing to start."""

    def stop(self) -> None:
        """Nothing to stop."""

    def submit(self, cell: str, ranks: Sequence[int] = ()) -> Asked:
        """Nothing is run."""
        return Asked(None, ())

    def follow(
        self, asked: Asked, *, timeout_s: float | None = None, at_end: bool = False
    ) -> dict[int, Any]:
        """Say so."""
        print(RECORDED)
        return {}

    def call(self, name: str, *arguments: Any, timeout_s: float | None = None) -> list[Any]:
        """What the function gave for these arguments."""
        try:
            kept = called(name, arguments)
        except ValueError:
            kept = {"call": name}
        return self._kept(kept, f"{name} was not called with these arguments")

    def apply(
        self, function: Callable[..., Any], *arguments: Any, timeout_s: float | None = None
    ) -> NoReturn:
        """Not available; an exercise gives the Record that it has."""
        raise _not_here("engines")

    def source(self, name: str) -> str:
        """The text of the function."""
        return str(self._kept({"source": name}, f"the text of {name} was not asked for")[0])

    def gather(self, name: str) -> list[Any]:
        """The value of the variable by rank."""
        return self._kept({"variable": name}, f"{name} was not collected")

    def _kept(self, at: Mapping[str, Any], what: str) -> list[Any]:
        records = self.cluster.records
        values = recall(records, at) if records is not None else None
        if values is None:
            raise LabError(
                f"This is a recorded cluster, and {what} when it was recorded.",
                "Run the notebook on a running cluster first.",
            )
        return values


def _not_here(what: str) -> LabError:
    return LabError(f"A recorded cluster has no {what}.", "`beowulf up` boots a real one.")
