"""A6, the measuring program: does it measure what it says?

Paper A, section III.B (its flowchart: figure 11): a program with first, last and increment, blocking, non-blocking and
overlap, timed with MPI_Wtime. Before its figures are used, the program is compared with its clock, and with two
well-known programs that time the same: Intel's IMB and Ohio State's osu_latency.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.judgement import again, together, whole, within
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF, PASSES, QUICK_PASSES, need_nodes, run
from beowulf.measure.statistics import LEAST_PAIRS, interval
from beowulf.measure.sweep import steps
from beowulf.measure.table import summarised, table
from beowulf.record import Record
from beowulf.studies.quantity import Seen
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, quiet_claim, undecided

if TYPE_CHECKING:
    import pandas as pd

FIRST, LAST, INCREMENT = 0, 1024, 128
PROTOCOLS = ("blocking", "nonblocking", "overlap")
MODES = ("ours", "imb", "osu")
QUICK_MODES = MODES[:2]  # OSU's 10,000 repetitions take too long
OVERLAP_BYTES = 1024
TICKS = 100
AGREE = 0.10


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """The three protocols, alternating, then the same sizes in the ways of IMB and OSU, launch by launch."""
    need_nodes(cluster, 2)
    modes = QUICK_MODES if quick else MODES
    launches, passes = LEAST_PAIRS, QUICK_PASSES if quick else PASSES
    chosen = list(sizes if sizes is not None else steps(FIRST, LAST, INCREMENT))

    def launch_all(measurement: Measurement) -> None:
        for launch in range(launches):
            once = partial(run, measurement, 2, chosen, passes=passes, launch=launch)
            for mode in modes:
                protocols = PROTOCOLS[: 2 if mode == "ours" else 1]
                once(protocols=protocols, mode=mode, at={"mode": mode})
            work, at = (OVERLAP_BYTES,), {"mode": "ours"}
            once(protocols=PROTOCOLS[2:], overlap_bytes=work, at=at)

    about = {"first": FIRST, "last": LAST, "increment": INCREMENT, "sizes": chosen}
    about |= {"launches": launches, "passes": passes}
    return Plan(launches * (1 + len(modes)), about, launch_all)


def clock(record: Record) -> Judgement:
    """How many steps of the clock the shortest single round trip lasted, however many were timed together."""
    resolution_s = max(p.facts["clock_resolution_s"] for p in record.select(about=True))
    shortest_s = float(table(record, HALF)[HALF].min() * 2e-6)
    ticks = shortest_s / resolution_s
    return Judgement(
        "holds" if ticks >= TICKS else "contradicted",
        f"the clock steps by {resolution_s * 1e9:.0f} ns; the shortest round trip lasted"
        f" {shortest_s * 1e6:.0f} µs, {ticks:,.1f} ticks",
        {"resolution_s": resolution_s, "shortest_s": shortest_s},
    )


def agrees(record: Record) -> Judgement:
    """Mean against mean: IMB and OSU print one of 1,000 or more repetitions.

    The minimum of our chunks is not comparable. On a rate-limited cable the first packets after a
    pause pass at once, so a chunk of a few repetitions is faster than a thousand in a row.
    """
    means = _means(record)
    shares, launches = {}, []
    for mode in (mode for mode in MODES[1:] if mode in means):
        for size, each in (means["ours"] / means[mode] - 1).dropna().groupby("size_bytes"):
            ends = interval(each.to_numpy(), busy=record.busy)
            shares[mode, int(str(size))] = Seen(float(each.median()), *ends)
            launches.append(len(each))
    if not shares:
        return undecided("the other ways are missing", whole(record))
    if min(launches) < LEAST_PAIRS:
        few = f"{min(launches)} launches compare them, and {LEAST_PAIRS} are needed"
        return undecided(few, again(record))
    outcomes = {place: within(seen, -AGREE, AGREE) for place, seen in shares.items()}
    decided = together(list(outcomes.values()))

    def telling(place: tuple[str, int]) -> tuple[bool, float]:
        seen = shares[place]
        return outcomes[place] == decided, max(abs(seen.low), abs(seen.high))

    # For each way, the place that decides, or else the one that may be furthest off.
    worst = {mode: (size, shares[mode, size]) for mode, size in sorted(shares, key=telling)}
    off = ", ".join(
        f"{seen.median:+.1%} at {size:,} bytes, {seen.low:+.1%} to {seen.high:+.1%} over the launches"
        f" ({mode}'s way)"
        for mode, (size, seen) in sorted(worst.items())
    )
    return Judgement(
        decided,
        f"where they differ most, our mean is off by {off}; at most {AGREE:.0%} is allowed",
        {mode: seen.median for mode, (_, seen) in worst.items()},
    )


def _means(record: Record) -> pd.DataFrame:
    """The mean half round trip of all blocking repetitions: a row per size and launch, a column per mode."""
    samples = table(record, HALF)
    samples = samples[samples["protocol"] == "blocking"]
    total = (samples[HALF] * samples["repetitions"]).rename("total_us")
    sums = samples.assign(total_us=total).groupby(["size_bytes", "launch", "mode"])
    mean = sums["total_us"].sum() / sums["repetitions"].sum()
    return mean.unstack("mode")


def picture(record: Record) -> Figure:
    """Half round trip over the size for the three protocols, and in the ways of IMB and OSU."""
    from beowulf import figures

    times = summarised(record, HALF, ["mode", "protocol", "size_bytes"])
    times = times.rename(columns={"median": HALF})
    names = zip(times["protocol"], times["mode"], strict=True)
    return figures.lines(
        times.assign(line=[p if m == "ours" else f"{p}, {m}'s way" for p, m in names]),
        "size_bytes",
        HALF,
        "line",
        low="low",
        high="high",
        title="The same round trip, timed in several ways",
        x_title="message size (bytes)",
        y_title="half round trip, median with 95 % interval (µs)",
    )


STUDY = Study(
    id="A6",
    title="The measuring program: first, last, increment, three protocols",
    plan=plan,
    simulates=True,
    judged=[
        quiet_claim(
            "clock", f"A single round trip lasts at least {TICKS} ticks of MPI_Wtime", clock
        ),
        Claim("agrees", "Our means agree within 10 % with the means that IMB and OSU take", agrees),
    ],
    draw=picture,
    needs=(CABLE,),
    differs={
        "holds": (
            "MPI_Wtime reads a clock whose steps are far below a microsecond, and IMB and OSU repeat the same"
            " ping-pong, so a program with the paper's arguments measures the same as they do."
        ),
        "contradicted": (
            "All ways time the same ping-pong, so means that differ by more than a tenth come from what they do"
            " not share: how many repetitions follow each other, how much credit a shaped link has saved, and"
            " what other programs do; and 100 steps of a clock of 0.1 µs are about as long as the shortest round trip."
        ),
        "inconclusive": (
            "An empty message takes a few microseconds and a single interruption many times that, so if the ranks"
            " share their cores with other programs, a mean of a thousand is off by more than a tenth; nodes with a"
            " core of their own can decide it."
        ),
    },
)
