"""A file written completely, or not at all; and a course that one command changes at a time."""

from __future__ import annotations

import csv
import errno
import fcntl
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from beowulf.errors import LabError, plain

T = TypeVar("T")
LOCK = ".grading"
# A spreadsheet takes these for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@contextmanager
def locked(course: Path) -> Iterator[None]:
    """Hold a course; LabError when another command does: two at once would remove each other's files."""
    try:
        handle = os.open(course / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise cannot_write(course / LOCK, problem) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError(
                "Another command is at work in this course.",
                "Wait until it has ended.",
            ) from None
        yield
    finally:
        os.close(handle)


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all; LabError when there is no room."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8", newline="")
        os.replace(fresh, path)
    except OSError as problem:
        with suppress(OSError):
            fresh.unlink()
        raise cannot_write(path, problem) from None


def read_json(path: Path, missing: T) -> T:
    """What a file of ours holds, or `missing` where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else missing


def cannot_write(path: Path, problem: OSError) -> LabError:
    """A sentence about a file that cannot be written, with the hint that fits: a full disk, or one to read only."""
    why = (problem.strerror or str(problem)).lower()
    hint = "Free some space, and try again."
    if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
        hint = f"Look at the owner and the permissions of {path.parent}, and try again."
    if problem.errno == errno.EROFS:
        hint = "Copy the course to a disk that can be written to, and try again there."
    return LabError(f"{path} cannot be written ({why}).", hint)


def as_csv(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as the text of a CSV file that a spreadsheet opens without running anything."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: Any) -> Any:
    value = plain(value) if isinstance(value, str) else value
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    # pandas makes NaN, which is not even equal to itself, of what is missing.
    if value is None or value != value:
        return ""
    # Adding up leaves 0.30000000000000004.
    return f"{value:.12g}" if isinstance(value, float) else value
