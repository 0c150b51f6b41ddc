"""E2, IMB PingPong: half the round trip of short messages, as Intel's benchmark takes it.

Paper E, section 4.1: mean and deviation over runs; by default about 50 us on its Gigabit Ethernet.
Here each sample is what one run of IMB would print, the mean of 1000 repetitions, so the deviation
of the samples is the one that the paper prints. Median and quartiles are given beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from beowulf.cluster import Cluster
from beowulf.cluster.description import on_one_machine
from beowulf.figures import Figure
from beowulf.measure.judgement import need_study, unjudged, verdict
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import (
    HALF,
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
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

ID = "E2"
TITLE = "IMB PingPong: half round trip of short messages"

PAPER_US = 50.0
ABOUT = 0.25
SHORT_BYTES = 64
SAME = 0.25  # a short message takes at most so much longer than an empty one
STEADY = 0.1  # deviation over mean

DEFAULT = "The latency of an untuned cluster is about 50 µs"
SHORT = f"Messages of up to {SHORT_BYTES} bytes take as long as an empty one"
REPEATS = "The mean of a run repeats: its deviation is small"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] | None = None,
) -> Record:
    """Ping-pong of two nodes as IMB does it: rising sizes, 1000 repetitions, one mean a run."""
    need_nodes(cluster, 2)
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)
    chosen = list(sizes if sizes is not None else PAPER_A_SMALL)
    told = {"sizes": chosen, "launches": launches, "passes": passes, "mode": "imb"}
    with Measurement(
        ID, cluster, folder, quick=quick, progress=progress, launches=launches, sweep=told
    ) as session:
        for launch in range(launches):
            run(session, 2, chosen, passes=passes, launch=launch, mode="imb")
    return session.record()


def claims(record: Record) -> list[Verdict]:
    """What paper E says of its ping-pong, each held against this Record."""
    need_study(record, ID)
    bad = trouble(record)
    if NO_SAMPLES in bad:
        nothing = {"default-latency": DEFAULT, "short-alike": SHORT, "repeats": REPEATS}
        return unjudged(record, nothing, bad)
    return [_default(record, bad), _short(record, bad), _repeats(record, bad)]


def _smallest(record: Record) -> tuple[int, list[float]]:
    found = table(record, HALF)
    size = int(found["size_bytes"].min())
    samples: list[float] = found[found["size_bytes"] == size][HALF].tolist()
    return size, samples


def _default(record: Record, bad: list[str]) -> Verdict:
    size, samples = _smallest(record)
    mean, deviation = float(np.mean(samples)), float(np.std(samples))
    seen = f"{size:,} bytes: mean {mean:.1f} µs, deviation {deviation:.1f} µs, n {len(samples)}"
    outcome: Outcome = "holds" if abs(mean / PAPER_US - 1) <= ABOUT else "contradicted"
    advice, but = "", ""
    if on_one_machine(record.cluster):
        but = "on this kind of cluster no message meets a network card or its interrupts"
        advice = "Measure on virtual machines or on real PCs."
    return verdict(
        record,
        "default-latency",
        DEFAULT,
        outcome,
        seen,
        advice=advice,
        but=but,
        numbers={"mean_us": mean, "deviation_us": deviation},
        trouble=bad,
    )


def _short(record: Record, bad: list[str]) -> Verdict:
    found = summarised(record, HALF, ["size_bytes"]).sort_values("size_bytes").to_dict("records")
    empty = found[0]
    short = [row for row in found if row["size_bytes"] <= SHORT_BYTES]
    slowest = max(short, key=lambda row: float(row["median"]))
    times = slowest["median"] / empty["median"]
    outcome: Outcome = "holds" if times <= 1 + SAME else "contradicted"
    if outcome == "contradicted" and slowest["low"] / empty["high"] <= 1 + SAME:
        outcome = "inconclusive"
    return verdict(
        record,
        "short-alike",
        SHORT,
        outcome,
        f"{slowest['size_bytes']:,} bytes take {times:.2f} times as long as"
        f" {empty['size_bytes']:,} bytes",
        numbers={"times": times},
        trouble=bad,
    )


def _repeats(record: Record, bad: list[str]) -> Verdict:
    size, samples = _smallest(record)
    share = float(np.std(samples) / np.mean(samples))
    return verdict(
        record,
        "repeats",
        REPEATS,
        "holds" if share <= STEADY else "contradicted",
        f"{size:,} bytes: the deviation is {share:.1%} of the mean, minimum {min(samples):.2f} µs,"
        f" median {float(np.median(samples)):.2f} µs",
        numbers={"deviation_share": share},
        trouble=bad,
    )


def picture(record: Record) -> Figure:
    """Half round trip over the size: the median of the runs' means, with its interval."""
    from beowulf import figures

    need_study(record, ID)
    found = summarised(record, HALF, ["size_bytes"]).rename(columns={"median": HALF})
    means = table(record, HALF).groupby("size_bytes")[HALF]
    found["mean_us"] = means.mean().to_numpy()
    found["deviation_us"] = means.std(ddof=0).to_numpy()
    return figures.over_sizes(
        found,
        HALF,
        title="IMB's PingPong between two nodes",
        y_title="half round trip, median with 95 % interval (µs)",
    )
