"""A8, small messages with overlap: round-trip time and rate from 0 to 1024 bytes.

Paper A, figures 16 and 17: with overlap on, blocking and non-blocking calls have almost the same
round-trip time and rate, and the rate rises with the size until it saturates. We measure in two
ways. Ours sweeps the message, and a rank works on as many bytes as the largest message has, 1024. The
paper's, probably: mpptest with -overlap, a ping-pong in which both ranks work, sweeps the work during a
message of 0 bytes, and its rate is that of the work. Its times are half round trips, as ours: mpptest halves
what it prints. (We infer that the paper's figures also show halves: it writes 'round-trip time'.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.measure import mpptest
from beowulf.measure.judgement import below, narrower, quotient, together
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, SweepConfig, pairs, ratios
from beowulf.measure.sweep import PAPER_A_SMALL
from beowulf.measure.table import shortest, summarised
from beowulf.record import Record
from beowulf.studies import mpptest_reading
from beowulf.studies.quantity import Seen
from beowulf.studies.roundtrip_sweep import ALIKE, alike, sweep, times_over_sizes
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

PROTOCOLS = ("blocking", "overlap")
OVERLAP_BYTES = 1024
FLAT = 0.1  # a saturated rate grows by less than this from one size to its double


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] = PAPER_A_SMALL) -> Plan:
    """Ping-pong of two nodes with work during each message, alternating between both calls; and mpptest's method."""
    config = SweepConfig([("pingpong", 2)], PROTOCOLS, sizes, [OVERLAP_BYTES])
    as_mpptest = mpptest.Mpptest((2,), overlap_bytes=sizes)
    return sweep(cluster, config, quick=quick, mpptest=[as_mpptest], often=True)


def half_round_trips(record: Record) -> pd.DataFrame:
    """By protocol and size: half of the round trip (us) and the rate (Mbit/s), medians with intervals."""
    half = summarised(record, HALF, ["protocol", "size_bytes"])
    bits = 8 * half["size_bytes"]
    return half[["protocol", "size_bytes", "n"]].assign(
        half_round_trip_us=half["median"],
        low_us=half["low"],
        high_us=half["high"],
        rate_mbit_per_s=bits / half["median"],
        low_mbit_per_s=bits / half["high"],
        high_mbit_per_s=bits / shortest(half),
    )


def same_time(record: Record) -> Judgement:
    """Figures 16 and 17: at most sizes both kinds of calls take the same time; an undecided size does not count."""
    times = ratios(pairs(record, HALF, "protocol", "overlap", "blocking"))
    return alike({f"{size:,} bytes": ratio for size, ratio in times.items()}, record)


# By kind of call, the rates (Mbit/s) of the rising lengths.
Rates = Callable[[Record], dict[str, list[Seen]]]


def rises(rates: Rates, record: Record) -> Judgement:
    """Whether the rate of the largest length is above that of the smallest, and no step to a larger one lowers it."""
    by_calls = rates(record)
    outcomes = []
    for rate in by_calls.values():
        outcomes += [below(1 - FLAT, quotient(after, before)) for before, after in pairwise(rate)]
        outcomes.append(below(1 + FLAT, quotient(rate[-1], rate[0])))
    asked = f"more than {1 + FLAT:g} times the first rate at the end, and no step below {1 - FLAT:g} times"
    return Judgement(together(outcomes), *_growth(by_calls, asked), advice=narrower(record))


def saturates(rates: Rates, record: Record) -> Judgement:
    """Whether the last doubling hardly raises the rate."""
    by_calls = rates(record)
    growth = [quotient(rate[-1], rate[-2]) for rate in by_calls.values()]
    outcome = together([below(each, 1 + FLAT) for each in growth])
    asked = f"less than {1 + FLAT:g} times"
    return Judgement(outcome, *_growth(by_calls, asked), advice=narrower(record))


def of_messages(record: Record) -> dict[str, list[Seen]]:
    """By protocol, the rates of the rising sizes of the message."""
    return _rising(half_round_trips(record), "size_bytes", PROTOCOLS)


def of_work(record: Record) -> dict[str, list[Seen]]:
    """By protocol, the rates that mpptest prints for the rising lengths of the work."""
    rows = mpptest.printed(record, mpptest.WORK)
    names = {"low": "low_mbit_per_s", "high": "high_mbit_per_s"}
    return _rising(rows.rename(columns=names), "length_bytes", mpptest.PROTOCOLS)


