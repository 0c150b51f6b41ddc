"""One dumpcap on one interface: its command, when it is ready, how it ends, what errors it prints.

One process for each interface: a dumpcap that watches several hands their packets from thread to thread and
loses many of them on the way.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from beowulf.cluster.common import processes
from beowulf.errors import LabError, UsageError

# Starts these words as a process whose standard output is the file and whose stderr is a pipe.
Start = Callable[[list[str], IO[bytes]], "subprocess.Popen[bytes]"]
Stop = Callable[["subprocess.Popen[bytes]"], None]

READY = "File: "  # "Capturing on" comes some 30 ms earlier, before the interface is open
LONGEST_START_S = 60.0
LONGEST_STOP_S = 60.0
# The kernel hands over a block of packets that is not full after a quarter of a second (dumpcap's
# read time-out), and dumpcap forgets what it was not handed when the signal comes.
SETTLE_S = 0.35

_COUNTS = re.compile(r"received/dropped on interface '.*?': (\d+)/(\d+) ")


def arguments(
    interface: str,
    *,
    snap_bytes: int,
    filter: str,
    most_mb: float,
    buffer_mib: int,
) -> list[str]:
    """The dumpcap command: what a learner would type to capture into standard output."""
    words = ["dumpcap", "-q", "-s", str(snap_bytes), "-B", str(buffer_mib)]
    words += ["-a", f"filesize:{max(round(most_mb * 1000), 1)}"]
    words += ["-f", filter] if filter else []
    return [*words, "-i", interface, "-w", "-"]


class Dumpcap:
    """A dumpcap that captures the packets of one interface; `where` names the place in sentences."""

    def __init__(
        self, interface: str, words: list[str], where: str, start: Start, stop: Stop
    ) -> None:
        self.interface, self.words, self.where = interface, words, where
        self.began = self.ended = 0.0  # seconds since 1970
        self.packets = self.dropped = 0  # as it counted them itself
        self.warnings: list[str] = []
        self.ended_by_itself = False
        self._start, self._stop = start, stop
        self._process: subprocess.Popen[bytes] | None = None
        self._code = 0
        self._errors: list[str] = []
        self._ready = threading.Event()
        self._listener: threading.Thread | None = None

    def start(self, output: IO[bytes]) -> None:
        """Start it, and do not wait."""
        self._process = self._start(self.words, output)
        self._listener = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
        self._listener.start()

    def wait_until_ready(self) -> None:
        """Return when packets are being captured; LabError when they cannot be."""
        self._ready.wait(LONGEST_START_S)
        if not self.began:
            self.end()
            raise self._refused()

    def settle(self, until: float) -> None:
        """If it still runs, let packets that are on their way arrive.

        By that moment (time.monotonic) the kernel has handed it all over; a dumpcap that then waits has taken it.
        """
        assert self._process
        self.ended_by_itself = self._process.poll() is not None
        if self.ended_by_itself:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(until - time.monotonic(), 0))
        # On a busy machine it may have had no core for a while.
        patience = time.monotonic() + LONGEST_STOP_S
        while _at_work(self._process.pid) and time.monotonic() < patience:
            time.sleep(0.005)

    def end(self) -> None:
        """Ask it to end, kill it if it does not, and read its counts; nothing if it never started."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._stop(process)
        try:
            process.wait(LONGEST_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.warnings.append("dumpcap did not end when asked and was killed.")
        assert self._listener
        self._listener.join(LONGEST_STOP_S)  # its last words hold the counts
        self._code = process.returncode
        if counted := _COUNTS.search("".join(self._errors)):
            self.packets, self.dropped = int(counted[1]), int(counted[2])
        elif self.began:
            self.warnings.append("dumpcap did not say how many packets it dropped.")

    def problem(self, file: Path) -> LabError | None:
        """Why it ended early, once it has; None when all is well."""
        errors = "".join(self._errors)
        if "no space left" in errors.lower():
            return LabError(
                f"The disk is full: {file} ends before the capture did.",
                "What was captured is kept; free some space and capture again.",
                self.where,
            )
        # It ends well, too, when the interface is gone, as that of a node that died.
        # What it complains of before it is ready is a warning.
        later = errors.partition(READY)[2]
        if self._code != 0 or (self.ended_by_itself and "dumpcap: " in later):
            return LabError(
                f"The capture{self._on()} ended early: {_complaint(later or errors)}.",
                f"What was captured is in {file}.",
                self.where,
            )
        return None

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr
        with process.stderr as lines:
            for line in lines:
                text = line.decode(errors="replace").replace("\r", "")
                if text.startswith(READY) and not self.began:
                    self.began = time.time()
                    self._ready.set()
                self._errors.append(text)
        self.ended = time.time()
        self._ready.set()

    def _on(self) -> str:
        if self.where == "nodes":
            return f" at the switch's port {self.interface}"
        if self.where == "switch":
            return " at the switch"
        return f" on {self.where}" if self.where else ""

    def _refused(self) -> LabError:
        errors = "".join(self._errors)
        low = errors.lower()
        if "invalid capture filter" in low:
            chosen = self.words[self.words.index("-f") + 1]
            what = f"{chosen!r} is not a capture filter."
            return UsageError(what, "`man pcap-filter` explains what is.", self.where)
        if "permission" in low or "not permitted" in low:
            # Debian's dumpcap may be allowed to the group wireshark only.
            what = f"You may not capture{self._on()}."
            hint = "`ls -l $(command -v dumpcap)` shows who may; outside a cluster it takes root."
            return LabError(what, hint, self.where)
        if "no such file" in low or "not found" in low:
            what = f"There is no dumpcap{self._on()} to capture packets with."
            hint = "`beowulf doctor --fix` installs it (Debian's package tshark)."
            return LabError(what, hint, self.where)
        what = f"dumpcap{self._on()} could not start: {_complaint(errors)}."
        return LabError(what, "`beowulf doctor` checks what it needs.", self.where)


def _at_work(pid: int) -> bool:
    """Whether a process, or one that it started, computes, or waits for a core or for the disk."""
    return processes.state(pid) in "RD" or any(map(_at_work, processes.children(pid)))


def _complaint(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Capturing on", READY))]
    # A shell that starts it may have something to say as well.
    own = [line for line in lines if line.startswith("dumpcap: ")]
    first = (own or lines or ["it printed nothing"])[0]
    return first.removeprefix("dumpcap: ").rstrip(".")
