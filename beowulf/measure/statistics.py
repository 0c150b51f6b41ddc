"""From raw samples to what is reported: never a bare mean, always with an interval."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from beowulf.errors import LabError

RESAMPLES = 1000
CONFIDENCE = 0.95
SEED = 1
# With fewer pairs than this even the whole range of their ratios is no 95 % interval of the median: 2 * 0.5^6 = 3 %.
LEAST_PAIRS = 6
MOST_AT_ONCE = 4_000_000  # numbers of one block of resamples: 32 MB
# Of a busy machine: so many times as wide is an interval, and to each side at least this share of the value as wide.
WIDER = 3.0
LEAST_WIDE = 0.1

MOST_REMEMBERED = 10_000

T = TypeVar("T")
_remembered: dict[tuple[object, ...], object] = {}


@dataclass(frozen=True)
class Summary:
    """n samples: their minimum (what the machine can do), median (what you get), quartiles.

    `low` and `high` hold the median with 95 % confidence, by bootstrap.
    """

    n: int
    min: float
    q1: float
    median: float
    q3: float
    low: float
    high: float


@dataclass
class Pairs:
    """Values that were measured in turns, the launch of each pair, and whether the machine was busy."""

    values: list[tuple[float, float]] = field(default_factory=list)
    launches: list[int] = field(default_factory=list)
    busy: bool = False

    def add(self, launch: int, first: Iterable[float], second: Iterable[float]) -> None:
        """The pairs of one launch; where one of both has more, the rest is left out."""
        pairs = list(zip(first, second, strict=False))
        self.values += pairs
        self.launches += [launch] * len(pairs)

    def ratio(self) -> Ratio:
        """The first of each pair over the second: 1.1 where it is 10 % more; LabError when there are none."""
        return ratio(self.values, launches=self.launches, busy=self.busy)

    def summary(self, of: Callable[[float, float], float], compared: float = 0.0) -> Summary:
        """Describe what `of` makes of each pair; `compared` is how large the values are of a difference."""
        values = [of(*pair) for pair in self.values]
        return summary(values, launches=self.launches, busy=self.busy, compared=compared)


@dataclass(frozen=True)
class Ratio:
    """The median of n ratios of measurements that were made in turns, and its interval, 95 % by default."""

    median: float
    low: float
    high: float
    n: int

    @property
    def change_percent(self) -> Ratio:
        """The same as a change: -10 for 0.9."""
        median, low, high = (100 * (each - 1) for each in (self.median, self.low, self.high))
        return Ratio(median, low, high, self.n)


def summary(
    samples: Sequence[float] | NDArray[np.float64],
    seed: int = SEED,
    launches: Sequence[int] = (),
    *,
    busy: bool = False,
    compared: float = 0.0,
) -> Summary:
    """Describe `samples`; LabError when there are none.

    `launches` is the launch of each, where several were taken, `busy` says of what machine, and `compared` how large
    the values are of which the samples are differences: see interval().
    """
    values = _values(samples)
    q1, median, q3 = (float(value) for value in np.percentile(values, (25, 50, 75)))
    low, high = interval(values, seed, launches=launches, busy=busy, compared=compared)
    return Summary(len(values), float(values.min()), q1, median, q3, low, high)


def ratio(
    pairs: Sequence[tuple[float, float]],
    seed: int = SEED,
    confidence: float = CONFIDENCE,
    launches: Sequence[int] = (),
    *,
    busy: bool = False,
) -> Ratio:
    """The first of each pair over the second, as a median with its interval: 1.1 where it is 10 % more.

    `launches` is the launch of each pair, where several were taken, and `busy` says of what machine: see interval().
    """
    if not len(pairs):
        raise LabError("There are no pairs to compare.", "Measure again.")
    both = np.asarray(pairs, dtype=float)
    ratios = both[:, 0] / both[:, 1]
    low, high = interval(ratios, seed, confidence, launches, busy=busy)
    return Ratio(float(np.median(ratios)), low, high, len(ratios))


def interval(
    values: NDArray[np.float64],
    seed: int = SEED,
    confidence: float = CONFIDENCE,
    launches: Sequence[int] = (),
    *,
    busy: bool = False,
    compared: float = 0.0,
) -> tuple[float, float]:
    """The interval of the median, 95 % by default: medians of many draws with replacement from the values.

    Samples of one launch are more alike than those of two. With the launch of each value, a draw takes as many
    launches as there are, with replacement, and then of each as many values as it has. What a `busy` machine adds to
    the samples, no draw shows: there the interval is wider, that of a difference by a share of what is `compared`.
    """
    n = len(values)
    if n == 1:
        only = float(values[0])
        return wider(only, only, only, compared) if busy else (only, only)
    groups = by_launch(values, launches)

    def drawn() -> tuple[float, float]:
        draw = np.random.default_rng(seed)
        block = max(1, min(RESAMPLES, MOST_AT_ONCE // (max(map(len, groups)) * len(groups))))
        medians: list[NDArray[np.float64]] = []
        left = RESAMPLES
        while left > 0:
            chosen = draw.integers(0, len(groups), (min(block, left), len(groups)))
            medians.append(redrawn(groups, chosen, draw))
            left -= block
        tail = 50 * (1 - confidence)
        low, high = np.percentile(np.concatenate(medians), (tail, 100 - tail))
        return float(low), float(high)

    low, high = remembered(drawn, groups, "interval", seed, confidence, RESAMPLES)
    if not busy:
        return low, high
    low, high = wider(float(np.median(values)), low, high, compared)
    # What is never negative, such as a time or a ratio, has no negative median either.
    return (max(low, 0.0) if not compared and values.min() >= 0 else low), high


def remembered(compute: Callable[[], T], groups: Iterable[NDArray[np.float64]], *how: object) -> T:
    """What `compute` gives; what it gave before where the values of all `groups` and `how` are the same.

    Several claims, tables and figures look at the same samples.
    """
    values = hashlib.blake2b()
    for group in groups:
        values.update(len(group).to_bytes(8) + np.ascontiguousarray(group).tobytes())
    key = (values.digest(), *how)
    if key not in _remembered:
        if len(_remembered) >= MOST_REMEMBERED:
            _remembered.clear()
        _remembered[key] = compute()
    found: T = _remembered[key]  # type: ignore[assignment]
    return found


def wider(value: float, low: float, high: float, compared: float = 0.0) -> tuple[float, float]:
    """The ends of an interval of this value, further away from it: on a busy machine it may lie there, too."""
    least = LEAST_WIDE * max(abs(value), abs(compared))
    return value - max(WIDER * (value - low), least), value + max(WIDER * (high - value), least)


def by_launch(values: NDArray[np.float64], launches: Sequence[int]) -> list[NDArray[np.float64]]:
    """The values of each launch; all of them together where no launch has more than one."""
    if not len(launches):
        return [values]
    of = np.asarray(launches)
    each = np.unique(of)
    return [values] if len(each) == len(values) else [values[of == launch] for launch in each]


def redrawn(
    groups: Sequence[NDArray[np.float64]],
    chosen: NDArray[np.int64],
    draw: np.random.Generator,
    percentile: float = 50,
) -> NDArray[np.float64]:
    """A percentile of the values of the `chosen` groups, a row a draw, each group's drawn again with replacement."""
    sizes = np.array([len(group) for group in groups])
    most = int(sizes.max())
    # A launch that has fewer values than another one is filled up with NaN, which is not counted.
    table = np.full((len(groups), most), np.nan)
    for row, group in zip(table, groups, strict=True):
        row[: len(group)] = group
    of = sizes[chosen][..., None]
    places = (draw.random((*chosen.shape, most)) * of).astype(int)
    values = table[chosen[..., None], places]
    values[np.broadcast_to(np.arange(most) >= of, values.shape)] = np.nan
    flat = values.reshape(len(chosen), -1)
    if (sizes < most).any():
        return _percentile(flat, percentile)
    return np.asarray(np.percentile(flat, percentile, axis=1), float)


def _percentile(rows: NDArray[np.float64], percentile: float) -> NDArray[np.float64]:
    """A percentile of each row's numbers: as np.nanpercentile, which takes one row after the other."""
    rows.sort(axis=1)  # NaN last
    last = np.count_nonzero(~np.isnan(rows), axis=1) - 1
    place = last * (percentile / 100)
    before = np.floor(place).astype(int)
    each = np.arange(len(rows))
    low, high = rows[each, before], rows[each, np.minimum(before + 1, last)]
    share = place - before
    upwards, downwards = low + (high - low) * share, high - (high - low) * (1 - share)
    return np.asarray(np.where(share < 0.5, upwards, downwards), float)


def _values(samples: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.asarray(samples, dtype=float)
    if values.size == 0:
        raise LabError("There are no samples.", "Measure again; the sweep may have been cut short.")
    return values
