"""E2, IMB PingPong: half the round trip of short messages, as Intel's benchmark measures it.

Paper E, section 4.1: mean and deviation; section 6: by default about 50 us on its Gigabit Ethernet.
Here each sample is what one run of IMB would print, the mean of 1000 repetitions. Most likely the deviation
of such means is the one that the paper prints; it does not say. Median and quartiles are given beside it.

The paper names Netperf, which measures at the level of the network's protocol. A request and its response over TCP,
and over UDP, are measured beside it, by request_response.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.cluster.description import on_one_machine
from beowulf.course import personal_code
from beowulf.figures import Figure
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import (
    HALF,
    LAB,
    LAUNCHES,
    PASSES,
    QUICK_LAUNCHES,
    QUICK_PASSES,
    need_nodes,
    run,
)
from beowulf.measure.sweep import PAPER_A_SMALL
from beowulf.measure.table import summarised, table
from beowulf.record import Record
from beowulf.studies.roundtrip_sweep import times_over_sizes
from beowulf.studies.study import CABLE, Judgement, Plan, Study, quiet_claim
from beowulf.verdict import Outcome

PAPER_US = 50.0
ABOUT = 0.25
SHORT_BYTES = 64
SAME = 0.25  # a short message takes at most this much longer than an empty one
STEADY = 0.1  # deviation over mean
PROGRAM = paths.root() / "labs" / LAB / "request_response.c"
REQUEST, MOST_REQUEST_BYTES = "request_response_us", 1024


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """Ping-pong of two nodes as IMB does it: rising sizes, 1000 repetitions, one mean per run."""
    need_nodes(cluster, 2)
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)
    chosen = list(sizes if sizes is not None else PAPER_A_SMALL)

    requests = [size for size in chosen if 0 < size <= MOST_REQUEST_BYTES]

    def steps(measurement: Measurement) -> None:
        for launch in range(launches):
            run(measurement, 2, chosen, passes=passes, launch=launch, mode="imb")
            if requests:
                words: list[str | int] = ["--sizes", ",".join(map(str, requests))]
                words += ["--passes", passes, "--seed", personal_code.seed(launch)]
                measurement.launch(PROGRAM, 2, words, launch=launch)

    about = {"sizes": chosen, "launches": launches, "passes": passes, "mode": "imb"}
    return Plan(launches * (1 + bool(requests)), about, steps)


def _smallest(record: Record) -> tuple[int, pd.Series[float]]:
    times = table(record, HALF)
    size = int(times["size_bytes"].min())
    return size, times.loc[times["size_bytes"] == size, HALF]


def default_latency(record: Record) -> Judgement:
    """Section 6: the mean of the shortest message."""
    size, samples = _smallest(record)
    mean, deviation = float(samples.mean()), float(samples.std(ddof=0))
    no_card = {
        "undecidable": "on this kind of cluster no message meets a network card or its interrupts",
        "advice": "Measure on virtual machines or on real PCs.",
    }
    return Judgement(
        "holds" if abs(mean / PAPER_US - 1) <= ABOUT else "contradicted",
        f"{size:,} bytes: mean {mean:.1f} µs, deviation {deviation:.1f} µs, n {len(samples)}; allowed are {ABOUT:.0%}"
        f" around {PAPER_US:g} µs{_without_mpi(record)}",
        {"mean_us": mean, "deviation_us": deviation},
        **(no_card if on_one_machine(record.cluster) else {}),
    )


def _without_mpi(record: Record) -> str:
    """The end of the evidence: half of the shortest request and its response over TCP and UDP; empty without them."""
    halves = halves_without_mpi(record)
    if halves.empty:
        return ""
    shortest = halves[halves["size_bytes"] == halves["size_bytes"].min()]
    medians = zip(shortest["transport"].str.upper(), shortest["median"], strict=True)
    listed = ", ".join(f"{name} {us:.1f} µs" for name, us in medians)
    return f"; without MPI, half a request and its response: {listed}"


def halves_without_mpi(record: Record) -> pd.DataFrame:
    """Half of a request and its response by transport and size, as netperf would see them."""
    if not any(point.quantity == REQUEST for point in record.points):
        return pd.DataFrame()
    times = summarised(record, REQUEST, ["transport", "size_bytes"])
    times[["median", "low", "high"]] /= 2
    return times


def short_alike(record: Record) -> Judgement:
    """The slowest short message against the shortest one."""
    rows = summarised(record, HALF, ["size_bytes"]).sort_values("size_bytes").to_dict("records")
    empty = rows[0]
    short = [row for row in rows if row["size_bytes"] <= SHORT_BYTES]
    slowest = max(short, key=lambda row: float(row["median"]))
    times = slowest["median"] / empty["median"]
    outcome: Outcome = "holds" if times <= 1 + SAME else "contradicted"
    if outcome == "contradicted" and slowest["low"] / empty["high"] <= 1 + SAME:
        outcome = "inconclusive"
    return Judgement(
        outcome,
        f"{slowest['size_bytes']:,} bytes take {times:.2f} times as long as"
        f" {empty['size_bytes']:,} bytes; at most {1 + SAME:g} is allowed",
        {"times": times},
    )


def repeats(record: Record) -> Judgement:
    """The deviation of the shortest message's means."""
    size, samples = _smallest(record)
    share = float(samples.std(ddof=0) / samples.mean())
    return Judgement(
        "holds" if share <= STEADY else "contradicted",
        f"{size:,} bytes: the deviation is {share:.1%} of the mean; at most {STEADY:.0%} is allowed;"
        f" minimum {samples.min():.2f} µs,"
        f" median {samples.median():.2f} µs",
        {"deviation_share": share},
    )


