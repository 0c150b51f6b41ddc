"""What the studies of lab 04 share: launches of roundtrip.c, rates, and pairs to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.errors import LabError, UsageError
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import Ratio, ratio
from beowulf.measure.sweep import Curves, adaptive, checked
from beowulf.measure.table import summarised
from beowulf.progress import Progress, no_progress
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.cluster import Cluster

LAB = "04-blocking-nonblocking"
HALF = "half_round_trip_us"
EXCHANGE = "exchange_us"
# By pattern: the time that roundtrip.c takes, and how many messages are on their way in it.
QUANTITY = {"pingpong": HALF, "pairs": HALF, "ring": EXCHANGE, "headtohead": EXCHANGE}


def messages(pattern: str, ranks: int) -> int:
    """How many messages one unit of a pattern's time delivers: the rate is summed over all of them."""
    return {
        "pingpong": 1,
        "pairs": ranks // 2,
        "ring": ranks,
        "headtohead": ranks // 2 * 2,
    }[pattern]


def need_nodes(cluster: Cluster, ranks: int) -> None:
    """UsageError when the cluster has fewer nodes than a study needs, before anything is measured."""
    if len(cluster.nodes) < ranks:
        raise UsageError(
            f"This study needs {ranks} nodes, and the cluster has {len(cluster.nodes)}.",
            f"`beowulf up --nodes {ranks}` boots so many.",
        )


# Launches of the program, and passes over all sizes in each: 30 samples a place, 12 with --quick.
LAUNCHES, PASSES = 3, 10
QUICK_LAUNCHES, QUICK_PASSES = 2, 6
ROUNDS, QUICK_ROUNDS = 4, 2  # of refinement, in an adaptive sweep
MOST_SIZES, QUICK_MOST_SIZES = 64, 24


@dataclass(frozen=True)
class SweepConfig:
    """What a sweep measures: every run (a pattern and a number of ranks) with all protocols and sizes."""

    runs: Sequence[tuple[str, int]]
    protocols: Sequence[str]
    sizes: Sequence[int]
    overlap_bytes: Sequence[int] = ()


def sweep(
    study: str,
    cluster: Cluster,
    folder: Path,
    plan: SweepConfig,
    *,
    quick: bool = False,
    refined: bool = False,
    progress: Progress = no_progress,
) -> Record:
    """Measure a plan: several launches, in each of which every run comes once.

    `refined`, the first launch finds the sizes: from those of the plan on, mpptest's adaptive way.
    """
    ranks = max(ranks for _, ranks in plan.runs)
    need_nodes(cluster, ranks)
    sizes = checked(plan.sizes, ranks, cluster.free_memory_bytes())
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)
    rounds = (QUICK_ROUNDS if quick else ROUNDS) if refined else 0
    told = {"sizes": sizes, "launches": launches, "passes": passes}
    if plan.overlap_bytes:
        told["overlap_bytes"] = list(plan.overlap_bytes)
    planned = (launches + rounds) * len(plan.runs)
    with Measurement(
        study, cluster, folder, quick=quick, progress=progress, launches=planned, sweep=told
    ) as session:
        if refined:
            session.sweep["coarse"] = sizes
            sizes = _refined(session, plan, sizes, passes, rounds, quick)
            session.planned = session.done + (launches - 1) * len(plan.runs)
        for launch in range(1 if refined else 0, launches):
            _launch(session, plan, sizes, passes, launch)
    return session.record()


def _refined(
    session: Measurement,
    plan: SweepConfig,
    sizes: Sequence[int],
    passes: int,
    rounds: int,
    quick: bool,
) -> list[int]:
    """Do the first launch in rounds, each of which measures the sizes that the last one asks for."""

    def measured(wanted: list[int]) -> Curves:
        _launch(session, plan, wanted, passes, 0)
        session.sweep["sizes"] = sorted({*session.sweep["sizes"], *wanted})
        return _least(session, set(wanted))

    most = QUICK_MOST_SIZES if quick else MOST_SIZES
    adaptive(sizes, measured, rounds=rounds, most=max(most, len(sizes)))
    return list(session.sweep["sizes"])


