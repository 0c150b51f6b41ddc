"""A Record as evidence: compared with itself, its clock, its cables and its capture.

A learner can edit a file, so a Record is checked. The checks are about what every measurement
leaves and an invented one has to imitate: digits that our programs print, times that fit into
the time it took, bytes that a cable can carry. A Record without a Finding may still be invented; one
with a Finding is not what was measured.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from autograder.evidence import captured, circumstances, clock, wire
from autograder.evidence.finding import IMPOSSIBLE, INCONCLUSIVE, Finding, cannot_be
from beowulf.record import Record

__all__ = ["IMPOSSIBLE", "INCONCLUSIVE", "Finding", "cannot_be", "findings"]

# A full Record of D4 has 64,000 samples; far more would only take the grader's time.
MOST_SAMPLES = 500_000
# What reading an edited Record may raise.
_UNFORESEEN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


def findings(
    record: Record, records: Path | None = None, now: datetime | None = None
) -> list[Finding]:
    """What contradicts itself in a Record, a Finding each; none for a measured one.

    `records` is its folder, with its captures. It never raises.
    """
    if sum(len(point.samples) for point in record.points) > MOST_SAMPLES:
        return [Finding(INCONCLUSIVE, f"It has more than {MOST_SAMPLES:,} samples.")]
    problems: list[Finding] = []
    try:
        problems += clock.order(record, now or datetime.now(UTC))
        problems += clock.duration(record)
        problems += clock.digits(record)
        problems += clock.spread(record)
        problems += circumstances.findings(record)
        problems += wire.findings(record)
        problems += captured.findings(record, records)
    except _UNFORESEEN as problem:
        message = f"It holds what our measurements never leave ({type(problem).__name__})."
        problems.append(Finding(INCONCLUSIVE, message))
    return problems
