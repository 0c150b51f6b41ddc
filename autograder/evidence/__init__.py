"""A Record as evidence: compared with itself, its clock, its cables and its capture.

A learner can edit a file, so a Record is checked. The checks are about what every measurement
leaves and an invented one has to imitate: digits that our programs print, times that fit into
the time it took, bytes that a cable can carry. A Record without a Finding may still be invented; one
with a Finding is not what was measured.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from autograder.evidence import captured, circumstances, clock, invented, wire
from autograder.evidence.finding import IMPOSSIBLE, INCONCLUSIVE, Finding, cannot_be
from beowulf.record import Record

__all__ = ["IMPOSSIBLE", "INCONCLUSIVE", "Finding", "cannot_be", "findings"]

_log = logging.getLogger(__name__)


def findings(
    record: Record,
    records: Path | None = None,
    now: datetime | None = None,
    accepted: invented.Digests | None = None,
    room: captured.Room | None = None,
) -> list[Finding]:
    """What contradicts itself in a Record, or shows that it was made up, a Finding each; none for a measured one.

    `records` is its folder, with its captures; `accepted` are digests of programs besides this version's; `room` is for
    the captures of one hand-in. It never raises.
    """
    checks: tuple[Callable[[], Iterable[Finding]], ...] = (
        lambda: made_up(record, records, accepted),
        lambda: clock.order(record, now or datetime.now(UTC)),
        lambda: clock.duration(record),
        lambda: clock.digits(record),
        lambda: clock.spread(record),
        lambda: circumstances.findings(record),
        lambda: wire.findings(record),
        lambda: captured.findings(record, records, room),
    )
    return [finding for check in checks for finding in guarded(check)]


def made_up(
    record: Record, records: Path | None = None, accepted: invented.Digests | None = None
) -> list[Finding]:
    """The part of `findings` that shows that a Record was made up."""
    return guarded(lambda: invented.findings(record, records, accepted or {}))


def guarded(check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """What a check finds; a Record that one check cannot read is still looked at by the others.

    It counts for nothing: otherwise an odd value would be the way around whatever the check finds.
    """
    try:
        return list(check())
    except (
        Exception
    ) as problem:  # whatever an edited Record leads to; an error of ours is in the log
        _log.exception("a check of a Record failed")
        message = f"It holds what our measurements never leave ({type(problem).__name__})."
        return [Finding(IMPOSSIBLE, message)]
