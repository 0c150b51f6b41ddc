"""Commands that a benchmark times: each in a process group of its own, which never outlives the benchmark."""

from __future__ import annotations

import json
import os
import select
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from beowulf.errors import LabError

# A learner's shell has none of these, and each of them changes how long things take.
FOREIGN = (
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
)

LONGEST_END_S = 10.0


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what would change the figures, and with `more`."""
    return {name: text for name, text in os.environ.items() if name not in FOREIGN} | more


def timed(
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    folder: Path | None = None,
    timeout_s: float = 60.0,
) -> tuple[float, str]:
    """Seconds of wall clock that a command took, and what it printed; LabError when it fails or does not end."""
    # Files and no pipes: a cluster that goes on running may keep them open.
    with tempfile.TemporaryFile() as printed:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            if not _ends_within(process, timeout_s):
                raise LabError(f"`{_short(command)}` did not end within {timeout_s:g} s.")
            elapsed_s = time.perf_counter() - began
        finally:
            if process.returncode is None:
                end(process)
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    if process.returncode:
        last = "\n".join(text.strip().splitlines()[-5:])
        raise LabError(f"`{_short(command)}` ended with {process.returncode}:\n{last}")
    return elapsed_s, text


def lines(printed: str) -> list[dict[str, Any]]:
    """What one of the labs' measuring programs printed, a dictionary a line; LabError when it breaks off."""
    records = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    if not records or records[-1]["kind"] != "end":
        raise LabError("What the program prints breaks off before its end.", "Measure again.")
    return records


def _ends_within(process: subprocess.Popen[Any], timeout_s: float) -> bool:
    # Popen.wait with a time-out looks only every 50 ms; the kernel reports the moment.
    handle = os.pidfd_open(process.pid)
    try:
        ended, _, _ = select.select([handle], [], [], timeout_s)
    finally:
        os.close(handle)
    if ended:
        process.wait()
    return bool(ended)


def end(process: subprocess.Popen[Any]) -> None:
    """End a process that we started and all that is in its group: first by SIGTERM, then by SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5.0)


class Talk:
    """A started program that prints a line of JSON for each line that it gets."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, complaints: Path) -> None:
        self.process = process
        self.name = name
        self.complaints = complaints
        self.unread = b""

    def send(self) -> None:
        """Let it go on."""
        assert self.process.stdin
        with suppress(BrokenPipeError):  # it has ended; its output is read next
            os.write(self.process.stdin.fileno(), b"go on\n")

    def hear(self, timeout_s: float = 60.0) -> dict[str, Any]:
        """The next line; LabError with its complaint when there is none."""
        assert self.process.stdout
        deadline = time.monotonic() + timeout_s
        stream = self.process.stdout.fileno()
        while b"\n" not in self.unread:
            ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(stream, 65536) if ready else b""
            if not chunk:
                last = self.complaints.read_text(errors="replace").strip().splitlines()[-5:]
                raise LabError(f"{self.name} does not go on: " + " / ".join(last))
            self.unread += chunk
        line, _, self.unread = self.unread.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def turn(self) -> tuple[float, dict[str, Any]]:
        """Let it go on; the seconds until its next line, and that line."""
        began = time.perf_counter()
        self.send()
        line = self.hear()
        return time.perf_counter() - began, line


@contextmanager
def talking(command: Sequence[str], env: Mapping[str, str], name: str) -> Iterator[Talk]:
    """Start a program that talks in lines; afterwards it and its group are ended."""
    with tempfile.NamedTemporaryFile(prefix="beowulf-bench-") as complaints:
        process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,
        )
        try:
            yield Talk(process, name, Path(complaints.name))
            if not _ends_within(process, LONGEST_END_S):
                raise LabError(f"{name} does not end.")
        finally:
            assert process.stdin
            assert process.stdout
            # A program that waits for a line gets none, and clears up by itself.
            process.stdin.close()
            if process.returncode is None and not _ends_within(process, LONGEST_END_S):
                end(process)
            process.stdout.close()


def _short(command: Sequence[str]) -> str:
    line = shlex.join([Path(command[0]).name, *command[1:]])
    return line if len(line) < 80 else line[:77] + "..."
