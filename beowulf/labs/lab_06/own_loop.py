"""Lab 06's packet loop: a learner's function that goes through a capture by pyshark, compared with our reader.

A Record of A12 with the variant `loop`. The function is called with all packets of the learner's capture, and with a
random part from its middle: a number that is typed into it fits only one of the two.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import random
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises import file_functions
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_06 import capture_run
from beowulf.packets import dissector, pcapng
from beowulf.packets.headers import FIN, RST, SYN, TCP
from beowulf.packets.mpi_messages import messages
from beowulf.packets.table import Packets
from beowulf.record import Point, Record

STUDY, VARIANT = "A12", "loop"
EXERCISE = Exercise(STUDY, VARIANT)
# What is counted of all TCP packets, including those of ssh; ghost rows are MPI messages.
COUNTS = {
    "handshake": "packets with SYN: the first two of the three that open a connection",
    "data": "packets with a payload",
    "bare_acks": "packets without a payload, and without SYN, FIN or RST: they only acknowledge",
}
GHOST_ROWS = "ghost_rows"  # messages with as many bytes as a row
# A part begins and ends within these shares of all packets.
BEGINS, ENDS = (0.2, 0.4), (0.6, 0.8)
# Takes packets from pyshark; returns each count by its name.
Count = Callable[[Iterable[Any]], Mapping[str, int]]


def measure(
    cluster: Cluster,
    count: Count,
    capture: Record | Path | str,
    *,
    row_bytes: int = 0,
    chance: random.Random | None = None,
) -> Record:
    """Call `count` with the packets of a capture, compare its counts with our own, and keep the Record.

    `capture` is a Record with a capture, or its file. `count` returns a dict with COUNTS, and with `row_bytes` also
    `ghost_rows`, the messages of that length. Its exception, if any, is kept as well. LabError for a file that is not a
    capture, and for one that is still being written.
    """
    file = capture_run.capture(cluster, capture) if isinstance(capture, Record) else Path(capture)
    source, program = file_functions.of_cell(count)
    sweep = {"source": source, "row_bytes": row_bytes}
    with EXERCISE.record(cluster, sweep=sweep, program=program) as made:
        facts = _finished(file)
        made.points = counts(file, count, row_bytes, chance or random.Random())
        made.captures = [facts]
        if _digest(file) != facts["sha256"]:
            raise LabError(
                f"{file} changed while it was being counted.", "Wait until it has been written."
            )
    return made


def counts(file: Path, count: Count, row_bytes: int, chance: random.Random) -> list[Point]:
    """A Point for each count: the learner's for all packets, ours, and whether it is also right for a part."""
    packets = _packets(file)
    part = tuple(1 + int(packets * chance.uniform(*place)) for place in (BEGINS, ENDS))
    all_ours = ours(file, row_bytes)
    given, why = _called(count, file)
    of_part: Mapping[str, Any] = {}
    if not why:
        of_part, why = _called(count, file, part)
    least, most = ours(file, row_bytes, part), ours(file, row_bytes, part, begun=True)
    found = []
    for name, wanted in all_ours.items():
        reason = why or _no_count(name, given)
        yours = None if reason else int(given[name])
        right = yours == wanted
        of_some = {name: 0, **of_part}  # a Counter lacks the names that it has not counted
        if right and (_no_count(name, of_some) or not least[name] <= of_some[name] <= most[name]):
            right = False
            reason = f"right for all packets, but not for {part[0]} to {part[1]}: is it typed into the function?"
        facts = {"yours": yours, "ours": wanted, "right": right, "why": reason}
        found.append(Point({"count": name}, facts=facts))
    return found


