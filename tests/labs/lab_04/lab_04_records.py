"""Records of lab 04's studies, made with the times that a test wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import made

from beowulf.labs.lab_04 import (
    a6_measuring_program,
    a7_rate_by_nodes,
    b1_round_trip,
    b2_time_difference,
    b3_bandwidth_difference,
    b4_cpu_use,
    b5_unlike_nodes,
    e1_latency_model,
)
from beowulf.measure.roundtrips import EXCHANGE, HALF
from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.measure.sweep import PAPER_A_SMALL, powers_of_two, steps
from beowulf.record import Point, Record
from tests.studies import mpptest_records
from tests.studies.null_records import Noise

At = dict[str, Any]
US_PER_BYTE = 8 / 94.1  # of a cable of 100 Mbit/s after headers
SIZES = powers_of_two(1, 4 * 1024 * 1024)[::2]


def noisy(record: Record, noise: Noise) -> Record:
    """The same Record, with each sample times a factor of this noise."""
    points = [
        replace(p, samples=[a * b for a, b in zip(p.samples, noise(len(p.samples)), strict=True)])
        for p in record.points
    ]
    return replace(record, points=points)


def message_us(size: int) -> float:
    return 20 + size * US_PER_BYTE


def a7(
    time_us: Callable[[At], float] = lambda at: message_us(at["size_bytes"]),
    mpptest_us: Callable[[At], float] = lambda at: message_us(at["size_bytes"]),
    **how: Any,
) -> Record:
    """Times in both ways: of a pair of mpptest's as long as ours."""
    points = []
    for pattern, ranks in a7_rate_by_nodes.RUNS:
        quantity = HALF if pattern == "pairs" else EXCHANGE
        places = [
            {"pattern": pattern, "ranks": ranks, "protocol": protocol, "size_bytes": size}
            for size in SIZES
            for protocol in ("blocking", "nonblocking")
        ]
        record = made.record("A7", quantity, places, time_us, **how)
        points += record.points
    at = mpptest_records.places(
        a7_rate_by_nodes.MPPTEST_RANKS, a7_rate_by_nodes.MPPTEST_SIZES, bisect=True
    )
    record.points = points + mpptest_records.points(mpptest_us, at, **how)
    return record


def b1(
    time_us: Callable[[At], float], mpptest_us: Callable[[At], float] = lambda at: 20.0, **how: Any
) -> Record:
    places = [
        {
            "pattern": "pingpong",
            "ranks": 2,
            "protocol": p,
            "size_bytes": size,
            "overlap_bytes": work,
        }
        for p in b1_round_trip.PROTOCOLS
        for size in PAPER_A_SMALL
        for work in b1_round_trip.OVERLAP_BYTES
    ]
    record = made.record("B1", HALF, places, time_us, **how)
    at = mpptest_records.places((2,), work=PAPER_A_SMALL, bisect=False)
    record.points += mpptest_records.points(mpptest_us, at, **how)
    return record


def rings(study: str, longer: Callable[[At], float], **how: Any) -> Record:
    """Non-blocking takes `longer` times the blocking time, in rings and in mpptest's pairs."""
    module = b2_time_difference if study == "B2" else b3_bandwidth_difference
    rings = [
        {"pattern": "ring", "ranks": ranks, "protocol": protocol, "size_bytes": size}
        for ranks in (2, 3, 4)
        for protocol in ("blocking", "nonblocking")
        for size in module.QUICK_SIZES
    ]

    def time_us(at: At) -> float:
        times = 1.0 if at["protocol"] == "blocking" else longer(at)
        return message_us(at["size_bytes"]) * times

    record = made.record(study, EXCHANGE, rings, time_us, **how)
    at = mpptest_records.places((2, 3, 4), module.QUICK_SIZES, bisect=True)
    record.points += mpptest_records.points(time_us, at, **how)
    return record


def b4(percent: Callable[[At], float], **how: Any) -> Record:
    places = [
        {"size_bytes": size, "protocol": protocol, "polling": polling, "node": node}
        for size in b4_cpu_use.SIZES
        for protocol in b4_cpu_use.PROTOCOLS
        for polling in b4_cpu_use.POLLING
        for node in ("node00", "node01")
    ]
    few = b4_cpu_use.SIZES[::5]
    places += [
        {**at, "way": way}
        for at in places
        for way in (b4_cpu_use.OVERLAP, b4_cpu_use.MODERATED)
        if at["polling"] == "patient" and at["size_bytes"] in few
    ]
    how.setdefault("noise", 0.02)
    return made.record("B4", b4_cpu_use.CPU, places, percent, **how)


def b5(times: float = 2.0, **how: Any) -> Record:
    places = [{"nodes": nodes, "ranks": 4} for nodes in b5_unlike_nodes.SHARES]
    swept = {nodes: list(each) for nodes, each in b5_unlike_nodes.SHARES.items()}
    return made.record(
        "B5",
        EXCHANGE,
        places,
        lambda at: 2e4 * (times if at["nodes"] == "unlike" else 1),
        sweep=swept,
        **how,
    )


def e1(
    wide_us: Callable[[At], float] = lambda at: message_us(at["size_bytes"]),
    step_us: float = 200.0,
    moved: int = 0,
    **how: Any,
) -> Record:
    """A line for the wide sweep; at each limit, `moved` bytes off, a step."""
    wide = [{"sweep": "wide", "size_bytes": size} for size in powers_of_two(0, 2**20)]
    even = [
        {"sweep": "even", "limit_bytes": limit, "size_bytes": size}
        for limit in e1_latency_model.LIMITS
        for size in e1_latency_model.around(limit)
    ]

    def time_us(at: At) -> float:
        if at["sweep"] == "wide":
            return wide_us(at)
        late = at["size_bytes"] > at["limit_bytes"] + moved
        return message_us(at["size_bytes"]) + (step_us if late else 0.0)

    how.setdefault("noise", 0.0005)
    return made.record("E1", HALF, wide + even, time_us, **how)


def e2(time_us: Callable[[At], float], **how: Any) -> Record:
    return made.record("E2", HALF, [{"size_bytes": size} for size in PAPER_A_SMALL], time_us, **how)


def a6(imb: float = 1.0, tick_s: float = 2e-8, launches: int = LEAST_PAIRS, **how: Any) -> Record:
    sizes = steps(0, 1024, 128)
    places = [
        {"mode": "ours", "protocol": p, "size_bytes": s}
        for p in a6_measuring_program.PROTOCOLS
        for s in sizes
    ]
    places += [{"mode": "imb", "protocol": "blocking", "size_bytes": s} for s in sizes]
    record = made.record(
        "A6",
        HALF,
        places,
        lambda at: 20 * (imb if at["mode"] == "imb" else 1),
        sweep={"sizes": sizes},
        launches=launches,
        **how,
    )
    record.points.append(Point({"about": True}, facts={"clock_resolution_s": tick_s}))
    record.points.append(Point({"mode": "ours", "rank": 0}, "first_message_s", [0.01]))
    return record
