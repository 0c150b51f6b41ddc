"""One measurement at a time: a cluster that is measured is held, and others read by whom, since when and for what.

The process that holds a cluster has the first place in the queue in its folder. What changes a cluster is in that
queue too, so that no study begins meanwhile; a study that changes its own cluster goes on.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from beowulf.cluster import state
from beowulf.cluster.holding import queue
from beowulf.cluster.holding.queue import LOOK_EVERY_S, Mine, Place
from beowulf.errors import LabError
from beowulf.this_machine import user

LONGEST_END_S = 90.0
ENDS = signal.SIGUSR1  # asks a study to end and to keep what it has
WAIT = (
    "Two measurements at once disturb each other. Wait until it is done, or let `--wait` (`wait=True` in a notebook)"
    " wait for you."
)
FORCE = "Wait until it is done, or add `--force`: it ends the measurement, which keeps what it has measured."

Report = Callable[[str], None]


@dataclass(frozen=True)
class Holder:
    """Who holds a cluster, for what, since when; and the process that does, on which machine."""

    user: str
    doing: str  # such as `study A6`
    since: float  # seconds since 1970
    measures: bool = True  # else it changes the cluster, which takes a moment
    pid: int = 0
    machine: str = ""
    ends_by: int = 0  # the number of the signal that asks it to end; 0: none reaches it

    def __str__(self) -> str:
        then, now = time.localtime(self.since), time.localtime()
        clock = time.strftime("%H:%M:%S" if then[:3] == now[:3] else "%H:%M on %d %B", then)
        turn = ", which measures or waits for its turn on this machine" if self.measures else ""
        return f"The cluster has been in use by {self.user} since {clock}, for {self.doing}{turn}."


class LockedError(LabError):
    """Another process measures on the cluster; `holder` says which."""

    def __init__(self, holder: Holder, hint: str) -> None:
        super().__init__(str(holder), hint)
        self.holder = holder


class Ended(KeyboardInterrupt):
    """Another command ends this measurement; the text says which."""


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

    def join() -> Mine:
        # `up` that boots a cluster and `down` that removes one have this lock: they are waited for.
        with state.locked(folder, make=False):
            if not state.cluster_in(folder):
                raise state.GoneError
            try:
                (folder / state.HELD).mkdir(mode=0o700, exist_ok=True)
                return queue.joined(folder / state.HELD, asdict(_me(doing, measures)))
            except OSError as error:
                raise state.full(folder, error) from error

    with queue.place(folder / state.HELD, join) as (mine, joins):
        try:
            if joins:
                _come_first(folder, mine, WAIT if measures else FORCE, wait, report)
                _hear_of(mine)  # of a signal that came a moment too early
                if measures and (folder / state.UNFINISHED).exists():
                    raise LabError(
                        "The last change to this cluster was cut short, so the cluster may not be as described.",
                        "`beowulf up` completes it.",
                    )
            yield
        except Ended as end:
            if not joins:
                raise
            raise LabError(f"The measurement was {end}; nothing had been measured yet.") from None


def _come_first(folder: Path, mine: Mine, hint: str, wait: bool, report: Report | None) -> None:
    """Return when nobody is before us; LockedError when another process measures and we do not `wait`."""
    for before in mine.waits():
        holders = [_holder(each) for each in before]
        measuring = next((each for each in holders if each.measures), None)
        if measuring and not wait:
            raise LockedError(measuring, hint)
        if wait and report:
            report(f"{holders[0]} Waiting until that is done; Ctrl-C stops waiting.")
            report = None
    with state.locked(folder, make=False):
        if not mine.path.exists():  # `down` has removed all places with its cluster
            raise state.GoneError


def ending(folder: Path) -> None:
    """The measurement on the cluster is at its end: from here on, no command may interrupt it."""
    if mine := queue.mine.get(folder / state.HELD):
        mine.ending = True


@contextmanager
def changing(folder: Path, command: str) -> Iterator[None]:
    """Hold the cluster while `command` changes it; LockedError while it is measured. Nothing where there is none."""
    with ExitStack() as stack:
        with suppress(state.GoneError):
            stack.enter_context(held(folder, f"`{command}`", measures=False))
        yield


def holder(folder: Path) -> Holder | None:
    """Which other process measures on the cluster; None when none does. What only changes it is waited for."""
    measuring = _measuring(folder)
    return _holder(measuring) if measuring else None


def _measuring(folder: Path) -> Place | None:
    its_queue = folder / state.HELD
    while its_queue not in queue.mine and (there := queue.places(its_queue)):
        if measuring := next((each for each in there if _holder(each).measures), None):
            return measuring
        time.sleep(LOOK_EVERY_S)
    return None


def end(folder: Path, command: str) -> None:
    """End the measurement on the cluster in good order, and wait until it has ended; LabError when it does not."""
    deadline = time.monotonic() + LONGEST_END_S
    asked_to_end: set[Holder] = set()
    while measuring := _measuring(folder):
        its_holder = _holder(measuring)
        if its_holder not in asked_to_end:
            _ask(measuring.file, its_holder, command)
            asked_to_end.add(its_holder)
        if time.monotonic() > deadline:
            raise LabError(
                f"{its_holder} It was asked to end and has not.",
                f"`kill -9 {its_holder.pid}` ends it, but what it has measured is lost.",
            )
        time.sleep(LOOK_EVERY_S)


def _ask(file: Path, holder: Holder, command: str) -> None:
    if not holder.ends_by or holder.machine != os.uname().nodename:
        raise LabError(
            str(holder), "It cannot be ended from here: wait, or ask the person who started it."
        )
    try:
        with open(os.open(file, os.O_WRONLY | os.O_APPEND), "w") as opened:
            opened.write(json.dumps({"ended_by": f"ended by `{command}`"}) + "\n")
        os.kill(holder.pid, holder.ends_by)
    except (FileNotFoundError, ProcessLookupError):
        return
    except OSError as error:
        raise LabError(str(holder), f"You cannot end it: {error.strerror}.") from error


def _holder(place: Place) -> Holder:
    try:
        return Holder(**place.facts)
    except TypeError:  # on a full disk they could not be written
        return Holder(place.user, "something unknown", time.time())


def _me(doing: str, measures: bool) -> Holder:
    machine, ends_by = os.uname().nodename, _listen() if measures else 0
    return Holder(user.name(), doing, time.time(), measures, os.getpid(), machine, ends_by)


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
    for mine in list(queue.mine.values()):
        _hear_of(mine)


def _hear_of(mine: Mine) -> None:
    """Raise the end once, when a command has asked for it."""
    if len(mine.lines) > 1 and not mine.ending:
        mine.ending = True
        raise Ended(json.loads(mine.lines[1])["ended_by"])
