"""One measurement at a time: a cluster that is measured is held, and others read by whom, since when and for what.

The hold is a lock of the kernel (flock) on a file in the cluster's folder. It ends with the process that has it,
however that ends, and no process that this one starts inherits it. The file says who holds the cluster. What changes
a cluster holds it too, so that no study begins meanwhile. Within one process a hold may be taken again: a study that
changes its own cluster goes on.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from beowulf.cluster import processes, state
from beowulf.cluster.processes import Process
from beowulf.errors import LabError

LOOK_EVERY_S = 0.05
LONGEST_UNKNOWN_S = 5.0  # until the process that has just taken the lock has written who it is
LONGEST_END_S = 90.0
ENDS = signal.SIGUSR1  # asks a study to end and to keep what it has
WAIT = "Two measurements at once disturb each other: wait until it is done, or let `--wait` do so."
FORCE = "Wait until it is done, or add `--force`: it ends the measurement, which keeps what it has."

Report = Callable[[str], None]


@dataclass(frozen=True)
class Holder:
    """Who holds a cluster, for what, since when; and the process that does, on which machine."""

    user: str
    doing: str  # such as `study A6`
    since: float  # seconds since 1970
    measures: bool = True  # else it changes the cluster, which takes a moment
    pid: int = 0
    start_ticks: int = 0
    machine: str = ""
    ends_by: int = 0  # the number of the signal that asks it to end; 0: none reaches it

    @property
    def process(self) -> Process | None:
        """The process that holds, where it is one of this machine."""
        here = self.pid and self.machine == os.uname().nodename
        return Process(self.pid, self.start_ticks) if here else None

    def __str__(self) -> str:
        then, now = time.localtime(self.since), time.localtime()
        clock = time.strftime("%H:%M:%S" if then[:3] == now[:3] else "%H:%M on %d %B", then)
        return f"The cluster is in use by {self.user} since {clock}, for {self.doing}."


class LockedError(LabError):
    """Another process measures on the cluster; `holder` says which, unless that is unknown."""

    def __init__(self, holder: Holder | None, hint: str) -> None:
        super().__init__(str(holder or "The cluster is in use by another process."), hint)
        self.holder = holder


class Ended(KeyboardInterrupt):
    """Another command ends this measurement; the text says which."""


@dataclass
class _Hold:
    handle: int
    users: int = 0  # blocks of this process that are inside of it, in whatever thread
    ending: bool = False  # it ends by itself now, or has been ended: nothing is to interrupt it

    def hear(self) -> None:
        """Raise the end once, when a command has asked for it."""
        lines = os.pread(self.handle, 4096, 0).splitlines()
        if len(lines) > 1 and not self.ending:
            self.ending = True
            raise Ended(json.loads(lines[1])["ended_by"])


# What this process holds, by the cluster's folder; one thread at a time takes and gives back.
_mine: dict[Path, _Hold] = {}
_taking = threading.RLock()


def _forget() -> None:
    # A process that is forked off, and runs no other program, has the lock's file open as well.
    for hold in _mine.values():
        with suppress(OSError):
            os.close(hold.handle)
    _mine.clear()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def held(
    folder: Path,
    doing: str,
    *,
    measures: bool = True,
    wait: bool = False,
    report: Report | None = None,
) -> Iterator[None]:
    """Hold the cluster in `folder` meanwhile; LockedError while another process measures on it, unless we `wait`.

    `report` gets the sentence for a person who waits. GoneError when there is no cluster.
    """
    with _taking:
        outermost = folder not in _mine
        if outermost:
            _mine[folder] = _taken(folder, _me(doing, measures), wait, report)
        hold = _mine[folder]
        hold.users += 1
    try:
        if outermost:
            hold.hear()  # of a signal that came a moment too early
            if measures and (folder / state.UNFINISHED).exists():
                raise LabError(
                    "The last change of this cluster was cut short, so it may not be as it says.",
                    "`beowulf up` completes it.",
                )
        yield
    except Ended as end:
        if not outermost:
            raise
        raise LabError(f"The measurement was {end}; nothing had been measured yet.") from None
    finally:
        with _taking:
            hold.users -= 1
            if not hold.users:
                del _mine[folder]
                with suppress(OSError):
                    os.ftruncate(hold.handle, 0)
                os.close(hold.handle)


def ending(folder: Path) -> None:
    """The measurement on the cluster is at its end: from here on, no command may interrupt it."""
    if folder in _mine:
        _mine[folder].ending = True


@contextmanager
def changing(folder: Path, command: str) -> Iterator[None]:
    """Hold the cluster while `command` changes it; LockedError while it is measured. Nothing where there is none."""
    try:
        hold = held(folder, f"`{command}`", measures=False)
        hold.__enter__()
    except state.GoneError:
        yield
        return
    try:
        yield
    finally:
        hold.__exit__(None, None, None)


def holder(folder: Path) -> Holder | None:
    """Which other process measures on the cluster; None when none does. What only changes it is waited for."""
    deadline = time.monotonic() + LONGEST_UNKNOWN_S
    while folder not in _mine:
        try:
            handle = os.open(folder / state.HELD, os.O_RDONLY)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except BlockingIOError:
            holds = _read(handle)
        finally:
            os.close(handle)
        if holds and holds.measures:
            return holds
        if not holds and time.monotonic() > deadline:
            return Holder("another process", "something unknown", time.time())
        time.sleep(LOOK_EVERY_S)
    return None


def end(folder: Path, command: str) -> None:
    """End the measurement on the cluster in good order, and wait until it has ended; LabError when it does not."""
    deadline = time.monotonic() + LONGEST_END_S
    asked_to_end: set[tuple[int, float]] = set()
    while measuring := holder(folder):
        if (measuring.pid, measuring.since) not in asked_to_end:
            _ask(folder, measuring, command)
            asked_to_end.add((measuring.pid, measuring.since))
        if time.monotonic() > deadline:
            raise LabError(
                f"{measuring} It was asked to end and does not.",
                f"`kill -9 {measuring.pid}` ends it, and what it has measured is lost.",
            )
        time.sleep(LOOK_EVERY_S)


def _ask(folder: Path, holder: Holder, command: str) -> None:
    if not holder.process or not holder.ends_by:
        raise LabError(str(holder), "It cannot be ended from here: wait, or ask who started it.")
    try:
        handle = os.open(folder / state.HELD, os.O_WRONLY | os.O_APPEND)
        with open(handle, "w") as file:
            file.write(json.dumps({"ended_by": f"ended by `{command}`"}) + "\n")
        if holder.process.alive:
            os.kill(holder.pid, holder.ends_by)
    except ProcessLookupError:
        return
    except OSError as error:
        raise LabError(str(holder), f"It cannot be ended by you: {error.strerror}.") from error


def _taken(folder: Path, me: Holder, wait: bool, report: Report | None) -> _Hold:
    """The lock, once it is ours."""
    deadline = time.monotonic() + LONGEST_UNKNOWN_S
    while True:
        # `up` that boots a cluster and `down` that removes one have this lock: they are waited for.
        with state.locked(folder, make=False):
            if not state.cluster_in(folder):
                raise state.GoneError
            try:
                handle = os.open(folder / state.HELD, os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as error:
                raise state.full(folder, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read(handle)
            os.close(handle)
            unknown = holder is None and time.monotonic() > deadline
            if not wait and (unknown or (holder and holder.measures)):
                raise LockedError(holder, WAIT if me.measures else FORCE) from None
            if wait and report and holder:
                report(f"{holder} Waiting until that is done; Ctrl-C gives it up.")
                report = None
            time.sleep(LOOK_EVERY_S)
            continue
        with suppress(FileNotFoundError):  # `down` has removed it since
            if os.path.samestat(os.stat(folder / state.HELD), os.fstat(handle)):
                break
        os.close(handle)
    with suppress(OSError):  # on a full disk it is held all the same
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(asdict(me)).encode() + b"\n", 0)
    return _Hold(handle)


def _read(handle: int) -> Holder | None:
    """The holder of the lock, from its file; None where it is not written yet, or has ended."""
    try:
        holder = Holder(**json.loads(os.pread(handle, 4096, 0).splitlines()[0]))
    except (OSError, ValueError, TypeError, IndexError):
        return None
    return None if holder.process and not holder.process.alive else holder


def _me(doing: str, measures: bool) -> Holder:
    process = processes.process(os.getpid())
    assert process, "we run"
    return Holder(
        user(),
        doing,
        time.time(),
        measures,
        process.pid,
        process.start_ticks,
        os.uname().nodename,
        _listen() if measures else 0,
    )


def user() -> str:
    """The name of this user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def _listen() -> int:
    """Make this process hear when it is to end; the number of the signal."""
    if threading.current_thread() is not threading.main_thread():
        return signal.SIGINT
    # It stays for good: one that comes late, when nothing is held any more, is to do no harm.
    if signal.getsignal(ENDS) in (signal.SIG_DFL, _hear):
        signal.signal(ENDS, _hear)
        return ENDS
    return signal.SIGINT


def _hear(_number: int, _frame: FrameType | None) -> None:
    for hold in _mine.values():
        hold.hear()
