"""Capture files, pcap and pcapng: where each packet lies, when it was taken, how long it was.

A file is read in chunks, so that memory stays small however long it is. Within a chunk one short
loop goes from packet to packet; all else is done for many packets at once.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from beowulf.errors import LabError

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

CHUNK_BYTES = 8 << 20
# The time of a packet that carries none (pcapng's simple packets).
NO_TIME = int(np.iinfo(np.int64).min)

# Kept free behind a chunk: the header of a packet that is cut short is taken as if it were whole.
_SPARE_BYTES = 128
_LONGEST_PACKET = 1 << 18  # libpcap's own limit
_LONGEST_BLOCK = 16 << 20
_FARTHEST_S = 1 << 32  # an offset beyond that would leave what 64 bits of nanoseconds can tell
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
_PCAP = {  # the first four bytes: the byte order, and how many nanoseconds the fraction counts in
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6


class CaptureError(LabError):
    """A file is not a capture that can be read; the sentence names the file."""


@dataclass
class Interface:
    """An interface as a capture file describes it, with the unit and the offset of its times."""

    name: str
    link_type: int
    snap_bytes: int
    resolution: int = 6  # as pcapng has it: a power of ten, or of two when the highest bit is set
    offset_s: int = 0


@dataclass
class Batch:
    """Packets in one piece of memory, which the next batch overwrites."""

    memory: Bytes
    start: Integers
    captured_bytes: Integers
    wire_bytes: Integers
    time_ns: Integers
    interface: Integers  # a place in the file's list of interfaces


class Reader:
    """A capture that is being read; `interfaces` and `truncated` are whole after the last batch."""

    def __init__(self, path: Path | str, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.path = Path(path)
        self.chunk_bytes = chunk_bytes
        self.interfaces: list[Interface] = []
        self.packets = 0  # read so far
        self.truncated = False  # the last packet is cut off, as after a crash or on a full disk

    def batches(self) -> Iterator[Batch]:
        """The packets in the order of the file; CaptureError when it is no capture or damaged."""
        try:
            with self.path.open("rb", buffering=0) as file:
                yield from self._batches(file)
        except FileNotFoundError:
            raise CaptureError(f"There is no capture {self.path}.", "Look at the name.") from None
        except OSError as problem:
            why = (problem.strerror or str(problem)).lower()
            raise CaptureError(f"{self.path} cannot be read: {why}.") from None

    def _batches(self, file: BinaryIO) -> Iterator[Batch]:
        window = _Window(file, self.chunk_bytes)
        while window.end < 24 and window.refill():
            pass
        magic = window.memory[:4].tobytes() if window.end >= 4 else b""
        if magic in _PCAP:
            yield from self._pcap(window)
        elif magic == b"\x0a\x0d\x0d\x0a":
            yield from self._pcapng(window)
        elif not window.end:
            raise CaptureError(
                f"{self.path} is empty: not even the header of a capture is in it.",
                "The capture was ended before it began, or the disk was full; take it again.",
            )
        elif window.memory[:2].tobytes() == b"\x1f\x8b":
            raise CaptureError(f"{self.path} is compressed.", f"`gunzip {self.path.name}` first.")
        else:
            raise CaptureError(
                f"{self.path} is not a capture.",
                "A capture is what dumpcap, tshark or tcpdump write, pcap or pcapng.",
            )
        self.truncated = window.at < window.end

    def _damaged(self, place: int, what: str) -> CaptureError:
        mend = f"`editcap -r {self.path.name} good.pcapng 1-{self.packets}` keeps what is before."
        return CaptureError(
            f"{self.path} is damaged after packet {self.packets}, at byte {place}: {what}.",
            mend if self.packets else "Take it again.",
        )

    def _headless(self) -> CaptureError:
        return CaptureError(f"{self.path} ends within its own header.", "Take it again.")

    def _check_link(self, used: Iterator[Interface]) -> None:
        for interface in used:
            if interface.link_type != _ETHERNET:
                kind = _LINK_TYPES.get(interface.link_type, f"number {interface.link_type}")
                raise CaptureError(
                    f"{self.path} was taken from a link of type {kind}, not Ethernet.",
                    "Capture on one Ethernet interface, such as eth0.",
                )

    # pcap: one header for the file, sixteen bytes before each packet

    def _pcap(self, window: _Window) -> Iterator[Batch]:
        if window.end < 24:
            raise self._headless()
        order, unit_ns = _PCAP[window.memory[:4].tobytes()]
        major, snap, link = struct.unpack_from(f"{order}4xH10xII", window.memory.data)
        if major != 2:
            raise CaptureError(f"{self.path} is pcap of version {major}; version 2 can be read.")
        self.interfaces.append(Interface("", link & 0xFFFF, snap))
        window.at = 24
        more = True
        while more:
            at = self._walk_pcap(window, order)
            if at.size:
                self._check_link(iter(self.interfaces))
                heads = rows(window.memory, at, 16).view(f"{order}u4").astype(np.int64)
                yield Batch(
                    window.memory,
                    start=at + 16,
                    captured_bytes=heads[:, 2],
                    wire_bytes=heads[:, 3],
                    time_ns=heads[:, 0] * 1_000_000_000 + heads[:, 1] * unit_ns,
                    interface=np.zeros(at.size, dtype=np.int64),
                )
            more = window.refill()

    def _walk_pcap(self, window: _Window, order: str) -> Integers:
        found = array("q")
        keep = found.append
        length_at = struct.Struct(f"{order}I").unpack_from
        memory, at, end = window.memory.data, window.at, window.end
        while at + 16 <= end:
            (length,) = length_at(memory, at + 8)
            after = at + 16 + length
            if after > end:
                if length > _LONGEST_PACKET:
                    self.packets += len(found)
                    raise self._damaged(window.base + at, f"a packet of {length} bytes")
                break
            keep(at)
            at = after
        window.at = at
        self.packets += len(found)
        return np.frombuffer(found, dtype=np.int64)

    # pcapng: blocks of many kinds, each with its length in front and behind

    def _pcapng(self, window: _Window) -> Iterator[Batch]:
        section = _Section()
        more = True
        while more:
            words = section.words(window)
            while True:
                at = _walk_blocks(window, words)
                if at.size:
                    yield self._pcapng_batch(window, words, at, section)
                known = section.order
                if not self._step(window, section):
                    break
                if section.order != known:
                    words = section.words(window)
            more = window.refill()
        if not section.order:
            raise self._headless()

    def _step(self, window: _Window, section: _Section) -> bool:
        # Over one block that is no packet; False when it is not whole in memory yet.
        place, left = window.at, window.end - window.at
        if left < 12:
            return False
        head = window.memory[place : place + 12].tobytes()
        if head[:4] == b"\x0a\x0d\x0d\x0a":
            order = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}.get(head[8:12])
            if order is None:
                raise self._damaged(window.base + place, "a section in no known byte order")
        else:
            order = section.order
        kind, length = struct.unpack(f"{order}II", head[:8])
        if not 12 <= length <= _LONGEST_BLOCK or length % 4:
            raise self._damaged(window.base + place, f"a block of {length} bytes")
        if length > left:
            return False
        if kind in (_OLD_PACKET, _SIMPLE_PACKET, _PACKET):
            # The walk would have gone over it, had it been long enough to be one.
            raise self._damaged(window.base + place, f"a packet in a block of {length} bytes")
        body = window.memory[place + 8 : place + length - 4].tobytes()
        if kind == _SECTION:
            section.order, section.interfaces = order, []
        elif kind == _INTERFACE:
            if len(body) < 8:
                raise self._damaged(window.base + place, "an interface without a description")
            section.interfaces.append(len(self.interfaces))
            self.interfaces.append(_interface(body, order))
        window.at = place + length
        return True

    def _pcapng_batch(
        self, window: _Window, words: NDArray[np.uint32], at: Integers, section: _Section
    ) -> Batch:
        kind, length = words[at], words[at + 1].astype(np.int64)
        interface, captured = words[at + 2].astype(np.int64), words[at + 5].astype(np.int64)
        wire, start = words[at + 6].astype(np.int64), at * 4 + 28
        ticks = words[at + 3].astype(np.uint64) << np.uint64(32) | words[at + 4]
        room = length - 32
        if (old := kind == _OLD_PACKET).any():  # interface and drops share a word
            halves = interface >> 16 if section.order == ">" else interface & 0xFFFF
            interface = np.where(old, halves, interface)
        if (simple := kind == _SIMPLE_PACKET).any():  # neither interface nor time
            snap = self.interfaces[section.interfaces[0]].snap_bytes if section.interfaces else 0
            wire = np.where(simple, words[at + 2], wire)
            room = np.where(simple, length - 16, room)
            start = np.where(simple, at * 4 + 12, start)
            captured = np.where(simple, np.minimum(wire, snap or wire), captured)
            interface = np.where(simple, 0, interface)
        bad = (words[at + (length >> 2) - 1] != length) | (length % 4 != 0) | (captured > room)
        bad |= interface >= len(section.interfaces)
        if bad.any():
            first = int(np.argmax(bad))
            self.packets += first
            raise self._damaged(window.base + int(at[first]) * 4, "a packet whose lengths disagree")
        self.packets += at.size
        used = [self.interfaces[place] for place in section.interfaces]
        seen = np.unique(interface)
        self._check_link(used[place] for place in seen)
        time_ns = np.empty(at.size, dtype=np.int64)
        for place in seen:
            mine = slice(None) if seen.size == 1 else interface == place
            time_ns[mine] = _nanoseconds(ticks[mine], used[place])
        time_ns[simple] = NO_TIME
        places = np.array(section.interfaces, dtype=np.int64)
        return Batch(window.memory, start, captured, wire, time_ns, places[interface])


class _Window:
    """A piece of the file in memory: read up to `at`, valid up to `end`, in the file at `base`."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file: Any = file
        self.memory = np.zeros(max(size, 64) + _SPARE_BYTES, dtype=np.uint8)
        self.base = self.at = self.end = 0

    def refill(self) -> bool:
        """Drop what was read and read on; False at the end of the file."""
        rest = self.end - self.at
        if rest and not self.at and self.end == self.memory.size - _SPARE_BYTES:
            self.memory = np.concatenate([self.memory, np.zeros_like(self.memory)])
        self.memory[:rest] = self.memory[self.at : self.end].copy()
        self.base += self.at
        self.at, self.end = 0, rest
        got = self.file.readinto(self.memory.data[rest:-_SPARE_BYTES])
        self.end += got
        return bool(got)


