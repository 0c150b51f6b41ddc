"""A capture file in memory, a window of it at a time, and the packets in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from beowulf.errors import LabError

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

# So that what is made of a chunk stays in the cache: twice the speed of 16 times as much.
CHUNK_BYTES = 2 << 20
# glibc gives memory back to the kernel, and asks for it again with the next chunk, up to the size of the
# largest piece that was ever freed. Without this one that takes as long as all of the reading.
_FREED_BYTES = 16 << 20
# In place of a time that is not known.
NO_TIME = int(np.iinfo(np.int64).min)

# Free room behind a chunk: the header of a packet that is cut short is taken as if it were whole.
_SPARE_BYTES = 128
_ETHERNET = 1
# https://www.tcpdump.org/linktypes.html
_LINK_TYPES = {
    0: "BSD loopback",
    9: "PPP",
    12: "raw IP",
    101: "raw IP",
    105: "wireless (802.11)",
    113: "Linux 'any' (cooked)",
    127: "wireless (radiotap)",
    189: "USB",
    228: "raw IPv4",
    229: "raw IPv6",
    276: "Linux 'any' (cooked, version 2)",
}


class CaptureError(LabError):
    """A file is not a capture that can be read; the sentence names the file."""


@dataclass
class Interface:
    """An interface as a capture file describes it."""

    name: str
    link_type: int
    resolution: int = 6  # how many decimals of a second a time has


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


class Window:
    """A piece of a file in memory: read up to `at`, valid up to `end`, in the file at `base`."""

    def __init__(self, path: Path, file: BinaryIO, chunk_bytes: int) -> None:
        self.path = path
        self.interfaces: list[Interface] = []
        self.packets = 0  # so far
        self.memory = np.zeros(max(chunk_bytes, 64) + _SPARE_BYTES, dtype=np.uint8)
        self.base = self.at = self.end = 0
        np.empty(_FREED_BYTES, dtype=np.uint8)
        self._file: Any = file

    def refill(self) -> bool:
        """Drop what was read and read on; False at the end of the file."""
        rest = self.end - self.at
        if rest and not self.at and self.end == self.memory.size - _SPARE_BYTES:
            self.memory = np.concatenate([self.memory, np.zeros_like(self.memory)])
        self.memory[:rest] = self.memory[self.at : self.end].copy()
        self.base += self.at
        self.at, self.end = 0, rest
        got = self._file.readinto(self.memory.data[rest:-_SPARE_BYTES])
        self.end += got
        return bool(got)

    def numbers(self, count: int) -> Integers:
        """The numbers in the file of the `count` last packets."""
        return np.arange(self.packets - count + 1, self.packets + 1)

    def damaged(self, at: int, what: str) -> CaptureError:
        """What to raise for something at this place of the window that no capture has."""
        hint = f"`editcap -r {self.path.name} good.pcapng 1-{self.packets}` keeps what is before."
        place = self.base + at
        return CaptureError(
            f"{self.path} is damaged after packet {self.packets}, at byte {place}: {what}.",
            hint if self.packets else "Take it again.",
        )

    def check_link(self, used: Iterable[Interface]) -> None:
        """CaptureError if packets come from an interface that is not Ethernet."""
        for interface in used:
            if interface.link_type != _ETHERNET:
                kind = _LINK_TYPES.get(interface.link_type, f"number {interface.link_type}")
                raise CaptureError(
                    f"{self.path} was taken from a link of type {kind}, not Ethernet.",
                    "Capture on one Ethernet interface, such as eth0.",
                )


def rows(memory: Bytes, at: Integers, width: int) -> Bytes:
    """The `width` bytes from each of the places `at`, one row a place."""
    # Overlapping items of that width: one copy of a few bytes a row, instead of one a byte.
    items = np.ndarray(memory.size - width + 1, f"V{width}", memory, strides=(1,))
    return items[at].view(np.uint8).reshape(-1, width)
