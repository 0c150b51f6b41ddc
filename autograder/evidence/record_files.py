"""The Records of a hand-in as files: each is read within limits, or left out with a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from beowulf.errors import LabError
from beowulf.record import Record

RECORDS = "records"
ANSWERS = "answers.json"  # beside Records of version 1.0.0: what a notebook needed to be run again
# A Record of lab 01 has about 100 KB and a full one of A3 1.2 MB; what is far larger would only fill the memory.
LARGEST_RECORD_BYTES = 20_000_000
MOST_RECORDS = 500
# A full Record of A3 has 80,000 values. A value of two bytes in a file takes a hundred times as much in memory.
MOST_VALUES = 500_000
MOST_VALUES_TOGETHER = 1_000_000
LONGEST_REASON = 300


def records(folder: Path) -> Iterator[tuple[Path, Record | None, str]]:
    """Every file that may be a Record, with the Record in it, or None and the reason."""
    together = 0
    paths = [path for path in sorted(folder.glob("*.json")) if path.name != ANSWERS]
    for place, path in enumerate(paths):
        record: Record | None = None
        fault = f"{path.name} is not read: only {MOST_RECORDS} files are."
        try:
            number = 0
            if place < MOST_RECORDS:
                fault, number = _look(path)
            if not fault and together + number > MOST_VALUES_TOGETHER:
                fault = (
                    f"{path.name} is not read: it and the Records before it have more than"
                    f" {MOST_VALUES_TOGETHER:,} values together."
                )
            if not fault:
                together += number
                record, fault = _load(path)
        except OSError as problem:
            fault = _unreadable(path, problem)
        yield path, record, fault[:LONGEST_REASON]


def read(path: Path) -> Record | None:
    """The Record in one file; None where it is too large, or none."""
    try:
        return None if _look(path)[0] else _load(path)[0]
    except OSError:
        return None


def _load(path: Path) -> tuple[Record | None, str]:
    try:
        return Record.load(path), ""
    except LabError as problem:
        # The learner knows the file by its name, not by the grader's path.
        return None, problem.message.replace(str(path), path.name)
    except (RecursionError, MemoryError, OSError, ValueError) as problem:
        return None, _unreadable(path, problem)


def _unreadable(path: Path, problem: Exception) -> str:
    return f"{path.name} cannot be read ({getattr(problem, 'strerror', '') or problem})."


def _look(path: Path) -> tuple[str, int]:
    """Why a file is too large or none to be read, or "", and about how many values it has."""
    if path.is_symlink() or not path.is_file():
        return f"{path.name} is not a file.", 0
    if path.stat().st_size > LARGEST_RECORD_BYTES:
        return f"{path.name} has more than {LARGEST_RECORD_BYTES // 10**6} MB.", 0
    number = values(path.read_bytes())
    if number > MOST_VALUES:
        return f"{path.name} has more than {MOST_VALUES:,} values.", 0
    return "", number


def values(content: bytes) -> int:
    """About how many values JSON has, before they are made objects: each has a comma or a bracket before it.

    A mapping counts as ten: checking one against a schema takes as long.
    """
    return content.count(b",") + content.count(b"[") + 10 * content.count(b"{")
