"""A8, small messages with overlap: round-trip time and rate from 0 to 1024 bytes.

Paper A, figures 16 and 17: with overlap on, blocking and non-blocking calls have almost the same
round-trip time and rate, and the rate rises with the size until it saturates. The paper does not say
on how many bytes a rank worked; here it is as many as the largest message has, 1024. The program
reports half of the round trip; the paper's figures, and this study's, show the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
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
ALIKE = 0.1  # the largest difference between calls that are nearly alike
MOSTLY = 0.9  # of the sizes
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
    """Figures 16 and 17: at most sizes, no difference between both kinds of calls shows."""
    times = ratios(pairs(record, HALF, "protocol", "overlap", "blocking"))
    # An interval that reaches into what counts as alike does not show a difference.
    differ = [s for s, r in times.items() if r.low > 1 + ALIKE or r.high < 1 - ALIKE]
    most = max(times, key=lambda size: abs(times[size].median - 1))
    alike = len(times) - len(differ)
    return Judgement(
        "holds" if alike >= MOSTLY * len(times) else "contradicted",
        f"no difference above {ALIKE:.0%} shows at {alike} of {len(times)} sizes; the largest median:"
        f" non-blocking takes {times[most].median:.2f} times at {most:,} bytes",
        {"alike": alike, "sizes": len(times)},
    )


def rises(record: Record) -> Judgement:
    """Whether no size has a clearly lower rate than the one before it."""
    by_protocol = rates(record)
    falls = any(b < (1 - FLAT) * a for rate in by_protocol.values() for a, b in pairwise(rate))
    return Judgement("contradicted" if falls else "holds", *_last_doubling(by_protocol))


def saturates(record: Record) -> Judgement:
    """Whether the last doubling of the size hardly raises the rate."""
    evidence, growth = _last_doubling(rates(record))
    grows = any(each > 1 + FLAT for each in growth.values())
    return Judgement("contradicted" if grows else "holds", evidence, growth)


def rates(record: Record) -> dict[str, list[float]]:
    """By protocol, the rates of the rising sizes."""
    rows = round_trips(record).sort_values("size_bytes")
    rows = rows[rows["size_bytes"] > 0]
    return {each: rows[rows["protocol"] == each]["rate_mbit_per_s"].tolist() for each in PROTOCOLS}


def _last_doubling(by_protocol: dict[str, list[float]]) -> tuple[str, dict[str, float]]:
    growth = {protocol: rate[-1] / rate[-2] for protocol, rate in by_protocol.items()}
    evidence = "; ".join(
        f"{protocol}: {rate[0]:.3g} to {rate[-1]:.3g} Mbit/s, and the last doubling of"
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
