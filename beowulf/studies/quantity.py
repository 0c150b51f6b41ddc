"""A claim as an expression: quantities of a Record, each with its interval, are combined and compared.

`rate(large) / rate(small) > 2` judges a claim. Outcome, evidence and numbers come from it, and on a busy machine the
intervals in it are wider.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from beowulf.measure.judgement import (
    Interval,
    Span,
    below,
    difference,
    quotient,
    reaches,
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

    def reaches(self, published: float) -> Judge:
        """Whether at least half of a paper's change is there, which this quantity has in its own unit."""
        none = 1.0 if self.unit == TIMES else 0.0
        return lambda facts: _judged(self, seen := self.of(facts), reaches(seen, published, none))

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


def every(*judges: Judge) -> Judge:
    """Whether all of these hold; evidence and numbers are those of each, in their order."""

    def judge(facts: Any) -> Judgement:
        seen = [each(facts) for each in judges]
        numbers: dict[str, list[Any]] = {}
        for each in seen:
            for name, value in each.numbers.items():
                numbers.setdefault(name, []).append(value)
        evidence = "; ".join(each.evidence for each in seen)
        return Judgement(together([each.outcome for each in seen]), evidence, numbers)

    return judge


def exactly(counted: float) -> Span:
    """What was counted, and has no other value."""
    return Span(counted, counted)


def scaled(seen: Interval, factor: float) -> Span:
    """So many times an interval."""
    return Span(factor * seen.low, factor * seen.high)


def _judged(quantity: Quantity, seen: Interval, outcome: Any, more: str = "") -> Judgement:
    numbers = {"low": seen.low, "high": seen.high}
    known = {name: getattr(seen, name) for name in ("median", "n") if hasattr(seen, name)}
    return Judgement(outcome, _text(quantity, seen) + more, known | numbers)


def _text(quantity: Quantity, seen: Interval) -> str:
    ends = f"{seen.low:.4g} to {seen.high:.4g}"
    middle = getattr(seen, "median", None)
    amount = f"{ends} {quantity.unit}"
    if middle is not None:
        amount = f"{middle:.4g} {quantity.unit} ({ends}); n = {getattr(seen, 'n', 0)}"
    return f"{quantity.says}: {amount}"
