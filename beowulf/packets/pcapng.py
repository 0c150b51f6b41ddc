"""The newer kind of capture file: blocks of many kinds, each with its length in front and behind."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from beowulf.packets.batches import NO_TIME, Batch, Integers, Interface, Window
from beowulf.packets.chain import Chain

MAGIC = b"\x0a\x0d\x0d\x0a"  # the same in both byte orders
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_LONGEST_BLOCK = 16 << 20
_FARTHEST_S = 1 << 32  # an offset beyond that would leave what 64 bits of nanoseconds can tell

Words = NDArray[np.uint32]


@dataclass
class _Section:
    """The byte order of a section of the file, and its interfaces as places in the file's list."""

    order: str = ""
    interfaces: list[int] = field(default_factory=list)

    def words(self, window: Window) -> Words:
        """The window as numbers of 32 bits; every block begins on such a number."""
        # With some of the spare bytes, where the last packet may be a short one.
        whole = window.memory[: window.end // 4 * 4 + 64]
        return whole.view(f"{self.order or '='}u4").astype(np.uint32, copy=False)


def batches(window: Window) -> Iterator[Batch]:
    """The packets of a pcapng file, of which the window holds the beginning."""
    section = _Section()
    more = True
    while more:
        words = section.words(window)
        chain = _guesses(window, words)
        while True:
            at = _walk(window, words, chain)
            if at.size:
                yield _batch(window, words, at, section)
            order = section.order
            if not _step(window, section):
                break
            if section.order != order:
                words = section.words(window)
                chain = _guesses(window, words)
        more = window.refill()
    if not section.order:
        raise window.headless()


def _walk(window: Window, words: Words, chain: Chain) -> Integers:
    # From packet to packet, up to a block that is none or is not whole; places count in words.
    def step(at: int, most: int) -> tuple[Integers, int]:
        places = array("q")
        keep = places.append
        while at + 1 < end and len(places) < most:
            kind, length = word[at], word[at + 1]
            if kind != _PACKET and kind != _OLD_PACKET and kind != _SIMPLE_PACKET:
                break
            after = at + (length >> 2)
            if length < (16 if kind == _SIMPLE_PACKET else 32) or after > end:
                break
            keep(at)
            at = after
        return np.frombuffer(places, dtype=np.int64), at

    word, end = words.data, window.end >> 2
    places, at = chain.follow(window.at >> 2, step)
    window.at = at << 2
    return places


def _guesses(window: Window, words: Words) -> Chain:
    # A packet has its kind and its length in front, and the length again behind.
    whole = words[: window.end >> 2]
    places = np.flatnonzero(whole[:-1] == _PACKET)
    length = whole[places + 1].astype(np.int64)
    ends = places + (length >> 2)
    sound = (length >= 32) & (length % 4 == 0) & (ends <= whole.size)
    places, length, ends = places[sound], length[sound], ends[sound]
    sound = whole[ends - 1] == length
    return Chain(places[sound], ends[sound])


def _step(window: Window, section: _Section) -> bool:
    # Over one block that is no packet; False when it is not whole in memory yet.
    place, left = window.at, window.end - window.at
    if left < 12:
        return False
    head = window.memory[place : place + 12].tobytes()
    order = _ORDERS.get(head[8:12], "") if head[:4] == MAGIC else section.order
    if not order:
        raise window.damaged(place, "a section in no known byte order")
    kind, length = struct.unpack(f"{order}II", head[:8])
    if not 12 <= length <= _LONGEST_BLOCK or length % 4:
        raise window.damaged(place, f"a block of {length} bytes")
    if length > left:
        return False
    if kind in (_OLD_PACKET, _SIMPLE_PACKET, _PACKET):
        # The walk would have gone over it, had it been long enough to be one.
        raise window.damaged(place, f"a packet in a block of {length} bytes")
    body = window.memory[place + 8 : place + length - 4].tobytes()
    if kind == _SECTION:
        section.order, section.interfaces = order, []
    elif kind == _INTERFACE:
        if len(body) < 8:
            raise window.damaged(place, "an interface without a description")
        section.interfaces.append(len(window.interfaces))
        window.interfaces.append(_interface(body, order))
    window.at = place + length
    return True


def _batch(window: Window, words: Words, at: Integers, section: _Section) -> Batch:
    kind, length = words[at], words[at + 1].astype(np.int64)
    interface, captured = words[at + 2].astype(np.int64), words[at + 5].astype(np.int64)
    wire, start = words[at + 6].astype(np.int64), at * 4 + 28
    ticks = words[at + 3].astype(np.uint64) << np.uint64(32) | words[at + 4]
    room = length - 32
    if (old := kind == _OLD_PACKET).any():  # interface and drops share a word
        halves = interface >> 16 if section.order == ">" else interface & 0xFFFF
        interface = np.where(old, halves, interface)
    if (simple := kind == _SIMPLE_PACKET).any():  # neither interface nor time
        interfaces = section.interfaces
        snap = window.interfaces[interfaces[0]].snap_bytes if interfaces else 0
        wire = np.where(simple, words[at + 2], wire)
        room = np.where(simple, length - 16, room)
        start = np.where(simple, at * 4 + 12, start)
        captured = np.where(simple, np.minimum(wire, snap or wire), captured)
        interface = np.where(simple, 0, interface)
    bad = (words[at + (length >> 2) - 1] != length) | (length % 4 != 0) | (captured > room)
    bad |= interface >= len(section.interfaces)
    if bad.any():
        first = int(np.argmax(bad))
        window.packets += first
        raise window.damaged(int(at[first]) * 4, "a packet whose lengths disagree")
    window.packets += at.size
    used = [window.interfaces[place] for place in section.interfaces]
    used_interfaces = np.unique(interface)
    window.check_link(used[place] for place in used_interfaces)
    time_ns = np.empty(at.size, dtype=np.int64)
    for place in used_interfaces:
        mine = slice(None) if used_interfaces.size == 1 else interface == place
        time_ns[mine] = _nanoseconds(ticks[mine], used[place])
    time_ns[simple] = NO_TIME
    places = np.array(section.interfaces, dtype=np.int64)
    numbers = window.numbers(at.size)
    return Batch(window.memory, start, captured, wire, time_ns, places[interface], numbers)


def _interface(body: bytes, order: str) -> Interface:
    link_type, snap = struct.unpack_from(f"{order}HxxI", body)
    described = Interface("", link_type, snap)
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, at)
        value = body[at + 4 : at + 4 + length]
        if code == 0 or len(value) < length:
            break
        if code == 2:
            described.name = value.decode(errors="replace").rstrip("\0")
        elif code == 9 and length == 1:
            described.resolution = value[0]
        elif code == 14 and length == 8:
            (offset_s,) = struct.unpack(f"{order}q", value)
            described.offset_s = max(-_FARTHEST_S, min(offset_s, _FARTHEST_S))
        at += 4 + (length + 3) // 4 * 4
    return described


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
