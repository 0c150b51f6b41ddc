"""Models of a message's time: latency and rate, and the step where the library changes its way.

T(n) = alpha + beta n (paper E, equation 1; Hockney's model): alpha is what an empty message costs, beta
what each byte adds, and 1 / beta is the bandwidth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beowulf.errors import LabError
from beowulf.measure.statistics import SEED, by_launch, redrawn, remembered, wider

Array = NDArray[np.float64]

RESAMPLES = 400
CENTRAL = (2.5, 97.5)  # the percentiles between which 95 % lie
FEWEST_SIZES = 4
LONG = 1 / 3  # of the sizes decide the rate
SHORT = 0.1  # messages whose bytes take at most this share of their time decide the latency
# A step must make the model so much better: the squared residuals without it over those with it.
CLEARLY_BETTER = 3.0


@dataclass(frozen=True)
class Interval:
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """T(n) = alpha + beta n, and what each measured time is above it, as a share of itself."""

    alpha_us: Interval
    beta_us_per_byte: Interval
    residuals: dict[int, float]

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """1 / beta."""
        return 1e6 / self.beta_us_per_byte.value

    def time_us(self, size: float) -> float:
        """What the model says a message of `size` bytes takes."""
        return self.alpha_us.value + size * self.beta_us_per_byte.value


@dataclass(frozen=True)
class Step:
    """Messages of `below` bytes go the one way and those of `above` the other, `jump_us` slower."""

    below: int
    above: int
    jump_us: Interval


def alpha_beta(
    samples: Mapping[int, Sequence[float]],
    launches: Mapping[int, Sequence[int]] | None = None,
    *,
    busy: bool = False,
) -> Fit:
    """Fit alpha and beta to the times (us) of each size; LabError when that is impossible.

    Each end decides its own: beta is the slope of the longest third of the messages, where the
    latency hardly counts, and alpha is what short messages leave over, where the bytes hardly count.
    So the sizes between them are free to say whether the model is right. The intervals come from
    drawing the samples of each size again; with the launch of each, first the launches, the same for all sizes.
    They are wider where the machine was `busy`.
    """
    sizes, times = _ordered(samples)
    if len(sizes) < 2:
        raise LabError("A fit needs two sizes or more.", "Measure more sizes.")
    x = np.array(sizes, dtype=float)
    medians = np.array([np.median(each) for each in times])
    ends = _ends(x, medians)
    if ends is None:
        raise LabError(
            "The times do not rise with the size, so no rate can be fitted.",
            "Measure larger messages, and on a quiet machine.",
        )
    of = [(launches or {}).get(size, ()) for size in sizes]
    groups = [by_launch(each, launch) for each, launch in zip(times, of, strict=True)]

    def drawn() -> tuple[list[float], list[float]]:
        fitted = [_ends(x, each) for each in _redrawn(groups, 50)]
        draws = np.array([each for each in fitted if each is not None])
        low, high = np.percentile(draws, CENTRAL, axis=0).tolist()
        return low, high

    every = [x, *(group for each in groups for group in each)]
    launched = tuple(map(len, groups))
    (alpha_low, beta_low), (alpha_high, beta_high) = remembered(
        drawn, every, "alpha_beta", launched
    )
    model = ends[0] + ends[1] * x
    alpha, beta = ends
    return Fit(
        _interval(alpha, alpha_low, alpha_high, busy),
        _interval(beta, beta_low, beta_high, busy),
        {
            size: float((median - predicted) / predicted) if predicted > 0 else 0.0
            for size, median, predicted in zip(sizes, medians, model, strict=True)
        },
    )


def _interval(value: float, low: float, high: float, busy: bool) -> Interval:
    return Interval(value, *(wider(value, low, high) if busy else (low, high)))


def _ends(x: Array, y: Array) -> tuple[float, float] | None:
    """alpha (us) and us a byte; None when the longest messages are not slower than the others."""
    long = max(2, round(len(x) * LONG))
    # A relative error counts the same at every size, else the largest message alone would decide.
    slope = _squares(np.column_stack([np.ones(long), x[-long:]]), y[-long:], 1 / y[-long:])[0][1]
    if slope <= 0:
        return None
    short = slope * x <= SHORT * y
    short[0] = True
    return float(np.median((y - slope * x)[short])), float(slope)


def eager_limit(samples: Mapping[int, Sequence[float]], *, busy: bool = False) -> Step | None:
    """Where the times (us) of the sizes make a step upwards; None when nowhere.

    A line with one step is fitted for every place that the step could have; the best place counts
    when it is clearly better than a line without a step and the step's interval, wider where the machine was `busy`, is
    above zero.
    """
    sizes, times = _ordered(samples)
    if len(sizes) < 2 * FEWEST_SIZES:
        raise LabError(
            f"To find a step, {2 * FEWEST_SIZES} sizes are needed, not {len(sizes)}.",
            "Measure more sizes.",
        )
    x = np.array(sizes, dtype=float)
    # A disturbance only ever makes a message slower, so a lower quartile shows more than a median.
    quartiles = np.array([np.percentile(each, 25) for each in times])
    weights = 1 / quartiles
    plain = _squares(np.column_stack([np.ones_like(x), x]), quartiles, weights)[1]
    best: tuple[float, int, float] | None = None
    for place in range(2, len(sizes) - 1):
        columns = _with_step(x, place)
        values, squares = _squares(columns, quartiles, weights)
        if values[2] > 0 and (best is None or squares < best[0]):
            best = (squares, place, float(values[2]))
    if best is None or plain < CLEARLY_BETTER * max(best[0], 1e-30):
        return None
    columns = _with_step(x, best[1])

    def drawn() -> list[float]:
        jumps = [
            _squares(columns, each, weights)[0][2]
            for each in _redrawn([[each] for each in times], 25)
        ]
        return list(np.percentile(jumps, CENTRAL).tolist())

    low, high = remembered(drawn, [x, *times], "eager_limit", best[1])
    jump = _interval(best[2], low, high, busy)
    return Step(sizes[best[1] - 1], sizes[best[1]], jump) if jump.low > 0 else None


def _ordered(samples: Mapping[int, Sequence[float]]) -> tuple[list[int], list[Array]]:
    sizes = sorted(samples)
    return sizes, [np.asarray(samples[size], dtype=float) for size in sizes]


def _with_step(x: Array, place: int) -> Array:
    return np.column_stack([np.ones_like(x), x, np.arange(len(x)) >= place])


def _squares(columns: Array, y: Array, weights: Array) -> tuple[Array, float]:
    """Weighted least squares: the coefficients, and the sum of the squared weighted residuals."""
    scale = np.abs(columns).max(axis=0)
    coefficients = (
        np.linalg.lstsq(columns / scale * weights[:, None], y * weights, rcond=None)[0] / scale
    )
    return coefficients, float((((columns @ coefficients - y) * weights) ** 2).sum())


def _redrawn(groups: Sequence[Sequence[Array]], percentile: float) -> Array:
    """A percentile of each size's samples, drawn again RESAMPLES times: one row a draw."""
    draw = np.random.default_rng(SEED)
    # A launch that is drawn is drawn for all sizes: what makes it slower does so at all of them.
    chosen = {
        count: draw.integers(0, count, (RESAMPLES, count))
        for count in sorted({len(each) for each in groups})
    }
    return np.column_stack([redrawn(each, chosen[len(each)], draw, percentile) for each in groups])
