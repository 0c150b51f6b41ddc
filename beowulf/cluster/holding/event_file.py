"""What is done to the nodes of a cluster, one line of JSON per event: only appended, and on disk before it is done."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beowulf.errors import LabError

# The lines that this process has written.
_OWN: set[bytes] = set()


class LockedError(LabError):
    """Another process is turning knobs now."""


class EventFile:
    """Events in a file; it is made with the first one."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @contextmanager
    def held(self) -> Iterator[None]:
        """One at a time: LockedError when another process is turning knobs."""
        lock = self._opened()
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LockedError(
                    "Another `beowulf tune` is turning knobs of this cluster.",
                    "Wait until it is done: the effects of two changes at once could not be separated.",
                ) from None
            yield
        finally:
            os.close(lock)

    def by_others(self) -> str:
        """The events that other processes than this one have written."""
        lines = self.file.read_bytes().splitlines() if self.file.exists() else []
        others = [line for line in lines if line.strip() not in _OWN]
        return b"\n".join(others).decode(errors="replace")

    def append(self, event: dict[str, Any]) -> None:
        """Write an event; OSError when it is not safely on the disk: then nothing is to be changed."""
        handle = self._opened()
        try:
            size = os.fstat(handle).st_size
            torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            line = b"\n" * torn + json.dumps(event).encode() + b"\n"
            _OWN.add(line.strip())
            if os.write(handle, line) != len(line):
                raise OSError(errno.ENOSPC, "No space left on device")
            os.fsync(handle)
        except OSError as error:  # it names no file
            raise OSError(error.errno, error.strerror, str(self.file)) from None
        finally:
            os.close(handle)

    def _opened(self) -> int:
        return os.open(self.file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
