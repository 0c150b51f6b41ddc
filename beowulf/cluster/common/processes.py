"""Processes of this machine as /proc shows them: a process is its number and the moment of its start."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Process:
    """A process that cannot be mistaken for a later one with the same number."""

    pid: int
    start_ticks: int

    @property
    def alive(self) -> bool:
        """Whether this very process still runs (a zombie does not)."""
        does, ticks = _state_and_start(self.pid)
        return ticks == self.start_ticks and does not in "ZX"

    def kill(self) -> None:
        """Tell the kernel to end it, without waiting."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def gone(self, patience_s: float = 30.0) -> bool:
        """Wait until it has ended; False when it is still there after `patience_s`."""
        deadline = time.monotonic() + patience_s
        while self.alive and time.monotonic() < deadline:
            time.sleep(0.002)
        return not self.alive


def process(pid: int) -> Process | None:
    """The running process with that number, or None."""
    does, ticks = _state_and_start(pid)
    return None if does in "ZX" else Process(pid, ticks)


def numbers() -> Iterator[int]:
    """The numbers of all processes on this machine now."""
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def everyone() -> Iterator[Process]:
    """All processes that run on this machine now."""
    return (one for number in numbers() if (one := process(number)))


def state(pid: int) -> str:
    """The kernel's letter for what the process does; X when it is gone."""
    return _state_and_start(pid)[0]


def network(pid: int) -> str:
    """The network namespace that the process is in; empty when it is gone or not ours to ask."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return ""


def end(firsts: Iterable[Process]) -> list[Process]:
    """Kill these first processes of namespaces and all that is in their networks; those that do not end.

    What entered from outside is not killed with the first process, and while it is stopped (Ctrl-Z) it keeps its
    child, and so the namespace, from ending.
    """
    firsts = list(firsts)
    networks = {network(first.pid) for first in firsts} - {"", network(os.getpid())}
    for first in firsts:
        first.kill()
    if networks:
        for other in everyone():
            if network(other.pid) in networks:
                other.kill()
    return [first for first in firsts if not first.gone()]


def children(pid: int) -> list[int]:
    """The numbers of the running children of `pid`."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:  # it has ended
        return []
    return [int(child) for task in tasks for child in _read(pid, f"task/{task}/children").split()]


def command_line(pid: int) -> list[str]:
    """The words with which the process was started; empty when it is gone."""
    return _read(pid, "cmdline").split("\0")[:-1]


def owner(pid: int) -> int:
    """The number of the user that the process runs as; -1 when it is gone."""
    status = _read(pid, "status")
    return int(status.partition("\nUid:")[2].split()[1]) if status else -1


def _state_and_start(pid: int) -> tuple[str, int]:
    # The name before them may hold spaces and brackets.
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return (fields[0], int(fields[19])) if fields else ("X", 0)


def _read(pid: int, name: str) -> str:
    """A file of the kernel's about a process; empty when that is gone."""
    try:
        # No Path, which takes longer than to read: a search asks every process of this machine.
        with open(f"/proc/{pid}/{name}", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def inside(first: int) -> list[int]:
    """Every process in the process namespace of this one, which comes first."""
    namespace, numbers = os.stat(f"/proc/{first}/ns/pid").st_ino, [first]
    for other in everyone():
        with suppress(OSError):
            if other.pid != first and os.stat(f"/proc/{other.pid}/ns/pid").st_ino == namespace:
                numbers.append(other.pid)
    return numbers
