"""The older kind of capture file: one header, then each packet with sixteen bytes before it."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator

import numpy as np

from beowulf.packets.batches import Batch, CaptureError, Integers, Interface, Window, rows
from beowulf.packets.packet_order import NO_GUESS, STEPS, Chain

# The first four bytes, and in how many nanoseconds the fraction of a second counts.
MAGIC = {b"\xd4\xc3\xb2\xa1": 1000, b"\x4d\x3c\xb2\xa1": 1}
_LONGEST_PACKET = 1 << 18  # libpcap's own limit
_LONG_BYTES = 600  # packets of more are gone over in less time than their bytes are searched


def batches(window: Window) -> Iterator[Batch]:
    """The packets of a pcap file, of which the window holds the beginning."""
    if window.end < 24:
        raise CaptureError(f"{window.path} ends within its own header.", "Take it again.")
    unit_ns = MAGIC[window.memory[:4].tobytes()]
    (link,) = struct.unpack_from("<20xI", window.memory.data)
    window.interfaces.append(Interface("", link & 0xFFFF))
    window.at = 24
    more = True
    while more:
        at = _walk(window, unit_ns)
        if at.size:
            window.check_link(window.interfaces)
            heads = rows(window.memory, at, 16).view("<u4").astype(np.int64)
            yield Batch(
                window.memory,
                start=at + 16,
                captured_bytes=heads[:, 2],
                wire_bytes=heads[:, 3],
                time_ns=heads[:, 0] * 1_000_000_000 + heads[:, 1] * unit_ns,
                interface=np.zeros(at.size, dtype=np.int64),
                numbers=window.numbers(at.size),
            )
        more = window.refill()


def _walk(window: Window, unit_ns: int) -> Integers:
    # From packet to packet, up to one that is not whole in memory.
    def step(at: int, most: int) -> tuple[Integers, int]:
        places = array("q")
        keep = places.append
        while at + 16 <= end and len(places) < most:
            (length,) = length_at(memory, at + 8)
            after = at + 16 + length
            if after > end:
                break
            keep(at)
            at = after
        return np.frombuffer(places, dtype=np.int64), at

    length_at = struct.Struct("<I").unpack_from
    memory, end = window.memory.data, window.end
    first, at = step(window.at, STEPS)
    pieces = [first]
    if first.size == STEPS:
        few_bytes = at - window.at < STEPS * _LONG_BYTES
        chain = _guesses(window, at, unit_ns) if few_bytes else NO_GUESS
        rest, at = chain.follow(at, step)
        pieces.append(rest)
    window.at = at
    places = np.concatenate(pieces)
    window.packets += places.size
    if at + 16 <= end and length_at(memory, at + 8)[0] > _LONGEST_PACKET:
        raise window.damaged(at, f"a packet of {length_at(memory, at + 8)[0]} bytes")
    return places


def _guesses(window: Window, at: int, unit_ns: int) -> Chain:
    # A packet begins with its second, of which the three upper bytes hardly ever change.
    memory, last = window.memory, window.end - 16
    may_be = np.ones(last + 1 - at, dtype=np.bool_)
    for byte in (1, 2, 3):
        may_be &= memory[at + byte : last + 1 + byte] == memory[at + byte]
    places = np.flatnonzero(may_be) + at
    heads = rows(memory, places, 16).view("<u4")
    ends = places + 16 + heads[:, 2]
    sound = (heads[:, 1] < 1_000_000_000 // unit_ns) & (ends <= window.end)
    return Chain(places[sound], ends[sound])
