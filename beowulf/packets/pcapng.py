"""The newer kind of capture file: blocks of many kinds, each with its length in front and behind."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beowulf.packets.batches import Batch, Integers, Interface, Window
from beowulf.packets.packet_order import Chain

MAGIC = b"\x0a\x0d\x0d\x0a"
_LITTLE_ENDIAN = b"\x4d\x3c\x2b\x1a"
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_WITHOUT_TIME = (2, 3)  # packets of kinds that no program of ours writes
_LONGEST_BLOCK = 16 << 20

Words = NDArray[np.uint32]


def batches(window: Window) -> Iterator[Batch]:
    """The packets of a pcapng file, of which the window holds the beginning."""
    # The interfaces of the present section, as places in the file's list of them.
    section: list[int] = []
    more = True
    while more:
        # As numbers of 32 bits, on which every block begins; with some of the spare bytes.
        words = window.memory[: window.end // 4 * 4 + 64].view("<u4")
        chain = _guesses(window, words)
        while True:
            at = _walk(window, words, chain)
            if at.size:
                yield _batch(window, words, at, section)
            if not _step(window, section):
                break
        more = window.refill()


def _walk(window: Window, words: Words, chain: Chain) -> Integers:
    # From packet to packet, up to a block that is none or is not whole; places count in words.
    def step(at: int, most: int) -> tuple[Integers, int]:
        places = array("q")
        keep = places.append
        while at + 1 < end and len(places) < most:
            length = word[at + 1]
            after = at + (length >> 2)
            if word[at] != _PACKET or length < 32 or after > end:
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


def _step(window: Window, section: list[int]) -> bool:
    # Over one block that is no packet; False when it is not whole in memory yet.
    place, left = window.at, window.end - window.at
    if left < 12:
        return False
    kind, length, order = struct.unpack("<II4s", window.memory[place : place + 12].tobytes())
    if kind == _SECTION and order != _LITTLE_ENDIAN:
        raise window.damaged(place, "a section in another byte order than ours")
    if not 12 <= length <= _LONGEST_BLOCK or length % 4:
        raise window.damaged(place, f"a block of {length} bytes")
    if length > left:
        return False
    if kind in (_PACKET, *_WITHOUT_TIME):
        # The walk would have gone over it, had it been one that can be read.
        raise window.damaged(place, f"a packet in a block of kind {kind} and {length} bytes")
    body = window.memory[place + 8 : place + length - 4].tobytes()
    if kind == _SECTION:
        section.clear()
    elif kind == _INTERFACE:
        if len(body) < 8:
            raise window.damaged(place, "an interface without a description")
        section.append(len(window.interfaces))
        described = _interface(body)
        if described.resolution > 9:
            raise window.damaged(place, "an interface whose times are in a unit below a nanosecond")
        window.interfaces.append(described)
    window.at = place + length
    return True


def _batch(window: Window, words: Words, at: Integers, section: list[int]) -> Batch:
    length, interface, captured, wire = (
        words[at + place].astype(np.int64) for place in (1, 2, 5, 6)
    )
    ticks = words[at + 3].astype(np.uint64) << np.uint64(32) | words[at + 4]
    bad = (words[at + (length >> 2) - 1] != length) | (length % 4 != 0) | (captured > length - 32)
    bad |= interface >= len(section)
    if bad.any():
        first = int(np.argmax(bad))
        window.packets += first
        raise window.damaged(int(at[first]) * 4, "a packet whose lengths disagree")
    window.packets += at.size
    used = [window.interfaces[place] for place in section]
    used_interfaces = np.unique(interface)
    window.check_link(used[place] for place in used_interfaces)
    time_ns = np.empty(at.size, dtype=np.int64)
    for place in used_interfaces:
        mine = slice(None) if used_interfaces.size == 1 else interface == place
        time_ns[mine] = ticks[mine] * np.uint64(10 ** (9 - used[place].resolution))
    places = np.array(section, dtype=np.int64)
    numbers = window.numbers(at.size)
    return Batch(window.memory, at * 4 + 28, captured, wire, time_ns, places[interface], numbers)


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
