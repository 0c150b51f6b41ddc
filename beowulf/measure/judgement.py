"""From what a Record shows to a Verdict, when the circumstances allow one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from beowulf.errors import LabError
from beowulf.measure.quality import NO_SAMPLES
from beowulf.measure.statistics import Ratio
from beowulf.record import Record
from beowulf.verdict import Outcome, Verdict

SIMILAR = 0.1  # two ways are similar within this share of the time
MOSTLY = 0.9  # of the places they must not differ
# Of an effect that a paper prints: with less than half of it, our machines, which are others, do not show the same.
ENOUGH = 0.5
IN_FULL = "in full (without `--quick` or `quick=True`)"
HINT = "Close whatever else is running on this machine and measure again"


def verdict(
    record: Record,
    claim: str,
    says: str,
    outcome: Outcome,
    evidence: str,
    *,
    advice: str = "",
    undecidable: str = "",
    numbers: Mapping[str, Any] | None = None,
    trouble: Sequence[str] = (),
) -> Verdict:
    """The Verdict on a claim; with `undecidable` or `trouble` it is inconclusive, whatever was measured.

    `trouble` is what quality.py says of the circumstances: to measure again may help. `undecidable` is a reason that
    lies in the cluster or in the way of measuring and is there the next time, too: only its own `advice` helps.
    """
    reasons = [*([undecidable] if undecidable else []), *trouble]
    if reasons:
        before = f"{evidence}; but " if evidence else ""
        outcome, evidence = "inconclusive", f"{before}{_joined(reasons)}"
        if not undecidable:
            advice = whole(record) if NO_SAMPLES in trouble else again(record)
    if outcome == "inconclusive" and not advice:
        advice = again(record)
    return Verdict(record.study, claim, says, outcome, evidence, advice, dict(numbers or {}))


def again(record: Record) -> str:
    """The advice to measure again, and in full where the Record was measured with --quick."""
    return f"{HINT}, {IN_FULL}." if record.sweep.get("quick") else f"{HINT}."


def whole(record: Record) -> str:
    """The advice where samples are missing."""
    if record.sweep.get("quick") and record.complete:
        return f"Measure {IN_FULL}: a quick Record has fewer sizes."
    return f"`beowulf study {record.study}` measures them; let it run to its end."


def narrower(record: Record) -> str:
    """The advice where an interval is too wide: more launches, unless the Record has as many as there are."""
    if record.sweep.get("quick"):
        return (
            f"More launches make the interval narrower: measure {IN_FULL}, on a machine that"
            " is left alone."
        )
    return "The interval is narrower on a machine that is left alone: measure there."


def _joined(reasons: Sequence[str]) -> str:
    # They have commas of their own.
    *most, last = reasons
    return f"{'; '.join(most)}; and {last}" if most else last


def unjudged(record: Record, claims: Mapping[str, str], trouble: Sequence[str]) -> list[Verdict]:
    """An inconclusive Verdict on each claim (its name: what it says), where there is nothing to look at."""
    return [
        verdict(record, name, says, "inconclusive", "", trouble=trouble)
        for name, says in claims.items()
    ]


def unmeasured(record: Record, claim: str, says: str, hint: str = "") -> Verdict:
    """The Verdict on a claim for which the Record has no samples, as after Ctrl-C; `hint` names another cluster."""
    nothing = "The Record has no samples for it."
    advice = hint if "beowulf up" in hint else whole(record)
    return verdict(record, claim, says, "inconclusive", nothing, advice=advice)


def together(outcomes: Sequence[Outcome]) -> Outcome:
    """Of parts that have to hold all: one that is contradicted decides, one that is inconclusive leaves it open."""
    for outcome in ("contradicted", "inconclusive"):
        if outcome in outcomes:
            return outcome
    return "holds"


def rising(intervals: Sequence[tuple[float, float]]) -> Outcome:
    """Whether each interval lies wholly above the one before; inconclusive while two touch.

    LabError where one is missing.
    """
    if any(math.isnan(end) for ends in intervals for end in ends):
        raise LabError("An interval is missing.", "Measure again.")
    steps = list(pairwise(intervals))
    if any(high < before_low for (before_low, _), (_, high) in steps):
        return "contradicted"
    touch = any(low <= before_high for (_, before_high), (low, _) in steps)
    return "inconclusive" if touch else "holds"


class Interval(Protocol):
    """What has a lower and an upper end, such as a Ratio or a Summary."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


def below(measured: Interval | float, limit: Interval | float) -> Outcome:
    """Whether one interval, or number, lies wholly below another; inconclusive while they touch."""
    return rising([_ends(measured), _ends(limit)])


def within(measured: Interval, low: float, high: float) -> Outcome:
    """Whether an interval lies wholly between two limits; inconclusive while it crosses one of them."""
    if low <= measured.low and measured.high <= high:
        return "holds"
    return "contradicted" if measured.high < low or measured.low > high else "inconclusive"


@dataclass(frozen=True)
class Span:
    """Two ends: what a value made of other intervals lies between."""

    low: float
    high: float


def quotient(one: Interval, other: Interval) -> Span:
    """How many times the other one may be, wherever both lie in their intervals; of positive numbers."""
    return Span(one.low / other.high, one.high / other.low if other.low > 0 else math.inf)


def difference(one: Interval, other: Interval) -> Span:
    """How much one is above the other, wherever both lie in their intervals."""
    return Span(one.low - other.high, one.high - other.low)


def reaches(measured: Interval, published: float, none: float) -> Outcome:
    """Whether at least ENOUGH of a published effect is there, counted from `none`, where there is no effect.

    An interval wholly short of that contradicts: a smaller effect, none, and one in the other direction.
    """
    enough = halfway(published, none)
    return below(measured, enough) if published < none else below(enough, measured)


def halfway(published: float, none: float) -> float:
    """How much of a published effect is ENOUGH, counted from `none`."""
    return none + ENOUGH * (published - none)


def _ends(measured: Interval | float) -> tuple[float, float]:
    return (
        (measured, measured) if isinstance(measured, int | float) else (measured.low, measured.high)
    )


@dataclass(frozen=True)
class Agreement:
    """At how many of several places two ways take the same time within `margin`, and where that is open."""

    margin: float
    similar: int  # the whole interval lies within the margin
    differ: int  # the whole interval lies outside of it
    undecided: int  # the interval is so wide that both can be

    @classmethod
    def of(cls, measured: Iterable[Ratio], margin: float) -> Agreement:
        """What these ratios say."""
        ratios = list(measured)
        similar = sum(each.low >= 1 - margin and each.high <= 1 + margin for each in ratios)
        differ = sum(each.low > 1 + margin or each.high < 1 - margin for each in ratios)
        return cls(margin, similar, differ, len(ratios) - similar - differ)

    @property
    def places(self) -> int:
        """How many there are."""
        return self.similar + self.differ + self.undecided

    def outcome(self, mostly: float) -> Outcome:
        """Whether they agree: they differ at no more than the rest of this share, and more than half are similar.

        Where one place in ten may differ, a few short messages on a busy core do not leave the whole claim open.
        """
        if self.similar + self.undecided < mostly * self.places:
            return "contradicted"
        return "holds" if 2 * self.similar > self.places else "inconclusive"

    def __str__(self) -> str:
        return (
            f"within {self.margin:.0%} at {self.similar} of {self.places} places, differs by more at"
            f" {self.differ}, undecided at {self.undecided}"
            + (", where the interval holds both" if self.undecided else "")
        )
