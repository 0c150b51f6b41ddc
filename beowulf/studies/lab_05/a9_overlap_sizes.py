"""A9, overlap sizes: the rate when each rank works on 1 to 1,000,000 bytes beside its message.

Paper A, figure 18, shows the rate for np = 2, 3 and 4 with an overlap of 1,000,000 bytes, blocking and
non-blocking. It says that the lines differ little below messages of 100,000 bytes, and clearly at
1,000,000. It does not say how three ranks are paired; as in A7, a ring stands for np nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.measure.judgement import need_study, rising, unjudged, verdict
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import EXCHANGE, SweepConfig, pairs, rates, ratios, sweep
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

ID = "A9"
TITLE = "Overlap sizes: the rate beside work on 1 to 1,000,000 bytes"

PROTOCOLS = ("blocking", "overlap")
RANKS = (2, 3, 4)
SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
OVERLAPS = (1, 100, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (1, 100, 10_000, 100_000, 1_000_000)
QUICK_OVERLAPS = (1, 1_000_000)
FROM_BYTES = 100_000
# On the axis of a figure that reaches the highest rate, this is what an eye takes for a difference.
VISIBLE = 0.1
ALIKE = 0.1

DIFFERENCES = "The rates of 2, 3 and 4 nodes differ visibly from about 100,000 bytes on, not below"
MORE = "With overlap, more nodes have a higher rate"
HIDES = "Where the work is long, non-blocking calls hide some of it and blocking ones do not"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] = (),
    overlap_bytes: Sequence[int] = (),
) -> Record:
    """A ring of 2, 3 and 4 nodes at each message size and each overlap, blocking and non-blocking."""
    plan = SweepConfig(
        [("ring", ranks) for ranks in RANKS],
        PROTOCOLS,
        sizes or (QUICK_SIZES if quick else SIZES),
        overlap_bytes or (QUICK_OVERLAPS if quick else OVERLAPS),
    )
    return sweep(ID, cluster, folder, plan, quick=quick, progress=progress)


def claims(record: Record) -> list[Verdict]:
    """What paper A says of its figure 18, and what overlap is for."""
    need_study(record, ID)
    bad = trouble(record, EXCHANGE)
    if NO_SAMPLES in bad:
        nothing = {"differences-from-100000": DIFFERENCES, "more-nodes": MORE, "hides": HIDES}
        return unjudged(record, nothing, bad)
    found = rates(record, ["overlap_bytes"])
    longest = found[found["overlap_bytes"] == found["overlap_bytes"].max()]
    return [_differences(record, longest, bad), _more(record, longest, bad), _hides(record, bad)]


def gaps(found: pd.DataFrame) -> dict[int, float]:
    """By message size: highest minus lowest rate of all lines, as a share of the figure's highest rate."""
    top = float(found["rate_mbit_per_s"].max())
    by_size = found.groupby("size_bytes")["rate_mbit_per_s"]
    return {int(str(size)): float(each.max() - each.min()) / top for size, each in by_size}


def _differences(record: Record, found: pd.DataFrame, bad: list[str]) -> Verdict:
    gap = gaps(found)
    early = [size for size, share in gap.items() if share > VISIBLE and size < FROM_BYTES]
    late = [size for size, share in gap.items() if share <= VISIBLE and size >= FROM_BYTES]
    outcome: Outcome = "contradicted" if early or late else "holds"
    told = ", ".join(f"{share:.0%} at {size:,}" for size, share in gap.items() if size >= 100)
    return verdict(
        record,
        "differences-from-100000",
        DIFFERENCES,
        outcome,
        f"the lines lie apart by these shares of the highest rate: {told} bytes",
        numbers={str(size): share for size, share in gap.items()},
        trouble=bad,
    )


def _more(record: Record, found: pd.DataFrame, bad: list[str]) -> Verdict:
    size = int(found["size_bytes"].max())
    rows = found[(found["size_bytes"] == size) & (found["protocol"] == "overlap")]
    by_ranks = {int(row["ranks"]): row for row in rows.sort_values("ranks").to_dict("records")}
    outcome = rising([(float(row["low"]), float(row["high"])) for row in by_ranks.values()])
    rates_of = {ranks: float(row["rate_mbit_per_s"]) for ranks, row in by_ranks.items()}
    said = ", ".join(f"np {ranks}: {rate:.1f} Mbit/s" for ranks, rate in rates_of.items())
    return verdict(
        record,
        "more-nodes",
        MORE,
        outcome,
        f"{said} with {size:,} bytes"
        + ("; the intervals touch" if outcome == "inconclusive" else ""),
        numbers={f"np_{ranks}_mbit_per_s": rate for ranks, rate in rates_of.items()},
        trouble=bad,
    )


def _hides(record: Record, bad: list[str]) -> Verdict:
    longest = max(
        int(point.at["overlap_bytes"])
        for point in record.points
        if point.samples and "overlap_bytes" in point.at
    )
    at = {"overlap_bytes": longest, "ranks": min(RANKS)}
    found = ratios(pairs(record, EXCHANGE, "protocol", "overlap", "blocking", **at))
    best = min(found, key=lambda size: found[size].median)
    ratio = found[best]
    outcome: Outcome = "inconclusive"
    if ratio.high < 1:
        outcome = "holds"
    elif ratio.low > 1 - ALIKE / 2:
        outcome = "contradicted"
    return verdict(
        record,
        "hides",
        HIDES,
        outcome,
        f"beside work on {longest:,} bytes, non-blocking takes {ratio.median:.2f} times"
        f" ({ratio.low:.2f} to {ratio.high:.2f}) at {best:,} bytes, where it gains most",
        numbers={"ratio": ratio.median, "size_bytes": best},
        trouble=bad,
    )


def picture(record: Record) -> Figure:
    """The rate over the size at the longest overlap, for np = 2, 3 and 4: figure 18."""
    from beowulf import figures

    need_study(record, ID)
    found = rates(record, ["overlap_bytes"])
    longest = int(found["overlap_bytes"].max())
    found = found[found["overlap_bytes"] == longest].sort_values(
        ["ranks", "protocol", "size_bytes"]
    )
    names = {"blocking": "blocking", "overlap": "non-blocking"}
    labels = zip(found["ranks"], found["protocol"], strict=True)
    return figures.over_sizes(
        found.assign(line=[f"np {ranks}, {names[protocol]}" for ranks, protocol in labels]),
        "rate_mbit_per_s",
        "line",
        title=f"Rate in a ring beside work on {longest:,} bytes",
        y_title="rate, median with 95 % interval (Mbit/s)",
    )
