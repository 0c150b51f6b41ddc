"""From what a Record shows to a Verdict, when the circumstances allow one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beowulf.measure.quality import MEND
from beowulf.record import Record
from beowulf.verdict import Outcome, Verdict


def verdict(
    record: Record,
    claim: str,
    says: str,
    outcome: Outcome,
    evidence: str,
    *,
    advice: str = "",
    numbers: Mapping[str, Any] | None = None,
    trouble: Sequence[str] = (),
) -> Verdict:
    """The Verdict on a claim; with `trouble` (of quality.py) it is inconclusive, whatever was seen."""
    if trouble:
        seen = f"{evidence}, but " if evidence else ""
        outcome, evidence, advice = "inconclusive", f"{seen}{'; '.join(trouble)}", MEND
    if outcome == "inconclusive" and not advice:
        advice = MEND
    return Verdict(
        record.study, claim, says, outcome, evidence, advice, dict(numbers or {}), [record.digest]
    )


def need_study(record: Record, study: str) -> None:
    """LabError when a Record is of another study than the one that judges it."""
    from beowulf.errors import LabError

    if record.study != study:
        raise LabError(
            f"This is a Record of study {record.study}, and {study} is judged here.",
            f"`beowulf study {study}` measures one.",
        )
