"""What a TCP sender may have waited for: room in the receiver's window, or an ACK.

A receiver says with each packet how many bytes it has room for: the window. From 64 KB on it counts in
larger units, by a factor that only the two SYNs tell (RFC 7323); where they were not captured nothing is
known. What was sent and not yet acknowledged is in flight, and more than the window is never allowed.

Nagle's algorithm (RFC 896) keeps a segment that is not full while anything is in flight. Its sign on the
wire is a short segment that comes at once behind the ACK for all that was sent before it. By itself that
may be chance; when the receiver was in no hurry with this ACK either, both waited for each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beowulf.packets.batches import NO_TIME, Batch, Integers
from beowulf.packets.flows import DELAYED_ACK_S, Conversations, Side, Trail
from beowulf.packets.headers import ACK, FIN, RST, SYN, Columns

# Who was held back sends within microseconds of the ACK; a program that thinks takes longer.
AT_ONCE_S = 0.001
_MSS, _SCALE = 2, 3  # kinds of TCP's options (RFC 9293, RFC 7323)
_LARGEST_SHIFT = 14
_UNKNOWN = -(1 << 62)


@dataclass
class Way:
    """One direction of a conversation, from its sender: what it was allowed, and what it waited for."""

    shift: int | None = None  # of the windows that its receiver announces
    full_bytes: int = 0  # of a segment's options and payload, as the SYNs allow; 0: not known
    smallest_window_bytes: int | None = None
    most_in_flight_bytes: int = 0
    fullest_share: float | None = None  # of the window, at most
    full_window_segments: int = 0  # behind which another full segment had no room
    short_segments: int = 0
    behind_ack_segments: int = 0  # short ones, at once behind the ACK that left nothing in flight
    held_segments: int = 0  # those whose ACK was a delayed one
    held_s: float = 0.0
    # Where the last piece ended.
    end: int = 0
    acked: int = _UNKNOWN
    window: int = _UNKNOWN
    largest: int = 0
    data_ns: int = NO_TIME
    emptied: bool = False  # the last packet left nothing in flight, after so long
    emptied_ns: int = NO_TIME
    emptied_after_s: float = 0.0


# Of the SYNs of a conversation, by whether a sent it: the largest segment, and the shift, None where it has none.
Opening = dict[bool, tuple[int, int | None]]


class Waits:
    """Watches windows and ACKs while a capture is read piece by piece."""

    def __init__(self, talks: Conversations) -> None:
        self._talks = talks
        self._ways: dict[int, tuple[Way, Way]] = {}
        self._openings: dict[int, Opening] = {}

    def take(self, batch: Batch, piece: Columns, trail: Trail) -> None:
        """The next piece, its memory, and the trail of its conversations."""
        self._open(batch, piece, trail)
        order = np.argsort(trail.conversation, kind="stable")
        numbers = trail.conversation[order]
        for places in np.split(order, np.flatnonzero(np.diff(numbers)) + 1):
            if not places.size or (number := int(trail.conversation[places[0]])) < 0:
                continue
            talk = self._talks.all[number]
            ways = self._ways.setdefault(number, (Way(), Way()))
            _allow(ways, self._openings.get(number, {}))
            view = {name: piece[name][places] for name in _NEEDED}
            view["position"] = trail.position[places]
            from_a = trail.from_a[places]
            for way, side, sends in ((ways[0], talk.a, from_a), (ways[1], talk.b, ~from_a)):
                _follow(way, side, view, sends)

    def _open(self, batch: Batch, piece: Columns, trail: Trail) -> None:
        for place in np.flatnonzero((piece["flags"] & SYN != 0) & (trail.conversation >= 0)):
            length = int(piece["tcp_options_bytes"][place])
            end = int(piece["header_bytes"][place])
            if int(batch.captured_bytes[place]) < end:
                continue
            start = int(batch.start[place])
            options = batch.memory[start + end - length : start + end].tobytes()
            opening = self._openings.setdefault(int(trail.conversation[place]), {})
            opening[bool(trail.from_a[place])] = syn_options(options)

    def summary(self, numbers: Iterable[int]) -> dict[str, dict[str, Any]]:
        """Windows and waits of the conversations with these numbers, as plain data."""
        mine = [number for number in numbers if number in self._ways]
        ways = [way for number in mine for way in self._ways[number]]
        sides = [side for n in mine for side in (self._talks.all[n].a, self._talks.all[n].b)]
        smallest = [w.smallest_window_bytes for w in ways if w.smallest_window_bytes is not None]
        shares = [way.fullest_share for way in ways if way.fullest_share is not None]
        windows = {
            "smallest_bytes": min(smallest, default=None),
            "closed_packets": sum(side.zero_window_packets for side in sides),
            "most_in_flight_bytes": max((way.most_in_flight_bytes for way in ways), default=0),
            "fullest_share": max(shares, default=None),
            "full_segments": sum(way.full_window_segments for way in ways),
            "unknown_connections": sum(self._ways[n][0].shift is None for n in mine),
        }
        waits = {
            "delayed_acks": sum(side.delayed_acks for side in sides),
            "longest_ack_delay_s": max((side.longest_ack_delay_s for side in sides), default=0.0),
            "short_segments": sum(way.short_segments for way in ways),
            "behind_ack_segments": sum(way.behind_ack_segments for way in ways),
            "held_segments": sum(way.held_segments for way in ways),
            "held_s": sum(way.held_s for way in ways),
        }
        return {"windows": windows, "waits": waits}


_NEEDED = ("time_ns", "flags", "ack", "window", "payload_bytes", "tcp_options_bytes")


def syn_options(options: bytes) -> tuple[int, int | None]:
    """The largest segment (0: not given) and the shift of windows (None: not given) in a SYN's options."""
    full, shift, at = 0, None, 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        length = options[at + 1] if at + 1 < len(options) else 0
        if length < 2 or at + length > len(options):
            break
        value = int.from_bytes(options[at + 2 : at + length], "big")
        if options[at] == _MSS and length == 4:
            full = value
        elif options[at] == _SCALE and length == 3:
            shift = min(value, _LARGEST_SHIFT)
        at += length
    return full, shift


