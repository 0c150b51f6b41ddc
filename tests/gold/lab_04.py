"""Lab 04's Records as nobody measured them: cables of 100 Mbit/s with 20 us of latency."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from beowulf.labs.lab_04 import a7_rate_by_nodes, own_roundtrip
from beowulf.measure import mpptest
from beowulf.measure.roundtrips import EXCHANGE, HALF
from beowulf.record import Point, Record
from tests import heat_records, heat_solutions
from tests.gold import measured
from tests.gold.case import worth
from tests.gold.hand_in import plain_answers
from tests.gold.measured import NODES

SLUG = "04-blocking-nonblocking"
SIZES = (1, 64, 1024, 16_384, 65_536, 262_144, 1_048_576)
ALPHA_US, BYTES_PER_US = 20.0, 12.5  # the bandwidth, 1 / beta, is 12.5 MB/s: 100 Mbit/s
PYTHON_US = 10.0  # what a function in Python costs besides
# Of credit that a long message has for nothing, so that a fit may begin below zero.
SAVED_BYTES = 3200
CLUSTER = {"kind": "namespaces", "nodes": list(NODES), "rate": "100mbit", "mpi": "classic"}
sealed = partial(measured.sealed, 4, cluster=CLUSTER)

BLOCKING = """def half_round_trip_us(buffer):
    began = MPI.Wtime()
    if rank == 0:
        world.Send(buffer, dest=1)
        world.Recv(buffer, source=1)
    elif rank == 1:
        world.Recv(buffer, source=0)
        world.Send(buffer, dest=0)
    return (MPI.Wtime() - began) / 2 * 1e6 if rank == 0 else None
"""
NONBLOCKING = """def half_round_trip_nonblocking_us(buffer):
    began = MPI.Wtime()
    for trip in range(2 if rank < 2 else 0):
        begin = world.Isend if trip == rank else world.Irecv
        begin(buffer, 1 - rank).Wait()
    return (MPI.Wtime() - began) / 2 * 1e6 if rank == 0 else None
"""
WAYS = ("send_first", "in_turns", "nonblocking")


def time_us(size: int) -> float:
    """Half a round trip by latency and bandwidth."""
    return ALPHA_US + size / BYTES_PER_US


def own_us(size: int) -> float:
    """Half a round trip of a learner's own: slower by a call in Python, and sooner by what the cable had saved."""
    return time_us(max(size - SAVED_BYTES, 0)) + PYTHON_US


def fit(weighted: bool) -> tuple[float, float]:
    """alpha (us) and bandwidth (bytes a us) of a learner's own times."""
    size = np.array(own_roundtrip.SIZES, dtype=float)
    time = np.array([own_us(each) for each in own_roundtrip.SIZES])
    slope, alpha = np.polyfit(size, time, 1, w=1 / time if weighted else None)
    return float(alpha), float(1 / slope)


def model_us(size: int) -> float:
    """What the fit with weights gives a message of this size."""
    alpha, bandwidth = fit(weighted=True)
    return alpha + size / bandwidth


RIGHT: dict[str, Any] = plain_answers(SLUG) | {
    "eager_limit_bytes": 131_040,
    "most_columns": 8188,  # (65,536 - 32) / 8
    "plain_alpha_us": fit(weighted=False)[0],
    "weighted_alpha_us": fit(weighted=True)[0],
    "weighted_bandwidth_bytes_per_us": fit(weighted=True)[1],
    "half_rate_bytes": fit(weighted=True)[0] * fit(weighted=True)[1],
    "model_time_us": model_us(500_000),
    "saturation_bytes": 16_384,
    "four_nodes_times": 1.5,
    "impatience_times": 40,
    "rank_1_waits_for": 0,
    "circle_lowest_rank": 0,
    "turns_reason": "late sender",
    "turns_wait_ms": 6.5,
}

WORTH = worth(SLUG)
# What needs no answer.
MEASURED = worth(
    SLUG,
    *("predict-saturation", "predict-deadlock", "predict-impatience", "a7-record"),
    *("own-blocking", "own-nonblocking", "exchange", "times-plot", "rates-plot"),
)


def record(study: str, points: list[Point], variant: str = "", **other: Any) -> Record:
    """A Record of lab 04."""
    return measured.record(study, points, variant=variant, cluster=CLUSTER, **other)


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
    for ranks, protocol, size in product(a7_rate_by_nodes.MPPTEST_RANKS, mpptest.PROTOCOLS, SIZES):
        at = {"protocol": protocol, "size_bytes": size, "bisect": True, "pattern": "pairs"}
        at |= {"ranks": ranks, "launch": 0}
        points.append(Point(at, mpptest.QUANTITY, [time_us(size)] * 10))
    return record("A7", points)


def e1() -> Record:
    """An E1 on the line."""
    points = [
        Point({"sweep": "wide", "size_bytes": size, "launch": 0}, HALF, [time_us(size)] * 10)
        for size in (0, *SIZES)
    ]
    return record("E1", points)


CALLS = {
    "blocking": ["MPI_Recv", "MPI_Send"],
    "nonblocking": ["MPI_Irecv", "MPI_Isend", "MPI_Wait"],
}


