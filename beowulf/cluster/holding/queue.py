"""Queues of processes: the first place holds something, such as a cluster or this machine, and others wait behind it.

A place is a file that its process locks (flock). The lock ends with the process, however that ends, and so does the
place; no process that this one starts inherits it. A number is given under a lock of the folder, above the numbers of
all places: so nobody who comes later is before it. The file says what its process does. A process has one place in a
queue, which it may enter again.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import pwd
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beowulf.errors import LabError

NAME, PLACE, LARGEST = "beowulf-line-{:012}", re.compile(r"beowulf-line-(\d{12})"), 10**12
LOOK_EVERY_S = 0.2
LONGEST_JOINING_S = 20.0
LONGEST_FACTS = 4096


@dataclass(frozen=True)
class Place:
    """A place that a running process has."""

    number: int
    file: Path
    user: str  # whose file it is, by the kernel's word
    facts: Mapping[str, Any]  # what the process says of itself


@dataclass
class Mine:
    """This process's own place."""

    number: int
    file: io.FileIO
    users: int = 0  # blocks of this process that are inside of it, in whatever thread
    ending: bool = False  # it ends by itself now, or has been ended: nothing is to interrupt it

    @property
    def path(self) -> Path:
        """Its file."""
        return Path(os.fsdecode(self.file.name))

    @property
    def lines(self) -> list[bytes]:
        """Its facts, and what other processes have written behind them."""
        return os.pread(self.file.fileno(), LONGEST_FACTS, 0).splitlines()

    def waits(self) -> Iterator[list[Place]]:
        """The places before this one, looked at again and again until there is none."""
        while before := places(self.path.parent, below=self.number):
            yield before
            time.sleep(LOOK_EVERY_S)


# What this process has, by the queue's folder; one thread at a time takes and gives back.
mine: dict[Path, Mine] = {}
_taking = threading.RLock()


@contextmanager
def place(queue: Path, join: Callable[[], Mine]) -> Iterator[tuple[Mine, bool]]:
    """This process's place in a queue, and whether it was taken now, by `join`: it is given back at the end."""
    with _taking:
        if joins := queue not in mine:
            mine[queue] = join()
        own = mine[queue]
        own.users += 1
    try:
        yield own, joins
    finally:
        with _taking:
            own.users -= 1
            if not own.users:
                own.file.close()
                with suppress(OSError):
                    own.path.unlink()
                del mine[queue]


def places(queue: Path, *, below: int | None = None) -> list[Place]:
    """All places in a queue, or those before a number, the first in front; what ended processes left is no place."""
    wanted = [number for number in _numbers(queue) if below is None or number < below]
    return [found for number in wanted if (found := _place(queue / NAME.format(number), number))]


def _numbers(queue: Path) -> list[int]:
    with suppress(FileNotFoundError):  # `down` has removed it with its cluster
        names = os.listdir(queue)
        return sorted(int(found[1]) for name in names if (found := PLACE.fullmatch(name)))
    return []


def _place(file: Path, number: int) -> Place | None:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None  # it has just been given back, or nobody's place is such a file
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return Place(number, file, user_name(os.fstat(handle).st_uid), _facts(handle))
    except OSError:
        return None
    finally:
        os.close(handle)
    return None


def _facts(handle: int) -> dict[str, Any]:
    try:
        return dict(json.loads(os.pread(handle, LONGEST_FACTS, 0).splitlines()[0]))
    except (OSError, ValueError, TypeError, IndexError, RecursionError):
        return {}  # on a full disk, or another user's nonsense


def user_name(number: int) -> str:
    """The name of a user."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def joined(queue: Path, facts: Mapping[str, Any]) -> Mine:
    """A place behind all others in a folder; OSError for one of no use, LabError for one that is locked or full."""
    deadline = time.monotonic() + LONGEST_JOINING_S
    file: io.FileIO | None = None
    try:
        with _opened(queue) as gate:
            _lock(gate, deadline, f"another process has {queue} locked")
            there = places(queue)
            _clear(queue, there)
            number = there[-1].number + 1 if there else 1
            while number < LARGEST and time.monotonic() < deadline:
                try:
                    file = io.FileIO(queue / NAME.format(number), "x+")
                except FileExistsError:  # left by another user's process that was killed
                    number += 1
                    continue
                os.fchmod(file.fileno(), 0o644)  # others look whether it is locked
                with suppress(OSError):  # on a full disk it is a place all the same
                    file.write(json.dumps(facts).encode() + b"\n")
                _lock(file.fileno(), deadline, f"another process has {file.name!r} locked")
                return Mine(number, file)
    except BaseException:
        # The traceback of an interrupt would keep it open, and this process would wait for itself.
        if file:
            file.close()
        raise
    raise LabError(f"{queue} is full of places that no process holds.")


def _clear(queue: Path, there: list[Place]) -> None:
    """Remove what our killed processes left. With the folder locked: else a file may be one that is not locked yet."""
    for number in set(_numbers(queue)) - {each.number for each in there}:
        with suppress(OSError):
            file = queue / NAME.format(number)
            if file.lstat().st_uid == os.geteuid():
                file.unlink()


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, deadline: float, why_not: str) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LabError(f"{why_not}.") from None
            time.sleep(0.01)
        else:
            return