def _allow(ways: tuple[Way, Way], opening: Opening) -> None:
    if len(opening) < 2:
        return
    (full_a, shift_a), (full_b, shift_b) = opening[True], opening[False]
    both = shift_a is not None and shift_b is not None
    # The receiver's own factor counts, and only when both sides know of factors.
    ways[0].shift, ways[1].shift = (shift_b, shift_a) if both else (0, 0)
    ways[0].full_bytes = ways[1].full_bytes = min(full_a, full_b)


def _follow(way: Way, side: Side, view: Columns, sends: NDArray[np.bool_]) -> None:
    if side.base is None:
        return  # of this sender nothing was captured so far
    flags, payload = view["flags"], view["payload_bytes"].astype(np.int64)
    data = sends & (payload > 0)
    ends = np.where(data, view["position"] + payload, _UNKNOWN)
    reach = np.maximum.accumulate(np.append(way.end, ends))
    tells = ~sends & (flags & ACK != 0) & (flags & RST == 0)
    # Numbers of 32 bits go round: an ACK is taken to be near to what was sent.
    near = view["ack"].astype(np.int64) - side.base - reach[:-1]
    ack = (near + (1 << 31)) % (1 << 32) - (1 << 31) + reach[:-1]
    acked = np.maximum.accumulate(np.append(way.acked, np.where(tells, ack, _UNKNOWN)))
    flight = np.where(acked > _UNKNOWN, np.maximum(reach - acked, 0), 0)
    _count_window(way, view, data, tells, flight)
    _count_short(way, view, data, tells, reach, flight)
    way.end, way.acked = int(reach[-1]), int(acked[-1])


def _count_window(
    way: Way, view: Columns, data: NDArray[np.bool_], tells: NDArray[np.bool_], flight: Integers
) -> None:
    if data.any():
        way.most_in_flight_bytes = max(way.most_in_flight_bytes, int(flight[1:][data].max()))
    if way.shift is None:
        return
    scaled = view["flags"] & SYN == 0
    announced = view["window"].astype(np.int64) << np.where(scaled, way.shift, 0)
    if (open_ := tells & scaled).any():
        smallest = int(announced[open_].min())
        before = way.smallest_window_bytes
        way.smallest_window_bytes = smallest if before is None else min(before, smallest)
    latest = np.maximum.accumulate(np.where(tells, np.arange(1, tells.size + 1), 0))
    window = np.append(way.window, announced)[latest]
    way.window = int(window[-1])
    judged = data & (window > 0)
    if judged.any():
        share = float((flight[1:][judged] / window[judged]).max())
        way.fullest_share = max(way.fullest_share or 0.0, share)
        room = window[judged] - flight[1:][judged]
        way.full_window_segments += int(np.count_nonzero(room < max(way.full_bytes, 1)))


def _count_short(
    way: Way,
    view: Columns,
    data: NDArray[np.bool_],
    tells: NDArray[np.bool_],
    reach: Integers,
    flight: Integers,
) -> None:
    times = view["time_ns"]
    payload, options = (view[n].astype(np.int64) for n in ("payload_bytes", "tcp_options_bytes"))
    if data.any():
        way.largest = max(way.largest, int(payload[data].max()))
    full = way.full_bytes - options if way.full_bytes else way.largest
    new = data & (view["position"] >= reach[:-1])
    short = new & (payload < full)
    way.short_segments += int(np.count_nonzero(short))
    # When this sender sent its last data, for each packet.
    sent = np.maximum.accumulate(np.where(data, np.arange(1, data.size + 1), 0))
    sent_ns = np.append(way.data_ns, times)[np.append(0, sent)]
    plain = view["flags"] & (SYN | FIN | RST) == 0
    emptied = tells & plain & (payload == 0) & (flight[:-1] > 0) & (flight[1:] == 0)
    after_s = _seconds(sent_ns[:-1], times)
    before = np.append(way.emptied, emptied)[:-1]
    gap_s = _seconds(np.append(way.emptied_ns, times)[:-1], times)
    behind = short & before & (gap_s <= AT_ONCE_S)
    took_s = np.append(way.emptied_after_s, after_s)[:-1]
    held = behind & (took_s >= DELAYED_ACK_S)
    way.behind_ack_segments += int(np.count_nonzero(behind))
    way.held_segments += int(np.count_nonzero(held))
    way.held_s += float(took_s[held].sum())
    way.data_ns = int(sent_ns[-1])
    way.emptied, way.emptied_ns = bool(emptied[-1]), int(times[-1])
    way.emptied_after_s = float(after_s[-1])


def _seconds(early_ns: Integers, late_ns: Integers) -> NDArray[np.float64]:
    return np.where(early_ns == NO_TIME, np.nan, (late_ns - early_ns) / 1e9)
