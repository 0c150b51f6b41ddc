"""Is a wait named after its reason? Fifty times each, also while others keep the processors busy."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from running import first

from beowulf.timeline import analysis
from beowulf.timeline import waits as reasons
from beowulf.timeline.analysis import Analysis

if TYPE_CHECKING:
    from tests.timeline.conftest import Recorded


TIMES = 50
LATE_NS = 5_000_000
EXPECTED = {  # kind, the rank that waits, in which call, for which rank
    "late-sender": (reasons.LATE_SENDER, 1, "MPI_Recv", 0),
    "late-receiver": (reasons.LATE_RECEIVER, 0, "MPI_Ssend", 1),
    "barrier": (reasons.COLLECTIVE_WAIT, 0, "MPI_Barrier", 1),
    "bcast": (reasons.LATE_ROOT, 1, "MPI_Bcast", 0),
    "reduce": (reasons.EARLY_ROOT, 0, "MPI_Reduce", 1),
    "rendezvous": (reasons.RENDEZVOUS, 1, "MPI_Recv", 0),
}


@contextmanager
def busy(processes: int) -> Iterator[None]:
    burning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)
    ]
    try:
        yield
    finally:
        for each in burning:
            each.kill()
            each.wait()


def named(found: Analysis, case: str) -> int:
    """How many of the times a case is named as it should be: the longest wait within its marks."""
    import numpy as np

    kind, rank, call, cause = EXPECTED[case]
    events, waits = found.events, found.waits
    marks = events[(events["rank"] == rank) & (events["flags"] & 32 != 0)]
    begins = marks[marks["bytes"] == 10]["ended_ns"].to_numpy()
    ends = marks[marks["bytes"] == 11]["began_ns"].to_numpy()
    assert len(begins) == len(ends) == TIMES
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


@pytest.mark.parametrize("load", first(1, [0, 2]))
@pytest.mark.parametrize("case", EXPECTED)
def test_a_known_wait_is_named(record: Recorded, case: str, load: int) -> None:
    with busy(load):
        found = analysis.read(record("cases.c", 2, case, str(TIMES)))
    assert named(found, case) == TIMES


def test_the_critical_path_goes_through_the_rank_that_was_late(record: Recorded) -> None:
    found = analysis.read(record("cases.c", 2, "late-sender", "3"))
    path = found.critical_path
    assert path.length_ns == found.length_ns or path.length_ns <= found.length_ns
    assert sum(path.parts_ns.values()) == path.length_ns
    # Each of the three times it comes from rank 0, which slept before it sent.
    sends = found.events[(found.events["rank"] == 0) & (found.events["flags"] & 1 != 0)]
    for moment in sends["began_ns"]:
        [step] = [
            each for each in path.steps if each.began_ns <= moment - 1_000_000 < each.ended_ns
        ]
        assert step.rank == 0
    steps = path.steps
    assert all(a.ended_ns == b.began_ns for a, b in itertools.pairwise(steps))


def test_a_run_replayed_without_a_change_takes_as_long(record: Recorded) -> None:
    found = analysis.read(record("everything.c", 4))
    assert found.replay.length_ns() == pytest.approx(found.length_ns, rel=0.001)


def test_a_message_that_costs_nothing_shortens_the_run_by_no_more_than_it_took(
    record: Recorded,
) -> None:
    found = analysis.read(record("cases.c", 2, "rendezvous", "3"))
    events = found.events
    whole = found.replay.length_ns()
    messages = found.messages
    for message in messages.index:
        row = messages.loc[message]
        took = events["ended_ns"].iat[row["received"]] - events["began_ns"].iat[row["send"]]
        assert 0 <= whole - found.replay.length_ns(free={message}) <= took