@dataclass
class _Section:
    """The byte order of a pcapng section, and its interfaces as places in the file's list."""

    order: str = ""
    interfaces: list[int] = field(default_factory=list)

    def words(self, window: _Window) -> NDArray[np.uint32]:
        """The window as numbers of 32 bits; every block begins on such a number."""
        # With some of the spare bytes, where the last packet may be a short one.
        whole = window.memory[: window.end // 4 * 4 + 64]
        return whole.view(f"{self.order or '='}u4").astype(np.uint32, copy=False)


def rows(memory: Bytes, at: Integers, width: int) -> Bytes:
    """The `width` bytes from each of the places `at`, one row a place."""
    # Overlapping items of that width: one copy of a few bytes a row, instead of one a byte.
    items = np.ndarray(memory.size - width + 1, f"V{width}", memory, strides=(1,))
    return items[at].view(np.uint8).reshape(-1, width)


def _walk_blocks(window: _Window, words: NDArray[np.uint32]) -> Integers:
    # From packet to packet, up to a block that is none or is not whole; places count in words.
    found = array("q")
    keep = found.append
    word, at, end = words.data, window.at >> 2, window.end >> 2
    while at + 1 < end:
        kind, length = word[at], word[at + 1]
        if kind != _PACKET and kind != _OLD_PACKET and kind != _SIMPLE_PACKET:
            break
        after = at + (length >> 2)
        if length < (16 if kind == _SIMPLE_PACKET else 32) or after > end:
            break
        keep(at)
        at = after
    window.at = at << 2
    return np.frombuffer(found, dtype=np.int64)


def _interface(body: bytes, order: str) -> Interface:
    link_type, snap = struct.unpack_from(f"{order}HxxI", body)
    found = Interface("", link_type, snap)
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, at)
        value = body[at + 4 : at + 4 + length]
        if code == 0 or len(value) < length:
            break
        if code == 2:
            found.name = value.decode(errors="replace").rstrip("\0")
        elif code == 9 and length == 1:
            found.resolution = value[0]
        elif code == 14 and length == 8:
            (offset_s,) = struct.unpack(f"{order}q", value)
            found.offset_s = max(-_FARTHEST_S, min(offset_s, _FARTHEST_S))
        at += 4 + (length + 3) // 4 * 4
    return found


def _nanoseconds(ticks: NDArray[np.uint64], interface: Interface) -> Integers:
    power = interface.resolution & 0x7F
    if interface.resolution & 0x80:
        bits = min(power, 63)
        seconds, rest = ticks >> np.uint64(bits), ticks & np.uint64((1 << bits) - 1)
        if bits > 34:  # so that the product below stays within 64 bits
            rest, bits = rest >> np.uint64(bits - 34), 34
        inside = seconds * np.uint64(10**9) + (rest * np.uint64(10**9) >> np.uint64(bits))
    elif power <= 9:
        inside = ticks * np.uint64(10 ** (9 - power))
    else:
        inside = ticks // np.uint64(10 ** min(power - 9, 19))
    return inside.astype(np.int64) + interface.offset_s * 10**9
