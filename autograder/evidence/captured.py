"""A Record and its capture: is it the capture that the Record names, and does counting it again give the same?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.evidence.finding import IMPOSSIBLE, INCONCLUSIVE, Finding
from beowulf.errors import LabError
from beowulf.exercises.heat import wire
from beowulf.exercises.lab_06 import own_loop, postcard
from beowulf.record import Record
from beowulf.studies import STUDIES, find

# The captures of postcards and of an idle wire are far below; a larger one would only take the grader's time.
LARGEST_BYTES = 5_000_000
_UNREADABLE = (LabError, OSError, LookupError, TypeError, ValueError, ArithmeticError)


def findings(record: Record, records: Path | None) -> list[Finding]:
    """What contradicts a Record in the captures that were handed in with it.

    A capture that was not handed in is no evidence, for or against.
    """
    problems = []
    for facts in record.captures:
        file = _file(facts, records)
        if file is None:
            continue
        if fault := _another(file, str(facts.get("sha256", ""))):
            problems.append(Finding(IMPOSSIBLE, fault))
        elif file.stat().st_size <= LARGEST_BYTES and len(record.captures) == 1:
            problems += _counted_again(record, file)
    return problems


def _file(facts: Mapping[str, Any], records: Path | None) -> Path | None:
    # Only the name: a path could lead to any file of the instructor's.
    name = Path(str(facts.get("file", ""))).name
    if records is None or not name:
        return None
    file = records / name
    return file if file.is_file() and not file.is_symlink() else None


def _another(file: Path, expected: str) -> str:
    """Why this is not the capture that was taken; "" when it is, or the Record has no digest."""
    if not expected:
        return ""
    with file.open("rb") as opened:
        actual = hashlib.file_digest(opened, "sha256").hexdigest()
    return "" if actual == expected else f"{file.name} is not the capture that it names."


def _counted_again(record: Record, file: Path) -> list[Finding]:
    try:
        study = find(record.study) if record.study in STUDIES else None
        if study and (recount := study.recount):
            facts = record.points[0].facts
            counts = recount(record, file)
            different = next((name for name in counts if facts[name] != counts[name]), "")
        elif record.study == postcard.STUDY and record.variant in postcard.NAMES:
            different = _cards(record, file)
        elif (record.study, record.variant) == (own_loop.STUDY, own_loop.VARIANT):
            different = _loop(record, file)
        elif record.study == wire.STUDY:
            different = _plate(record, file)
        else:
            return []
    except _UNREADABLE as problem:
        message = f"{file.name} cannot be counted again ({type(problem).__name__})."
        return [Finding(INCONCLUSIVE, message)]
    if not different:
        return []
    return [Finding(IMPOSSIBLE, f"{file.name} counted again gives another {different}.")]


def _loop(record: Record, file: Path) -> str:
    """Which of our own counts its capture does not give."""
    counted = own_loop.ours(file, int(record.sweep["row_bytes"]))
    recorded = {point.at["count"]: point.facts["ours"] for point in record.points}
    return next((name for name, value in counted.items() if recorded[name] != value), "")


def _plate(record: Record, file: Path) -> str:
    """Which fact of a captured plate its capture does not give."""
    (point,) = record.select(capture="steps")
    counted = wire.on_the_wire(file, int(point.at["columns"]))
    known = {name: value for name, value in counted.items() if name in point.facts}
    return next((name for name, value in known.items() if point.facts[name] != value), "")


def _cards(record: Record, file: Path) -> str:
    """Which fact of a postcard its capture does not give."""
    captured = postcard.points(file)
    if len(captured) != len(record.points):
        return "number of messages"
    for recorded, counted in zip(record.points, captured, strict=True):
        for name, value in counted.as_plain()["facts"].items():
            if name in recorded.facts and recorded.facts[name] != value:
                return str(name)
    return ""
