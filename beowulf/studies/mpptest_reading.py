"""Figures of papers A and B in the reading that mpptest's own ways suggest: judges and charts that studies share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from beowulf.errors import LabError
from beowulf.measure import mpptest
from beowulf.measure.judgement import (
    MOSTLY,
    SIMILAR,
    Agreement,
    Span,
    below,
    narrower,
    quotient,
    together,
    within,
)
from beowulf.record import Record
from beowulf.studies.study import Judgement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from beowulf.figures import Figure

WORK_SWEPT = "work beside a message of 0 bytes (bytes)"
HIGHER = 0.1  # a rate that is less than this above another is not called higher
SHARED_CORES = "the ranks share cores, so more pairs have less of one each"


def more_nodes(record: Record) -> Judgement:
    """Figures 13 to 15, and 18: at the largest length each np has a printed rate 10 % above the one before."""
    longest = _longest(record)
    outcomes = [
        below(1 + HIGHER, quotient(mpptest.rate_of(more), mpptest.rate_of(few)))
        for by_ranks in longest.values()
        for few, more in pairwise(by_ranks.values())
    ]
    listed = "; ".join(
        f"{mpptest.NAMES[protocol]}: "
        + ", ".join(
            f"np {ranks} {row['rate_mbit_per_s']:.1f} (best {row['best_mbit_per_s']:.1f})"
            for ranks, row in by_ranks.items()
        )
        for protocol, by_ranks in longest.items()
    )
    numbers = {
        f"{protocol}_np_{ranks}_mbit_per_s": row["rate_mbit_per_s"]
        for protocol, by_ranks in longest.items()
        for ranks, row in by_ranks.items()
    }
    seen = Judgement(
        together(outcomes),
        f"Mbit/s, those of a pair times np / 2, {listed}; each has to be {HIGHER:.0%} above the one before it",
        numbers,
        advice=narrower(record),
    )
    return _with_a_core_each(record, seen)


def same_pair(record: Record) -> Judgement:
    """What the factor np / 2 hides: at the largest length a pair takes as long whatever np is, within 10 %."""
    outcomes, parts, numbers = [], [], {}
    for protocol, by_ranks in _longest(record).items():
        first, *others = by_ranks
        for ranks in others:
            times = quotient(_time_of(by_ranks[ranks]), _time_of(by_ranks[first]))
            median = by_ranks[ranks]["half_round_trip_us"] / by_ranks[first]["half_round_trip_us"]
            outcomes.append(within(times, 1 - SIMILAR, 1 + SIMILAR))
            name = mpptest.NAMES[protocol]
            parts.append(f"np {ranks}, {name}, {median:.2f} ({times.low:.2f} to {times.high:.2f})")
            numbers[f"{protocol}_np_{ranks}"] = median
    seen = Judgement(
        together(outcomes),
        f"a pair takes these times as long as with np {first}: {'; '.join(parts)}",
        numbers,
        advice=narrower(record),
    )
    return _with_a_core_each(record, seen)


def same_time(record: Record) -> Judgement:
    """Figures 15 to 18 of paper A, 1 and 2 of B: both kinds of calls, at most lengths."""
    times = mpptest.similar_calls(record)
    agree = Agreement.of(times.values(), SIMILAR)
    (ranks, length), most = max(times.items(), key=lambda each: abs(each[1].median - 1))
    return Judgement(
        agree.outcome(MOSTLY),
        f"{agree}; the largest median: non-blocking takes {most.median:.2f} times"
        f" ({most.low:.2f} to {most.high:.2f}) at a length of {length:,}, np {ranks}",
        {"places": agree.places, "differ": agree.differ, "undecided": agree.undecided},
        advice=narrower(record),
    )


def rates(record: Record, axes: Axes, *, swept: str, title: str) -> Figure:
    """The rate that is printed over what is swept, for each np and kind of call."""
    from beowulf import figures

    rows = mpptest.printed(record)
    names = zip(rows["ranks"], rows["calls"], strict=True)
    return figures.over_sizes(
        rows.assign(line=[f"np {ranks}, {calls}" for ranks, calls in names]),
        "rate_mbit_per_s",
        "line",
        x="length_bytes",
        x_title=swept,
        title=title,
        y_title="rate, median with 95 % interval (Mbit/s)",
        y_log=figures.spans_decades(rows["rate_mbit_per_s"]),
        axes=axes,
    )


def times(record: Record, axes: Axes, *, title: str) -> Figure:
    """The time that is printed over the bytes of work, for each kind of call."""
    from beowulf import figures

    return figures.over_sizes(
        mpptest.printed(record),
        "half_round_trip_us",
        "calls",
        low="low_us",
        high="high_us",
        x="length_bytes",
        x_title=WORK_SWEPT,
        title=title,
        y_title="half of a repetition, median with 95 % interval (µs)",
        axes=axes,
    )


def below_messages(
    title: str, record: Record, over_messages: Callable[[Record, Axes], Figure]
) -> Figure:
    """A figure of two parts: times over the size of the message and, where measured, over mpptest's work."""
    from beowulf import figures

    charts: dict[str, Callable[[Axes], Figure]] = {"message": partial(over_messages, record)}
    if mpptest.measured(record):
        charts["mpptest"] = partial(times, record, title="In mpptest's way: the work is swept")
    return figures.one_below_another(title, charts)


def _longest(record: Record) -> dict[str, Mapping[int, dict[str, float]]]:
    """By protocol and number of ranks, what is printed for the largest length; LabError without two to compare."""
    rows = mpptest.printed(record)
    longest = {each: mpptest.at_the_longest(rows, each) for each in mpptest.PROTOCOLS}
    if min(map(len, longest.values())) < 2 or not rows["length_bytes"].max():
        raise LabError("There are no two numbers of ranks to compare.", "Measure again.")
    return dict(longest)


def _time_of(row: Mapping[str, float]) -> Span:
    return Span(row["low_us"], row["high_us"])


def _with_a_core_each(record: Record, seen: Judgement) -> Judgement:
    """The Judgement, open where it is contradicted by pairs that take each other's cores and not by the network."""
    asked = [p.facts for p in record.select(about=True) if p.facts.get("mode") == mpptest.MODE]
    if seen.outcome != "contradicted" or not any(facts.get("patient_ranks") for facts in asked):
        return seen
    advice = "Measure on nodes with a core for each rank."
    return replace(seen, outcome="inconclusive", but=SHARED_CORES, advice=advice)
