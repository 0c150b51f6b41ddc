"""A whole cycle of measurement: before and after a change, visit by visit in turns, and the decision.

A visit is some samples in one state. Visits come as before, after, after, before, and so on: a machine
that gets slower meanwhile makes one pair of neighbours look worse and the next one better by as much.

A visit is represented by its lower decile: the half round trip while nothing else disturbs. Whatever else
the machine does only ever adds to a sample, and often to more than half of those of a visit. The ratio is that of two
neighbours; its median over all pairs has a 95 % bootstrap interval. Mean, deviation and percentiles of all samples are
reported beside it: what disturbs is in them.

The decision (docs/measuring.md says more):

no effect     the whole interval lies within the margin: the change is too small to matter
slower        the median lies above the margin, and a 99 % interval above 1
faster        the median lies below the margin, and a 99 % interval below 1
inconclusive  none of these; then the cycle goes on, up to its longest
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from beowulf import paths
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.measure.statistics import Ratio, ratio
from beowulf.record import Point
from beowulf.tuning.interactive_run import InteractiveRun

LAB = "07-latency-tuning"
PROGRAM = paths.root() / "labs" / LAB / "pingpong.c"

Decision = Literal["no effect", "faster", "slower", "inconclusive"]
# Puts a change in (True) or takes it out; may give variables with which the program is to be launched.
Change = Callable[[bool], Mapping[str, str] | None]

BEFORE, AFTER = "before", "after"
TURNS = (BEFORE, AFTER, AFTER, BEFORE)  # a block of visits
MARGIN = 0.05
SIZE_BYTES = 1
# A cycle that goes on looks at its data many times, and an interval of 95 % soon lies to one side of 1 by chance.
SURE = 0.99
# Of two figures of all samples, which a busy machine disturbs, beside the pairs of undisturbed visits.
OTHERWISE = "these say otherwise: what disturbs is in them; the pairs decide"
UNDISTURBED = 10  # the percentile of a visit's samples that represents it
PERCENTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True)
class Length:
    """How long a cycle is: blocks of four visits, at least and at most, and the samples of a visit."""

    blocks: int
    most_blocks: int
    samples: int


# docs/measuring.md says what these lengths find and miss.
DEFAULT = Length(blocks=20, most_blocks=80, samples=20)
QUICK = Length(blocks=4, most_blocks=4, samples=10)


@dataclass(frozen=True)
class Described:
    """The samples of a state: what paper E prints of them (mean and deviation), and percentiles."""

    n: int
    mean: float
    deviation: float
    percentiles: dict[int, float]

    @property
    def median(self) -> float:
        """What you get."""
        return self.percentiles[50]


@dataclass(frozen=True)
class Comparison:
    """Before against after: the Points for a Record, and what they come to."""

    before: Point
    after: Point
    ratio: Ratio  # after over before
    decision: Decision

    def __str__(self) -> str:
        before, after = described(self.before).median, described(self.after).median
        return f"{self.decision}: {sentence(self.ratio, before, after)}"


def compare(
    session: Measurement,
    change: Change,
    *,
    at: Mapping[str, Any] | None = None,
    relaunch: bool = False,
    length: Length | None = None,
) -> Comparison:
    """Measure half round trips of node00 and node01 before and after `change`, in turns; it is out again at the end.

    The Points go into the session, with the coordinates `at` and a `state`. `relaunch`: every visit is its own launch,
    for changes that only a new connection or a new process notices.
    """
    need_nodes(session.cluster, 2)
    length = length or (QUICK if session.quick else DEFAULT)
    place = {**(at or {}), "size_bytes": SIZE_BYTES, "ranks": 2}
    points = {state: session.add({**place, "state": state}, HALF, []) for state in (BEFORE, AFTER)}
    for point in points.values():
        point.facts.update({"visit": [], "repetitions": []})
    program = session.prepare(PROGRAM)
    now, environment = BEFORE, dict[str, str]()

    def become(state: str) -> None:
        nonlocal now, environment
        if state != now:
            # It counts as in from the moment at which it begins: half a change is to be taken out too.
            now = AFTER
            environment = dict(change(state == AFTER) or {})
            now = state

    def launched() -> InteractiveRun:
        words = ("--bytes", SIZE_BYTES)
        return InteractiveRun(session.cluster, program, 2, words, environment=environment)

    def visit(state: str, samples: int) -> list[dict[str, Any]]:
        become(state)
        if held:
            return held.take(samples)
        with launched() as run:
            return run.take(samples)

    comparison: Comparison | None = None
    with ExitStack() as ends:
        ends.callback(become, BEFORE)
        held = None if relaunch else ends.enter_context(launched())
        for block in range(length.most_blocks):
            for turn, state in enumerate(TURNS):
                share = (4 * block + turn) / (4 * length.blocks)
                what = f"{session.study}: {state}, {', '.join(map(str, (at or {}).values()))}"
                session.progress(session.done + min(share, 1.0), session.planned, what)
                _keep(points[state], 4 * block + turn, visit(state, length.samples))
            if block + 1 >= length.blocks:
                comparison = compared(points[BEFORE], points[AFTER])
                if comparison.decision != "inconclusive":
                    break
    session.launched()
    assert comparison, "a length has at least one block"
    return comparison


def compared(before: Point, after: Point) -> Comparison:
    """What the Points of the two states come to."""
    both = pairs(before, after)
    return Comparison(before, after, ratio(both), decide(both))


def decide(
    both: Sequence[tuple[float, float]],
    launches: Sequence[int] = (),
    *,
    busy: bool = False,
) -> Decision:
    """The rule, for pairs of after and before, and the launch of each where there were several."""
    sure = ratio(both, confidence=SURE, launches=launches, busy=busy)
    return decided(ratio(both, launches=launches, busy=busy), sure)


def decided(usual: Ratio, sure: Ratio) -> Decision:
    """The rule, from the interval of the ratio after over before, and from the wider one of SURE."""
    if usual.low >= 1 / (1 + MARGIN) and usual.high <= 1 + MARGIN:
        return "no effect"
    if sure.low > 1 and usual.median > 1 + MARGIN:
        return "slower"
    if sure.high < 1 and usual.median < 1 / (1 + MARGIN):
        return "faster"
    return "inconclusive"


def sentence(change: Ratio, before: float, after: float) -> str:
    """The change in per cent with its 95 % interval; beside it both medians, and a note where these say otherwise."""
    percent = change.change_percent
    text = f"{percent.median:+.1f} % ({percent.low:+.1f} to {percent.high:+.1f}), the median of {percent.n} pairs;"
    text += f" medians of all samples {before:.2f} µs before, {after:.2f} µs after"
    return f"{text} ({OTHERWISE})" if otherwise(before, after, change) else text


def otherwise(before: float, after: float, change: Ratio) -> bool:
    """Whether two times, side by side, say otherwise than the pairs: they go another way, or show an effect of none."""
    share = after / before
    if 1 / (1 + MARGIN) <= change.median <= 1 + MARGIN:
        return not 1 / (1 + MARGIN) <= share <= 1 + MARGIN
    return (share - 1) * (change.median - 1) <= 0


def pairs(before: Point, after: Point) -> list[tuple[float, float]]:
    """The values of neighbouring visits: after, and before."""
    mine = by_visit(after)
    times = {**by_visit(before), **mine}
    neighbours = []
    # By the visits that there are: in an edited Record a number may be too large to count up to.
    for first in sorted(visit for visit in times if visit >= 0 and visit % 2 == 0):
        if first + 1 not in times:
            continue
        both = (times[first], times[first + 1])
        neighbours.append(both if first in mine else both[::-1])
    return neighbours


def described(*points: Point) -> Described:
    """Mean, deviation and percentiles of all samples."""
    values = np.concatenate([np.asarray(point.samples, dtype=float) for point in points])
    at = dict(zip(PERCENTILES, (float(v) for v in np.percentile(values, PERCENTILES)), strict=True))
    return Described(len(values), float(values.mean()), float(values.std()), at)


def by_visit(*points: Point) -> dict[int, float]:
    """The value of each visit of a state: its lower decile."""
    samples: dict[int, list[float]] = {}
    for point in points:
        for visit, sample in zip(point.facts["visit"], point.samples, strict=True):
            samples.setdefault(int(visit), []).append(sample)
    return undisturbed(samples)


def undisturbed(samples: Mapping[int, list[float]]) -> dict[int, float]:
    """The lower decile of each visit's samples; visits that have as many samples are computed together."""
    found: dict[int, float] = {}
    for count in {len(each) for each in samples.values()}:
        visits = [visit for visit, each in samples.items() if len(each) == count]
        values = np.percentile([samples[visit] for visit in visits], UNDISTURBED, axis=1)
        found |= dict(zip(visits, values.tolist(), strict=True))
    return {visit: found[visit] for visit in samples}


def _keep(point: Point, visit: int, lines: Sequence[Mapping[str, Any]]) -> None:
    point.samples.extend(line["seconds"] / line["repetitions"] / 2 * 1e6 for line in lines)
    point.facts["visit"].extend([visit] * len(lines))
    point.facts["repetitions"].extend(line["repetitions"] for line in lines)
