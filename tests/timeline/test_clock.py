"""Do ranks with clocks of their own come onto one axis, and is it said where their order means nothing?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from beowulf.timeline import analysis, clock, trace
from beowulf.timeline.trace import RankTrace, Trace

if TYPE_CHECKING:
    from tests.timeline.conftest import Recorded


SECOND = 1_000_000_000


@pytest.fixture
def true(everything: dict[int, Path]) -> Trace:
    """Of two ranks on this machine, whose clock both have."""
    return trace.read(everything[2])


def moved(rank: RankTrace, ahead_ns: int, drift: float, ties: bool = True) -> RankTrace:
    """The same rank by a clock that is ahead, and goes faster by `drift`; with what it would have asked of rank 0."""

    def by_it(true_ns: Any) -> Any:
        drifted = (np.asarray(true_ns) - rank.began_ns) * drift
        found = true_ns + ahead_ns + drifted.astype(np.int64)
        return found if isinstance(true_ns, np.ndarray) else int(found)

    events = rank.events.copy()
    for name in ("began_ns", "ended_ns"):
        events[name] = by_it(events[name])
    clocks = rank.clocks.copy()
    clocks["monotonic_ns"] = by_it(clocks["monotonic_ns"])
    asked = tuple((by_it(at), at - by_it(at), 5_000) for at in (rank.began_ns, rank.ended_ns))
    return replace(
        rank,
        events=events,
        began_ns=by_it(rank.began_ns),
        ended_ns=by_it(rank.ended_ns),
        clocks=clocks,
        ties=asked if ties else (),
    )


def test_clocks_that_differ_and_drift_are_brought_together(true: Trace) -> None:
    wrong = Trace((true.ranks[0], moved(true.ranks[1], 90 * SECOND, 1e-3)), true.folder)
    right = clock.aligned(wrong)
    for name in ("began_ns", "ended_ns"):
        difference = right.ranks[1].events[name] - true.ranks[1].events[name]
        assert np.abs(difference).max() <= 1000  # the drift within what rank 0's answer took
    assert right.details["clock_error_ns"] == {0: 0, 1: 5_000}
    found = analysis.Analysis(right, {})
    assert clock.impossible(right, found.events, found.messages) == ""


def test_messages_that_arrive_before_they_were_sent_are_counted(true: Trace) -> None:
    wrong = Trace(
        (true.ranks[0], moved(true.ranks[1], -1000 * SECOND, 0.0, ties=False)), true.folder
    )
    found = analysis.Analysis(clock.aligned(wrong), {})
    to_rank_1 = int((found.messages["to"] == 1).sum())
    [sentence] = found.warnings
    assert (
        f"{to_rank_1:,} of {len(found.messages):,} messages arrive before they were sent"
        in sentence
    )


def test_a_clock_that_was_set_is_named(true: Trace) -> None:
    stepped = true.ranks[1].clocks.copy()
    stepped["real_ns"][-1] += 250_000_000
    found = clock.aligned(Trace((true.ranks[0], replace(true.ranks[1], clocks=stepped))))
    [sentence] = found.warnings
    assert "was set while rank 1 ran, by 250.0 ms" in sentence
    assert clock.aligned(true).warnings == ()


def called(rank: RankTrace) -> list[str]:
    return [rank.calls[call] for call in rank.events["call"]]


def test_ranks_ask_rank_0_what_time_it_is(record: Recorded, everything: dict[int, Path]) -> None:
    found = trace.read(record("everything.c", 4, environment={"BEOWULF_TRACE_CLOCKS": "1"}))
    for each in found.ranks:
        assert len(each.ties) == 2
        for _, behind, error in each.ties:
            # They share this machine's clock, so the truth is known: it lies within the error.
            assert abs(behind) <= error
    # What they asked is none of the program's calls.
    once = trace.read(everything[4])
    assert [set(called(each)) for each in found.ranks] == [set(called(each)) for each in once.ranks]
    assert called(found.ranks[0]).count("MPI_Comm_dup") == 1


@pytest.mark.parametrize("ties", [0, 1])
def test_a_rank_that_was_killed_asked_once_or_never(true: Trace, ties: int) -> None:
    rank = moved(true.ranks[1], 7 * SECOND, 0.0)
    found = clock.aligned(Trace((true.ranks[0], replace(rank, ties=rank.ties[:ties]))))
    expected = true.ranks[1].began_ns + (0 if ties else 7 * SECOND)
    assert abs(found.ranks[1].began_ns - expected) <= 1000
