"""Processes of this machine as /proc shows them: a process is its number and the moment of its start."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A process that cannot be mistaken for a later one with the same number."""

    pid: int
    start_ticks: int

    @property
    def alive(self) -> bool:
        """Whether this very process still runs (a zombie does not)."""
        state, ticks = _state_and_start(self.pid)
        return ticks == self.start_ticks and state not in "ZX"

    def end(self, patience_s: float = 5.0) -> bool:
        """Kill it and wait until it is gone; False when it is still there after `patience_s`."""
        if self.alive:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                return True
        deadline = time.monotonic() + patience_s
        while self.alive and time.monotonic() < deadline:
            time.sleep(0.002)
        return not self.alive


def process(pid: int) -> Process | None:
    """The running process with that number, or None."""
    state, ticks = _state_and_start(pid)
    return None if state in "ZX" else Process(pid, ticks)


def children(pid: int) -> list[int]:
    """The numbers of the running children of `pid`."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def command_line(pid: int) -> list[str]:
    """The words with which the process was started; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def owner(pid: int) -> int:
    """The number of the user that the process runs as; -1 when it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return -1
    return int(text.partition("\nUid:")[2].split()[1])


def _state_and_start(pid: int) -> tuple[str, int]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "X", 0
    fields = text.rpartition(")")[2].split()  # the name before it may hold spaces and brackets
    return fields[0], int(fields[19])
