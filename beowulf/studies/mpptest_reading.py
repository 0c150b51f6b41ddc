"""Figures of papers A and B in the reading that mpptest's own ways suggest: judges and charts that studies share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from beowulf.cluster.common.config import SIMULATED
from beowulf.errors import LabError
from beowulf.measure import mpptest
from beowulf.measure.judgement import SIMILAR, Span, narrower
from beowulf.record import Record
from beowulf.studies.quantity import Judge, all_hold, known
from beowulf.studies.roundtrip_sweep import alike, rates_over_sizes, times_over_sizes
from beowulf.studies.study import Claim, Judgement, undecided

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from beowulf.figures import Figure

WORK_SWEPT = "work beside a message of 0 bytes (bytes)"
HIGHER = 0.1  # a rate that is less than this above another is not called higher
claim = partial(Claim, troubles=mpptest.troubles)
SHARED_CORES = "the ranks share cores, so more pairs have less of one each"


def beside_work(judge: Judge) -> Judge:
    """The judge of a sweep of work, which takes no time where SimGrid simulates: there it is open."""

    def judged(record: Record) -> Judgement:
        if record.cluster.get("kind") == SIMULATED:
            why = "computing takes no time on simulated nodes"
            return undecided(why, "Measure it on nodes that compute.")
        return judge(record)

    return judged


def more_nodes(record: Record) -> Judgement:
    """Figures 13 to 15, and 18: at the longest message each np has a printed rate 10 % above the one before."""
    rates = [
        [
            known(f"np {ranks}, {mpptest.NAMES[protocol]}", mpptest.rate_of(row), "Mbit/s")
            for ranks, row in by_ranks.items()
        ]
        for protocol, by_ranks in _longest(record).items()
    ]
    judges = [more / few > 1 + HIGHER for rate in rates for few, more in pairwise(rate)]
    return _with_a_core_each(record, all_hold(*judges))


def same_pair(record: Record, length: str = mpptest.MESSAGES) -> Judgement:
    """What the factor np / 2 hides: at the largest length a pair takes as long whatever np is, within 10 %."""
    judges = []
    for protocol, by_ranks in _longest(record, length).items():
        first, *others = (
            known(
                f"a pair of np {ranks}, {mpptest.NAMES[protocol]}",
                Span(row["low_us"], row["high_us"]),
                "µs",
            )
            for ranks, row in by_ranks.items()
        )
        judges += [(other / first).within(1 - SIMILAR, 1 + SIMILAR) for other in others]
    return _with_a_core_each(record, all_hold(*judges))


def same_time(record: Record, swept: str = mpptest.MESSAGES) -> Judgement:
    """Figures 15 to 17 of paper A, 1 and 2 of B: both kinds of calls, at most lengths."""
    times = {
        f"a length of {length:,}, np {ranks}": ratio
        for (ranks, length), ratio in mpptest.similar_calls(record, swept).items()
    }
    return alike(times, record)


def rates(record: Record, axes: Axes, length: str = mpptest.MESSAGES) -> Figure:
    """The rate that is printed over the size of the message, or of the work, for each np and kind of call."""
    rows = mpptest.printed(record, length)
    title, look = "As mpptest prints it with -bisect: one pair's rate, times np / 2", {}
    if length == mpptest.WORK:
        rows = rows[rows["length_bytes"] > 0]
        title, look = (
            "As mpptest prints it with -overlap: bytes of work over the time",
            {"x_title": WORK_SWEPT},
        )
    return rates_over_sizes(rows, rows["calls"], title, axes, x="length_bytes", **look)


def times(record: Record, axes: Axes) -> Figure:
    """The time that is printed over the bytes of work, for each kind of call."""
    return times_over_sizes(
        mpptest.printed(record, mpptest.WORK),
        "calls",
        "In mpptest's way: the work is swept",
        axes,
        of="half of a repetition",
        x="length_bytes",
        x_title=WORK_SWEPT,
        low="low_us",
        high="high_us",
    )


def in_both_ways(
    title: str,
    record: Record,
    ours: Mapping[str, Callable[[Axes], Figure]],
    printed: Callable[[Record, Axes], Figure],
) -> Figure:
    """A figure of two parts: what we measure and, where it was measured, what mpptest prints."""
    from beowulf import figures

    charts = dict(ours)
    if mpptest.measured(record):
        charts["mpptest"] = partial(printed, record)
    return figures.one_below_another(title, charts)


def _longest(
    record: Record, length: str = mpptest.MESSAGES
) -> dict[str, Mapping[int, dict[str, float]]]:
    """By protocol and number of ranks, what is printed for the largest length; LabError without two to compare."""
    rows = mpptest.printed(record, length)
    longest = {each: mpptest.at_the_longest(rows, each) for each in mpptest.PROTOCOLS}
    if min(map(len, longest.values())) < 2 or not rows["length_bytes"].max():
        raise LabError("There are fewer than two numbers of ranks to compare.", "Measure again.")
    return dict(longest)


def _with_a_core_each(record: Record, judge: Judge) -> Judgement:
    """The Judgement, open where it is contradicted by pairs that take each other's cores and not by the network."""
    seen = replace(judge(record), advice=narrower(record))
    asked = [p.facts for p in record.select(about=True) if p.facts.get("mode") == mpptest.MODE]
    if seen.outcome != "contradicted" or not any(facts.get("patient_ranks") for facts in asked):
        return seen
    advice = "Measure on nodes with a core for each rank."
    return replace(seen, outcome="inconclusive", undecidable=SHARED_CORES, advice=advice)
