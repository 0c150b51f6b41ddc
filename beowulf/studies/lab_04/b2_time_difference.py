"""B2, time difference: how much longer do non-blocking calls take, for 2, 3 and 4 nodes?

Paper B, figures 3 and 4: the difference falls with more nodes and jumps at 100,000 bytes, in sweeps
up to 100,000 and up to 10,000,000 bytes. Its programs came from MPICH 1.2.0, whose long messages
began between 100,000 and 131,072 bytes; MPICH's default over sockets still is 131,072.
Here every rank of a ring sends to the next, which means the same for 2, 3 and 4 ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.differences import JUMP_BYTES, differences, rings
from beowulf.measure.judgement import need_study, unjudged, verdict
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import sweep
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

ID = "B2"
TITLE = "Time difference of non-blocking and blocking calls"

QUICK_SIZES = (1_000, 10_000, 50_000, 75_000, 100_000, 150_000, 200_000, 500_000, 1_000_000)
SIZES = (*QUICK_SIZES, 2_000_000, 5_000_000, 10_000_000)
NEAR = 2.0  # the jump is looked for between half and twice 100,000 bytes
CLEAR = 0.02  # a smaller share of the time is no difference that could fall or jump

FALLS = "The difference falls with more nodes"
JUMPS = "The difference jumps at 100,000 bytes"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] | None = None,
) -> Record:
    """Blocking and non-blocking exchanges in turns, in rings of 2, 3 and 4 ranks."""
    if sizes is None:
        sizes = QUICK_SIZES if quick else SIZES
    return sweep(ID, cluster, folder, rings(sizes), quick=quick, progress=progress)


def claims(record: Record) -> list[Verdict]:
    """What paper B says of its figures 3 and 4, each held against this Record."""
    need_study(record, ID)
    bad = trouble(record)
    if NO_SAMPLES in bad:
        return unjudged(record, {"falls-with-nodes": FALLS, "jumps-at-100000": JUMPS}, bad)
    found = differences(record)
    return [_falls(record, found, bad), _jumps(record, found, bad)]


def _falls(record: Record, found: pd.DataFrame, bad: list[str]) -> Verdict:
    small = found[found["size_bytes"] <= JUMP_BYTES]
    by_ranks = small.groupby("ranks")[["share", "low_share", "high_share"]].median()
    shares = {int(str(ranks)): row for ranks, row in by_ranks.iterrows()}
    few, many = shares[min(shares)], shares[max(shares)]
    outcome: Outcome = "inconclusive"
    advice = "There is hardly a difference that could fall; more launches narrow the intervals."
    if float(many["high_share"]) < float(few["low_share"]):
        outcome, advice = "holds", ""
    elif float(many["low_share"]) > float(few["high_share"]):
        outcome, advice = "contradicted", ""
    said = ", ".join(f"np {ranks}: {float(row['share']):+.1%}" for ranks, row in shares.items())
    return verdict(
        record,
        "falls-with-nodes",
        FALLS,
        outcome,
        f"up to {JUMP_BYTES:,} bytes, non-blocking takes longer by {said} of the blocking time",
        advice=advice,
        numbers={f"np_{ranks}": float(row["share"]) for ranks, row in shares.items()},
        trouble=bad,
    )


def _jumps(record: Record, found: pd.DataFrame, bad: list[str]) -> Verdict:
    size = found["size_bytes"]
    below = found[(size <= JUMP_BYTES) & (size >= JUMP_BYTES / NEAR)]
    above = found[(size > JUMP_BYTES) & (size <= JUMP_BYTES * NEAR)]
    if below.empty or above.empty:
        return verdict(
            record,
            "jumps-at-100000",
            JUMPS,
            "inconclusive",
            f"there are no sizes on both sides of {JUMP_BYTES:,} bytes",
            advice="Measure sizes from 50,000 to 200,000 bytes.",
            trouble=bad,
        )
    before, after = _clear(below), _clear(above)
    ranks = len(set(found["ranks"]))
    outcome: Outcome = "inconclusive"
    if after - before and len(after - before) > ranks / 2:
        outcome = "holds"
    elif not after - before:
        outcome = "contradicted"
    said = [
        f"np {r}: {_share(below, r):+.1%} before and {_share(above, r):+.1%} after"
        for r in sorted(set(found["ranks"]))
    ]
    return verdict(
        record,
        "jumps-at-100000",
        JUMPS,
        outcome,
        f"difference as a share of the blocking time: {'; '.join(said)}",
        advice="Only some of the rings show it; measure again."
        if outcome == "inconclusive"
        else "",
        numbers={"before": sorted(before), "after": sorted(after)},
        trouble=bad,
    )


def _clear(found: pd.DataFrame) -> set[int]:
    """The numbers of ranks at which the difference is clear, at half of the sizes or more."""
    apart = (found["low_share"] > CLEAR) | (found["high_share"] < -CLEAR)
    return {int(r) for r in set(found["ranks"]) if apart[found["ranks"] == r].mean() >= 0.5}


def _share(found: pd.DataFrame, ranks: int) -> float:
    return float(found[found["ranks"] == ranks]["share"].median())


def picture(record: Record) -> Figure:
    """The difference over the size, for np = 2, 3 and 4: figures 3 and 4 in one, on a logarithmic axis.

    It is drawn as a share of the blocking time: in microseconds, the largest message would hide all others.
    The table has both.
    """
    from beowulf import figures

    need_study(record, ID)
    found = differences(record)
    names = {
        "share": "difference_percent",
        "low_share": "low_percent",
        "high_share": "high_percent",
    }
    found = found.rename(columns=names)
    found[list(names.values())] *= 100
    return figures.over_sizes(
        found.assign(np=[f"np {ranks}" for ranks in found["ranks"]]),
        "difference_percent",
        "np",
        low="low_percent",
        high="high_percent",
        title="How much longer a non-blocking exchange in a ring takes",
        y_title="difference, median with 95 % interval (% of blocking)",
    )
