"""Equation 1 of paper D: the change of a time by overlap, as a percentage of the time without."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from beowulf.errors import LabError
from beowulf.measure.statistics import ratio


def improvement_percent(overlap: float, nonoverlap: float) -> float:
    """Paper D's equation 1, of two times in one unit: negative is better; LabError for no time."""
    if not nonoverlap > 0:
        raise LabError(
            f"An improvement on {nonoverlap:g} s cannot be computed.",
            "The time without overlap must be above zero.",
        )
    return (overlap - nonoverlap) / nonoverlap * 100


@dataclass(frozen=True)
class Improvement:
    """Equation 1 over n pairs of measurements made in turns: the median in %, and its 95 % interval."""

    percent: float
    low: float
    high: float
    n: int

    @property
    def median(self) -> float:
        """The percentage, under the name that other intervals have for their middle."""
        return self.percent

    @property
    def says(self) -> str:
        """The figures in words."""
        return f"{self.percent:+.2f} % ({self.low:+.2f} to {self.high:+.2f})"


def improvement(
    overlap: Iterable[float],
    nonoverlap: Iterable[float],
    launches: Iterable[int],
    *,
    busy: bool = False,
) -> Improvement:
    """Equation 1 for T_overlap and T_nonoverlap, measured in turns; `launches` says of each pair in which launch."""
    pairs = list(zip(overlap, nonoverlap, strict=True))
    times = ratio(pairs, launches=list(launches), busy=busy)
    low, middle, high = (
        improvement_percent(each, 1.0) for each in (times.low, times.median, times.high)
    )
    return Improvement(middle, low, high, times.n)
