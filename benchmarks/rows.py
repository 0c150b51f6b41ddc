"""The rows of a benchmark's table: a question, what was measured for it, and the verdict against its bar."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from beowulf.measure.statistics import LEAST_PAIRS, Ratio, ratio, summary

MET, NOT_MET, INCONCLUSIVE, NOT_MEASURED = "met", "not met", "inconclusive", "not measured"
NO_BAR = "no bar"
LEAST_RUNS = 3


@dataclass(frozen=True)
class Bar:
    """The target: at most `limit`, in seconds for `ours`, or as a `ratio` of ours to the other.

    Where less is not better either, `least` is the other end. A `count` is of trials that end as they should
    (1 or 0 each): at least `least` of `limit`.
    """

    limit: float
    of: str = "ours"
    says: str = ""
    least: float = 0.0

    def __str__(self) -> str:
        if self.of == "count":
            return f"at least {self.least:g} of {self.limit:g}"
        if self.says or self.of == "ratio":
            return self.says or f"ratio at most {self.limit:g}"
        return f"at most {seconds(self.limit)}"


@dataclass(frozen=True)
class Question:
    """One row of the table: `ours` and `other` name samples in `unit`; `missing` is why there are none.

    With `missing`, trials that measured something else than `what` do not count.
    """

    what: str
    ours: str
    other: str = ""
    bar: Bar | None = None
    missing: str = ""
    unit: str = "s"


@dataclass(frozen=True)
class Row:
    """A line of the table. Medians are in seconds, or in `unit`; a ratio is ours over the other."""

    what: str
    bar: str
    ours: str
    other: str
    ours_median_s: float | None
    ours_interval_s: list[float] | None
    other_median_s: float | None
    ratio: float | None
    ratio_interval: list[float] | None
    n: int
    verdict: str
    why: str
    unit: str = "s"


def answer(
    question: Question, samples: Mapping[str, Sequence[float]], noise: str, seed: int
) -> Row:
    """The row for a question: medians, ratio with its interval, and the verdict against its bar."""
    ours = samples.get(question.ours, [])
    if question.bar and question.bar.of == "count":
        return _counted(question, question.bar, ours, noise)
    other = [] if question.missing else samples.get(question.other, [])
    own = summary(ours, seed) if ours else None
    times = ratio(list(zip(ours, other, strict=True)), seed) if ours and other else None
    verdict, why = _verdict(question, (own.low, own.high) if own else None, times, len(ours), noise)
    return Row(
        what=question.what,
        bar=str(question.bar or "none"),
        ours=question.ours,
        other=question.other,
        ours_median_s=own.median if own else None,
        ours_interval_s=[own.low, own.high] if own else None,
        other_median_s=statistics.median(other) if other else None,
        ratio=times.median if times else None,
        ratio_interval=[times.low, times.high] if times else None,
        n=len(ours),
        verdict=verdict,
        why=why,
        unit=question.unit,
    )


def _counted(question: Question, bar: Bar, ours: Sequence[float], noise: str) -> Row:
    successes = sum(ours)
    verdict, why = (MET, "") if successes >= bar.least else (NOT_MET, "")
    if question.missing:
        verdict, why = NOT_MEASURED, question.missing
    elif len(ours) < bar.limit:
        verdict, why = INCONCLUSIVE, f"{len(ours)} of the {bar.limit:g} trials that it takes"
    elif verdict == NOT_MET and noise:
        verdict, why = INCONCLUSIVE, "the machine was noisy"
    return Row(
        what=question.what,
        bar=str(bar),
        ours=question.ours,
        other="",
        ours_median_s=float(successes),
        ours_interval_s=None,
        other_median_s=None,
        ratio=None,
        ratio_interval=None,
        n=len(ours),
        verdict=verdict,
        why=why,
        unit=question.unit,
    )


def _verdict(
    question: Question,
    ours: tuple[float, float] | None,
    ratio: Ratio | None,
    n: int,
    noise: str,
) -> tuple[str, str]:
    bar = question.bar
    of_ratio = bar is not None and bar.of == "ratio"
    interval = (ratio.low, ratio.high) if of_ratio and ratio else None if of_ratio else ours
    if interval is None:
        return NOT_MEASURED, question.missing
    if bar is None:
        return NO_BAR, ""
    if noise:
        return INCONCLUSIVE, "the machine was noisy"
    least = LEAST_PAIRS if of_ratio else LEAST_RUNS
    if n < least:
        return INCONCLUSIVE, f"{n} of the {least} rounds that it takes"
    low, high = interval
    if bar.least <= low and high <= bar.limit:
        return MET, ""
    if low > bar.limit or high < bar.least:
        return NOT_MET, ""
    what = "of the ratio" if of_ratio else "of the median"
    return INCONCLUSIVE, f"the bar is within the interval {what}"


def seconds(value: float | None) -> str:
    """A time with three digits and the unit that suits it."""
    if value is None:
        return "–"
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.3g} s"


def amount(value: float | None, unit: str) -> str:
    """A time, bytes as MB, or how many trials."""
    if unit == "trials" and value is not None:
        return f"{value:.0f}"
    if unit == "bytes" and value is not None:
        return f"{value / 1e6:.0f} MB"
    return seconds(value)


def cells(row: Row) -> list[str]:
    """A row as the cells of a table, under HEADINGS."""
    ratio = "–"
    if row.ratio is not None and row.ratio_interval:
        low, high = row.ratio_interval
        ratio = f"{row.ratio:.3g} ({low:.3g} to {high:.3g})"
    other = f"{amount(row.other_median_s, row.unit)} ({row.other})" if row.other_median_s else "–"
    verdict = f"{row.verdict}: {row.why}" if row.why else row.verdict
    ours = amount(row.ours_median_s, row.unit)
    return [row.what, row.bar, ours, other, ratio, str(row.n), verdict]


HEADINGS = [
    "what",
    "bar",
    "ours (median)",
    "other (median)",
    "ratio (95 % interval)",
    "n",
    "verdict",
]
