"""What contradicts itself in a Record, in words, and how certain that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from beowulf.course.constants import is_number

__all__ = ["IMPOSSIBLE", "INCONCLUSIVE", "OF_SIMULATIONS", "Finding", "cannot_be", "is_number"]

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
