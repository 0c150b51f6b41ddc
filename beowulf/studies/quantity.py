"""A claim as an expression: quantities of a Record, each with its interval, are combined and compared.

`rate(large) / rate(small) > 2` judges a claim. Outcome, evidence and numbers come from it, and on a busy machine the
intervals in it are wider.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from beowulf.errors import LabError
from beowulf.measure.judgement import (
    Interval,
    Span,
    below,
    difference,
    halfway,
    quotient,
    reaches,
    together,
    within,
)
from beowulf.studies.study import Judgement
from beowulf.verdict import Outcome

Judge = Callable[[Any], Judgement]
TIMES = "times"
PERCENT = "%"  # a change, which is written with its sign
MANY = 1000  # from which on no digit after the point is shown
COMBINED = "their"  # of the two before it
BETWEEN_LINES = r"; (?!n = )"  # of evidence


@dataclass(frozen=True)
class Quantity:
    """What `of` makes of a study's facts: an interval, in a `unit`; LabError where there are no samples of it.

    `says` is what it is, as evidence names it: "a barrier of two nodes". What it was made of comes before it there.
    """

    says: str
    of: Callable[[Any], Interval]
    unit: str
    parts: tuple[Quantity, ...] = ()
    made: Callable[..., Interval] | None = None  # of the parts' intervals, this one's

    def __truediv__(self, other: Quantity) -> Quantity:
        return self._combined(f"{COMBINED} quotient", other, quotient, TIMES)

    def __sub__(self, other: Quantity) -> Quantity:
        return self._combined(f"{COMBINED} difference", other, difference, self.unit)

    def __lt__(self, limit: Quantity | float) -> Judge:
        return self._compared(limit, "less than", below)

    def __gt__(self, limit: Quantity | float) -> Judge:
        return self._compared(limit, "more than", lambda seen, other: below(other, seen))

    def within(self, low: float, high: float) -> Judge:
        """Whether the whole interval lies between two limits; inconclusive while it crosses one."""
        asked = f"{low:.4g} to {high:.4g}"
        return self._judged(asked, lambda seen: within(seen, low, high))

    def reaches(self, published: float) -> Judge:
        """Whether at least half of a paper's change is there, which this quantity has in its own unit."""
        none = 1.0 if self.unit == TIMES else 0.0
        side, enough = "at most" if published < none else "at least", halfway(published, none)
        asked = f"{side} {enough:.4g} (half of the paper's change, to {published:.4g})"
        return self._judged(asked, lambda seen: reaches(seen, published, none))

    def _same_unit(self, other: Quantity) -> None:
        if self.unit != other.unit:
            raise TypeError(
                f"{self.says} is in {self.unit} and {other.says} in {other.unit}: they cannot be compared"
            )

    def _combined(
        self, says: str, other: Quantity, made: Callable[..., Interval], unit: str
    ) -> Quantity:
        self._same_unit(other)
        return Quantity(
            says, lambda facts: made(self.of(facts), other.of(facts)), unit, (self, other), made
        )

    def _compared(
        self, limit: Quantity | float, side: str, how: Callable[[Any, Any], Outcome]
    ) -> Judge:
        if not isinstance(limit, Quantity):
            return self._judged(f"{side} {limit:.4g}", lambda seen: how(seen, limit))
        self._same_unit(limit)
        return self._judged("", how, limit)

    def _judged(self, asked: str, outcome: Callable[..., Outcome], *others: Quantity) -> Judge:
        """The function that judges, by this and the `others`; evidence says what is `asked`."""

        def judge(facts: Any) -> Judgement:
            seen, lines = self._reported(facts)
            limits = [each._reported(facts) for each in others]
            evidence = "; ".join(lines) + (f", and {asked} is asked" if asked else "")
            known = {name: getattr(seen, name) for name in ("median", "n") if hasattr(seen, name)}
            numbers = known | {"low": seen.low, "high": seen.high}
            for found, more in limits:
                numbers |= {"limit_low": found.low, "limit_high": found.high}
                evidence = "; ".join([evidence, *more])
            # A quotient may have no upper end, and a Verdict's numbers are finite.
            finite = {name: value for name, value in numbers.items() if not math.isinf(value)}
            return Judgement(outcome(seen, *(found for found, _ in limits)), evidence, finite)

        return judge

    def _reported(self, facts: Any) -> tuple[Interval, list[str]]:
        """The interval, and in words those of its parts and this one."""
        parts = [part._reported(facts) for part in self.parts]
        seen = self.made(*(found for found, _ in parts)) if self.made else self.of(facts)
        low, high = self._number(seen.low), self._number(seen.high)
        ends = low if low == high else f"{low} to {high}"
        amount = f"{ends} {self.unit}"
        if hasattr(seen, "median"):
            amount = f"{self._number(seen.median)} {self.unit} ({ends})"
        if hasattr(seen, "n"):
            amount += f"; n = {seen.n}"
        return seen, [*(text for _, lines in parts for text in lines), f"{self.says}: {amount}"]

    def _number(self, value: float) -> str:
        sign = "+" if self.unit.startswith(PERCENT) else ""
        return f"{value:{sign},.0f}" if abs(value) >= MANY else f"{value:{sign}.4g}"


class Seen(NamedTuple):
    """A median with its interval, as a row of a table has them."""

    median: float
    low: float
    high: float


def known(says: str, seen: Interval, unit: str) -> Quantity:
    """A quantity that was read already, where the Record decides which ones there are."""
    return Quantity(says, lambda _: seen, unit)


def all_hold(*judges: Judge) -> Judge:
    """Whether each of several comparisons holds; one that is contradicted decides."""

    def judge(facts: Any) -> Judgement:
        if not judges:
            raise LabError("There is nothing to compare.", "Measure again.")
        seen = [each(facts) for each in judges]
        lines = [line for each in seen for line in re.split(BETWEEN_LINES, each.evidence)]
        evidence = "; ".join(
            line
            for place, line in enumerate(lines)
            if line.startswith(COMBINED) or line not in lines[:place]
        )
        numbers = {str(place): each.numbers for place, each in enumerate(seen, start=1)}
        return Judgement(together([each.outcome for each in seen]), evidence, numbers)

    return judge


def in_order(*groups: Sequence[Quantity]) -> Judge:
    """Whether each quantity of a group lies above all those of the group before it."""

    def judge(facts: Any) -> Judgement:
        seen = [[(each.says, *each._reported(facts)) for each in group] for group in groups]
        steps = [
            below(low, high)
            for before, after in pairwise(seen)
            for _, low, _ in before
            for _, high, _ in after
        ]
        every = [each for group in seen for each in group]
        evidence = "; ".join(text for *_, words in every for text in words)
        numbers = {says: getattr(at, "median", [at.low, at.high]) for says, at, _ in every}
        return Judgement(together(steps), evidence, numbers)

    return judge


def exactly(counted: float) -> Span:
    """What was counted, and has no other value."""
    return Span(counted, counted)


def scaled(seen: Interval, factor: float) -> Span:
    """So many times an interval."""
    return Span(factor * seen.low, factor * seen.high)
