"""B1, round trip: does the time depend on the size of short messages, or on how they are sent?

Paper B, figures 1 and 2: the average round-trip time of blocking and of non-blocking calls, with
work beside the message, varies little with the size and is alike. mpptest's sizes then were 0 to 1024
bytes by default. Here half of the round trip is reported, and the work reads and writes 1024 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.judgement import (
    ALIKE,
    MOSTLY,
    Agreement,
    narrower,
    need_study,
    unjudged,
    verdict,
)
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import HALF, SweepConfig, pairs, ratios, sweep
from beowulf.measure.sweep import PAPER_A_SMALL
from beowulf.measure.table import summarised
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

ID = "B1"
TITLE = "Round trip of short messages, with work beside them"
ADAPTIVE = True  # measure() can find sizes between those that it is given

PROTOCOLS = ("blocking", "nonblocking")
OVERLAP_BYTES = (0, 1024)
LITTLE = 0.25  # the time of the slowest size is at most so much above the fastest

FLAT = "The round-trip time varies little with the size"
SAME = "Blocking and non-blocking round trips with overlap take nearly the same time"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] | None = None,
    adaptive: bool = False,
) -> Record:
    """Ping-pong of two nodes, blocking and non-blocking in turns, without and with work.

    `adaptive`, sizes come in between where a time leaves the line between its neighbours.
    """
    sizes = PAPER_A_SMALL if sizes is None else sizes
    plan = SweepConfig([("pingpong", 2)], PROTOCOLS, sizes, OVERLAP_BYTES)
    return sweep(ID, cluster, folder, plan, quick=quick, refined=adaptive, progress=progress)


def claims(record: Record) -> list[Verdict]:
    """What paper B says of its figures 1 and 2, each held against this Record."""
    need_study(record, ID)
    bad = trouble(record)
    if NO_SAMPLES in bad:
        return unjudged(record, {"little-variation": FLAT, "blocking-alike": SAME}, bad)
    return [_flat(record, bad), _same(record, bad)]


def _flat(record: Record, bad: list[str]) -> Verdict:
    found = summarised(record, HALF, ["protocol", "overlap_bytes", "size_bytes"])
    found = found[found["overlap_bytes"] == max(OVERLAP_BYTES)]
    grows = {}
    clear = []
    for protocol in PROTOCOLS:
        rows = found[found["protocol"] == protocol].sort_values("median").to_dict("records")
        grows[protocol] = rows[-1]["median"] / rows[0]["median"]
        clear.append(rows[-1]["low"] / rows[0]["high"] > 1 + LITTLE)
    fine = all(times <= 1 + LITTLE for times in grows.values())
    outcome: Outcome = "holds" if fine else "contradicted" if all(clear) else "inconclusive"
    said = ", ".join(f"{protocol} {times:.2f}" for protocol, times in grows.items())
    return verdict(
        record,
        "little-variation",
        FLAT,
        outcome,
        f"slowest size over fastest size: {said}",
        numbers=grows,
        trouble=bad,
    )


def _same(record: Record, bad: list[str]) -> Verdict:
    at = {"overlap_bytes": max(OVERLAP_BYTES)}
    found = ratios(pairs(record, HALF, "protocol", "nonblocking", "blocking", **at))
    agree = Agreement.of(found.values(), ALIKE)
    outcome = agree.outcome(MOSTLY)
    size, most = max(found.items(), key=lambda each: abs(each[1].median - 1))
    return verdict(
        record,
        "blocking-alike",
        SAME,
        outcome,
        f"{agree}; the largest median: non-blocking takes {most.median:.2f} times"
        f" ({most.low:.2f} to {most.high:.2f}) at {size:,} bytes",
        advice=narrower(record) if outcome == "inconclusive" else "",
        numbers={"sizes": agree.places, "differ": agree.differ, "undecided": agree.undecided},
        trouble=bad,
    )


def picture(record: Record) -> Figure:
    """Half round trip over the size, blocking and non-blocking, with and without work."""
    from beowulf import figures

    need_study(record, ID)
    found = summarised(record, HALF, ["protocol", "overlap_bytes", "size_bytes"])
    found = found.rename(columns={"median": HALF})
    names = zip(found["protocol"], found["overlap_bytes"], strict=True)
    return figures.over_sizes(
        found.assign(line=[f"{p}, {b:,} bytes of work" for p, b in names]),
        HALF,
        "line",
        title="Half round trip of short messages between two nodes",
        y_title="half round trip, median with 95 % interval (µs)",
    )
