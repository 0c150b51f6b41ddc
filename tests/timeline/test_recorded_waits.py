"""Is a wait named after its reason? In `make nightly` fifty times each."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from beowulf.timeline import analysis
from beowulf.timeline import waits as reasons
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.trace import COMPLETES, EVENT, RECEIVES, SENDS, RankTrace, Trace

if TYPE_CHECKING:
    from tests.timeline.conftest import Recorded


SOME, MANY = 12, 50
LATE_NS = 5_000_000
EXPECTED = {  # kind, the rank that waits, in which call, for which rank
    "late-sender": (reasons.LATE_SENDER, 1, "MPI_Recv", 0),
    "late-receiver": (reasons.LATE_RECEIVER, 0, "MPI_Ssend", 1),
    "barrier": (reasons.COLLECTIVE_WAIT, 0, "MPI_Barrier", 1),
    "bcast": (reasons.LATE_ROOT, 1, "MPI_Bcast", 0),
    "reduce": (reasons.EARLY_ROOT, 0, "MPI_Reduce", 1),
    "rendezvous": (reasons.RENDEZVOUS, 1, "MPI_Recv", 0),
}


def named(found: Analysis, case: str, times: int) -> int:
    """How many of the times a case is named as it should be: the longest wait within its marks."""
    kind, rank, call, cause = EXPECTED[case]
    events, waits = found.events, found.waits
    marks = events[(events["rank"] == rank) & (events["flags"] & 32 != 0)]
    begins = marks[marks["bytes"] == 10]["ended_ns"].to_numpy()
    ends = marks[marks["bytes"] == 11]["began_ns"].to_numpy()
    assert len(begins) == len(ends) == times
    right = 0
    mine = waits[waits["rank"] == rank]
    for begin, end in zip(begins, ends, strict=True):
        here = mine[(mine["since_ns"] >= begin) & (mine["since_ns"] <= end)]
        if here.empty:
            continue
        longest = here.loc[here["waited_ns"].idxmax()]
        where = events.loc[int(longest["event"])]
        right += (
            longest["kind"] == kind
            and found.trace.calls[int(where["call"])] == call
            and longest["cause"] == cause
            # It cannot be longer than its call, nor shorter than the other one was late.
            and LATE_NS * 0.5 < longest["waited_ns"] <= where["ended_ns"] - where["began_ns"]
        )
        assert np.isfinite(longest["waited_ns"])
    return right


@pytest.mark.parametrize("case", EXPECTED)
def test_a_known_wait_is_named(record: Recorded, case: str) -> None:
    # The rank that waits may have no core when it is to begin to wait; of so many times that is not so in all.
    assert named(analysis.read(record("cases.c", 2, case, str(SOME))), case, SOME) > 0


@pytest.mark.nightly
@pytest.mark.parametrize("case", EXPECTED)
def test_a_known_wait_is_named_each_time(record: Recorded, case: str) -> None:
    assert named(analysis.read(record("cases.c", 2, case, str(MANY))), case, MANY) == MANY


CALLS = ("MPI_Send", "MPI_Recv")


def event(call: str, began_us: int, ended_us: int, partner: int) -> tuple[Any, ...]:
    """An event of a hand-made trace: a message of 8 bytes with tag 3."""
    flags = SENDS if call == "MPI_Send" else RECEIVES | COMPLETES
    values = (began_us * 1000, ended_us * 1000, 8, partner, 3, 0)
    return (*values, CALLS.index(call), flags, 0, 1, 0)


def run(*ranks: list[tuple[Any, ...]]) -> Analysis:
    """A run of so many ranks, each with its events."""
    clocks = np.zeros(0, dtype=[("monotonic_ns", "<i8"), ("real_ns", "<i8")])
    made = [
        RankTrace(
            rank, len(ranks), "node", "made", 0, 10_000_000, np.array(events, EVENT), CALLS,
            ((0, 0, len(ranks)),), clocks, (),
        )
        for rank, events in enumerate(ranks)
    ]  # fmt: skip
    return Analysis(Trace(tuple(made)), {})


def test_the_critical_path_goes_through_the_rank_that_was_late() -> None:
    # Rank 0 is late three times, and then rank 1.
    late = [event("MPI_Send", 2_000 * n, 2_000 * n + 50, 1) for n in (1, 2, 3)]
    waiting = [event("MPI_Recv", 2_000 * n - 1_800, 2_000 * n + 60, 0) for n in (1, 2, 3)]
    found = run(
        [*late, event("MPI_Recv", 6_100, 9_060, 1)],
        [*waiting, event("MPI_Send", 9_000, 9_050, 0)],
    )
    path = found.critical_path
    assert sum(path.parts_ns.values()) == path.length_ns == found.length_ns
    assert all(a.ended_ns == b.began_ns for a, b in itertools.pairwise(path.steps))
    on = {
        us: [each.rank for each in path.steps if each.began_ns <= us * 1000 < each.ended_ns]
        for us in (1_000, 3_000, 5_000, 8_000)
    }
    assert on == {1_000: [0], 3_000: [0], 5_000: [0], 8_000: [1]}
