"""What the studies of lab 04 share: launches of roundtrip.c, rates, and pairs to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.course import personal_code
from beowulf.errors import LabError, UsageError
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import Pairs, Ratio
from beowulf.measure.table import shortest, summarised
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.cluster import Cluster

LAB = "04-blocking-nonblocking"
HALF = "half_round_trip_us"
EXCHANGE = "exchange_us"
SEND, RECEIVE = "send_us", "receive_us"
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
            f"This study needs {ranks} nodes, but the cluster has {len(cluster.nodes)}.",
            f"`beowulf up --nodes {ranks}` boots that many.",
        )


# Launches of the program, and passes over all sizes in each: 30 samples a place, 12 with --quick.
LAUNCHES, PASSES = 3, 10
QUICK_LAUNCHES, QUICK_PASSES = 2, 6


@dataclass(frozen=True)
class SweepConfig:
    """What a sweep measures: every run (a pattern and a number of ranks) with all protocols and sizes."""

    runs: Sequence[tuple[str, int]]
    protocols: Sequence[str]
    sizes: Sequence[int]
    overlap_bytes: Sequence[int] = ()


def run(
    measurement: Measurement,
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
    bisect: bool = False,
    chunk_us: int | None = None,
    environment: Mapping[str, str] | None = None,
    at: Mapping[str, Any] | None = None,
) -> None:
    """Launch roundtrip.c once: all protocols and sizes in turns, `passes` times `chunks` samples each.

    As mpptest it has no pattern, but may `bisect` the ranks.
    """
    overlaps = ",".join(map(str, overlap_bytes))
    measurement.launch(
        paths.root() / "labs" / LAB / "roundtrip.c",
        ranks,
        [
            *("--protocol", ",".join(protocols)),
            *(("--pattern", pattern) if mode != "mpptest" else ()),
            *("--sizes", ",".join(map(str, sizes))),
            *("--passes", passes),
            *("--chunks", chunks),
            *("--seed", personal_code.seed(launch)),  # each launch has an order of its own
            *("--mode", mode),
            *(("--overlap-bytes", overlaps) if overlaps else ()),
            *(("--bisect",) if bisect else ()),
            *(("--chunk-us", chunk_us) if chunk_us else ()),
        ],
        launch=launch,
        environment=environment,
        at={"pattern": pattern, **(at or {})},
    )


def overheads(measurement: Measurement, launch: int = 0) -> None:
    """Launch overheads.c once: for how long messages of a byte in a row keep their sender busy, and their receiver."""
    measurement.launch(
        paths.root() / "labs" / LAB / "overheads.c", 2, launch=launch, at={"sweep": "overheads"}
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
        summaries = summarised(record, quantity, columns)
        summaries = summaries[summaries["size_bytes"] > 0]
        on_the_way = [
            messages(p, r) for p, r in zip(summaries["pattern"], summaries["ranks"], strict=True)
        ]
        bits = summaries["size_bytes"] * 8 * on_the_way  # bits a microsecond are Mbit/s
        part = summaries[columns].assign(
            n=summaries["n"],
            rate_mbit_per_s=bits / summaries["median"],
            low=bits / summaries["high"],
            high=bits / shortest(summaries),
        )
        parts.append(part)
    if not parts:
        raise LabError("The Record has no times for messages.", "Measure again.")
    return pd.concat(parts, ignore_index=True)


def pairs(
    record: Record,
    quantity: str,
    coordinate: str,
    first: object,
    second: object,
    **at: object,
) -> dict[int, Pairs]:
    """By size, the samples where `coordinate` is `first` beside those where it is `second`.

    Samples of the same launch and pass form a pair: they were taken in turns.
    """
    by_size: dict[int, Pairs] = {}
    for point in record.select(**{coordinate: first, **at}):
        if point.quantity != quantity:
            continue
        for other in record.select(**{**point.at, coordinate: second}):
            if other.quantity == quantity:
                size, launch = int(point.at["size_bytes"]), int(point.at.get("launch", 0))
                by_size.setdefault(size, Pairs(busy=record.busy)).add(
                    launch, point.samples, other.samples
                )
    return {size: by_size[size] for size in sorted(by_size) if by_size[size].values}


def ratios(compared: Mapping[int, Pairs]) -> dict[int, Ratio]:
    """By size, how often the first is the second; LabError when there is nothing to compare."""
    if not compared:
        raise LabError("There is nothing to compare.", "Measure what is compared in one run.")
    return {size: each.ratio() for size, each in compared.items()}
