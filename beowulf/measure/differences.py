"""Non-blocking minus blocking, by size and number of ranks: what papers' plots of differences show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from beowulf.errors import LabError
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


def rings(sizes: Sequence[int]) -> SweepConfig:
    """Blocking and non-blocking in turns, in rings of 2, 3 and 4 ranks."""
    return SweepConfig([(PATTERN, ranks) for ranks in RANKS], ("blocking", "nonblocking"), sizes)


def differences(record: Record) -> pd.DataFrame:
    """One row for each number of ranks and size: how much longer non-blocking takes, with intervals.

    difference_us and its share of the blocking time; and difference_mbit_per_s, of the summed rate, beside blocking's.
    Each is the median over pairs that were measured in turns; LabError when there are none.
    """
    import pandas as pd

    rows = []
    for ranks in sorted({int(p.at["ranks"]) for p in record.points if p.quantity == EXCHANGE}):
        compared = pairs(
            record, EXCHANGE, "protocol", "nonblocking", "blocking", pattern=PATTERN, ranks=ranks
        )
        for size, both in compared.items():
            us = both.summary(lambda new, old: new - old)
            share = both.summary(lambda new, old: (new - old) / old)
            bits = 8 * size * messages(PATTERN, ranks)
            mbit = both.summary(partial(_rate_change, bits))
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
                    "blocking_mbit_per_s": bits / median(old for _, old in both.values),
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


def _rate_change(bits: int, new: float, old: float) -> float:
    return bits / new - bits / old
