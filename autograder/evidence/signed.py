"""Records that the school's signing service measured: is what was handed in what it signed, and for this learner?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder.evidence.finding import IMPOSSIBLE, INCONCLUSIVE, Finding
from beowulf import signature
from beowulf.errors import LabError
from beowulf.record import Record
from beowulf.signature import BROKEN, SIGNED, UNSIGNED, Checked
from beowulf.studies import STUDIES

# In a course's folder: the public keys of the school's services, one a line, older ones too.
FILE = "signers"


def keys(course: Path | None) -> list[str]:
    """The public keys that a course knows; none where it has no such file."""
    try:
        text = (course / FILE).read_text(encoding="utf-8") if course else ""
    except (OSError, UnicodeDecodeError):
        text = ""
    return signature.public_keys(text)


def check(record: Record, known: Sequence[str], student: str) -> Checked:
    """What a Record's signature is worth in the hand-in of a student, whose account has the student's name."""
    checked = signature.check(record, known)
    if checked.state == SIGNED and checked.account != student:
        why = f"It was signed for the account {checked.account[:80]}, and not for {student}."
        return replace(checked, state=BROKEN, why=why)
    return checked


def can_be(record: Record) -> bool:
    """Whether the service could have measured it: a study on a cluster that the learner did not change."""
    return record.study in STUDIES and not record.variant


def findings(
    record: Record, known: Sequence[str], student: str, *, needed: bool = False
) -> list[Finding]:
    """Why a Record counts for nothing: its signature is broken, or it has none and the course asks for one."""
    if not (known or needed):
        return []
    try:
        checked = check(record, known, student)
    except LabError as problem:
        return [Finding(INCONCLUSIVE, f"Its signature cannot be checked. {problem}")]
    if checked.state == BROKEN:
        return [Finding(IMPOSSIBLE, checked.why)]
    if checked.state == UNSIGNED and needed and can_be(record):
        hint = f"Your course asks for signed ones: `beowulf study {record.study} --signed`."
        return [Finding(IMPOSSIBLE, f"{checked.why} {hint}")]
    return []
