"""A learner's own measured times of messages, made into the platform of a simulated cluster.

Between two measured sizes a time is read off the straight line between them, so that the simulation gives back what was
measured. How wrong that is between the sizes is seen where one size is left out and read off its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from beowulf.cluster.config import RATE_BITS_PER_S, SIMULATED
from beowulf.cluster.platform import Platform
from beowulf.errors import LabError
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import summary
from beowulf.record import Record

FEWEST_SIZES, SHORT_BYTES, LONG_BYTES = 6, 1_000, 100_000
# What a link without a limit stands for in a platform: more than its messages ever reach.
NO_LIMIT_MBIT = 100_000.0


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
    """What a Record says of messages between two nodes."""

    record: str
    rate: str
    sizes: tuple[Size, ...]

    @property
    def worst_percent(self) -> float:
        """The largest error between measured sizes."""
        return max(abs(each.error_percent) for each in self.sizes)

    def platform(self, nodes: int) -> Platform:
        """A switch with so many nodes, between any two of which messages take as long as these."""
        # No message is faster than a shorter one, whatever noise says.
        rising = np.maximum.accumulate([each.median for each in self.sizes])
        return Platform(
            nodes,
            rate_mbit=RATE_BITS_PER_S.get(self.rate, NO_LIMIT_MBIT * 1e6) / 1e6,
            latency_us=float(rising[0]) / 2,
            times_us=tuple(
                (each.size_bytes, float(time))
                for each, time in zip(self.sizes, rising, strict=True)
            ),
        )


def of(record: Record) -> Calibration:
    """The calibration that a Record gives; LabError with the reason where it gives none."""
    if record.cluster.get("kind") == SIMULATED:
        raise LabError(
            f"{record.file_name} was simulated: nothing of a cluster can be read off it.",
            "`beowulf down`, `beowulf up`, and `beowulf study E1` measure on one.",
        )
    samples: dict[int, list[float]] = {}
    launches: dict[int, list[int]] = {}
    for point in record.points:
        at = point.at
        plain = at.get("ranks") == 2 and at.get("protocol", "blocking") == "blocking"
        if point.quantity == HALF and plain and "limit_bytes" not in at:
            size = int(at["size_bytes"])
            samples.setdefault(size, []).extend(point.samples)
            launches.setdefault(size, []).extend([int(at.get("launch", 0))] * len(point.samples))
    sizes = sorted(size for size, each in samples.items() if each)
    if len(sizes) < FEWEST_SIZES or sizes[0] > SHORT_BYTES or sizes[-1] < LONG_BYTES:
        raise LabError(
            f"{record.file_name} has {len(sizes)} sizes of messages between two nodes. A calibration needs at least"
            f" {FEWEST_SIZES}, from {SHORT_BYTES:,} bytes or less to {LONG_BYTES:,} or more.",
            "`beowulf study E1` measures them.",
        )
    if reasons := trouble(record, HALF):
        raise LabError(
            f"{record.file_name} cannot carry a calibration: {' and '.join(reasons)}.",
            "Close what else runs on this machine, and measure it again.",
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
    )


def _between(before: Size, size: int, after: Size) -> float:
    share = (size - before.size_bytes) / (after.size_bytes - before.size_bytes)
    return before.median + share * (after.median - before.median)
