"""A learner's own measured times of messages, made into the platform of a simulated cluster.

Between two measured sizes a time is read off the straight line between them, so that the simulation gives back what was
measured. How wrong that is between the sizes is seen where one size is left out and read off its neighbours.

On a link with another rate only the cable's part of a time changes. A link that the kernel shapes has a token bucket:
it sends what is in the bucket at once, and the rest of a message at its rate. In a ping-pong the bucket is filled again
while the other node sends, so that two messages can never take less than their bytes at that rate. Where a time is just
that, the programs' own part is hidden below it, and all that is known of it is that it is no longer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from beowulf.cluster.common.config import RATE_BITS_PER_S, RATES, SIMULATED
from beowulf.cluster.namespaces.links import BURST_BYTES
from beowulf.cluster.simulated.platform import Platform
from beowulf.errors import LabError, UsageError
from beowulf.measure import machine_queue
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, RECEIVE, SEND
from beowulf.measure.statistics import summary
from beowulf.record import Record
from beowulf.this_machine import host_state

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SIZES, SHORT_BYTES, LONG_BYTES = 6, 1_000, 100_000
# What a link without a limit stands for in a platform: more than its messages ever reach.
NO_LIMIT_MBIT = 100_000.0
# What MPICH puts before a message, and what Ethernet, IP and TCP put before each frame of it, as a shaped link counts.
HEAD_BYTES, FRAME_HEAD_BYTES, FRAME_DATA_BYTES = 80, 14 + 20 + 32, 1448
ACK_BYTES = 66  # what a node has just sent of the other one's message, when it begins with its own
GAP_BYTES = 8 + 4 + 12  # around a frame on a cable: preamble, check sum, gap
NO_RATE = "off"
SMALLEST_DATA_BYTES = 16  # up to here the data are in MPICH's head
# How wrong the cable's part of a time may be: a share of it, and bytes of a bucket that is not quite full. And how much
# two measurements of the same differ.
CABLE_ROOM, BUCKET_ROOM_BYTES, ROOM = 0.01, 300, 0.06
# A time that is so near to what the bucket allows shows nothing of the programs' own part.
HIDDEN_BELOW = 1.1
# The largest part of the shortest message's time that may be its sender's and its receiver's: some is the network's.
MOST_OVERHEAD = 0.9


@dataclass(frozen=True)
class Size:
    """Half a round trip of messages of so many bytes, in µs: its median with the 95 % interval, and `between`.

    `between` is what the neighbours give where this size is left out; 0 for the first and the last one.
    """

    size_bytes: int
    median: float
    low: float
    high: float
    between: float = 0.0

    @property
    def error_percent(self) -> float:
        """By how much the neighbours miss it."""
        return 100 * (self.between / self.median - 1) if self.between else 0.0


@dataclass(frozen=True)
class Calibration:
    """What a Record says of messages between two nodes.

    A short message keeps its sender busy for `send_us`, and its receiver for `receive_us`; 0 where not measured.
    """

    record: str
    rate: str
    sizes: tuple[Size, ...]
    send_us: float = 0.0
    receive_us: float = 0.0

    @property
    def worst_percent(self) -> float:
        """The largest error between measured sizes."""
        return max(abs(each.error_percent) for each in self.sizes)

    def at_rate(self, rate: str) -> Calibration:
        """What the same nodes would take on links of another rate, each with the interval in which it is expected."""
        if rate not in RATES:
            raise UsageError(f"A link's rate is one of {', '.join(RATES)}, not {rate}.")
        sizes = tuple(_moved(each, self.rate, rate) for each in self.sizes)
        return replace(self, rate=rate, sizes=sizes)

    def on_cable(self, mbit: float) -> Calibration:
        """What the same nodes would take on cables of so many Mbit/s, which have no bucket."""
        if not 0.001 <= mbit <= NO_LIMIT_MBIT:
            raise UsageError(f"A cable's rate is 0.001 to {NO_LIMIT_MBIT:g} Mbit/s, not {mbit:g}.")
        sizes = []
        for each in self.sizes:
            own = _moved(each, self.rate, NO_RATE)
            cable = (wire_bytes(each.size_bytes) + GAP_BYTES * _frames(each.size_bytes)) * 8 / mbit
            sizes.append(
                Size(each.size_bytes, *(t + cable for t in (own.median, own.low, own.high)))
            )
        return replace(self, rate=f"{mbit:g}mbit", sizes=tuple(sizes))

    @property
    def link_mbit(self) -> float:
        """The rate of the links."""
        digits = self.rate.removesuffix("mbit")
        known = RATE_BITS_PER_S.get(self.rate, NO_LIMIT_MBIT * 1e6) / 1e6
        return known if digits == self.rate else float(digits)

    def platform(self, nodes: int) -> Platform:
        """A switch with so many nodes, between any two of which messages take as long as these."""
        # No message is faster than a shorter one, whatever noise says.
        rising = np.maximum.accumulate([each.median for each in self.sizes])
        room = MOST_OVERHEAD * float(rising[0])
        send = min(self.send_us, room)
        return Platform(
            nodes,
            rate_mbit=self.link_mbit,
            latency_us=float(rising[0]) / 2,
            times_us=tuple(
                (each.size_bytes, float(time))
                for each, time in zip(self.sizes, rising, strict=True)
            ),
            send_us=send,
            receive_us=min(self.receive_us, room - send),
        )


WAITS = f"The calibration waits until the machine is quiet, at most {machine_queue.LONGEST_QUIET_S:.0f} s."


def need_quiet() -> None:
    """Wait a while for a quiet machine; LabError, before anything is measured, where it stays too busy to calibrate."""
    machine_queue.rest(print, machine_queue.LONGEST_QUIET_S, WAITS)
    if reasons := host_state.busy(host_state.now()):
        raise LabError(
            f"A calibration needs a quiet machine, so nothing was measured: {' and '.join(reasons)}.",
            "Close whatever else is running on this machine and run this cell again. Or take the"
            " calibration that is given with"
            " the labs, without points for `calibration`: write"
            ' `e1 = lab.given.record("E1")` in place of the first two lines.',
        )


def of(record: Record) -> Calibration:
    """The calibration that a Record gives; LabError with the reason where it gives none."""
    if record.cluster.get("kind") == SIMULATED:
        raise LabError(
            f"{record.file_name} was simulated: nothing about a cluster can be read off it.",
            "Measure on a cluster: `beowulf down`, `beowulf up`, then `beowulf study E1`.",
        )
    samples: dict[int, list[float]] = {}
    launches: dict[int, list[int]] = {}
    busy: dict[str, list[float]] = {SEND: [], RECEIVE: []}
    for point in record.points:
        at = point.at
        if point.quantity in busy:
            busy[point.quantity].extend(point.samples)
        plain = at.get("ranks") == 2 and at.get("protocol", "blocking") == "blocking"
        if point.quantity == HALF and plain and "limit_bytes" not in at:
            size = int(at["size_bytes"])
            samples.setdefault(size, []).extend(point.samples)
            launches.setdefault(size, []).extend([int(at.get("launch", 0))] * len(point.samples))
    sizes = sorted(size for size, each in samples.items() if each)
    if len(sizes) < FEWEST_SIZES or sizes[0] > SHORT_BYTES or sizes[-1] < LONG_BYTES:
        raise LabError(
            f"Message sizes between two nodes in {record.file_name}: {len(sizes)}. A calibration needs at least"
            f" {FEWEST_SIZES}, from {SHORT_BYTES:,} bytes or less to {LONG_BYTES:,} or more.",
            "`beowulf study E1` measures them.",
        )
    if reasons := trouble(record, HALF):
        raise LabError(
            f"{record.file_name} cannot be the basis of a calibration: {' and '.join(reasons)}.",
            "Close whatever else is running on this machine, and measure again.",
        )
    found = [summary(samples[size], launches=launches[size]) for size in sizes]
    rows = [
        Size(size, each.median, each.low, each.high)
        for size, each in zip(sizes, found, strict=True)
    ]
    inner = [
        replace(here, between=_between(before, here.size_bytes, after))
        for before, here, after in zip(rows, rows[1:], rows[2:], strict=False)
    ]
    return Calibration(
        record.file_name,
        str(record.cluster.get("rate", "off")),
        (rows[0], *inner, rows[-1]),
        *(median(busy[each]) if busy[each] else 0.0 for each in (SEND, RECEIVE)),
    )


def table(made: Calibration) -> pd.DataFrame:
    """A row for each size: its time with the interval, what its neighbours give for it, and their error."""
    import pandas as pd

    rows = [
        {
            "size_bytes": each.size_bytes,
            "median_us": each.median,
            "low_us": each.low,
            "high_us": each.high,
            "between_us": each.between or None,
            "error_percent": each.error_percent if each.between else None,
        }
        for each in made.sizes
    ]
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def compared(predicted: Calibration, measured: Calibration) -> pd.DataFrame:
    """For each size that both have: what was predicted with its interval, what was measured, whether it is inside."""
    import pandas as pd

    there = {each.size_bytes: each for each in measured.sizes}
    rows = [
        {
            "size_bytes": each.size_bytes,
            "predicted_us": each.median,
            "low_us": each.low,
            "high_us": each.high,
            "measured_us": there[each.size_bytes].median,
            "inside": each.low <= there[each.size_bytes].median <= each.high,
        }
        for each in predicted.sizes
        if each.size_bytes in there
    ]
    if predicted.rate != measured.rate or not rows:
        raise LabError(
            f"{measured.record} was measured at {measured.rate}, and the prediction is for {predicted.rate}.",
            "Predict for the same rate, with `at_rate`.",
        )
    return pd.DataFrame(rows)


def _moved(each: Size, rate: str, to: str) -> Size:
    """A time on links of another rate: the programs' own part stays, the cable's is another one."""
    at = each.size_bytes
    here, pair = _cable_us(at, rate), _pair_us(at, rate)
    there, least = _cable_us(at, to), _pair_us(at, to)
    own = [each.low - here, each.median - here, each.high - here]
    if pair and each.median <= HIDDEN_BELOW * pair:
        # All that is known is that it is no longer. Where the other link has a bucket as well, that decides again.
        own = [0.0, 0.0 if least else own[1] / 2, own[2]]
    unsure = _room_us(here, rate) + _room_us(there, to)
    low, middle, high = (max(max(time, 0.0) + there, least) for time in own)
    low = max(low - unsure, least if least else 0.0) * (1 - ROOM)
    return Size(at, middle, min(low, middle), (high + unsure) * (1 + ROOM))


def _room_us(cable_us: float, rate: str) -> float:
    """How wrong the cable's part may be."""
    if not cable_us:
        return 0.0
    return CABLE_ROOM * cable_us + BUCKET_ROOM_BYTES * 8e6 / RATE_BITS_PER_S[rate]


def wire_bytes(size: int) -> int:
    """The bytes of a message as a shaped link counts them."""
    return _with_head(size) + FRAME_HEAD_BYTES * _frames(size)


def _with_head(size: int) -> int:
    return HEAD_BYTES + (size if size > SMALLEST_DATA_BYTES else 0)


def _frames(size: int) -> int:
    return -(-_with_head(size) // FRAME_DATA_BYTES)


def _cable_us(size: int, rate: str) -> float:
    """How long a message waits at a link of that rate whose bucket is full."""
    if rate not in RATE_BITS_PER_S:
        return 0.0
    filled = BURST_BYTES[rate] - ACK_BYTES
    return max(0, wire_bytes(size) - filled) * 8e6 / RATE_BITS_PER_S[rate]


def _pair_us(size: int, rate: str) -> float:
    """Half of the least time of a message and its answer on such links."""
    return wire_bytes(size) * 4e6 / RATE_BITS_PER_S[rate] if rate in RATE_BITS_PER_S else 0.0


def _between(before: Size, size: int, after: Size) -> float:
    share = (size - before.size_bytes) / (after.size_bytes - before.size_bytes)
    return before.median + share * (after.median - before.median)
