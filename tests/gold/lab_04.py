"""Lab 04's Records as nobody measured them: cables of 100 Mbit/s with 20 us of latency."""

from __future__ import annotations

from typing import Any

from beowulf.measure import mpptest
from beowulf.measure.roundtrips import EXCHANGE, HALF
from beowulf.record import Point, Record
from beowulf.studies.lab_04 import a7_rate_by_nodes
from tests.gold.measured import LABEL, NODES, WHEN

SLUG = "04-blocking-nonblocking"
SIZES = (1, 64, 1024, 16_384, 65_536, 262_144, 1_048_576)
ALPHA_US, BYTES_PER_US = 20.0, 12.5  # beta is 12.5 MB/s: 100 Mbit/s
CLUSTER = {"kind": "namespaces", "nodes": list(NODES), "rate": "100mbit", "mpi": "classic"}
RIGHT: dict[str, Any] = {
    "eager_limit_bytes": 131_040,
    "saturation_bytes": 16_384,
    "four_nodes_times": 1.5,
    "model_time_us": ALPHA_US + 500_000 / BYTES_PER_US,
    "half_rate_bytes": ALPHA_US * BYTES_PER_US,
    "impatience_times": 40,
}


def time_us(size: int) -> float:
    """Half a round trip by alpha and beta."""
    return ALPHA_US + size / BYTES_PER_US


def record(study: str, points: list[Point], variant: str = "", **other: Any) -> Record:
    """A Record of lab 04."""
    return Record(
        study=study,
        points=points,
        cluster=CLUSTER,
        learner="a test",
        variant=variant,
        warnings=[LABEL],
        **{**WHEN, **other},
    )


def a7() -> Record:
    """The ring of three is as fast as that of two, four nodes have 1.5 times the rate of two, and a pair stays one."""
    slower = {2: 1.0, 3: 1.5, 4: 4 / 3}
    points = []
    for pattern, ranks in a7_rate_by_nodes.RUNS:
        quantity = HALF if pattern == "pairs" else EXCHANGE
        for protocol in a7_rate_by_nodes.PROTOCOLS:
            for size in SIZES:
                at = {"protocol": protocol, "size_bytes": size, "pattern": pattern}
                taken = time_us(size) * (slower[ranks] if pattern == "ring" else 1)
                points.append(Point({**at, "ranks": ranks, "launch": 0}, quantity, [taken] * 10))
    for ranks in a7_rate_by_nodes.MPPTEST_RANKS:
        for protocol in mpptest.PROTOCOLS:
            for size in SIZES:
                at = {"protocol": protocol, "size_bytes": size, "bisect": True, "pattern": "pairs"}
                points.append(
                    Point(
                        {**at, "ranks": ranks, "launch": 0}, mpptest.QUANTITY, [time_us(size)] * 10
                    )
                )
    return record("A7", points)


def e1() -> Record:
    """An E1 on the line."""
    points = [
        Point({"sweep": "wide", "size_bytes": size, "launch": 0}, HALF, [time_us(size)] * 10)
        for size in (0, *SIZES)
    ]
    return record("E1", points)


def patience() -> Record:
    """An A7 in which impatience takes 40 times as long."""
    taken = {"auto": 50.0, "never": 2000.0}
    points = [
        Point({"patience": wish, "pattern": "ring", "ranks": 4, "launch": 0}, EXCHANGE, [us] * 30)
        for wish, us in taken.items()
    ]
    return record("A7", points, "patience")


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 04 has."""
    return [a7(), e1(), patience()]
