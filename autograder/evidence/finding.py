"""What contradicts itself in a Record, in words, and how certain that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeGuard

IMPOSSIBLE = "impossible"
INCONCLUSIVE = "inconclusive"
# The letter of Records that are meant to be simulated.
OF_SIMULATIONS = "S"


@dataclass(frozen=True)
class Finding:
    """`says` is a sentence; `kind` is IMPOSSIBLE (this learner measured no such thing) or INCONCLUSIVE (undecided)."""

    kind: str
    says: str


def cannot_be(findings: Iterable[Finding]) -> bool:
    """Whether one of these is IMPOSSIBLE."""
    return any(each.kind == IMPOSSIBLE for each in findings)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a fact or an answer is a number to compute with; True, False and NaN are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
