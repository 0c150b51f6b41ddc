"""D4, both sides: do two ranks that exchange messages gain when they work meanwhile?

Paper D, figures 8 and 9 and tables 9 to 12: the entire work before the exchange, against a quarter
before and three quarters during it; both ranks non-blocking; 7 KB and 70 KB, 1000 single operations.
The work lasts 377 us, the minimum of the paper's own: at 100 Mbit/s 7 KB travel 0.6 ms and 70 KB 6 ms,
so at best three quarters of 377 us can be gained. D5 takes a longer work.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.measure.judgement import need_study, unmeasured, verdict
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_05 import overlap
from beowulf.studies.lab_05.d5_improvement import (
    Improvement,
    exchanges,
    improvement,
    improvement_percent,
    order,
)
from beowulf.studies.lab_05.overlap import (
    DEFAULT,
    KB,
    ONE_USER,
    TESTED,
    THREADED,
    Amount,
    Way,
    allowed,
    kb,
    with_same_limit,
)
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

ID = "D4"
TITLE = "Both sides: the work before the exchange, or during it"

SMALL, LARGE = SIZES = (7 * KB, 70 * KB)
SECONDS = 377e-6
FULL, QUICK = Amount(4, 250), Amount(2, 50)  # in full, together the paper's 1000 samples
WAYS = (ONE_USER, DEFAULT, TESTED, THREADED)
PAPER_PERCENT = {(SMALL, 0): -26.27, (SMALL, 1): -32.23, (LARGE, 0): -3.97, (LARGE, 1): -8.07}


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    seconds: float = SECONDS,
) -> Record:
    """Measure both versions in turns at 7 KB and 70 KB, with their parts; `seconds` is the work."""
    about = overlap.swept(QUICK if quick else FULL, seconds, SIZES)
    return overlap.sweep(
        ID, cluster, folder, "both_sides.c", WAYS, about, quick=quick, progress=progress
    )


def gain(record: Record, way: Way, size: int, rank: int) -> Improvement:
    """Equation 1 of one rank: `during` against `before` of the same pass; LabError without samples."""
    found = exchanges(record, way)
    found = found[(found.size_bytes == size) & (found["rank"] == rank)]
    return improvement(list(zip(found.during, found.before, strict=True)))


def claims(record: Record) -> list[Verdict]:
    """Tables 9 to 12: both ranks gain at both sizes, and far less at 70 KB than at 7 KB."""
    need_study(record, ID)
    verdicts = [_gains(record, size, rank) for size in SIZES for rank in (0, 1)]
    verdicts += [_less(record, rank) for rank in (0, 1)]
    return allowed(record, "duration_s", with_same_limit(record, verdicts))


def _gains(record: Record, size: int, rank: int) -> Verdict:
    claim = f"gain-{size // KB}kb-p{rank}"
    paper = f"{PAPER_PERCENT[size, rank]:+.2f} %"
    says = f"MPICH2, {kb(size)}, rank {rank}: overlap gains (paper D: {paper})"
    try:
        found = gain(record, ONE_USER, size, rank)
    except LabError:
        return unmeasured(record, claim, says)
    outcome: Outcome = "inconclusive"
    if found.high < 0:
        outcome = "holds"
    elif found.low > 0:
        outcome = "contradicted"
    advice = ""
    if outcome == "inconclusive":
        advice = "Zero lies within the interval: take more samples on a quieter machine."
    evidence = f"{found.says} by equation 1, negative being better; n = {found.n}"
    numbers = {"percent": found.percent, "low": found.low, "high": found.high, "n": found.n}
    return verdict(record, claim, says, outcome, evidence, advice=advice, numbers=numbers)


def _less(record: Record, rank: int) -> Verdict:
    claim = f"less-at-70kb-p{rank}"
    says = f"MPICH2, rank {rank}: 70 KB gain less than 7 KB"
    try:
        small, large = (gain(record, ONE_USER, size, rank) for size in SIZES)
    except LabError:
        return unmeasured(record, claim, says)
    outcome = order(small, large)
    advice = "Take more samples on a quieter machine." if outcome == "inconclusive" else ""
    evidence = f"{kb(SMALL)}: {small.says}; {kb(LARGE)}: {large.says}"
    numbers = {"small_percent": small.percent, "large_percent": large.percent}
    return verdict(record, claim, says, outcome, evidence, advice=advice, numbers=numbers)


def paper_table(record: Record, way: Way = ONE_USER) -> pd.DataFrame:
    """The Record in the form of tables 9 to 12, with medians beside the paper's averages."""
    import pandas as pd

    found, rows = exchanges(record, way), []
    for (size, rank), each in found.groupby(["size_bytes", "rank"]):
        for statistic in ("min", "max", "mean", "median", "std"):
            before = float(each["before"].agg(statistic))
            during = float(each["during"].agg(statistic))
            rows.append(
                {
                    "message_kb": int(str(size)) / KB,
                    "process": rank,
                    "statistic": "stdev" if statistic == "std" else statistic,
                    "before_s": before,
                    "during_s": during,
                    "percent": improvement_percent(during, before)
                    if statistic in ("mean", "median")
                    else None,
                }
            )
    return pd.DataFrame(rows)


def picture(record: Record) -> Figure:
    """Equation 1 with its interval, for each library, size and rank."""
    from beowulf.figures import segments
    from beowulf.figures.segments import Value

    need_study(record, ID)

    values = []
    for way in WAYS:
        for size in SIZES:
            for rank in (0, 1):
                try:
                    found = gain(record, way, size, rank)
                except LabError:
                    continue
                values.append(
                    Value(
                        f"{way.says}, {kb(size)}",
                        found.percent,
                        found.low,
                        found.high,
                        f"rank {rank}",
                    )
                )
    if not values:
        raise LabError(f"The Record of study {ID} has no samples.", "Measure again.")
    return segments.intervals(
        values,
        title="What does it gain to work during the exchange?",
        value_title="improvement by equation 1 (%), negative is better",
    )
