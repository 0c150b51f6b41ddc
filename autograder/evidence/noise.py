"""The noise of a Record's samples: does it depend on time and neighbours as a machine's does, with the clock's steps?

What disturbs a machine lasts longer than one sample. So samples of the same pass go up and down together, and a few are
far from all others. Numbers that a program draws one by one lack the first, whatever the distribution, also if they are
drawn from real samples; those of the usual distributions lack the second.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from autograder.evidence import clock
from beowulf.measure.measurement import PER_SECOND
from beowulf.record import Point, Record

Values = NDArray[np.float64]

# What varies within one run of a program; everything else in `at` tells one run from another.
WITHIN_A_RUN = {
    *("size_bytes", "message_bytes", "overlap_bytes", "protocol", "rank", "event"),
    *("row", "operation", "pages", "part", "way"),
}
FEWEST, MOST = 5, 100  # samples of a place that are looked at
MOST_PLACES = 5_000  # of a Record
LARGEST = 1e100  # whatever the unit
LEAST_TOGETHER = 3  # places of a run, to compare their passes
FAR_MADS = 10.0
TO_STANDARD_DEVIATION = 1.4826  # of a median absolute deviation, if the values are normal
# Times that are longer have no digits for less than a nanosecond.
LONGEST_WITH_STEPS_S = 1e-3
# MPI_Wtime gives nanoseconds since the machine started, as a double, whose own steps are coarser after some days.
STEPS_S, NEAR_S = (1e-9, 2.0**-34), (3e-11, 1.5e-12)
MOST_TIMES = 1_000


@dataclass(frozen=True)
class Run:
    """What was measured together, pass by pass: a line of samples for each place; `group` is all but its launch."""

    group: str
    launch: int
    places: tuple[str, ...]
    samples: Values

    @cached_property
    def middles(self) -> Values:
        """The median of each place."""
        return np.asarray(np.median(self.samples, axis=1))

    @cached_property
    def deviations(self) -> Values:
        """How far each sample is from the middle of its place."""
        return np.abs(self.samples - self.middles[:, np.newaxis])


def runs(record: Record) -> list[Run]:
    """The runs of a Record; points that have too few samples are left out."""
    lines: dict[tuple[str, int], dict[str, Values]] = defaultdict(dict)
    for point in record.points[:MOST_PLACES]:
        samples, launch = _samples(point.samples), point.at.get("launch", 0)
        if samples is None or type(launch) is not int:
            continue
        fixed = {name: point.at[name] for name in point.at if name not in WITHIN_A_RUN}
        fixed.pop("launch", None)
        varied = {name: point.at[name] for name in point.at if name in WITHIN_A_RUN}
        group = json.dumps([fixed, len(samples)], sort_keys=True)
        lines[group, launch][json.dumps([point.quantity, varied], sort_keys=True)] = samples
    return [
        Run(group, launch, tuple(of_run), np.array(list(of_run.values())))
        for (group, launch), of_run in lines.items()
    ]


def _samples(samples: list[float]) -> Values | None:
    if len(samples) < FEWEST or not set(map(type, samples)) <= {int, float}:
        return None
    values = np.array(samples[:MOST], dtype=float)
    return values if bool((np.abs(values) < LARGEST).all()) else None


def dependence(every: Iterable[Run]) -> tuple[float, int]:
    """How much the samples of one pass resemble each other, in standard deviations, and of how many samples.

    Where each was drawn for itself, it is about 0 and rarely above 2, whatever the distribution: only the ranks of the
    samples of each place are looked at, and how far each is from its middle.
    """
    together = [run for run in every if len(run.places) >= LEAST_TOGETHER]
    parts = (
        _same_pass(run.samples for run in together),
        _same_pass(run.deviations for run in together),
    )
    return sum(parts) / math.sqrt(len(parts)), sum(run.samples.size for run in together)


def _same_pass(every: Iterable[Values]) -> float:
    """Friedman's statistic: do the values of one pass rank high, or low, at all places of a run?"""
    chi_square, freedom = 0.0, 0
    for values in every:
        ranks = _centred_ranks(values)
        spread = float((ranks**2).sum()) / (ranks.shape[1] - 1)
        if spread > 0:
            chi_square += float((ranks.sum(axis=0) ** 2).sum()) / spread
            freedom += ranks.shape[1] - 1
    if not freedom:
        return 0.0
    # Wilson and Hilferty, 1931: the cube root of a chi-square is about normal.
    width = 2 / (9 * freedom)
    return float(((chi_square / freedom) ** (1 / 3) - (1 - width)) / math.sqrt(width))


def _centred_ranks(values: Values) -> Values:
    """The ranks within each line, equal values sharing theirs, less their mean."""
    count = values.shape[1]
    order = np.argsort(values, axis=1)
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, order, np.arange(count, dtype=float)[np.newaxis, :], axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    for line in np.flatnonzero((np.diff(ordered, axis=1) == 0).any(axis=1)):
        below = np.searchsorted(ordered[line], values[line], "left")
        ranks[line] = (below + np.searchsorted(ordered[line], values[line], "right") - 1) / 2
    centred: Values = ranks - (count - 1) / 2
    return centred


def far_share(every: Iterable[Run]) -> tuple[float, int]:
    """The share of samples that are far from the middle of their place, by its own spread, and of how many."""
    far, number = 0, 0
    for run in every:
        spreads = TO_STANDARD_DEVIATION * np.median(run.deviations, axis=1)
        vary = spreads > 0
        far += int((run.deviations > FAR_MADS * spreads[:, np.newaxis])[vary].sum())
        number += int(vary.sum()) * run.samples.shape[1]
    return (far / number if number else 0.0), number


def clock_share(record: Record) -> tuple[float, int]:
    """The share of its short times that a clock's steps add up to, and of how many; drawn ones hit about one in ten."""
    if not str(record.program.get("name", "")).endswith(".c"):
        return 0.0, 0  # Python prints all digits that it has
    points = [point for point in record.points if _may_be_short(point)]
    short = (
        second
        for point, seconds in clock.timed(replace(record, points=points))
        if clock.is_counted(point)
        for second in seconds
        if 0 < second < LONGEST_WITH_STEPS_S
    )
    times = np.array(list(islice(short, MOST_TIMES)))
    on_step = np.zeros(len(times), dtype=bool)
    for step, near in zip(STEPS_S, NEAR_S, strict=True):
        on_step |= np.abs(times - np.round(times / step) * step) <= near
    return (float(on_step.mean()) if len(times) else 0.0), len(times)


def _may_be_short(point: Point) -> bool:
    """Whether a sample, which is one repetition, is short enough."""
    per = next((each for unit, each in PER_SECOND.items() if point.quantity.endswith(unit)), 0.0)
    return bool(point.samples) and min(point.samples) < LONGEST_WITH_STEPS_S * per
