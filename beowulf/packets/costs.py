"""What each MPI message in a capture cost on the wire: frames, bytes, what was sent twice.

A frame with payload belongs to the message whose packet of MPICH's began last in its direction of the
connection; where two messages share a segment, that is the later one. A frame without payload belongs
to the message that it follows in the other direction: it acknowledges that one. What opens or closes
a connection, and MPICH's packets that are part of no message, belong to none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from beowulf.packets.batches import Integers
from beowulf.packets.flows import Conversations, Trail
from beowulf.packets.headers import FIN, RST, SYN, Columns
from beowulf.packets.mpi_messages import Traffic, traffic
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "packets": "frames of the message, in both directions",
    "wire_bytes": "of these frames, as captured: without preamble, checksum and gap",
    "ack_packets": "of these frames, those without payload",
    "zero_window_packets": "of those, the ones by which the receiver closes its window",
    "retransmitted_packets": "frames that carry nothing but what was sent before",
    "control_packets": "MPICH's own packets besides the data: request to send, clear to send",
}
NOBODY = -1

# By connection and direction: numbers of the packets at which parts begin, and whose they are.
Begins = dict[tuple[int, bool], tuple[Integers, Integers]]


def costs(path: Path | str) -> pd.DataFrame:
    """The MPI messages of a capture as `messages` gives them, with COLUMNS; CaptureError if it is none."""
    mpi = traffic(path)
    table = mpi.table()
    sums = np.zeros((5, len(table)), dtype=np.int64)
    for piece, trail, owner in _owned(path, mpi):
        sums += _sums(piece, trail, owner, len(table))
    for name, counts in zip(COLUMNS, sums, strict=False):
        table[name] = counts
    table["control_packets"] = [
        bool(message.rendezvous) + bool(message.clear) for message in mpi.messages
    ]
    return table


def departures(path: Path | str, within_s: float) -> pd.DataFrame:
    """The MPI messages of a capture as `messages` gives them, with `left_bytes`; CaptureError if it is none.

    These are the bytes of the sender's, MPICH's headers among them, that left within so many seconds of the first one.
    """
    mpi = traffic(path)
    table = mpi.table()
    began_ns = np.array([message.first.began_ns for message in mpi.messages], dtype=np.int64)
    senders = np.array([message.from_a for message in mpi.messages], dtype=np.bool_)
    left = np.zeros(len(table), dtype=np.int64)
    for piece, trail, owner in _owned(path, mpi):
        at = np.flatnonzero((owner >= 0) & (piece["payload_bytes"] > 0))
        at = at[trail.from_a[at] == senders[owner[at]]]
        at = at[piece["time_ns"][at] - began_ns[owner[at]] <= within_s * 1e9]
        np.add.at(left, owner[at], trail.fresh_bytes[at])
    table["left_bytes"] = left
    return table


def _owned(path: Path | str, mpi: Traffic) -> Iterator[tuple[Columns, Trail, Integers]]:
    """The pieces of a capture, each with its trail and the place of the message that each frame belongs to."""
    begins, talks, before = _begins(mpi), Conversations(), 0
    for piece in Packets(path):
        trail = talks.follow(piece)
        yield piece, trail, _owners(begins, piece, trail, before)
        before += trail.again.size


def _begins(traffic: Traffic) -> Begins:
    mine = {}
    for place, message in enumerate(traffic.messages):
        for part in (message.first, message.clear, message.data):
            if part is not None:
                mine[id(part)] = place
    begins: Begins = {}
    for connection in traffic.connections:
        for from_a in (True, False):
            parts = [part for sender, part in connection.parts if sender == from_a]
            # Parts of one segment stay in the order of their bytes: the last one owns it.
            parts.sort(key=lambda part: (part.first_number, part.position))
            numbers = np.array([part.first_number for part in parts], dtype=np.int64)
            owners = np.array([mine.get(id(part), NOBODY) for part in parts], dtype=np.int64)
            begins[connection.number, from_a] = numbers, owners
    return begins


def _owners(begins: Begins, piece: Columns, trail: Trail, before: int) -> Integers:
    owner = np.full(trail.from_a.size, NOBODY, dtype=np.int64)
    plain = piece["flags"] & (SYN | FIN | RST) == 0
    carries = piece["payload_bytes"] > 0
    for (number, from_a), (numbers, owners) in begins.items():
        if not numbers.size:
            continue
        here = (trail.conversation == number) & plain
        # With payload: the sender's own message; without: the one that it answers.
        at = np.flatnonzero(here & (np.where(carries, trail.from_a, ~trail.from_a) == from_a))
        latest = np.searchsorted(numbers, before + at + 1, side="right") - 1
        owner[at] = np.where(latest >= 0, owners[latest], NOBODY)
    return owner


def _sums(piece: Columns, trail: Trail, owner: Integers, count: int) -> Integers:
    mine = owner >= 0
    empty = mine & (piece["payload_bytes"] == 0)
    sizes = piece["wire_bytes"][mine].astype(np.float64)
    packets, acks, closed, again = (
        np.bincount(owner[mask], minlength=count)
        for mask in (mine, empty, empty & (piece["window"] == 0), mine & trail.again)
    )
    wire_bytes = np.bincount(owner[mine], weights=sizes, minlength=count)
    return np.array([packets, wire_bytes, acks, closed, again], dtype=np.int64)
