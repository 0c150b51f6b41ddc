"""A8, small messages with overlap: round-trip time and rate from 0 to 1024 bytes.

Paper A, figures 16 and 17: with overlap on, blocking and non-blocking calls have almost the same
round-trip time and rate, and the rate rises with the size until it saturates. The paper does not say
on how many bytes a rank worked; here it is as many as the largest message has, 1024. The program
reports half of the round trip; the paper's figures, and this study's, show the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.measure.judgement import need_study, unjudged, verdict
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import HALF, SweepConfig, pairs, ratios, sweep
from beowulf.measure.sweep import PAPER_A_SMALL
from beowulf.measure.table import summarised
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

ID = "A8"
TITLE = "Small messages with overlap: round-trip time and rate"

PROTOCOLS = ("blocking", "overlap")
OVERLAP_BYTES = 1024
ALIKE = 0.1  # the largest difference between calls that are nearly alike
MOSTLY = 0.9  # of the sizes
FLAT = 0.1  # a saturated rate grows by less than this from one size to its double

SAME_TIME = "With overlap, blocking and non-blocking round trips have almost the same time and rate"
RISES = "The rate rises with the size of the message"
SATURATES = "The rate saturates at or below 1024 bytes"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] = PAPER_A_SMALL,
) -> Record:
    """Ping-pong of two nodes with work beside each message, blocking and non-blocking in turns."""
    plan = SweepConfig([("pingpong", 2)], PROTOCOLS, sizes, [OVERLAP_BYTES])
    return sweep(ID, cluster, folder, plan, quick=quick, progress=progress)


def claims(record: Record) -> list[Verdict]:
    """What paper A says of its figures 16 and 17."""
    need_study(record, ID)
    bad = trouble(record, HALF)
    if NO_SAMPLES in bad:
        nothing = {"alike": SAME_TIME, "rate-rises": RISES, "rate-saturates": SATURATES}
        return unjudged(record, nothing, bad)
    return [_alike(record, bad), *_rate(record, bad)]


def round_trips(record: Record) -> pd.DataFrame:
    """By protocol and size: the whole round trip (us) and its rate (Mbit/s), medians with intervals.

    The message goes there and back, so a round trip carries it twice.
    """
    found = summarised(record, HALF, ["protocol", "size_bytes"])
    bits = 8 * found["size_bytes"]
    return found[["protocol", "size_bytes", "n"]].assign(
        round_trip_us=2 * found["median"],
        low_us=2 * found["low"],
        high_us=2 * found["high"],
        rate_mbit_per_s=bits / found["median"],
        low_mbit_per_s=bits / found["high"],
        high_mbit_per_s=bits / found["low"],
    )


def _alike(record: Record, bad: list[str]) -> Verdict:
    found = ratios(pairs(record, HALF, "protocol", "overlap", "blocking"))
    # An interval that reaches into what counts as alike does not show a difference.
    differ = [s for s, r in found.items() if r.low > 1 + ALIKE or r.high < 1 - ALIKE]
    most = max(found, key=lambda size: abs(found[size].median - 1))
    alike = len(found) - len(differ)
    outcome: Outcome = "holds" if alike >= MOSTLY * len(found) else "contradicted"
    return verdict(
        record,
        "alike",
        SAME_TIME,
        outcome,
        f"no difference above {ALIKE:.0%} shows at {alike} of {len(found)} sizes; the largest median:"
        f" non-blocking takes {found[most].median:.2f} times at {most:,} bytes",
        numbers={"alike": alike, "sizes": len(found)},
        trouble=bad,
    )


def _rate(record: Record, bad: list[str]) -> list[Verdict]:
    found = round_trips(record)
    rises: Outcome = "holds"
    saturates: Outcome = "holds"
    said, numbers = [], {}
    for protocol in PROTOCOLS:
        rows = found[(found["protocol"] == protocol) & (found["size_bytes"] > 0)]
        rate = rows.set_index("size_bytes")["rate_mbit_per_s"].sort_index()
        growth = rate.iloc[-1] / rate.iloc[-2]
        if any(after < (1 - FLAT) * before for before, after in pairwise(rate)):
            rises = "contradicted"
        if growth > 1 + FLAT:
            saturates = "contradicted"
        numbers[f"{protocol}_last_growth"] = float(growth)
        said.append(
            f"{protocol}: {rate.iloc[0]:.3g} to {rate.iloc[-1]:.3g} Mbit/s, and the last doubling of"
            f" the size multiplies the rate by {growth:.2f}"
        )
    evidence = "; ".join(said)
    return [
        verdict(record, name, says, outcome, evidence, numbers=numbers, trouble=bad)
        for name, says, outcome in (
            ("rate-rises", RISES, rises),
            ("rate-saturates", SATURATES, saturates),
        )
    ]


def picture(record: Record) -> Figure:
    """The whole round trip over the size, blocking and non-blocking: figure 16. The table has the rate."""
    from beowulf import figures

    need_study(record, ID)
    found = round_trips(record)
    names = {"blocking": "blocking", "overlap": "non-blocking"}
    return figures.over_sizes(
        found.assign(calls=found["protocol"].map(names)),
        "round_trip_us",
        "calls",
        low="low_us",
        high="high_us",
        title=f"Round trip with work on {OVERLAP_BYTES:,} bytes beside it",
        y_title="whole round trip, median with 95 % interval (µs)",
    )
