"""Commands that a benchmark times: each in a process group of its own, which never outlives the benchmark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
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
    # A file and no pipe: a cluster that goes on running may keep it open.
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
        # Popen.wait with a time-out looks only every 50 ms.
        timer = threading.Timer(timeout_s, end, [process])
        timer.start()
        try:
            process.wait()
            elapsed_s = time.perf_counter() - began
        finally:
            timer.cancel()
            if process.returncode is None:
                end(process)
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    if process.returncode:
        last = "\n".join(text.strip().splitlines()[-5:])
        raise LabError(f"`{' '.join(command[:3])} …` ended with {process.returncode}:\n{last}")
    return elapsed_s, text


def end(process: subprocess.Popen[Any]) -> None:
    """End a process that we started and all that is in its group: first by SIGTERM, then by SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5.0)


class Talk:
    """A started program that prints a line of JSON for each line that it gets."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def hear(self) -> dict[str, Any]:
        """The next line; LabError when there is none (what went wrong is on the terminal)."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise LabError("A program that is measured does not go on.")
        message: dict[str, Any] = json.loads(line)
        return message

    def turn(self) -> tuple[float, dict[str, Any]]:
        """Let it go on; the seconds until its next line, and that line."""
        assert self.process.stdin
        began = time.perf_counter()
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()
        line = self.hear()
        return time.perf_counter() - began, line


@contextmanager
def talking(command: Sequence[str], env: Mapping[str, str]) -> Iterator[Talk]:
    """Start a program that talks in lines; afterwards it and its group are ended."""
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield Talk(process)
        process.communicate(timeout=10.0)
    finally:
        end(process)
