"""The line in front of this machine: one timed measurement at a time, of any user; first come, first served.

A place in the line is a file that its process locks (flock). The lock ends with the process, however that ends, and so
does the place. A number is given under a lock of the folder, above the numbers of all places: so it is the turn of
the process that has no place before its own, and nobody who comes later is before it.
"""

from __future__ import annotations

import fcntl
import io
import os
import pwd
import re
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from beowulf import host_state
from beowulf.cluster import Cluster
from beowulf.errors import LabError

VARIABLE = "BEOWULF_LINE"
# The same for all users, and nobody but root can remove another one's file there.
FOLDERS = (Path("/run/lock"), Path("/tmp"))
NAME, PLACE, LARGEST = "beowulf-line-{:012}", re.compile(r"beowulf-line-(\d{12})"), 10**12
LOOK_EVERY_S = 0.2
LONGEST_JOINING_S = 20.0
# What the one before did still shows in the load, which looks a minute back.
LONGEST_REST_S = 60.0
REST = "It is your turn. The machine comes to rest first."

Show = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """A place that a running process has."""

    number: int
    user: str  # whose file it is, by the kernel's word


@dataclass
class _Mine:
    number: int
    file: io.FileIO  # closes by itself when an interrupt loses it
    users: int = 0  # blocks of this process that are inside of it


# This process's own place; one thread at a time takes it and gives it back.
_mine: list[_Mine] = []
_taking = threading.RLock()


def _forget() -> None:
    # A process that is forked off, and runs no other program, has the file open as well.
    for mine in _mine:
        with suppress(OSError):
            mine.file.close()
    _mine.clear()


os.register_at_fork(after_in_child=_forget)


def folder() -> Path:
    """The folder of the line; `BEOWULF_LINE` names another one."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    return next((each for each in FOLDERS if _everybody_writes(each)), FOLDERS[-1])


def _everybody_writes(folder: Path) -> bool:
    open_to_all = stat.S_ISVTX | stat.S_IWOTH
    try:
        return folder.stat().st_mode & open_to_all == open_to_all
    except OSError:
        return False


@contextmanager
def joined(cluster: Cluster, show: Show) -> Iterator[list[str]]:
    """Have the machine alone, where the cluster's nodes are this machine; sentences why not, for the Record's warnings.

    `show` gets a sentence with our place whenever it changes. What ends the waiting (Ctrl-C) leaves the line.
    """
    if not cluster.can.one_machine:
        yield []
        return
    with ExitStack() as leaving:
        warnings = []
        try:
            if leaving.enter_context(entered(show)):
                _rest(show)
        except LabError as trouble:
            warnings = [
                f"This measurement did not wait in the line of this machine: {trouble.message}"
            ]
        yield warnings


@contextmanager
def entered(show: Show) -> Iterator[bool]:
    """Wait for our turn; whether there was anybody before us. LabError when the line cannot be joined.

    Within one process the turn may be taken again.
    """
    mine = None
    try:
        with _taking:
            if not _mine:
                _mine.append(_joined(folder()))
            mine = _mine[0]
            mine.users += 1
        yield _wait(mine, show)
    finally:
        if mine:
            _give_back(mine)


def _give_back(mine: _Mine) -> None:
    with _taking:
        mine.users -= 1
        if not mine.users and mine in _mine:
            _mine.remove(mine)
            with suppress(OSError):
                os.unlink(mine.file.name)
            mine.file.close()


def places(folder: Path, *, below: int | None = None) -> list[Place]:
    """All places in the line, or those before a number, the first in front; what ended processes left is no place."""
    wanted = [number for number in _numbers(folder) if below is None or number < below]
    return [place for number in wanted if (place := _place(folder, number))]


def _numbers(folder: Path) -> list[int]:
    return sorted(int(found[1]) for name in os.listdir(folder) if (found := PLACE.fullmatch(name)))


def _place(folder: Path, number: int) -> Place | None:
    file = folder / NAME.format(number)
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None  # it has just been given back, or nobody's place is such a file
    try:
        owner = os.fstat(handle).st_uid
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return Place(number, _name(owner))
    except OSError:
        return None
    finally:
        os.close(handle)
    return None


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def _joined(folder: Path) -> _Mine:
    """A place behind all others."""
    deadline = time.monotonic() + LONGEST_JOINING_S
    try:
        with _opened(folder) as gate:
            _lock(gate, deadline, f"another process has {folder} locked")
            there = places(folder)
            _clear(folder, there)
            number = there[-1].number + 1 if there else 1
            while number < LARGEST and time.monotonic() < deadline:
                try:
                    file = io.FileIO(folder / NAME.format(number), "x")
                except FileExistsError:  # left by another user's process that was killed
                    number += 1
                    continue
                os.fchmod(file.fileno(), 0o644)  # others look whether it is locked
                _lock(file.fileno(), deadline, f"another process has {file.name!r} locked")
                return _Mine(number, file)
    except OSError as error:
        raise LabError(f"{folder} is of no use for it ({error.strerror}).") from error
    raise LabError(f"{folder} is full of places that nobody has.")


def _clear(folder: Path, there: list[Place]) -> None:
    """Remove what our killed processes left. With the folder locked: else a file may be one that is not locked yet."""
    for number in set(_numbers(folder)) - {place.number for place in there}:
        with suppress(OSError):
            file = folder / NAME.format(number)
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


def _wait(mine: _Mine, show: Show) -> bool:
    """Until nobody is before us; whether anybody was."""
    shown = ""
    while before := places(Path(os.fsdecode(mine.file.name)).parent, below=mine.number):
        sentence = (
            f"You are number {len(before)} in line for this machine; {before[0].user} is measuring."
            " Interrupting leaves the line."
        )
        if sentence != shown:
            show(sentence)
            shown = sentence
        time.sleep(LOOK_EVERY_S)
    return bool(shown)


def _rest(show: Show) -> None:
    deadline = time.monotonic() + LONGEST_REST_S
    if host_state.busy(host_state.now()):
        show(REST)
    while host_state.busy(host_state.now()) and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_S)
