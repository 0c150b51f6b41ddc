"""Packets in memory, a batch of them at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beowulf.errors import LabError

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

# In place of a time that is not known.
NO_TIME = int(np.iinfo(np.int64).min)


class CaptureError(LabError):
    """A file is not a capture that can be read; the sentence names the file."""


@dataclass
class Batch:
    """Packets in one piece of memory, which the next batch overwrites."""

    memory: Bytes
    start: Integers
    captured_bytes: Integers
    wire_bytes: Integers
    time_ns: Integers
    interface: Integers  # a place in the file's list of interfaces
    numbers: Integers  # in the file, from 1 on as Wireshark counts

    def only(self, which: NDArray[np.bool_]) -> Batch:
        """Those of its packets."""
        columns = {name: value for name, value in vars(self).items() if name != "memory"}
        return Batch(self.memory, **{name: column[which] for name, column in columns.items()})


def rows(memory: Bytes, at: Integers, width: int) -> Bytes:
    """The `width` bytes from each of the places `at`, one row a place."""
    # Overlapping items of that width: one copy of a few bytes a row, instead of one a byte.
    items = np.ndarray(memory.size - width + 1, f"V{width}", memory, strides=(1,))
    return items[at].view(np.uint8).reshape(-1, width)
