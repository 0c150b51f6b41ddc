"""What every measurement has round it: the cluster is held, and looked at before and after.

A Record describes a cluster. If the cluster is not at the end as it was at the beginning, the Record is not complete,
and says what changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from beowulf.cluster import Cluster, state
from beowulf.cluster.holding import lock
from beowulf.cluster.holding.event_file import EventFile
from beowulf.cluster.holding.lock import Report
from beowulf.errors import LabError
from beowulf.record import Record

MOST_CHANGES = 4
KNOBS = "knobs"


class Watched:
    """`with Watched(cluster, "A6") as watched: … watched.end(record)`: no other process measures or changes it.

    One within another, as a session within a study, leaves the looking to the outer one.
    """

    def __init__(
        self, cluster: Cluster, study: str, *, wait: bool = False, report: Report | None = None
    ) -> None:
        """`wait`: until no other process measures; `report` gets the sentence for a person meanwhile."""
        self.cluster, self.study = cluster, study
        self.changed: list[str] = []  # sentences
        self._wait, self._report = wait, report
        self._ends = ExitStack()
        self._before: dict[str, str] = {}
        self._outer: Watched | None = None

    def __enter__(self) -> Watched:
        with ExitStack() as ends:
            doing = f"study {self.study}"
            ends.enter_context(self.cluster.holding(doing, wait=self._wait, report=self._report))
            self._outer = self.cluster.watched
            self._before = self._outer._before if self._outer else _seen(self.cluster)
            self.cluster.watched = self._outer or self
            ends.callback(setattr, self.cluster, "watched", self._outer)
            self._ends = ends.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        if isinstance(error, Exception) and (why := self.gone()):
            with self._ends:
                raise why from error
        return self._ends.__exit__(kind, error, trace)

    def gone(self) -> LabError | None:
        """Why nothing more can be measured, where the cluster is no more, or is another one; else None."""
        taken = f"The cluster was taken down while {self.study} was being measured."
        try:
            now = self.cluster.as_found()
        except state.GoneError:
            return LabError(taken, "`beowulf up` boots it; then measure again.")
        except LabError:
            return None
        if now.get("boot") != self._before.get("boot"):
            return LabError(f"{taken[:-1]}, and booted again.", "Measure again.")
        return None

    def look(self) -> list[str]:
        """What is not as it was at the beginning, in sentences. From now on no command can end the measurement."""
        if self._outer or self.changed:
            return self.changed
        if isinstance(folder := getattr(self.cluster, "folder", None), Path):
            lock.ending(folder)
        if gone := self.gone():
            self.changed = [gone.message]
            return self.changed
        try:
            now = _seen(self.cluster)
        except LabError as error:
            self.changed = [f"How the cluster was at the end of {self.study} is unknown: {error}"]
            return self.changed
        self.changed = _sentences(self.study, self._before, now)
        return self.changed

    def end(self, record: Record) -> Record:
        """The Record; where the cluster changed, it is not complete and its warnings say what did."""
        if changed := self.look():
            record.complete = False
            warnings = " ".join(record.warnings)
            record.warnings += [each for each in changed if each not in warnings]
        return record


def _seen(cluster: Cluster) -> dict[str, str]:
    return {**cluster.as_found(), KNOBS: _turned_by_others(cluster)}


def _turned_by_others(cluster: Cluster) -> str:
    """What other processes have written into the log of the knobs; most clusters have none."""
    folder = getattr(cluster, "folder", None)
    return EventFile(folder / state.TUNED).by_others() if isinstance(folder, Path) else ""


def _sentences(study: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    differ = [
        "a knob was turned (`beowulf tune log` says which)"
        if name == KNOBS
        else f"the {name} was {before.get(name, 'not there')} and is {now.get(name, 'not there')}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]
    if not differ:
        return []
    more = len(differ) - MOST_CHANGES
    changes = "; ".join(differ[:MOST_CHANGES]) + (f"; and {more} more" if more > 0 else "")
    return [f"The cluster was changed while {study} was being measured: {changes}."]