def ours(
    file: Path, row_bytes: int = 0, part: tuple[int, ...] = (), *, begun: bool = False
) -> dict[str, int]:
    """The counts of a capture, or of a `part` from one packet to another; with `row_bytes` also of such messages.

    For a part, a message counts if all of its packets are in it, and with `begun` if any packet is.
    """
    found = dict.fromkeys(COUNTS, 0)
    for batch, piece in Packets(file).frames():
        mine = piece["transport"] & (piece["ip_protocol"] == TCP)
        mine &= (piece["src_port"] | piece["dst_port"]) != 0
        if part:
            mine &= (batch.numbers >= part[0]) & (batch.numbers <= part[1])
        payload, flags = piece["payload_bytes"] > 0, piece["flags"]
        plain = flags & (SYN | FIN | RST) == 0
        masks = {"handshake": flags & SYN != 0, "data": payload, "bare_acks": ~payload & plain}
        for name, mask in masks.items():
            found[name] += int(np.count_nonzero(mine & mask))
    if row_bytes:
        sent = messages(file)
        rows = (sent["bytes"] == row_bytes) & ~sent["collective"].astype(bool)
        if part:
            ends = ("first_packet", "last_packet") if begun else ("last_packet", "first_packet")
            rows &= (sent[ends[0]] <= part[1]) & (sent[ends[1]] >= part[0])
        found[GHOST_ROWS] = int(rows.sum())
    return found


def lines(points: Sequence[Point]) -> list[str]:
    """Each count of the learner's, and whether it is right; our own number is not shown."""
    said = []
    for point in points:
        facts = point.facts
        verdict = facts["why"] or ("right" if facts["right"] else "")
        if not verdict:
            verdict = "too few" if facts["yours"] < facts["ours"] else "too many"
        value = "" if facts["yours"] is None else f"{facts['yours']:,}"
        said.append(f"{point.at['count']:<13} {value:>10}  {verdict}")
    return said


def _called(count: Any, file: Path, part: tuple[int, ...] = ()) -> tuple[Mapping[str, Any], str]:
    """What the learner's function returns for all packets or a part; if that is not a dict, nothing and the reason."""
    import pyshark

    shown = f"frame.number >= {part[0]} && frame.number <= {part[1]}" if part else None
    with pyshark.FileCapture(
        str(file), display_filter=shown, custom_parameters=dissector.options()
    ) as packets:
        # Watching the calls takes time; the part is enough.
        given, why = (
            file_functions.unaided(pcapng, count, packets)
            if part
            else file_functions.result(count, packets)
        )
    if not why and not isinstance(given, Mapping):
        why = f"it returns {type(given).__name__}, not a dict"
    return ({}, why) if why else (given, "")


def _no_count(name: str, given: Mapping[str, Any]) -> str:
    """Why the value under a name is not a count; empty where it is one."""
    if name not in given:
        return "it is not in the dict"
    yours = given[name]
    if isinstance(yours, bool) or not isinstance(yours, Real):
        return f"it is not a number, but {type(yours).__name__}"
    number: Any = yours
    return "" if 0 <= number < 1e15 and number % 1 == 0 else f"nothing is counted {number} times"


def _finished(file: Path) -> dict[str, Any]:
    """The facts of a capture for a Record; LabError while it is being written, and for a file that is not a capture."""
    count, wait = (
        _packets(file),
        "Wait until its cell or command has ended, then run this cell again.",
    )
    if _is_being_written(file):
        raise LabError(f"{file} is still being written.", wait)
    facts = {"file": file.name, "sha256": _digest(file), "bytes": file.stat().st_size}
    return {**facts, "packets": count}


def _packets(file: Path) -> int:
    packets = Packets(file)
    count = sum(piece["flags"].size for piece in packets)
    if packets.truncated:
        raise LabError(
            f"{file} ends within a packet: it is still being written, or its disk was full.",
            "Wait until its cell or command has ended, or capture once more.",
        )
    return count


def _is_being_written(file: Path) -> bool:
    """Whether any process has this file open for writing; False if the file system cannot tell."""
    with file.open("rb") as opened:
        try:
            # The kernel grants a read lease only if no process writes. Its signal would end no process.
            fcntl.fcntl(opened, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError as problem:
            return problem.errno == errno.EAGAIN
    return False


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
