"""A8, small messages with overlap: round-trip time and rate from 0 to 1024 bytes.

Paper A, figures 16 and 17: with overlap on, blocking and non-blocking calls have almost the same
round-trip time and rate, and the rate rises with the size until it saturates. The paper does not say
on how many bytes a rank worked; here it is as many as the largest message has, 1024. The program
reports half of the round trip; the paper's figures, and this study's, show the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.measure.judgement import (
    MOSTLY,
    SIMILAR,
    Agreement,
    below,
    narrower,
    quotient,
    together,
)
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, SweepConfig, pairs, ratios
from beowulf.measure.sweep import PAPER_A_SMALL
from beowulf.measure.table import summarised
from beowulf.record import Record
from beowulf.studies.roundtrip_sweep import sweep
from beowulf.studies.study import Claim, Judgement, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

PROTOCOLS = ("blocking", "overlap")
OVERLAP_BYTES = 1024
FLAT = 0.1  # a saturated rate grows by less than this from one size to its double


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] = PAPER_A_SMALL) -> Plan:
    """Ping-pong of two nodes with work beside each message, blocking and non-blocking in turns."""
    return sweep(
        cluster, SweepConfig([("pingpong", 2)], PROTOCOLS, sizes, [OVERLAP_BYTES]), quick=quick
    )


def round_trips(record: Record) -> pd.DataFrame:
    """By protocol and size: the whole round trip (us) and its rate (Mbit/s), medians with intervals.

    The message goes there and back, so a round trip carries it twice.
    """
    half = summarised(record, HALF, ["protocol", "size_bytes"])
    bits = 8 * half["size_bytes"]
    return half[["protocol", "size_bytes", "n"]].assign(
        round_trip_us=2 * half["median"],
        low_us=2 * half["low"],
        high_us=2 * half["high"],
        rate_mbit_per_s=bits / half["median"],
        low_mbit_per_s=bits / half["high"],
        high_mbit_per_s=bits / half["low"],
    )


def same_time(record: Record) -> Judgement:
    """Figures 16 and 17: at most sizes both kinds of calls take the same time; an undecided size is no similar one."""
    times = ratios(pairs(record, HALF, "protocol", "overlap", "blocking"))
    agree = Agreement.of(times.values(), SIMILAR)
    most = max(times, key=lambda size: abs(times[size].median - 1))
    return Judgement(
        agree.outcome(MOSTLY),
        f"{agree}; the largest median: non-blocking takes {times[most].median:.2f} times"
        f" ({times[most].low:.2f} to {times[most].high:.2f}) at {most:,} bytes",
        {
            "alike": agree.similar,
            "differ": agree.differ,
            "undecided": agree.undecided,
            "sizes": agree.places,
        },
        advice=narrower(record),
    )


def rises(record: Record) -> Judgement:
    """Whether the rate of the largest message is above that of the smallest, and no step to a larger one lowers it."""
    by_protocol = rates(record)
    outcomes = []
    for rate in by_protocol.values():
        outcomes += [below(1 - FLAT, quotient(after, before)) for before, after in pairwise(rate)]
        outcomes.append(below(1 + FLAT, quotient(rate[-1], rate[0])))
    return Judgement(together(outcomes), *_last_doubling(by_protocol), advice=narrower(record))


def saturates(record: Record) -> Judgement:
    """Whether the last doubling of the size hardly raises the rate."""
    by_protocol = rates(record)
    growth = [quotient(rate[-1], rate[-2]) for rate in by_protocol.values()]
    outcome = together([below(each, 1 + FLAT) for each in growth])
    return Judgement(outcome, *_last_doubling(by_protocol), advice=narrower(record))


@dataclass(frozen=True)
class Rate:
    """The rate of one size: the median and its interval, in Mbit/s."""

    median: float
    low: float
    high: float


def rates(record: Record) -> dict[str, list[Rate]]:
    """By protocol, the rates of the rising sizes; LabError for fewer than two."""
    rows = round_trips(record).sort_values("size_bytes")
    rows = rows[rows["size_bytes"] > 0]
    columns = [f"{name}_mbit_per_s" for name in ("rate", "low", "high")]
    by_protocol = {
        each: [Rate(*row) for row in rows.loc[rows["protocol"] == each, columns].to_numpy()]
        for each in PROTOCOLS
    }
    if min(len(rate) for rate in by_protocol.values()) < 2:
        raise LabError("There are no two sizes to compare.", "Measure two or more.")
    return by_protocol


def _last_doubling(by_protocol: dict[str, list[Rate]]) -> tuple[str, dict[str, float]]:
    growth = {each: rate[-1].median / rate[-2].median for each, rate in by_protocol.items()}
    evidence = "; ".join(
        f"{protocol}: {rate[0].median:.3g} to {rate[-1].median:.3g} Mbit/s, and the last doubling of"
        f" the size multiplies the rate by {growth[protocol]:.2f}"
        for protocol, rate in by_protocol.items()
    )
    return evidence, {f"{protocol}_last_growth": each for protocol, each in growth.items()}


def picture(record: Record) -> Figure:
    """The whole round trip over the size, blocking and non-blocking: figure 16. The table has the rate."""
    from beowulf import figures

    times = round_trips(record)
    names = {"blocking": "blocking", "overlap": "non-blocking"}
    return figures.over_sizes(
        times.assign(calls=times["protocol"].map(names)),
        "round_trip_us",
        "calls",
        low="low_us",
        high="high_us",
        title=f"Round trip with work on {OVERLAP_BYTES:,} bytes beside it",
        y_title="whole round trip, median with 95 % interval (µs)",
    )


STUDY = Study(
    id="A8",
    title="Small messages with overlap: round-trip time and rate",
    plan=plan,
    judged=[
        Claim(
            "alike",
            "With overlap, blocking and non-blocking round trips have almost the same time and rate",
            same_time,
        ),
        Claim("rate-rises", "The rate rises with the size of the message", rises),
        Claim("rate-saturates", "The rate saturates at or below 1024 bytes", saturates),
    ],
    draw=picture,
    troubles=lambda record: trouble(record, HALF),
)
