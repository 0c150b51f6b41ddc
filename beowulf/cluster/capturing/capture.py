"""Capturing packets: one dumpcap for each interface, started where the cluster says, and ended so that none is missing.

dumpcap writes to its standard output, which is a file that we opened: it gives up root's right to
write anywhere when it starts, and it may run where our folders have other names, or none at all.
Where there are several, they write into a folder beside the file and are merged at the end, in
the order of time. Files of machines with clocks of their own are put in order first.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from beowulf.cluster.capturing import dumpcap
from beowulf.cluster.capturing.dumpcap import SETTLE_S, Dumpcap, Start, Stop
from beowulf.errors import LabError, UsageError

# Of the kernel's memory, for all interfaces together: with dumpcap's own 2 MiB a third of the packets of
# a busy interface gets lost.
BUFFER_MIB = 64


class Capture:
    """Packets of some interfaces, captured into a file while its `with` block runs.

    At `most_mb` the capture ends. Entering returns when packets are being captured, leaving when all are in the file.
    LabError for a lack of permission or a full disk; what was captured stays.
    """

    def __init__(
        self,
        start: Start,
        file: Path | str,
        interfaces: Sequence[str],
        snap_bytes: int = 128,
        filter: str = "",
        *,
        stop: Stop,
        where: str = "",
        most_mb: float = 1000,
        once: bool = False,
        ahead_s: Mapping[str, float] | None = None,
    ) -> None:
        if most_mb <= 0:
            raise UsageError(f"A capture of at most {most_mb:g} MB holds nothing.")
        self.file = Path(file)
        self.interfaces = tuple(interfaces)
        self.snap_bytes = snap_bytes
        self.filter = filter
        self.where = where
        self.most_mb = most_mb
        # Although there are several interfaces, each frame is taken at one of them alone.
        self.once = once
        # Of interfaces whose clocks are not this machine's: by how much they are ahead, as far as it was measured.
        self.ahead_s = ahead_s
        self.shifted_s: dict[str, float] = {}
        self.began = self.ended = 0.0  # seconds since 1970
        self.packets = 0  # that dumpcap counted
        self.dropped = 0
        self.dropped_by_interface: dict[str, int] = {}
        self.warnings: list[str] = []
        self._parts: Path | None = None  # the folder in which several files are written
        self._running = False
        share = len(interfaces)
        self.dumpcaps = [
            Dumpcap(
                interface,
                dumpcap.arguments(
                    interface,
                    snap_bytes=snap_bytes,
                    filter=filter,
                    most_mb=most_mb / share,
                    buffer_mib=max(BUFFER_MIB // share, 8),
                ),
                interface if once and share > 1 else where,
                start,
                stop,
            )
            for interface in interfaces
        ]

    @property
    def elapsed_s(self) -> float:
        """From the moment when packets were being captured to the end of the block, or until now."""
        return (self.ended or time.time()) - self.began if self.began else 0.0

    @property
    def twice(self) -> bool:
        """Whether a packet that passed two of the interfaces is in the file twice."""
        return len(self.interfaces) > 1 and not self.once

    def __enter__(self) -> Capture:
        try:
            self._start()
            for each in self.dumpcaps:
                each.wait_until_ready()
        except BaseException:
            for each in self.dumpcaps:
                each.end()
            self._clear()
            raise
        self.began = max(each.began for each in self.dumpcaps)
        self._running = True
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
        """Capture what is still on its way, end all dumpcaps and read their counts; once is enough."""
        if not self._running:
            return
        self._running = False
        now = time.time()
        until = time.monotonic() + SETTLE_S
        try:
            for each in self.dumpcaps:
                each.settle(until)
        finally:
            for each in self.dumpcaps:
                each.end()
        early = [each for each in self.dumpcaps if each.ended_by_itself]
        # What came after all had ended is not counted as quiet.
        self.ended = now if len(early) < len(self.dumpcaps) else max(each.ended for each in early)
        self._count()
        problems = [why for each in self.dumpcaps if (why := each.problem(self.file))]
        try:
            self._join()
        except LabError as problem:
            # What happened first, and where its packets are.
            first = problems[0] if problems else problem
            raise LabError(first.message, problem.hint, first.node) from None
        if problems:
            raise problems[0]
        if early:
            self.warnings.append("The capture reached its size limit and ended early.")
        if self.dropped:
            total = self.packets + self.dropped
            self.warnings.append(
                f"{self.dropped} of {total} packets were dropped and are missing from the capture."
            )

    def summary(self, at: str = "") -> dict[str, Any]:
        """What `protocols.summary` says about the packets between entering and leaving the block.

        Of several interfaces, `at` chooses one: a packet that passed two of them is there twice.
        """
        from beowulf.packets import protocols

        if self.twice and not at:
            raise UsageError(
                f"{self.file} has packets from several interfaces, some of them twice.",
                f"Choose one of {', '.join(self.interfaces)} with `at`.",
            )
        return protocols.summary(
            self.file, self.elapsed_s, since=self.began, until=self.ended or None, at=at
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
            **({"shifted_s": dict(self.shifted_s)} if self.shifted_s else {}),
            "snap_bytes": self.snap_bytes,
            "filter": self.filter,
            "most_mb": self.most_mb,
            "began": self.began,
            "ended": self.ended,
            "packets": self.packets,
            "dropped": self.dropped,
            "dropped_by_interface": dict(self.dropped_by_interface),
        }

    def _start(self) -> None:
        with ExitStack() as opened:
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                outputs = [opened.enter_context(self.file.open("wb"))]
                if len(self.dumpcaps) > 1:
                    beside = f"{self.file.name}.parts-"
                    self._parts = Path(tempfile.mkdtemp(prefix=beside, dir=self.file.parent))
                    parts = [self._parts / each.interface for each in self.dumpcaps]
                    outputs = [opened.enter_context(part.open("wb")) for part in parts]
            except OSError as problem:
                why = (problem.strerror or str(problem)).lower()
                what = f"{self.file} cannot be written: {why}."
                raise LabError(what, "Choose another place.") from None
            for each, output in zip(self.dumpcaps, outputs, strict=True):
                each.start(output)

    def _count(self) -> None:
        self.packets = sum(each.packets for each in self.dumpcaps)
        self.dropped = sum(each.dropped for each in self.dumpcaps)
        self.dropped_by_interface = {each.interface: each.dropped for each in self.dumpcaps}
        for each in self.dumpcaps:
            self.warnings += each.warnings

    def _join(self) -> None:
        """Merge what is in the folder; it stays there when that fails."""
        if self._parts is None:
            return
        from beowulf.packets import clocks

        files = [self._parts / each.interface for each in self.dumpcaps]
        parts = [file for file in files if file.stat().st_size]
        if not parts:  # not even a header was written; each dumpcap reports why
            self._clear()
            return
        if self.ahead_s is not None:
            by_interface = {part.name: [part] for part in parts}
            self.shifted_s, warnings = clocks.order(by_interface, self.ahead_s)
            self.warnings += warnings
        words = ["mergecap", "-F", "pcapng", "-w", str(self.file), *map(str, parts)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        # A part that a full disk has cut off is a complaint, but all before that is taken over.
        if done.returncode and "cut short" not in done.stderr:
            self.file.unlink()
            raise LabError(
                f"The parts of {self.file} could not be put together: {done.stderr.strip().rstrip('.')}.",
                f"They are kept in {self._parts}.",
            )
        self._clear()

    def _clear(self) -> None:
        if self._parts is not None:
            shutil.rmtree(self._parts, ignore_errors=True)
            self._parts = None
