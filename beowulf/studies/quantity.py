"""A claim as an expression: quantities of a Record, each with its interval, are combined and compared.

`rate(large) / rate(small) > 2` judges a claim. Outcome, evidence and numbers come from it, and on a busy machine the
intervals in it are wider.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from beowulf.measure.judgement import (
    Interval,
    Span,
    below,
    difference,
    quotient,
    together,
    within,
)
from beowulf.studies.study import Judgement

Judge = Callable[[Any], Judgement]
TIMES = "times"


@dataclass(frozen=True)
class Quantity:
    """What `of` makes of a study's facts: an interval, in a `unit`; LabError where there are no samples of it.

    `says` is what it is, as evidence names it: "a barrier of two nodes".
    """

    says: str
    of: Callable[[Any], Interval]
    unit: str

    def __truediv__(self, other: Quantity) -> Quantity:
        self._same_unit(other)
        says = f"{self.says} over {other.says}"
        return Quantity(says, lambda facts: quotient(self.of(facts), other.of(facts)), TIMES)

    def __sub__(self, other: Quantity) -> Quantity:
        self._same_unit(other)
        says = f"{self.says} less {other.says}"
        return Quantity(says, lambda facts: difference(self.of(facts), other.of(facts)), self.unit)

    def __lt__(self, limit: Quantity | float) -> Judge:
        return self._compared(limit, lambda seen, other: below(seen, other))

    def __gt__(self, limit: Quantity | float) -> Judge:
        return self._compared(limit, lambda seen, other: below(other, seen))

    def within(self, low: float, high: float) -> Judge:
        """Whether the whole interval lies between two limits; inconclusive while it crosses one."""
        return lambda facts: _judged(self, seen := self.of(facts), within(seen, low, high))

    def _same_unit(self, other: Quantity) -> None:
        if self.unit != other.unit:
            raise TypeError(
                f"{self.says} is in {self.unit} and {other.says} in {other.unit}: they cannot be compared"
            )

    def _compared(self, limit: Quantity | float, how: Callable[[Any, Any], Any]) -> Judge:
        if not isinstance(limit, Quantity):
            return lambda facts: _judged(self, seen := self.of(facts), how(seen, limit))
        self._same_unit(limit)

        def judge(facts: Any) -> Judgement:
            seen, other = self.of(facts), limit.of(facts)
            return _judged(self, seen, how(seen, other), f"; {_text(limit, other)}")

        return judge


def in_order(*groups: Sequence[Quantity]) -> Judge:
    """Whether each quantity of a group lies above all those of the group before it."""

    def judge(facts: Any) -> Judgement:
        seen = [[(each, each.of(facts)) for each in group] for group in groups]
        steps = [
            below(low, high)
            for before, after in pairwise(seen)
            for _, low in before
            for _, high in after
        ]
        known = [each for group in seen for each in group]
        numbers = {one.says: getattr(at, "median", [at.low, at.high]) for one, at in known}
        return Judgement(together(steps), ", ".join(_text(*each) for each in known), numbers)

    return judge


def all_hold(*judges: Judge) -> Judge:
    """Whether several comparisons hold, all of them."""

    def judge(facts: Any) -> Judgement:
        parts = [each(facts) for each in judges]
        outcome = together([each.outcome for each in parts])
        evidence = "; ".join(each.evidence for each in parts)
        return Judgement(outcome, evidence, {"parts": [dict(each.numbers) for each in parts]})

    return judge


def scaled(seen: Interval, factor: float) -> Span:
    """So many times an interval."""
    return Span(factor * seen.low, factor * seen.high)


def _judged(quantity: Quantity, seen: Interval, outcome: Any, more: str = "") -> Judgement:
    numbers = {"low": seen.low, "high": seen.high}
    known = {name: getattr(seen, name) for name in ("median", "n") if hasattr(seen, name)}
    return Judgement(outcome, _text(quantity, seen) + more, known | numbers)


def _text(quantity: Quantity, seen: Interval) -> str:
    ends = " to ".join(dict.fromkeys(f"{end:.4g}" for end in (seen.low, seen.high)))
    if not hasattr(seen, "median"):
        return f"{quantity.says}: {ends} {quantity.unit}"
    count = f"; n = {seen.n}" if hasattr(seen, "n") else ""
    return f"{quantity.says}: {seen.median:.4g} {quantity.unit} ({ends}){count}"
