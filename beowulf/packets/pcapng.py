"""A capture file from beginning to end, as batches of packets: pcapng, as dumpcap, tshark and Wireshark write it.

It consists of blocks of many kinds, each with its length in front and behind. It is read in chunks, so that memory
stays small. Within a chunk one short loop goes from packet to packet; all else is done for many at once.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beowulf.packets.batches import Batch, CaptureError, Integers

# So that what is made of a chunk stays in the cache: twice the speed of 16 times as much.
CHUNK_BYTES = 2 << 20
# glibc gives memory back to the kernel, and asks for it again with the next chunk, up to the size of the
# largest piece that was ever freed. Without this one that takes as long as all of the reading.
_FREED_BYTES = 16 << 20
# Free room behind a chunk: the header of a packet that is cut short is taken as if it were whole.
_SPARE_BYTES = 128

_LITTLE_ENDIAN = b"\x4d\x3c\x2b\x1a"
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_WITHOUT_TIME = (2, 3)  # packets of kinds that no program of ours writes
_LONGEST_BLOCK = 16 << 20
_ETHERNET = 1
# What other files begin with: pcap, with times in micro- and in nanoseconds, and gzip.
_OLDER, _COMPRESSED = (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"), b"\x1f\x8b"

Words = NDArray[np.uint32]


@dataclass
class Interface:
    """An interface as a capture file describes it."""

    name: str
    link_type: int  # https://www.tcpdump.org/linktypes.html
    resolution: int = 6  # how many decimals of a second a time has


class Reader:
    """A capture that is being read; `interfaces` and `truncated` are whole after the last batch."""

    def __init__(self, path: Path, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.path = path
        self.interfaces: list[Interface] = []
        self.truncated = False  # the last packet is cut off, as after a crash or on a full disk
        self._section: list[int] = []  # the present section's interfaces, as places in the list
        self._packets = 0  # so far
        # A piece of the file: read up to `_at`, valid up to `_end`, in the file at `_base`.
        self._memory = np.zeros(max(chunk_bytes, 64) + _SPARE_BYTES, dtype=np.uint8)
        self._base = self._at = self._end = 0
        np.empty(_FREED_BYTES, dtype=np.uint8)

    def batches(self) -> Iterator[Batch]:
        """The packets in the order of the file; CaptureError when it is no capture or damaged."""
        try:
            with self.path.open("rb", buffering=0) as file:
                while self._end < 4 and self._refill(file):
                    pass
                self._refuse_what_is_none()
                yield from self._in_memory()
                while self._refill(file):
                    yield from self._in_memory()
        except FileNotFoundError:
            raise CaptureError(f"There is no capture {self.path}.", "Look at the name.") from None
        self.truncated = self._at < self._end

    def _refuse_what_is_none(self) -> None:
        begins = self._memory[: min(self._end, 4)].tobytes()
        if begins == struct.pack("<I", _SECTION):
            return
        says, hint = "is not a capture", "A capture is what dumpcap, tshark or Wireshark write."
        if not begins:
            says = "is empty: not even the header of a capture is in it"
            hint = "The capture was ended before it began, or the disk was full; take it again."
        elif begins in _OLDER:
            says = "is of the older kind, pcap"
            hint = f"`editcap {self.path.name} new.pcapng` makes a pcapng of it."
        elif begins.startswith(_COMPRESSED):
            says, hint = "is compressed", f"`gunzip {self.path.name}` first."
        raise CaptureError(f"{self.path} {says}.", hint)

    def _refill(self, file: Any) -> bool:
        """Drop what was read and read on; False at the end of the file."""
        rest = self._end - self._at
        if rest and not self._at and self._end == self._memory.size - _SPARE_BYTES:
            self._memory = np.concatenate([self._memory, np.zeros_like(self._memory)])
        self._memory[:rest] = self._memory[self._at : self._end].copy()
        self._base += self._at
        got = file.readinto(self._memory.data[rest:-_SPARE_BYTES])
        self._at, self._end = 0, rest + got
        return bool(got)

    def _in_memory(self) -> Iterator[Batch]:
        # As numbers of 32 bits, on which every block begins; with some of the spare bytes.
        words = self._memory[: self._end // 4 * 4 + 64].view("<u4")
        while True:
            places = self._walk(words)
            if places.size:
                yield self._batch(words, places)
            if not self._step():
                return

    def _walk(self, words: Words) -> Integers:
        # From packet to packet, up to a block that is none or is not whole; places count in words.
        places = array("q")
        keep = places.append
        word, at, end = words.data, self._at >> 2, self._end >> 2
        while at + 1 < end and word[at] == _PACKET:
            length = word[at + 1]
            after = at + (length >> 2)
            if length < 32 or after > end:
                break
            keep(at)
            at = after
        self._at = at << 2
        return np.frombuffer(places, dtype=np.int64)

    def _step(self) -> bool:
        # Over one block that is no packet; False when it is not whole in memory yet.
        place, left = self._at, self._end - self._at
        if left < 12:
            return False
        kind, length, order = struct.unpack("<II4s", self._memory[place : place + 12].tobytes())
        if kind == _SECTION and order != _LITTLE_ENDIAN:
            raise self._damaged(place, "a section in another byte order than ours")
        if not 12 <= length <= _LONGEST_BLOCK or length % 4:
            raise self._damaged(place, f"a block of {length} bytes")
        if length > left:
            return False
        if kind in (_PACKET, *_WITHOUT_TIME):
            # The walk would have gone over it, had it been one that can be read.
            raise self._damaged(place, f"a packet in a block of kind {kind} and {length} bytes")
        if kind == _SECTION:
            self._section.clear()
        elif kind == _INTERFACE:
            self._describe(place, self._memory[place + 8 : place + length - 4].tobytes())
        self._at = place + length
        return True

    def _describe(self, place: int, body: bytes) -> None:
        if len(body) < 8:
            raise self._damaged(place, "an interface without a description")
        described = _interface(body)
        if described.resolution > 9:
            raise self._damaged(place, "an interface whose times are in a unit below a nanosecond")
        self._section.append(len(self.interfaces))
        self.interfaces.append(described)

    def _batch(self, words: Words, at: Integers) -> Batch:
        length, interface, captured, wire = (
            words[at + place].astype(np.int64) for place in (1, 2, 5, 6)
        )
        ticks = words[at + 3].astype(np.uint64) << np.uint64(32) | words[at + 4]
        bad = (words[at + (length >> 2) - 1] != length) | (length % 4 != 0)
        bad |= (captured > length - 32) | (interface >= len(self._section))
        if bad.any():
            first = int(np.argmax(bad))
            self._packets += first
            raise self._damaged(int(at[first]) * 4, "a packet whose lengths disagree")
        used = [self.interfaces[place] for place in self._section]
        time_ns = np.empty(at.size, dtype=np.int64)
        for place in np.unique(interface):
            if (link := used[place].link_type) != _ETHERNET:
                raise CaptureError(
                    f"{self.path} was taken from a link of type {link}, not Ethernet.",
                    "Capture on one Ethernet interface, such as eth0, and not on `any`.",
                )
            mine = interface == place
            time_ns[mine] = ticks[mine] * np.uint64(10 ** (9 - used[place].resolution))
        numbers = np.arange(self._packets + 1, self._packets + 1 + at.size)
        self._packets += at.size
        places = np.array(self._section, dtype=np.int64)[interface]
        return Batch(self._memory, at * 4 + 28, captured, wire, time_ns, places, numbers)

    def _damaged(self, at: int, what: str) -> CaptureError:
        """What to raise for something at this place in memory that no capture has."""
        hint = f"`editcap -r {self.path.name} good.pcapng 1-{self._packets}` keeps what is before."
        return CaptureError(
            f"{self.path} is damaged after packet {self._packets}, at byte {self._base + at}: {what}.",
            hint if self._packets else "Take it again.",
        )


def _interface(body: bytes) -> Interface:
    (link_type,) = struct.unpack_from("<H", body)
    described = Interface("", link_type)
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        value = body[at + 4 : at + 4 + length]
        if code == 0 or len(value) < length:
            break
        if code == 2:
            described.name = value.decode(errors="replace").rstrip("\0")
        elif code == 9 and length == 1:
            described.resolution = value[0]
        at += 4 + (length + 3) // 4 * 4
    return described
