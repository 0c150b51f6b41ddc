"""A Record and its capture: is it the capture that the Record names, and does counting it again give the same?"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from autograder.evidence import clock, invented
from autograder.evidence.clock import ROOM_S, ROOM_SHARE
from autograder.evidence.finding import IMPOSSIBLE, Finding
from beowulf.cluster.description import on_one_machine
from beowulf.errors import LabError
from beowulf.exercises.heat import wire
from beowulf.labs.lab_06 import own_loop, postcard
from beowulf.record import Point, Record
from beowulf.studies import find, known

# The captures of postcards and of an idle wire are far below; a larger one would only take the grader's time.
LARGEST_BYTES = 5_000_000
MOST_BYTES = 50_000_000  # counted again in one hand-in, each capture as often as a Record names it
_UNREADABLE = (LabError, OSError, LookupError, TypeError, ValueError, ArithmeticError)


class Room:
    """How many bytes of captures are still counted again for one hand-in."""

    def __init__(self) -> None:
        self.left = MOST_BYTES


def findings(record: Record, records: Path | None, room: Room | None = None) -> list[Finding]:
    """What contradicts a Record in the captures that were handed in with it, as far as there is `room` to count them.

    That one was not handed in, `invented` says.
    """
    room = room or Room()
    if len(record.captures) > invented.MOST_NAMED:
        return [Finding(IMPOSSIBLE, f"It names more than {invented.MOST_NAMED} captures.")]
    problems = []
    for facts in record.captures:
        file = _file(facts, records)
        if file is None:
            continue
        if fault := _another(file, facts.get("sha256", "")):
            problems.append(Finding(IMPOSSIBLE, fault))
        elif (size := file.stat().st_size) > LARGEST_BYTES:
            continue
        elif size > room.left:
            most = f"{MOST_BYTES // 10**6} MB"
            says = f"{file.name} is not counted again: the Records before this one name {most} of captures."
            problems.append(Finding(IMPOSSIBLE, says))
        elif talks := _talks_in(record, facts.get("sha256", "")):
            room.left -= size
            problems += _guarded(file, partial(_talk, record, talks, file))
        elif len(record.captures) == 1:
            room.left -= size
            problems += _guarded(file, partial(_whole, record, file))
    return problems


def _file(facts: Mapping[str, Any], records: Path | None) -> Path | None:
    # Only the name: a path could lead to any file of the instructor's.
    name = Path(facts["file"]).name
    if records is None or not name:
        return None
    file = records / name
    return file if file.is_file() and not file.is_symlink() else None


def _another(file: Path, expected: str) -> str:
    """Why this is not the capture that was taken; "" when it is, or the Record has no digest."""
    if not expected:
        return ""
    about = file.stat()
    actual = _digest(file, about.st_mtime_ns, about.st_size)
    return "" if actual == expected else f"{file.name} is not the capture that it names."


@lru_cache(maxsize=4096)
def _digest(file: Path, changed_ns: int, size: int) -> str:
    """The digest of a file of that time and size, once for all Records that name it."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _guarded(file: Path, count: Callable[[], str]) -> list[Finding]:
    """What counting a capture again gives otherwise; a Finding, too, where it cannot be counted."""
    try:
        different = count()
    except _UNREADABLE as problem:
        message = f"{file.name} is not a capture that can be read ({type(problem).__name__})."
        return [Finding(IMPOSSIBLE, message)]
    if not different:
        return []
    return [Finding(IMPOSSIBLE, f"{file.name} counted again gives another {different}.")]


def _whole(record: Record, file: Path) -> str:
    """Which fact of a Record of one capture that does not give."""
    study = find(record.study) if record.study in known() else None
    if study and (recount := study.recount):
        return _other(record.points[0].facts, recount(record, file))
    if record.study == postcard.STUDY and record.variant in postcard.NAMES:
        return _cards(record, file)
    if (record.study, record.variant) == (own_loop.STUDY, own_loop.VARIANT):
        return _loop(record, file)
    return _plate(record, file) if record.study == wire.STUDY else ""


def _talks_in(record: Record, digest: str) -> list[Point]:
    """The conversations that were counted in the capture with this digest: lab 06 keeps one capture of each kind."""
    taken = ((point, point.facts.get("capture")) for point in record.points)
    return [
        p
        for p, facts in taken
        if isinstance(facts, dict) and digest and facts.get("sha256") == digest
    ]


def _talk(record: Record, talks: Sequence[Point], file: Path) -> str:
    """Which fact of a captured conversation its capture does not give."""
    from beowulf.packets.protocols import summary

    since = until = None
    if on_one_machine(record.cluster):
        # Packets and Record then have the same clock.
        since = datetime.fromisoformat(record.started).timestamp() - ROOM_S
        until = datetime.fromisoformat(record.ended).timestamp() + ROOM_S
    counted = summary(file, since=since, until=until)
    spent = {id(point): sum(seconds) for point, seconds in clock.timed(record)}
    for point in talks:
        for name in ("packets", "bytes"):
            if point.facts[name] != counted[name]:
                return name
        lasted = counted["elapsed_s"]
        if not math.isclose(point.facts["elapsed_s"], lasted, rel_tol=1e-6, abs_tol=1e-6):
            return "elapsed_s"
        if spent.get(id(point), 0.0) > lasted * (1 + ROOM_SHARE):
            return "time for its samples"
    return ""


def _loop(record: Record, file: Path) -> str:
    """Which of our own counts its capture does not give."""
    recorded = {point.at["count"]: point.facts["ours"] for point in record.points}
    return _other(recorded, own_loop.ours(file, int(record.sweep["row_bytes"])))


def _plate(record: Record, file: Path) -> str:
    """Which fact of a captured plate its capture does not give."""
    (point,) = record.select(capture="steps")
    counted = wire.on_the_wire(file, int(point.at["columns"]))
    return _other(point.facts, {n: value for n, value in counted.items() if n in point.facts})


def _other(recorded: Mapping[str, Any], counted: Mapping[str, Any]) -> str:
    return next((str(name) for name in counted if recorded[name] != counted[name]), "")


def _cards(record: Record, file: Path) -> str:
    """Which fact of a postcard its capture does not give."""
    captured = postcard.points(file)
    if len(captured) != len(record.points):
        return "number of messages"
    for recorded, counted in zip(record.points, captured, strict=True):
        facts = counted.as_plain()["facts"]
        known = {name: value for name, value in facts.items() if name in recorded.facts}
        if other := _other(recorded.facts, known):
            return other
    return ""
