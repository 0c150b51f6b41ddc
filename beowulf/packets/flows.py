"""TCP conversations: their openers, what went each way, what was sent twice, how it was answered.

A byte that was seen before in its direction is a retransmission, whatever the time between: sequence
numbers alone show that. tshark guesses at the sender's reason instead. It calls a segment
behind the newest one 'out of order' when it comes within 3 ms or one round trip, 'retransmission' or
'spurious' after that, and does so also for bytes that the capture had missed; so on a capture without
losses both count the same segments, under several names there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beowulf.packets.batches import NO_TIME, Integers
from beowulf.packets.headers import ACK, FIN, RST, SYN, TCP, Columns
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    import pandas as pd

# The least time that Linux waits with an ACK of its own is 40 ms; an ACK at once takes microseconds.
DELAYED_ACK_S = 0.03
_MOST_HOLES = 1000  # of one direction; more has only a capture that is damaged on purpose
_BEFORE_ALL = -(1 << 62)


@dataclass
class Side:
    """One direction of a conversation: its sender, and its counts so far."""

    address: int  # a place in the capture's list of addresses
    port: int
    packets: int = 0
    wire_bytes: int = 0
    payload_bytes: int = 0
    data_packets: int = 0
    ack_only_packets: int = 0
    retransmitted_packets: int = 0  # all of whose bytes were seen before
    retransmitted_bytes: int = 0
    out_of_order_packets: int = 0  # they fill a hole with new bytes
    zero_window_packets: int = 0
    delayed_acks: int = 0
    longest_ack_delay_s: float = 0.0
    base: int | None = None  # the sequence number of the first byte of payload
    newest: int = 0  # the sequence number of the latest segment, and where that is in the stream
    newest_at: int = 0
    end: int = 0  # how far the stream is known
    holes: list[list[int]] = field(default_factory=list)


@dataclass
class Conversation:
    """A TCP connection, its opener (or the sender of its first packet) as `a`; times are ns since 1970."""

    a: Side
    b: Side
    began_ns: int = NO_TIME
    ended_ns: int = NO_TIME
    syn_ns: int = NO_TIME
    open_ns: int = NO_TIME  # when the opener acknowledged the other's SYN
    last_was_data_of: str = ""
    last_ns: int = NO_TIME


@dataclass
class Trail:
    """What following a piece gives for each of its packets; -1 and 0 for those that are not TCP."""

    conversation: NDArray[np.int64]  # a place in Conversations.all
    from_a: NDArray[np.bool_]
    position: NDArray[np.int64]  # of the payload in its direction's stream, 0 for the first byte
    fresh_bytes: NDArray[np.int64]  # of the payload: those that were not seen before
    again: NDArray[np.bool_]  # a retransmission: it carries something and nothing of it is new


class Conversations:
    """The TCP conversations of a capture, followed piece by piece in memory that stays small."""

    def __init__(self) -> None:
        self.all: list[Conversation] = []
        self._latest: dict[tuple[int, int], int] = {}

    def follow(self, piece: Columns) -> Trail:
        """Count the packets of the next piece, and give the position of each in its stream."""
        size = piece["flags"].size
        trail = Trail(
            conversation=np.full(size, -1, dtype=np.int64),
            from_a=np.zeros(size, dtype=np.bool_),
            position=np.zeros(size, dtype=np.int64),
            fresh_bytes=np.zeros(size, dtype=np.int64),
            again=np.zeros(size, dtype=np.bool_),
        )
        # Where the header above IP was not captured, both ports are 0.
        whole = (piece["src_port"] | piece["dst_port"]) != 0
        tcp = piece["transport"] & (piece["ip_protocol"] == TCP) & whole
        for pair, places, low_sends in _pairs(piece, np.flatnonzero(tcp)):
            for span in self._spans(piece, pair, places, low_sends):
                self._count(piece, pair, places[span], low_sends[span], trail)
        return trail

    def _spans(
        self, piece: Columns, pair: tuple[int, int], places: Integers, low_sends: Any
    ) -> Iterator[slice]:
        # A port that is used again begins a new conversation, which a SYN of another number shows.
        begin = 0
        flags = piece["flags"][places]
        for at in np.flatnonzero(flags & (SYN | ACK) == SYN):
            if at > begin:
                yield slice(begin, int(at))
                begin = int(at)
            if (number := self._latest.get(pair)) is not None:
                talk = self.all[number]
                mine = talk.a if _is_a(talk, pair, bool(low_sends[at])) else talk.b
                first = (int(piece["seq"][places[at]]) + 1) & 0xFFFFFFFF
                if mine.base is not None and mine.base != first:
                    del self._latest[pair]
        if begin < places.size:
            yield slice(begin, None)

    def _count(
        self,
        piece: Columns,
        pair: tuple[int, int],
        places: Integers,
        low_sends: NDArray[np.bool_],
        trail: Trail,
    ) -> None:
        number = self._latest.get(pair)
        if number is None:
            first = places[0]
            # A SYN with an ACK comes from the side that was called.
            answered = piece["flags"][first] & (SYN | ACK) == SYN | ACK
            one, other = (
                Side(int(piece[end][first]), int(piece[f"{end}_port"][first]))
                for end in (("dst", "src") if answered else ("src", "dst"))
            )
            number = self._latest[pair] = len(self.all)
            self.all.append(Conversation(one, other))
        talk = self.all[number]
        from_a = low_sends if _is_a(talk, pair, True) else ~low_sends
        trail.conversation[places] = number
        trail.from_a[places] = from_a
        for side, mask in ((talk.a, from_a), (talk.b, ~from_a)):
            if mask.any():
                _count_side(side, piece, places[mask], trail)
        _count_times(talk, piece, places, from_a)


def _pairs(
    piece: Columns, mine: Integers
) -> Iterator[tuple[tuple[int, int], Integers, NDArray[np.bool_]]]:
    # For each pair of ends its packets, in their order, and which of them the lower end sent.
    ends = [
        piece[end][mine].astype(np.int64) << 16 | piece[f"{end}_port"][mine]
        for end in ("src", "dst")
    ]
    low, high = np.minimum(*ends), np.maximum(*ends)
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    new = np.flatnonzero((np.diff(low) != 0) | (np.diff(high) != 0)) + 1
    for rows in np.split(np.arange(mine.size), new):
        if rows.size:
            pair = int(low[rows[0]]), int(high[rows[0]])
            yield pair, mine[order[rows]], ends[0][order[rows]] == pair[0]


def _is_a(talk: Conversation, pair: tuple[int, int], low: bool) -> bool:
    return (talk.a.address << 16 | talk.a.port == pair[0]) == low


def _count_side(side: Side, piece: Columns, places: Integers, trail: Trail) -> None:
    flags = piece["flags"][places]
    payload = piece["payload_bytes"][places].astype(np.int64)
    syn, fin = (flags & SYN != 0).astype(np.int64), (flags & FIN != 0).astype(np.int64)
    is_new = side.base is None
    position = _positions(side, (piece["seq"][places].astype(np.int64) + syn) & 0xFFFFFFFF)
    # SYN and FIN take a place in the numbers of a stream, as if they were bytes.
    start, end = position - syn, position + payload + fin
    if is_new:
        side.end = int(start[0])
    carries = end > start
    reach = np.maximum.accumulate(np.append(side.end, np.where(carries, end, _BEFORE_ALL)))
    before, side.end = reach[:-1], int(reach[-1])
    fresh = np.where(carries, end - start, 0)
    alive = (payload <= 1) & (syn + fin == 0) & (start == before - 1)  # a keep-alive probe
    for at in np.flatnonzero(carries & (start != before)):
        fresh[at] = _fill(side.holes, int(start[at]), int(end[at]), int(before[at]))
    again = carries & (fresh == 0) & ~alive
    behind = carries & (start < before) & ~alive
    trail.position[places] = position
    trail.fresh_bytes[places] = np.minimum(fresh, payload)
    trail.again[places] = again
    side.packets += places.size
    side.wire_bytes += int(piece["wire_bytes"][places].sum(dtype=np.int64))
    side.payload_bytes += int(payload.sum())
    side.data_packets += int(np.count_nonzero(payload))
    side.retransmitted_packets += int(np.count_nonzero(again))
    repeated = np.where(alive, 0, payload - np.minimum(fresh, payload))
    side.retransmitted_bytes += int(repeated.sum())
    side.out_of_order_packets += int(np.count_nonzero(behind & (fresh == end - start)))
    plain = flags & (SYN | FIN | RST) == 0
    side.ack_only_packets += int(np.count_nonzero(plain & (payload == 0) & (flags & ACK != 0)))
    side.zero_window_packets += int(np.count_nonzero(plain & (piece["window"][places] == 0)))


def _positions(side: Side, numbers: Integers) -> Integers:
    # Numbers of 32 bits go round: each is taken to be near to the one before it.
    if side.base is None:
        side.base = side.newest = int(numbers[0])
    steps = np.diff(numbers, prepend=side.newest)
    steps = (steps + (1 << 31)) % (1 << 32) - (1 << 31)
    position = side.newest_at + np.cumsum(steps)
    side.newest, side.newest_at = int(numbers[-1]), int(position[-1])
    return position


def _fill(holes: list[list[int]], start: int, end: int, before: int) -> int:
    # How many bytes of [start, end) are new to a stream that is known up to `before`, but for holes.
    if start >= before:
        if start > before and len(holes) < _MOST_HOLES:
            holes.append([before, start])
        return end - start
    fresh = max(end - before, 0)
    for hole in list(holes):
        low, high = max(start, hole[0]), min(end, hole[1])
        if low < high:
            fresh += high - low
            holes.remove(hole)
            holes += [rest for rest in ([hole[0], low], [high, hole[1]]) if rest[0] < rest[1]]
    return fresh


def _count_times(
    talk: Conversation, piece: Columns, places: Integers, from_a: NDArray[np.bool_]
) -> None:
    times, flags = piece["time_ns"][places], piece["flags"][places]
    payload = piece["payload_bytes"][places]
    early, late = int(times.min()), int(times.max())
    talk.began_ns = early if talk.began_ns == NO_TIME else min(talk.began_ns, early)
    talk.ended_ns = max(talk.ended_ns, late)
    if talk.syn_ns == NO_TIME:
        called = np.flatnonzero(from_a & (flags & (SYN | ACK) == SYN))
        talk.syn_ns = int(times[called[0]]) if called.size else NO_TIME
    if talk.syn_ns != NO_TIME and talk.open_ns == NO_TIME:
        opened = np.flatnonzero(from_a & (flags & (SYN | ACK) == ACK))
        talk.open_ns = int(times[opened[0]]) if opened.size else NO_TIME
    # An ACK-only segment that directly follows data of the other side answers it.
    data = np.append(talk.last_was_data_of != "", payload > 0)
    who = np.append(talk.last_was_data_of == "a", from_a)
    when = np.append(talk.last_ns, times)
    answers = data[:-1] & ~data[1:] & (who[:-1] != who[1:]) & (flags & (SYN | FIN | RST) == 0)
    waits = (when[1:] - when[:-1]) / 1e9
    for side, mine in ((talk.a, from_a), (talk.b, ~from_a)):
        own = waits[answers & mine]
        side.delayed_acks += int(np.count_nonzero(own >= DELAYED_ACK_S))
        if own.size:
            side.longest_ack_delay_s = max(side.longest_ack_delay_s, float(own.max()))
    talk.last_was_data_of = ("a" if from_a[-1] else "b") if payload[-1] else ""
    talk.last_ns = int(times[-1])


COUNTS = (
    "packets wire_bytes payload_bytes data_packets ack_only_packets retransmitted_packets retransmitted_bytes"
    " out_of_order_packets zero_window_packets delayed_acks longest_ack_delay_s"
).split()


def conversations(path: Path | str) -> pd.DataFrame:
    """The TCP conversations of a capture, one a row, in the order in which they began.

    `a` opened it; `a_…` counts what a sent, `b_…` what it got. Times in seconds, began_s from the
    capture's first packet; setup_s is NaN where the opening was not captured.
    """
    import pandas as pd

    packets, talks = Packets(path), Conversations()
    for piece in packets:
        talks.follow(piece)
    rows = []
    for talk in talks.all:
        sides = {"a": talk.a, "b": talk.b}
        row: dict[str, Any] = {}
        for name, side in sides.items():
            row |= {name: packets.addresses[side.address], f"{name}_port": side.port}
        row["began_s"] = _between(packets.first_ns, talk.began_ns)
        row["elapsed_s"] = _between(talk.began_ns, talk.ended_ns)
        row["setup_s"] = _between(talk.syn_ns, talk.open_ns)
        for name, side in sides.items():
            row |= {f"{name}_{count}": getattr(side, count) for count in COUNTS}
        rows.append(row)
    columns = ["a", "a_port", "b", "b_port", "began_s", "elapsed_s", "setup_s"]
    columns += [f"{name}_{count}" for name in "ab" for count in COUNTS]
    return pd.DataFrame(rows, columns=columns)


def _between(early_ns: int, late_ns: int) -> float:
    return float("nan") if NO_TIME in (early_ns, late_ns) else (late_ns - early_ns) / 1e9