def _least(session: Measurement, sizes: set[int]) -> Curves:
    """The smallest time of each of these sizes, for everything that was measured at it."""
    found: Curves = {}
    for point in session.points:
        if point.quantity not in QUANTITY.values() or point.at["size_bytes"] not in sizes:
            continue
        at = {name: value for name, value in point.at.items() if name != "size_bytes"}
        found.setdefault(tuple(at.items()), {})[point.at["size_bytes"]] = min(point.samples)
    return found


def _launch(
    session: Measurement, plan: SweepConfig, sizes: Sequence[int], passes: int, launch: int
) -> None:
    for pattern, ranks in plan.runs:
        run(
            session,
            ranks,
            sizes,
            pattern=pattern,
            protocols=plan.protocols,
            passes=passes,
            launch=launch,
            overlap_bytes=plan.overlap_bytes,
        )


def run(
    session: Measurement,
    ranks: int,
    sizes: Sequence[int],
    *,
    pattern: str = "pingpong",
    protocols: Sequence[str] = ("blocking",),
    passes: int = 10,
    chunks: int = 1,
    launch: int = 0,
    overlap_bytes: Sequence[int] = (),
    mode: str = "ours",
    environment: Mapping[str, str] | None = None,
    at: Mapping[str, Any] | None = None,
) -> None:
    """Launch roundtrip.c once: all protocols and sizes in turns, `passes` times `chunks` samples each."""
    overlaps = ",".join(map(str, overlap_bytes))
    session.launch(
        paths.root() / "labs" / LAB / "roundtrip.c",
        ranks,
        [
            *("--protocol", ",".join(protocols)),
            *("--pattern", pattern),
            *("--sizes", ",".join(map(str, checked(sizes, ranks)))),
            *("--passes", passes),
            *("--chunks", chunks),
            *("--seed", launch + 1),  # each launch has an order of its own
            *("--mode", mode),
            *(("--overlap-bytes", overlaps) if overlaps else ()),
        ],
        launch=launch,
        environment=environment,
        at={"pattern": pattern, **(at or {})},
    )


def rates(record: Record, by: Sequence[str] = ()) -> pd.DataFrame:
    """Megabits a second for each pattern, ranks, protocol and size: median with its 95 % interval.

    A message counts once. Empty messages have no rate and are left out.
    """
    import pandas as pd

    parts = []
    columns = ["pattern", "ranks", "protocol", *by, "size_bytes"]
    for quantity in (HALF, EXCHANGE):
        if not any(p.quantity == quantity and p.samples for p in record.points):
            continue
        found = summarised(record, quantity, columns)
        found = found[found["size_bytes"] > 0]
        on_the_way = [messages(p, r) for p, r in zip(found["pattern"], found["ranks"], strict=True)]
        bits = found["size_bytes"] * 8 * on_the_way  # bits a microsecond are Mbit/s
        part = found[columns].assign(
            n=found["n"],
            rate_mbit_per_s=bits / found["median"],
            low=bits / found["high"],
            high=bits / found["low"],
        )
        parts.append(part)
    if not parts:
        raise LabError("The Record has no times of messages.", "Measure again.")
    return pd.concat(parts, ignore_index=True)


def pairs(
    record: Record,
    quantity: str,
    coordinate: str,
    first: object,
    second: object,
    **at: object,
) -> dict[int, list[tuple[float, float]]]:
    """By size, the samples where `coordinate` is `first` beside those where it is `second`.

    Samples of the same launch and pass stand beside each other: they were taken in turns.
    """
    found: dict[int, list[tuple[float, float]]] = {}
    for point in record.select(**{coordinate: first, **at}):
        if point.quantity != quantity:
            continue
        for other in record.select(**{**point.at, coordinate: second}):
            if other.quantity == quantity:
                both = zip(point.samples, other.samples, strict=False)
                found.setdefault(int(point.at["size_bytes"]), []).extend(both)
    return {size: found[size] for size in sorted(found) if found[size]}


def ratios(compared: Mapping[int, Sequence[tuple[float, float]]]) -> dict[int, Ratio]:
    """By size, how often the first is the second; LabError when there is nothing to compare."""
    if not compared:
        raise LabError("There is nothing to compare.", "Measure both in one run.")
    return {size: ratio(each) for size, each in compared.items()}