def picture(record: Record) -> Figure:
    """Half round trip over the size: the median of the runs' means, with its interval."""
    times = summarised(record, HALF, ["size_bytes"]).rename(columns={"median": HALF})
    means = table(record, HALF).groupby("size_bytes")[HALF]
    times["mean_us"] = means.mean().to_numpy()
    times["deviation_us"] = means.std(ddof=0).to_numpy()
    times["line"] = "MPI"
    if not (halves := halves_without_mpi(record)).empty:
        halves = halves.rename(columns={"median": HALF})
        times = pd.concat([times, halves.assign(line=halves["transport"].str.upper())])
    paper = {"line": "paper E, untuned: about", "size_bytes": times["size_bytes"].min()}
    paper |= dict.fromkeys((HALF, "low", "high"), PAPER_US)  # it prints no interval
    times = pd.concat([times, pd.DataFrame([paper])], ignore_index=True)
    return times_over_sizes(times, "line", "IMB's PingPong between two nodes")


STUDY = Study(
    id="E2",
    title="IMB PingPong: half round trip of short messages",
    plan=plan,
    judged=[
        quiet_claim(
            "default-latency",
            "The latency of an untuned cluster with Gigabit Ethernet is about 50 µs",
            default_latency,
            place="section 6",
        ),
        quiet_claim(
            "short-alike",
            f"Messages of up to {SHORT_BYTES} bytes take as long as an empty one",
            short_alike,
        ),
        quiet_claim("repeats", "The mean of a run repeats: its deviation is small", repeats),
    ],
    draw=picture,
    troubles=partial(trouble, quantity=HALF),
    needs=(CABLE,),
    differs={
        "holds": (
            "A network card that waits for more packets before it interrupts adds tens of microseconds to every short"
            " message, so nodes with such cards come near the paper's 50 µs, and 64 bytes hardly matter."
        ),
        "contradicted": (
            "Without a card, or with one that interrupts at once, an empty message takes far less than the paper's 50"
            " µs, so 64 bytes at 100 Mbit/s, or a single interruption within a mean, are a large share of it."
        ),
        "inconclusive": {
            "": (
                "The means of launches differ by more than the margin while other programs run; a machine that"
                " is left alone can decide it."
            ),
            "namespaces": (
                "Messages between namespaces meet no network card, whose interrupt moderation is the paper's principal"
                " cause of overhead, so its figure can be judged only on virtual machines or PCs."
            ),
        },
    },
)
