"""The critical path: the longest chain through ranks and messages, which decided when the run was over."""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beowulf.timeline.trace import Trace
from beowulf.timeline.waits import Inside, inside

if TYPE_CHECKING:
    import pandas as pd

COMPUTING, NETWORK, CALLING = "computing", "network", "in MPI"


@dataclass(frozen=True)
class Step:
    """A part of the path: on one rank, or from one rank (`source`) to another by a message or a collective call."""

    rank: int
    began_ns: int
    ended_ns: int
    # Whose being late decided when this began; -1: it goes on with what the rank did before.
    source: int = -1

    @property
    def is_message(self) -> bool:
        """Whether the path comes from another rank here."""
        return self.source >= 0


@dataclass(frozen=True)
class Path:
    """From the end of the run back to its beginning, in the order of time."""

    steps: tuple[Step, ...]
    parts_ns: Mapping[str, int]  # computing, network, in MPI; together the length of the run

    @property
    def length_ns(self) -> int:
        """From the path's beginning to the end of the run."""
        return self.steps[-1].ended_ns - self.steps[0].began_ns if self.steps else 0


def critical_path(trace: Trace, table: pd.DataFrame, waits: pd.DataFrame) -> Path:
    """From the end of the rank that ended last: back along it, and where it waited, to the rank that it waited for."""
    last = max(trace.ranks, key=lambda each: each.ended_ns)
    began = {each.rank: each.began_ns for each in trace.ranks}
    releases = _releases(waits, table)
    steps: list[Step] = []
    rank, at = last.rank, last.ended_ns
    while True:
        mine = releases.get(rank, [])
        # The latest wait of the rank that was over before this moment.
        place = bisect.bisect_left(mine, (at,)) - 1
        if place < 0:
            steps.append(Step(rank, min(began[rank], at), at))
            break
        released, call_ended, cause = mine[place]
        call_ended = min(call_ended, at)
        if call_ended < at:
            steps.append(Step(rank, call_ended, at))
        steps.append(Step(rank, released, call_ended, cause))
        rank, at = cause, released
    steps.reverse()
    return Path(tuple(steps), _parts(steps, inside(table)))


def _releases(waits: pd.DataFrame, table: pd.DataFrame) -> dict[int, list[tuple[int, int, int]]]:
    """For each rank, in order: when it was released from a wait, when that call ended, and by which rank."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    ended = table["ended_ns"].to_numpy()
    for row in waits[waits["cause"] != waits["rank"]].to_dict("records"):
        release = row["since_ns"] + row["waited_ns"], int(ended[row["event"]]), row["cause"]
        found.setdefault(row["rank"], []).append(release)
    return {rank: sorted(mine) for rank, mine in found.items()}


def _parts(steps: list[Step], calls: Mapping[int, Inside]) -> dict[str, int]:
    parts = {COMPUTING: 0, NETWORK: 0, CALLING: 0}
    for step in steps:
        length = step.ended_ns - step.began_ns
        if step.is_message:
            parts[NETWORK] += length
            continue
        mine = calls.get(step.rank)
        within = mine.between(step.began_ns, step.ended_ns) if mine else 0
        parts[CALLING] += within
        parts[COMPUTING] += length - within
    return parts
