"""Taking packets: one dumpcap, started where a cluster says, and ended so that none is missing.

dumpcap writes to its standard output, which is a file that we opened: it gives up root's right to
write anywhere when it starts, and it may run where our folders have other names, or none at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from beowulf.errors import LabError, UsageError

# Starts these words as a process whose standard output is the file and whose stderr is a pipe.
Start = Callable[[list[str], IO[bytes]], "subprocess.Popen[bytes]"]
Stop = Callable[["subprocess.Popen[bytes]"], None]

READY = "File: "  # "Capturing on" comes some 30 ms earlier, before the interface is open
LONGEST_START_S = 15.0
LONGEST_STOP_S = 15.0
# The kernel hands over a block of packets that is not full after a quarter of a second (dumpcap's
# read time-out), and dumpcap forgets what it was not handed when the signal comes.
SETTLE_S = 0.35

_DROPS = re.compile(r"received/dropped on interface '.*?': (\d+)/(\d+) ")


def start_here(words: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the words on this machine, in the network of this very process."""
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE)


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ask the process to end as Ctrl-C does."""
    process.send_signal(signal.SIGINT)


def arguments(
    interfaces: Sequence[str],
    *,
    snap_bytes: int = 128,
    filter: str = "",
    seconds: float = 3600,
    kib: int = 1 << 20,
    buffer_mib: int = 64,
) -> list[str]:
    """The dumpcap command: what a learner would type to capture into standard output.

    With the default buffer of 2 MiB a third of the packets of two busy interfaces gets lost.
    """
    words = ["dumpcap", "-q", "-n", "-s", str(snap_bytes), "-B", str(buffer_mib)]
    words += ["-a", f"duration:{seconds:g}", "-a", f"filesize:{kib}"]
    words += ["-f", filter] if filter else []
    for interface in interfaces:
        words += ["-i", interface]
    return [*words, "-w", "-"]


class Capture:
    """Packets of some interfaces, taken into a file from `with` on until its block ends.

    Entering returns when packets are being taken, leaving when all are in the file. LabError for an
    interface that does not exist, no permission, a full disk; what was captured is kept.
    """

    def __init__(
        self,
        start: Start,
        file: Path | str,
        interfaces: Sequence[str],
        snap_bytes: int = 128,
        filter: str = "",
        *,
        where: str = "",
        seconds: float = 3600,
        kib: int = 1 << 20,
        buffer_mib: int = 64,
        stop: Stop = interrupt,
    ) -> None:
        if not interfaces:
            raise UsageError("A capture needs an interface.", "`ip link` lists them.")
        self.file = Path(file)
        self.interfaces = tuple(interfaces)
        self.snap_bytes = snap_bytes
        self.filter = filter
        self.where = where
        self.began = self.ended = 0.0  # seconds since 1970
        self.packets = 0  # that dumpcap counted
        self.dropped = 0
        self.dropped_by_interface: dict[str, int] = {}
        self.warnings: list[str] = []
        self.words = arguments(
            interfaces,
            snap_bytes=snap_bytes,
            filter=filter,
            seconds=seconds,
            kib=kib,
            buffer_mib=buffer_mib,
        )
        self._start, self._stop = start, stop
        self._process: subprocess.Popen[bytes] | None = None
        self._said: list[str] = []
        self._ready = threading.Event()
        self._listener: threading.Thread | None = None

    @property
    def elapsed_s(self) -> float:
        """From the moment when packets were being taken to the end of the block, or until now."""
        return (self.ended or time.time()) - self.began if self.began else 0.0

    def __enter__(self) -> Capture:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            output = self.file.open("wb")
        except OSError as problem:
            why = (problem.strerror or str(problem)).lower()
            what = f"{self.file} cannot be written: {why}."
            raise LabError(what, "Choose another place.") from None
        with output:
            try:
                self._process = self._start(self.words, output)
            except FileNotFoundError:
                raise self._missing() from None
            except PermissionError:
                raise self._forbidden() from None
        self._listener = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
        self._listener.start()
        try:
            answered = self._ready.wait(LONGEST_START_S)
        except BaseException:
            self._end(self._process, settle=False)
            raise
        if not self.began:
            self._end(self._process, settle=False)
            raise self._refused() if answered else self._silent()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.stop()
        except LabError as problem:
            if error is None:
                raise
            error.add_note(str(problem))  # what went wrong in the block matters more

    def stop(self) -> None:
        """Take what is still on its way, end dumpcap and read its counts; once is enough."""
        process, self._process = self._process, None
        if process is None:
            return
        by_itself = process.poll() is not None
        self.ended = self.ended or time.time()
        self._end(process, settle=not by_itself)
        said = "".join(self._said)
        self._count(said)
        if "no space left" in said.lower():
            raise LabError(
                f"The disk is full: {self.file} ends before the capture did.",
                "What was captured is kept; free some space and take it again.",
                self.where,
            )
        if process.returncode != 0:
            raise LabError(
                f"The capture{self._on()} ended before it was to: {_complaint(said)}.",
                f"What was captured is kept in {self.file}.",
                self.where,
            )
        if by_itself:
            self.warnings.append("The capture reached its limit of time or size and ended early.")
        if self.dropped:
            total = self.packets + self.dropped
            self.warnings.append(
                f"{self.dropped} of {total} packets were dropped and are missing in the capture."
            )

    def summary(self) -> dict[str, Any]:
        """What `protocols.summary` says of the packets between entering and leaving the block."""
        from beowulf.capture import protocols

        return protocols.summary(
            self.file, self.elapsed_s, since=self.began, until=self.ended or None
        )

    def facts(self) -> dict[str, Any]:
        """What a Record keeps of a finished capture: its file, digest, interfaces, times, drops."""
        with self.file.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {
            "file": self.file.name,
            "sha256": digest,
            "bytes": self.file.stat().st_size,
            "where": self.where,
            "interfaces": list(self.interfaces),
            "snap_bytes": self.snap_bytes,
            "filter": self.filter,
            "began": self.began,
            "ended": self.ended,
            "packets": self.packets,
            "dropped": self.dropped,
        }

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr
        with process.stderr as lines:
            for line in lines:
                text = line.decode(errors="replace").replace("\r", "")
                if text.startswith(READY) and not self.began:
                    self.began = time.time()
                    self._ready.set()
                self._said.append(text)
        self.ended = self.ended or time.time()
        self._ready.set()

    def _end(self, process: subprocess.Popen[bytes], *, settle: bool) -> None:
        if settle:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SETTLE_S)
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._stop(process)
        try:
            process.wait(LONGEST_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.warnings.append("dumpcap did not end when asked and was killed.")
        if self._listener:  # its last words hold the counts
            self._listener.join(LONGEST_STOP_S)

    def _count(self, said: str) -> None:
        counts = [(int(taken), int(lost)) for taken, lost in _DROPS.findall(said)]
        self.packets = sum(taken for taken, _ in counts)
        self.dropped = sum(lost for _, lost in counts)
        self.dropped_by_interface = {
            name: lost for name, (_, lost) in zip(self.interfaces, counts, strict=False)
        }
        if not counts:
            self.warnings.append("dumpcap did not say how many packets it dropped.")

    def _on(self) -> str:
        if self.where == "switch":
            return " at the switch"
        return f" on {self.where}" if self.where else ""

    def _missing(self) -> LabError:
        return LabError(
            f"There is no dumpcap{self._on()} to take packets with.",
            "`beowulf doctor --fix` installs it (Debian's package tshark).",
            self.where,
        )

    def _forbidden(self) -> LabError:
        # Debian's dumpcap may be allowed to the group wireshark only.
        return LabError(
            f"You may not capture{self._on()} on {', '.join(self.interfaces)}.",
            "`ls -l $(command -v dumpcap)` shows who may; outside of a cluster it takes root.",
            self.where,
        )

    def _silent(self) -> LabError:
        what = f"dumpcap{self._on()} was not ready after {LONGEST_START_S:g} s."
        return LabError(what, "`beowulf status` shows which nodes answer.", self.where)

    def _refused(self) -> LabError:
        said = "".join(self._said)
        low = said.lower()
        if found := re.search(r'no device named "(.*?)"', said):
            what = f"There is no network interface {found[1]}{self._on()}."
            return LabError(what, "`ip link` lists the interfaces.", self.where)
        if found := re.search(r'Device "(.*?)" is not up', said):
            what = f"The network interface {found[1]}{self._on()} is down."
            return LabError(what, f"`ip link set {found[1]} up` brings it up.", self.where)
        if "invalid capture filter" in low:
            what = f"The capture filter {self.filter!r} is not one."
            return UsageError(what, "`man pcap-filter` explains them.", self.where)
        if "permission" in low or "not permitted" in low:
            return self._forbidden()
        if "no such file" in low or "not found" in low:
            return self._missing()
        what = f"dumpcap{self._on()} could not start: {_complaint(said)}."
        return LabError(what, "`beowulf doctor` checks what it needs.", self.where)


def _complaint(said: str) -> str:
    lines = [line.strip() for line in said.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Capturing on", READY))]
    first = lines[0] if lines else "it said nothing"
    return first.removeprefix("dumpcap: ").rstrip(".")
