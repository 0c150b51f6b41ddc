"""The older kind of capture file: one header, then each packet with sixteen bytes before it."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator

import numpy as np

from beowulf.capture.batches import Batch, CaptureError, Integers, Interface, Window, rows

# The first four bytes: the byte order, and in how many nanoseconds the fraction counts.
MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
_LONGEST_PACKET = 1 << 18  # libpcap's own limit


def batches(window: Window) -> Iterator[Batch]:
    """The packets of a pcap file, of which the window holds the beginning."""
    if window.end < 24:
        raise window.headless()
    order, unit_ns = MAGIC[window.memory[:4].tobytes()]
    major, snap, link = struct.unpack_from(f"{order}4xH10xII", window.memory.data)
    if major != 2:
        raise CaptureError(f"{window.path} is pcap of version {major}; version 2 can be read.")
    window.interfaces.append(Interface("", link & 0xFFFF, snap))
    window.at = 24
    more = True
    while more:
        at = _walk(window, order)
        if at.size:
            window.check_link(window.interfaces)
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


def _walk(window: Window, order: str) -> Integers:
    # From packet to packet, up to one that is not whole in memory.
    found = array("q")
    keep = found.append
    length_at = struct.Struct(f"{order}I").unpack_from
    memory, at, end = window.memory.data, window.at, window.end
    while at + 16 <= end:
        (length,) = length_at(memory, at + 8)
        after = at + 16 + length
        if after > end:
            if length > _LONGEST_PACKET:
                window.packets += len(found)
                raise window.damaged(at, f"a packet of {length} bytes")
            break
        keep(at)
        at = after
    window.at = at
    window.packets += len(found)
    return np.frombuffer(found, dtype=np.int64)
