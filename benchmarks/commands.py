"""Commands that a benchmark times: each in a process group of its own, which never outlives the benchmark."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
        try:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout_s)
            elapsed_s = time.perf_counter() - began
        finally:
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
