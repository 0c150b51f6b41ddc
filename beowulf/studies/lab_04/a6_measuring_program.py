"""A6, the measuring program: does it measure what it says?

Paper A, figure 11: a program with first, last and increment, blocking, non-blocking and overlap,
timed with MPI_Wtime. Before anything is read from such a program, it is held against its clock, and
against how two well-known programs time the same: Intel's IMB and Ohio State's osu_latency.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.judgement import need_study, together, verdict
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
from beowulf.measure.statistics import interval
from beowulf.measure.sweep import steps
from beowulf.measure.table import summarised, table
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pandas as pd

ID = "A6"
TITLE = "The measuring program: first, last, increment, three protocols"

FIRST, LAST, INCREMENT = 0, 1024, 128
PROTOCOLS = ("blocking", "nonblocking", "overlap")
MODES = ("ours", "imb", "osu")
QUICK_MODES = MODES[:2]  # OSU's 10,000 repetitions take too long
OVERLAP_BYTES = 1024
TICKS = 100
AGREE = 0.10

CLOCK = f"No timed interval is shorter than {TICKS} ticks of MPI_Wtime"
ALL = "Blocking, non-blocking and overlap are measured at every size"
OTHERS = "Our means agree within 10 % with the means that IMB and OSU take"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] | None = None,
) -> Record:
    """The three protocols in turns, then the same sizes in the ways of IMB and OSU, launch by launch."""
    need_nodes(cluster, 2)
    modes = QUICK_MODES if quick else MODES
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)
    chosen = list(sizes if sizes is not None else steps(FIRST, LAST, INCREMENT))
    told = {"first": FIRST, "last": LAST, "increment": INCREMENT, "sizes": chosen}
    with Measurement(
        ID,
        cluster,
        folder,
        quick=quick,
        progress=progress,
        launches=launches * (1 + len(modes)),
        sweep={**told, "launches": launches, "passes": passes},
    ) as session:
        for launch in range(launches):
            for mode in modes:
                calls = PROTOCOLS[:2] if mode == "ours" else PROTOCOLS[:1]
                run(
                    session,
                    2,
                    chosen,
                    protocols=calls,
                    passes=passes,
                    launch=launch,
                    mode=mode,
                    at={"mode": mode},
                )
            run(
                session,
                2,
                chosen,
                protocols=PROTOCOLS[2:],
                passes=passes,
                launch=launch,
                overlap_bytes=(OVERLAP_BYTES,),
                at={"mode": "ours"},
            )
    return session.record()


def claims(record: Record) -> list[Verdict]:
    """What is asked of a measuring program, each held against this Record."""
    need_study(record, ID)
    bad = trouble(record)
    if NO_SAMPLES in bad:
        names = (("clock", CLOCK), ("three-protocols", ALL), ("agrees", OTHERS))
        return [
            verdict(record, name, says, "inconclusive", "", trouble=bad) for name, says in names
        ]
    return [_clock(record, bad), _three(record, bad), _agrees(record, bad)]


def _clock(record: Record, bad: list[str]) -> Verdict:
    resolution_s = max(p.facts["clock_resolution_s"] for p in record.select(about=True))
    found = table(record, HALF)
    shortest_s = float((found[HALF] * 2e-6 * found["repetitions"]).min())
    ticks = shortest_s / resolution_s
    return verdict(
        record,
        "clock",
        CLOCK,
        "holds" if ticks >= TICKS else "contradicted",
        f"the clock steps by {resolution_s * 1e9:.0f} ns; the shortest interval lasted"
        f" {shortest_s * 1e6:.0f} µs, {ticks:,.0f} ticks",
        numbers={"resolution_s": resolution_s, "shortest_s": shortest_s},
        trouble=bad,
    )


def _three(record: Record, bad: list[str]) -> Verdict:
    wanted = {(p, size) for p in PROTOCOLS for size in record.sweep["sizes"]}
    ours = [p for p in record.select(mode="ours") if p.samples and p.quantity == HALF]
    seen = {(p.at["protocol"], p.at["size_bytes"]) for p in ours}
    missing = sorted(wanted - seen)
    return verdict(
        record,
        "three-protocols",
        ALL,
        "contradicted" if missing else "holds",
        f"missing: {missing[0][0]} at {missing[0][1]:,} bytes"
        if missing
        else f"{len(seen)} of {len(wanted)} places have samples",
        numbers={"missing": len(missing)},
        trouble=bad,
    )


def _agrees(record: Record, bad: list[str]) -> Verdict:
    """Mean against mean: IMB and OSU print one of 1,000 or more repetitions.

    The least of our chunks would be another thing. On a cable with a rate the first packets after a
    pause pass at once, so a chunk of a few repetitions is faster than a thousand in a row.
    """
    means = _means(record)
    found = [
        _Share(mode, int(str(size)), float(each.median()), *interval(each.to_numpy()))
        for mode in MODES[1:]
        if mode in means
        for size, each in (means["ours"] / means[mode] - 1).dropna().groupby("size_bytes")
    ]
    if not found:
        nothing = "the other ways are missing"
        return verdict(record, "agrees", OTHERS, "inconclusive", nothing, trouble=bad)
    decided = together([each.outcome for each in found])
    # Of each way the place that decides, or else the one that may be furthest off.
    places = sorted(found, key=lambda each: (each.outcome == decided, each.furthest))
    worst = {each.mode: each for each in places}
    said = ", ".join(f"{worst[mode]} ({mode}'s way)" for mode in MODES if mode in worst)
    return verdict(
        record,
        "agrees",
        OTHERS,
        decided,
        f"where they differ most, our mean is off by {said}",
        numbers={mode: each.median for mode, each in worst.items()},
        trouble=bad,
    )


class _Share(NamedTuple):
    """By which share our mean is off at a size, the median over the launches and its interval."""

    mode: str
    size_bytes: int
    median: float
    low: float
    high: float

    @property
    def furthest(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def outcome(self) -> Outcome:
        if self.furthest <= AGREE:
            return "holds"
        return "contradicted" if self.low > AGREE or self.high < -AGREE else "inconclusive"

    def __str__(self) -> str:
        between = f"{self.low:+.1%} to {self.high:+.1%} over the launches"
        return f"{self.median:+.1%} at {self.size_bytes:,} bytes, {between}"


def _means(record: Record) -> pd.DataFrame:
    """The mean half round trip of all blocking repetitions of a launch: a row a size and launch, a column a mode."""
    found = table(record, HALF)
    found = found[found["protocol"] == "blocking"]
    total = (found[HALF] * found["repetitions"]).rename("total_us")
    sums = found.assign(total_us=total).groupby(["size_bytes", "launch", "mode"])
    mean = sums["total_us"].sum() / sums["repetitions"].sum()
    return mean.unstack("mode")


def picture(record: Record) -> Figure:
    """Half round trip over the size for the three protocols, and in the ways of IMB and OSU."""
    from beowulf import figures

    need_study(record, ID)
    found = summarised(record, HALF, ["mode", "protocol", "size_bytes"])
    found = found.rename(columns={"median": HALF})
    names = zip(found["protocol"], found["mode"], strict=True)
    return figures.lines(
        found.assign(line=[p if m == "ours" else f"{p}, {m}'s way" for p, m in names]),
        "size_bytes",
        HALF,
        "line",
        low="low",
        high="high",
        title="The same round trip, timed in several ways",
        x_title="message size (bytes)",
        y_title="half round trip, median with 95 % interval (µs)",
    )