def own(
    protocol: str = "blocking",
    source: str = "",
    faults: Sequence[str] = (),
    calls: Sequence[str] = (),
) -> Record:
    """A learner's own round trips beside those of C, and what was seen of them in a recording."""
    text = source or {"blocking": BLOCKING, "nonblocking": NONBLOCKING}[protocol]
    facts = {
        "calls": len(own_roundtrip.SIZES) * 33,
        "faults": list(faults),
        "patient": True,
        "right": not faults,
    }
    facts |= {**_source("half_round_trip_us", text), "mpi_calls": list(calls or CALLS[protocol])}
    points = [Point({"own": True}, facts=facts)]
    for language, time in ((own_roundtrip.OWN, own_us), (own_roundtrip.C, time_us)):
        for size in own_roundtrip.SIZES:
            at = {"language": language, "protocol": protocol, "size_bytes": size, "launch": 0}
            at |= {"pattern": "pingpong", "ranks": 2}
            points.append(Point(at, HALF, [time(size)] * 30))
    program = {"name": "half_round_trip_us, roundtrip.c", "arguments": [], "sha256": ""}
    return record("E2", points, own_roundtrip.VARIANTS[protocol], program=program)


def exchanges(
    wrong: Mapping[str, str] | None = None,
    sources: Mapping[str, str] | None = None,
    calls: Mapping[str, Sequence[str]] | None = None,
) -> Record:
    """Three exchanges of a learner's own.

    `wrong` has why a way is not right, `sources` another text of it, `calls` others that a recording shows.
    """
    points = []
    for way in WAYS:
        text = (sources or {}).get(way) or heat_solutions.source(f"exchange_{way}")
        why = (wrong or {}).get(way, "")
        facts = {**_source("", text), "given": way == "in_turns", "right": not why, "why": why}
        del facts["name"]
        seen = CALLS["nonblocking" if way == "nonblocking" else "blocking"]
        facts["mpi_calls"] = ["MPI_Barrier", *(calls or {}).get(way, seen)]
        points.append(Point({"function": f"exchange_{way}"}, facts=facts))
        for columns in () if why else (100, 1000, 10_000):
            at = {"way": way, "rows": 402, "columns": columns, "ranks": 4, "launch": 0}
            seconds = (2 if way == "in_turns" else 1) * time_us(8 * columns) * 1e-6
            points.append(Point(at, "exchange_s", [seconds] * 12))
            points.append(Point(at, "step_s", [seconds + 1e-3] * 12))
    found = {"ends_columns": 16_380, "hangs_columns": 16_381, "waits": "both ranks send"}
    at = {"search": "deadlock", "way": "send_first", "ranks": 2}
    return record("H4", [*points, Point(at, facts=found)])


def _source(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "source": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def patience() -> Record:
    """An A7 in which impatience takes 40 times as long."""
    taken = {"auto": 50.0, "never": 2000.0}
    points = [
        Point({"patience": wish, "pattern": "ring", "ranks": 4, "launch": 0}, EXCHANGE, [us] * 30)
        for wish, us in taken.items()
    ]
    return record("A7", points, "patience")


def drawn(name: str, y: str, numbers: Mapping[str, Mapping[int, float]], **other: Any) -> Record:
    """A plot over the size of a message, with a line for each name."""
    # Few digits, because all learners of the gold class have the same.
    lines = {
        label: {x: float(f"{number:.5g}") for x, number in line.items()}
        for label, line in numbers.items()
    }
    labels = {"x_scale": "log", "y_scale": "log", "x_label": "size of the message (bytes)"}
    return measured.plot("F4", name, lines, cluster=CLUSTER, **{**labels, "y_label": y, **other})


def times_plot(**other: Any) -> Record:
    """A learner's own times and those of C, with both fits."""
    lines = {"mine": {size: own_us(size) for size in own_roundtrip.SIZES}}
    lines["C"] = {size: time_us(size) for size in own_roundtrip.SIZES}
    for name, weighted in (("plain", False), ("weighted", True)):
        alpha, bandwidth = fit(weighted)
        lines[name] = {size: alpha + size / bandwidth for size in own_roundtrip.SIZES}
    return drawn("times", "half round trip (µs)", lines, **other)


def rates_plot(**other: Any) -> Record:
    """The rates of three rings, as a7() has them."""
    times = {2: 2.0, 3: 2.0, 4: 3.0}  # messages at once, each slower
    lines = {
        f"np {ranks}": {size: 8 * size * n / time_us(size) for size in SIZES}
        for ranks, n in times.items()
    }
    return drawn("rates", "rate (Mbit/s)", lines, **other)


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 04 has."""
    return [
        sealed("saturation", 8000, 4000, 20_000, "E2-own"),
        own(),
        own("nonblocking"),
        times_plot(),
        sealed("deadlock", 16_000, 10_000, 20_000, "H4"),
        exchanges(),
        heat_records.exchanges_timeline(),
        a7(),
        rates_plot(),
        sealed("impatience", 10, 2, 100, "A7-patience"),
        patience(),
        e1(),
    ]
