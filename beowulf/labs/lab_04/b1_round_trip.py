"""B1, round trip: does the time depend on the size of short messages, or on how they are sent?

Paper B, figures 1 and 2: the average round-trip time of blocking and of non-blocking calls, with
work during the message, varies little with the size and is similar. mpptest's default sizes were then 0 to
1024 bytes, and its time half of a round trip, as here. We measure in two ways. Ours sweeps the
message, and the work reads and writes 1024 bytes. The paper's, probably: mpptest with -overlap sweeps
the work, during a message of 0 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure import mpptest
from beowulf.measure.judgement import Span, quotient
from beowulf.measure.roundtrips import HALF, SweepConfig, pairs, ratios
from beowulf.measure.sweep import PAPER_A_SMALL
from beowulf.measure.table import summarised
from beowulf.record import Record
from beowulf.studies import mpptest_reading
from beowulf.studies.roundtrip_sweep import ALIKE, alike, sweep, times_over_sizes
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, quiet_claim
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd

PROTOCOLS = ("blocking", "nonblocking")
OVERLAP_BYTES = (0, 1024)
LITTLE = 0.25  # the slowest size takes at most this much longer than the fastest


def plan(
    cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None, adaptive: bool = False
) -> Plan:
    """Ping-pong of two nodes, blocking and non-blocking alternating, without and with work.

    `adaptive`: sizes are added where a time leaves the line between its neighbours.
    """
    sizes = PAPER_A_SMALL if sizes is None else sizes
    config = SweepConfig([("pingpong", 2)], PROTOCOLS, sizes, OVERLAP_BYTES)
    as_mpptest = mpptest.Mpptest((2,), overlap_bytes=sizes)
    return sweep(cluster, config, quick=quick, refined=adaptive, mpptest=[as_mpptest], often=True)


def little_variation(record: Record) -> Judgement:
    """Figures 1 and 2: the slowest size of a message against the fastest one."""
    times = summarised(record, HALF, ["protocol", "overlap_bytes", "size_bytes"])
    times = times[times["overlap_bytes"] == max(OVERLAP_BYTES)]
    by_protocol = {protocol: times[times["protocol"] == protocol] for protocol in PROTOCOLS}
    return _varies_little("size", by_protocol)


def little_variation_with_work(record: Record) -> Judgement:
    """Figures 1 and 2 with mpptest's method: the slowest length of the work against the fastest one."""
    rows = mpptest.printed(record, mpptest.WORK)
    rows = rows.assign(median=rows["half_round_trip_us"], low=rows["low_us"], high=rows["high_us"])
    by_protocol = {name: rows[rows["protocol"] == name] for name in mpptest.PROTOCOLS}
    return _varies_little("length of the work", by_protocol)


def _varies_little(what: str, by_protocol: Mapping[str, pd.DataFrame]) -> Judgement:
    grows, spans = {}, {}
    for protocol, times in by_protocol.items():
        rows = times.sort_values("median").to_dict("records")
        grows[protocol] = rows[-1]["median"] / rows[0]["median"]
        spans[protocol] = quotient(*(Span(row["low"], row["high"]) for row in (rows[-1], rows[0])))
    fine = all(each <= 1 + LITTLE for each in grows.values())
    clear = any(each.low > 1 + LITTLE for each in spans.values())
    outcome: Outcome = "holds" if fine else "contradicted" if clear else "inconclusive"
    listed = ", ".join(
        f"{protocol} {each:.2f} ({spans[protocol].low:.2f} to {spans[protocol].high:.2f})"
        for protocol, each in grows.items()
    )
    evidence = (
        f"slowest {what} over fastest {what}: {listed}; at most {1 + LITTLE:g} is allowed of each"
    )
    return Judgement(outcome, evidence, grows)


def same_time(record: Record) -> Judgement:
    """Figures 1 and 2: both kinds of calls, with overlap."""
    at = {"overlap_bytes": max(OVERLAP_BYTES)}
    times = ratios(pairs(record, HALF, "protocol", "nonblocking", "blocking", **at))
    return alike({f"{size:,} bytes": ratio for size, ratio in times.items()}, record)


def picture(record: Record) -> Figure:
    """Half round trip, blocking and non-blocking: over the size, with and without work, and over the work."""
    times = summarised(record, HALF, ["protocol", "overlap_bytes", "size_bytes"])
    times = times.rename(columns={"median": HALF})
    names = zip(times["protocol"], times["overlap_bytes"], strict=True)
    times["line"] = [f"{protocol}, {work:,} bytes of work" for protocol, work in names]
    title = "Half round trip of short messages between two nodes"
    ours = {"message": partial(times_over_sizes, times, "line", title)}
    return mpptest_reading.in_both_ways(STUDY.title, record, ours, mpptest_reading.times)


STUDY = Study(
    id="B1",
    title="Round trip of short messages, with work beside them",
    plan=plan,
    judged=[
        quiet_claim(
            "little-variation",
            "The round-trip time varies little with the size of the message",
            little_variation,
            place="figures 1 and 2",
        ),
        Claim(
            "blocking-alike",
            f"Blocking and non-blocking round trips with overlap take nearly the same time {ALIKE}",
            same_time,
            place="figures 1 and 2",
        ),
        mpptest_reading.claim(
            "mpptest-little-variation",
            "In mpptest's way, the round-trip time varies little with the bytes of work (if these are its axis)",
            mpptest_reading.beside_work(little_variation_with_work),
            needs="quiet samples",
            place="figures 1 and 2",
        ),
        mpptest_reading.claim(
            "mpptest-similar-calls",
            f"In mpptest's way, blocking and non-blocking round trips take nearly the same time {ALIKE}",
            mpptest_reading.beside_work(partial(mpptest_reading.same_time, swept=mpptest.WORK)),
            place="figures 1 and 2",
        ),
    ],
    draw=picture,
    simulates=True,  # 1024 bytes of work take nanoseconds
    adaptive=True,
    needs=(CABLE,),
    differs={
        "holds": (
            "Below the eager limit both calls pass the message to the kernel at once, so they take nearly the same"
            " time."
        ),
        "contradicted": (
            "An empty message takes a few microseconds without a network card, so the ratio shows a kilobyte at"
            " 100 Mbit/s (up to 82 µs) and a step of one or two microseconds between lengths of the work; a card's"
            " tens of microseconds make both smaller."
        ),
        "inconclusive": {
            "": (
                "A call takes a few microseconds, so on a shared core the interval of a difference, or of what the"
                " work adds, contains the limit; two cores that are left alone can decide it."
            ),
            "simulated": (
                "Work during an empty message takes no time on simulated nodes by construction, so its length"
                " cannot change anything there; nodes that compute can decide it."
            ),
        },
    },
)
