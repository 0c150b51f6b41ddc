"""How often a rule says 'holds' of made-up Records with three shapes of noise: with the effect, and without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from beowulf.record import Record
from beowulf.studies.study import Study
from beowulf.verdict import Outcome

# So many Records without the effect, and the share of them that may hold; and with the paper's, that has to hold.
WITHOUT_EFFECT, MOST_BY_CHANCE = 200, 0.05
WITH_EFFECT, FEWEST_SEEN = 60, 0.9

T = TypeVar("T")
Factors = NDArray[np.float64]
Noise = Callable[[int], Factors]  # so many factors around 1


def normal(draw: np.random.Generator, count: int) -> Factors:
    """Factors that lie evenly on both sides of 1."""
    return np.clip(1 + 0.03 * draw.standard_normal(count), 0.5, 1.5)


def lognormal(draw: np.random.Generator, count: int) -> Factors:
    """Factors with a long tail: now and then a time is much longer."""
    return np.asarray(
        np.exp(0.03 * draw.standard_normal(count) + 0.05 * draw.exponential(size=count))
    )


def bursts(draw: np.random.Generator, count: int) -> Factors:
    """Quiet factors, of which neighbours are disturbed together."""
    factors = 1 + 0.01 * draw.standard_normal(count)
    for first in np.flatnonzero(draw.random(count) < 0.03):
        factors[first : first + 4] *= 1.5
    return factors


SHAPES = (normal, lognormal, bursts)


def quieter(factors: Factors, share: float = 0.2) -> Factors:
    """The same shape with so much of its noise, as where a small effect needs a quiet machine."""
    return 1 + share * (factors - 1)


def outcome_of(study: Study, record: Record, claim: str) -> Outcome:
    """What one claim's judge makes of a Record, whatever the circumstances."""
    claims = study.judged(record) if callable(study.judged) else study.judged
    return next(each for each in claims if each.name == claim).judge(study.facts(record)).outcome


def outcomes_of(judged: Callable[[Noise], Outcome], records: int) -> Counter[Outcome]:
    """What came of so many made-up Records; `judged` makes one with the noise that it is given, and judges it."""
    draw = np.random.default_rng(11)

    def one(number: int) -> Outcome:
        shape = SHAPES[number % len(SHAPES)]
        return judged(lambda count: shape(draw, count))

    return Counter(one(number) for number in range(records))


def assert_told_apart(
    study: Study, claim: str, of: Callable[[T, Noise], Record], without: T, effect: T
) -> None:
    """Of what `of` makes without the effect at most one Record in twenty holds, and with it at least eighteen."""
    seen = outcomes_of(lambda noise: outcome_of(study, of(without, noise), claim), WITHOUT_EFFECT)
    assert seen["holds"] <= MOST_BY_CHANCE * WITHOUT_EFFECT, seen
    seen = outcomes_of(lambda noise: outcome_of(study, of(effect, noise), claim), WITH_EFFECT)
    assert seen["holds"] >= FEWEST_SEEN * WITH_EFFECT, seen
