"""Non-blocking minus blocking, by size and number of ranks: how we read paper B's plots of differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from beowulf.errors import LabError
from beowulf.measure import mpptest
from beowulf.measure.mpptest import Mpptest
from beowulf.measure.roundtrips import EXCHANGE, SweepConfig, messages, pairs
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

PATTERN = "ring"
RANKS = (2, 3, 4)
# Where the curves of paper B's figures 3 to 5 change. The long messages of its MPICH 1.2.0 began above it.
JUMP_BYTES = 100_000
# The paper prints its differences in figures only. A change by less than this share of blocking is none.
CLEAR = 0.02
# Longer messages take mpptest's way longer than a study may.
MOST_MPPTEST_BYTES, QUICK_MOST_MPPTEST_BYTES = 500_000, 200_000


def rings(sizes: Sequence[int]) -> SweepConfig:
    """Blocking and non-blocking in turns, in rings of 2, 3 and 4 ranks."""
    return SweepConfig([(PATTERN, ranks) for ranks in RANKS], ("blocking", "nonblocking"), sizes)


def as_mpptest(sizes: Sequence[int], *, quick: bool) -> list[Mpptest]:
    """The same in mpptest's way, in pairs; no sweep where all sizes are too long for it."""
    most = QUICK_MOST_MPPTEST_BYTES if quick else MOST_MPPTEST_BYTES
    shorter = [size for size in sizes if size <= most]
    return [Mpptest(RANKS, shorter, bisect=True)] if shorter else []


def differences(record: Record) -> pd.DataFrame:
    """One row for each number of ranks and size: how much longer non-blocking takes in a ring, with intervals.

    difference_us and its share of the blocking time; and difference_mbit_per_s, of the summed rate, beside blocking's.
    Each is the median over pairs that were measured in turns; LabError when there are none.
    """
    return _differences(record, EXCHANGE, "nonblocking", partial(messages, PATTERN))


def printed_differences(record: Record) -> pd.DataFrame:
    """The same of what mpptest prints with -bisect: the time of one pair, and its rate times np / 2."""
    return _differences(record, mpptest.QUANTITY, "async", lambda ranks: ranks / 2)


def _differences(
    record: Record, quantity: str, nonblocking: str, times: Callable[[int], float]
) -> pd.DataFrame:
    """Of the protocol `nonblocking` and blocking calls; the rate is that of so many messages by number of ranks."""
    import pandas as pd

    rows = []
    for ranks in sorted({int(p.at["ranks"]) for p in record.points if p.quantity == quantity}):
        compared = pairs(record, quantity, "protocol", nonblocking, "blocking", ranks=ranks)
        for size, both in compared.items():
            blocking_us = median(old for _, old in both.values)
            bits = 8 * size * times(ranks)
            us = both.summary(lambda new, old: new - old, blocking_us)
            share = both.summary(lambda new, old: (new - old) / old, 1.0)
            mbit = both.summary(partial(_rate_change, bits), bits / blocking_us)
            rows.append(
                {
                    "ranks": ranks,
                    "size_bytes": size,
                    "n": us.n,
                    "difference_us": us.median,
                    "low_us": us.low,
                    "high_us": us.high,
                    "share": share.median,
                    "low_share": share.low,
                    "high_share": share.high,
                    "blocking_mbit_per_s": bits / blocking_us,
                    "difference_mbit_per_s": mbit.median,
                    "low_mbit_per_s": mbit.low,
                    "high_mbit_per_s": mbit.high,
                }
            )
    if not rows:
        raise LabError(
            "The Record has no blocking and non-blocking times to compare.", "Measure again."
        )
    return pd.DataFrame(rows)


def _rate_change(bits: float, new: float, old: float) -> float:
    return bits / new - bits / old
