"""The queue in front of this machine: one timed measurement at a time, of any user; first come, first served."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.cluster.holding import queue
from beowulf.cluster.holding.queue import LOOK_EVERY_S, Mine
from beowulf.errors import LabError, UsageError
from beowulf.this_machine import host_state
from beowulf.this_machine.progress import aside

VARIABLE = "BEOWULF_LINE"
# The same for all users, and nobody but root can remove another one's file there.
FOLDERS = (Path("/run/lock"), Path("/tmp"))
# What the one before did still shows in the load, which looks a minute back.
LONGEST_REST_S = 60.0
REST = "It is your turn. The machine comes to rest first."
LONGEST_QUIET_S = 180.0
# When a study begins on a busy machine, and what is printed of that.
THEN = {
    "now": 'The measurement starts all the same. A study waits with `when="quiet"`, in a terminal with `--when quiet`.',
    "quiet": f"The study waits until the machine is quiet, at most {LONGEST_QUIET_S:.0f} s.",
}

Show = Callable[[str], None]


def folder() -> Path:
    """The folder of the queue; `BEOWULF_LINE` names another one."""
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
def joined(cluster: Cluster, show: Show, when: str = "now") -> Iterator[list[str]]:
    """Have the machine alone, where the cluster's nodes are this machine; sentences why not, for the Record's warnings.

    `show` gets a sentence with our place whenever it changes. What ends the waiting (Ctrl-C) leaves the queue. Of a
    busy machine it is printed what runs on it; `when` is one of THEN.
    """
    if when not in THEN:
        raise UsageError(f"`when` is {' or '.join(THEN)}, not {when!r}.")
    if not cluster.can.one_machine:
        yield []
        return
    with ExitStack() as leaving:
        warnings = []
        try:
            if leaving.enter_context(entered(show)):
                rest(show)
        except LabError as trouble:
            warnings = [
                f"This measurement did not wait in the line of this machine: {trouble.message}"
            ]
        if reasons := host_state.busy(host_state.now()):
            programs = [f"{name} {cores:.1f}" for name, cores in host_state.running().items()]
            runs = f"Cores in use now: {', '.join(programs) or 'none'}."
            print(
                f"This machine is busy: {' and '.join(reasons)}. {runs} {THEN[when]}",
                file=aside(),
            )
            if when == "quiet":
                rest(show, LONGEST_QUIET_S, THEN[when])
        yield warnings


@contextmanager
def entered(show: Show) -> Iterator[bool]:
    """Wait for our turn; whether there was anybody before us. LabError when the queue cannot be joined."""
    machine = folder()

    def join() -> Mine:
        try:
            return queue.joined(machine, {})
        except OSError as error:
            raise LabError(f"{machine} cannot be used for it ({error.strerror}).") from error

    with queue.place(machine, join) as (mine, _):
        shown = ""
        for before in mine.waits():
            sentence = (
                f"You are number {len(before)} in line for this machine; {before[0].user} is measuring."
                " Interrupting leaves the line."
            )
            if sentence != shown:
                show(sentence)
                shown = sentence
        yield bool(shown)


def rest(show: Show, longest_s: float = LONGEST_REST_S, sentence: str = REST) -> None:
    """Wait until the load of what ran before has gone, but not forever."""
    deadline = time.monotonic() + longest_s
    if host_state.busy(host_state.now()):
        show(sentence)
    while host_state.busy(host_state.now()) and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_S)
