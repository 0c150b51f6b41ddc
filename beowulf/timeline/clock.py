"""One clock for all ranks: that of rank 0. Ranks of one machine share it; others have asked rank 0 for the time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from beowulf.timeline.trace import Integers, RankTrace, Trace

if TYPE_CHECKING:
    import pandas as pd

STEP_NS = 1_000_000  # a clock that is set by so much between two looks has been stepped


def aligned(trace: Trace) -> Trace:
    """The same trace by the clock of rank 0, with warnings for clocks that cannot be trusted.

    Between the two moments at which a rank asked, its clock is taken to drift evenly. `details` gets `clock_error_ns`:
    how wrong a time of each rank may be, at most.
    """
    ranks, warnings, errors = [], list(trace.warnings), {}
    for each in trace.ranks:
        # Of the clock of the day between two looks, against the monotonic one.
        step = np.abs(np.diff(each.clocks["real_ns"] - each.clocks["monotonic_ns"])).max(initial=0)
        if step > STEP_NS:
            warnings.append(
                f"The clock of {each.host} was set while rank {each.rank} ran, by {step / 1e6:.1f} ms: packets and"
                " calls may not fit together."
            )
        errors[each.rank] = max((error for _, _, error in each.ties), default=0)
        ranks.append(_shifted(each) if any(behind for _, behind, _ in each.ties) else each)
    details = {**trace.details, "clock_error_ns": errors}
    return replace(trace, ranks=tuple(ranks), warnings=tuple(warnings), details=details)


def _shifted(rank: RankTrace) -> RankTrace:
    events = rank.events.copy()
    for name in ("began_ns", "ended_ns"):
        events[name] += _behind_ns(rank, events[name])
    began, ended = (
        int(moment + _behind_ns(rank, np.array([moment]))[0])
        for moment in (rank.began_ns, rank.ended_ns)
    )
    clocks = rank.clocks.copy()
    clocks["monotonic_ns"] += _behind_ns(rank, clocks["monotonic_ns"])
    return replace(rank, events=events, began_ns=began, ended_ns=ended, clocks=clocks)


def _behind_ns(rank: RankTrace, moments: Integers) -> Integers:
    """What is to be added at each moment; outside of the two that were measured, as at the nearer one."""
    at = np.array([tie[0] for tie in rank.ties], dtype=np.int64)
    behind = np.array([tie[1] for tie in rank.ties], dtype=np.int64)
    # Differences only, which a double holds to the nanosecond.
    drift = np.interp(
        (moments - at[0]).astype(float),
        (at - at[0]).astype(float),
        (behind - behind[0]).astype(float),
    )
    return np.asarray(behind[0] + np.round(drift).astype(np.int64))


def impossible(trace: Trace, events: pd.DataFrame, messages: pd.DataFrame) -> str:
    """A sentence where messages arrive before they were sent, by these clocks; else empty."""
    sent = events["began_ns"].to_numpy()[messages["send"]]
    got = events["ended_ns"].to_numpy()[messages["received"]]
    early = sent - got
    wrong = int((early > 0).sum())
    if not wrong:
        return ""
    bound = max(trace.details.get("clock_error_ns", {}).values(), default=0)
    return (
        f"By the clocks of the nodes, {wrong:,} of {len(messages):,} messages arrive before they were sent, by up to"
        f" {early.max() / 1e3:.0f} µs. The clocks are known to {bound / 1e3:.0f} µs: shorter times between ranks mean"
        " nothing here."
    )
