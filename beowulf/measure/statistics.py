"""From raw samples to what is reported: never a bare mean, always with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beowulf.errors import LabError

RESAMPLES = 1000
CONFIDENCE = 0.95
SEED = 1
# With fewer pairs than this even the whole range of their ratios is no 95 % interval of the median: 2 * 0.5^6 = 3 %.
LEAST_PAIRS = 6
MOST_AT_ONCE = 4_000_000  # numbers of one block of resamples: 32 MB


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

    @property
    def spread(self) -> float:
        """The distance of the quartiles, as a share of the median."""
        return (self.q3 - self.q1) / self.median if self.median else 0.0


@dataclass(frozen=True)
class Ratio:
    """The median of n ratios of measurements that were made in turns, and its interval, 95 % by default."""

    median: float
    low: float
    high: float
    n: int


def summary(samples: Sequence[float] | NDArray[np.float64], seed: int = SEED) -> Summary:
    """Describe `samples`; LabError when there are none."""
    values = _values(samples)
    q1, median, q3 = (float(value) for value in np.percentile(values, (25, 50, 75)))
    low, high = interval(values, seed)
    return Summary(len(values), float(values.min()), q1, median, q3, low, high)


def ratio(
    pairs: Sequence[tuple[float, float]], seed: int = SEED, confidence: float = CONFIDENCE
) -> Ratio:
    """How often the first of each pair is the second: 1.1 when it is 10 % more."""
    if not len(pairs):
        raise LabError("There are no pairs to compare.", "Measure both again.")
    both = np.asarray(pairs, dtype=float)
    if not np.isfinite(both).all() or (both[:, 1] <= 0).any():
        raise LabError("A pair cannot be compared: a time is zero or no number.", "Measure again.")
    ratios = both[:, 0] / both[:, 1]
    low, high = interval(ratios, seed, confidence)
    return Ratio(float(np.median(ratios)), low, high, len(ratios))


def interval(
    values: NDArray[np.float64], seed: int = SEED, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The interval of the median, 95 % by default: medians of many draws with replacement from the values."""
    n = len(values)
    if n == 1:
        return float(values[0]), float(values[0])
    draw = np.random.default_rng(seed)
    block = max(1, min(RESAMPLES, MOST_AT_ONCE // n))
    medians: list[NDArray[np.float64]] = []
    left = RESAMPLES
    while left > 0:
        chosen = draw.integers(0, n, (min(block, left), n))
        medians.append(np.median(values[chosen], axis=1))
        left -= block
    tail = 50 * (1 - confidence)
    low, high = np.percentile(np.concatenate(medians), (tail, 100 - tail))
    return float(low), float(high)


def _values(samples: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.asarray(samples, dtype=float)
    if values.size == 0:
        raise LabError("There are no samples.", "Measure again; the sweep may have been cut short.")
    if not np.isfinite(values).all():
        raise LabError("A sample is no number.", "Measure again.")
    return values