def _rising(rows: pd.DataFrame, length: str, protocols: Sequence[str]) -> dict[str, list[Seen]]:
    """LabError for fewer than two lengths."""
    rows = rows[rows[length] > 0].sort_values(length)
    columns = [f"{name}_mbit_per_s" for name in ("rate", "low", "high")]
    by_protocol = {
        each: [Seen(*row) for row in rows.loc[rows["protocol"] == each, columns].to_numpy()]
        for each in protocols
    }
    if min(len(rate) for rate in by_protocol.values()) < 2:
        raise LabError("There are fewer than two sizes to compare.", "Measure two or more.")
    return by_protocol


def _growth(by_protocol: dict[str, list[Seen]], asked: str) -> tuple[str, dict[str, float]]:
    growth = {each: rate[-1].median / rate[-2].median for each, rate in by_protocol.items()}
    evidence = "; ".join(
        f"{protocol}: {rate[0].median:.3g} to {rate[-1].median:.3g} Mbit/s, and the last doubling"
        f" multiplies the rate by {growth[protocol]:.2f}"
        for protocol, rate in by_protocol.items()
    )
    return f"{evidence}; {asked} is asked", {
        f"{protocol}_last_growth": each for protocol, each in growth.items()
    }


def picture(record: Record) -> Figure:
    """Figure 16: half round trips of both kinds, over the message and over the work; the table has the rate."""
    times = half_round_trips(record)
    times["calls"] = times["protocol"].map({"blocking": "blocking", "overlap": "non-blocking"})
    title = f"Half round trip with work on {OVERLAP_BYTES:,} bytes during it"
    drawn = partial(times_over_sizes, times, "calls", title, low="low_us", high="high_us")
    return mpptest_reading.in_both_ways(
        STUDY.title, record, {"message": drawn}, mpptest_reading.times
    )


STUDY = Study(
    id="A8",
    title="Small messages with overlap: round-trip time and rate",
    plan=plan,
    judged=[
        Claim(
            "alike",
            f"With overlap, blocking and non-blocking round trips have almost the same time and rate {ALIKE}",
            same_time,
            place="figures 16 and 17",
        ),
        Claim(
            "rate-rises",
            "The rate rises with the size of the message",
            partial(rises, of_messages),
            place="figure 17",
        ),
        Claim(
            "rate-saturates",
            "The rate rises to a saturation level (we take figure 17 to end at 1024 bytes, as figure 16 does)",
            partial(saturates, of_messages),
            place="figure 17",
        ),
        mpptest_reading.claim(
            "mpptest-similar-calls",
            "In mpptest's way, blocking and non-blocking round trips have almost the same time and rate"
            f" {ALIKE}",
            mpptest_reading.beside_work(partial(mpptest_reading.same_time, swept=mpptest.WORK)),
            place="figures 16 and 17",
        ),
        mpptest_reading.claim(
            "mpptest-rate-rises",
            "In mpptest's way, the rate rises with the bytes of work (if these are its axis)",
            mpptest_reading.beside_work(partial(rises, of_work)),
            place="figure 17",
        ),
        mpptest_reading.claim(
            "mpptest-rate-saturates",
            "In mpptest's way, the rate saturates at 1024 bytes of work or fewer (if these are its axis)",
            mpptest_reading.beside_work(partial(saturates, of_work)),
            place="figure 17",
        ),
    ],
    draw=picture,
    simulates=True,  # 1024 bytes of work take nanoseconds
    troubles=partial(trouble, quantity=HALF),
    needs=(CABLE,),
    differs={
        "holds": (
            "More bytes share the fixed cost of a message, so the rate rises with the size, and both calls send"
            " messages as short as these at once."
        ),
        "contradicted": {
            "": (
                "A kilobyte takes longer than a message's fixed cost, so the rate comes near the link's, and work on"
                " a kilobyte takes almost no time, so its rate still doubles with its length."
            ),
            "namespaces": (
                "A token bucket lets messages of up to a kilobyte pass at twice its rate, so their rate still rises;"
                " work on 1024 bytes takes so little time that its rate doubles with its length."
            ),
        },
        "inconclusive": {
            "": (
                "Half a round trip takes a few microseconds and scatters by more than a tenth where other programs"
                " share the cores; two free cores can decide it."
            ),
            "simulated": "A sweep of the work takes no time on simulated nodes; nodes that compute can decide it.",
        },
    },
)
