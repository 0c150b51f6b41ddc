"""Lab 01's exercise: a learner's own ping-pong between each ordered pair of nodes.

It is a Record of A2 with the variant `own-trips`, because A2 checks that each ordered pair of nodes is connected.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from itertools import permutations
from statistics import median
from typing import TYPE_CHECKING, Any

from beowulf.engines import Engines
from beowulf.errors import LabError
from beowulf.exercises import engine_function
from beowulf.exercises.exercise import Exercise
from beowulf.measure.machine_queue import joined
from beowulf.measure.table import summarised
from beowulf.measure.watched import Watched
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "A2", "own-trips"
EXERCISE = Exercise(STUDY, VARIANT)
NAME, TRIP = "round_trip_us", "trip_us"
BYTES, PASSES = 8, 10
TOO_SHORT = 20  # times shorter than our shortest trip: the unit must be wrong


def measure(engines: Engines, name: str = NAME, *, chance: random.Random | None = None) -> Record:
    """Call the function on all ranks ten times for each ordered pair, in shuffled order, and save the Record.

    A wrong call is reported and kept as a fact, but is not a sample. LabError if there is no such function.
    """
    cluster = engines.cluster
    chance = chance or random.Random()
    nodes = engines.nodes
    pairs = list(permutations(range(len(nodes)), 2))
    samples: dict[tuple[int, int], list[float]] = {pair: [] for pair in pairs}
    faults: dict[str, list[str]] = {}  # by kind, the sentences
    with (
        Watched(cluster, STUDY) as watched,
        joined(cluster, print) as warnings,
        engine_function.record(
            EXERCISE, cluster, engine_function.about(engines, name), watched
        ) as made,
    ):
        made.warnings += warnings
        calls: list[tuple[int, int, int, dict[int, dict[str, Any]]]] = []
        stopped = ""
        for number in range(PASSES + 1):  # the first pass opens the connections, and is discarded
            order = chance.sample(pairs, len(pairs))
            try:
                given = engines.apply(calls_of, name, order, BYTES, chance.randrange(2**31))
            except LabError as problem:
                stopped, made.complete = problem.message, False
                break
            for place, (one, other) in enumerate(order):
                call = {rank: by_rank[place] for rank, by_rank in enumerate(given)}
                calls.append((number, one, other, call))
        # On a busy machine all trips of one pass may be long, but hardly those of all passes.
        shortest_us = min(
            (each["reference_us"] for *_, call in calls for each in call.values()), default=0.0
        )
        for number, one, other, call in calls:
            if (what := fault(call, one, other, nodes, shortest_us)) is not None:
                kind, sentence = what
                faults.setdefault(kind, []).append(sentence)
            elif number:
                samples[one, other].append(call[one]["value"])
        if stopped:
            faults["stopped"] = [stopped]
        if not stopped:
            seen = engine_function.called(engines, one_call, name, BYTES)
            made.points[0].facts["mpi_calls"] = seen
        made.points[0].facts["faults"] = [
            first if not more else f"{first} ({1 + len(more)} calls)"
            for first, *more in faults.values()
        ]
        for (one, other), times_us in samples.items():
            at = {"rank": one, "other": other, "node": nodes[one], "peer": nodes[other]}
            made.points.append(Point({**at, "size_bytes": BYTES}, TRIP, times_us))
    print(*lines(made), sep="\n")
    return made


def calls_of(
    names: dict[str, Any], function: str, pairs: list[tuple[int, int]], size: int, seed: int
) -> list[dict[str, Any]]:
    """On an engine: call the function once for each pair; what it returned, what arrived, its time and our trip's.

    All ranks derive the bytes from `seed`. The rank that begins gets them, and all others get other bytes.
    """
    import time

    import numpy as np
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    ours = world.Dup()  # so that a message left over by the function is not received as ours
    chance = np.random.default_rng(seed)
    calls = []
    for one, other in pairs:
        pattern = chance.integers(0, 256, size, dtype=np.uint8)
        buffer = pattern.copy() if world.Get_rank() == one else 255 - pattern
        world.Barrier()
        began = time.perf_counter()
        given = names[function](buffer, one, other)
        elapsed_us = (time.perf_counter() - began) * 1e6
        arrived = bool((buffer == pattern).all())
        ours.Barrier()
        began = time.perf_counter()
        if ours.Get_rank() == one:
            ours.Send(pattern, other)
            ours.Recv(buffer, other)
        elif ours.Get_rank() == other:
            ours.Recv(buffer, one)
            ours.Send(buffer, one)
        reference_us = (
            (time.perf_counter() - began) * 1e6 if ours.Get_rank() == one else float("inf")
        )
        numeric = isinstance(given, int | float | np.integer | np.floating)
        calls.append(
            {
                "value": float(given) if numeric and not isinstance(given, bool) else None,
                "kind": "nothing" if given is None else f"a {type(given).__name__}",
                "elapsed_us": elapsed_us,
                "reference_us": reference_us,
                "arrived": arrived,
            }
        )
    ours.Free()
    return calls


def one_call(names: dict[str, Any], function: str, size: int) -> None:
    """On an engine: call the function once, between ranks 0 and 1."""
    import numpy as np

    names[function](np.zeros(size, dtype=np.uint8), 0, 1)


def fault(
    call: Mapping[int, Mapping[str, Any]],
    one: int,
    other: int,
    nodes: tuple[str, ...],
    shortest_us: float,
) -> tuple[str, str] | None:
    """What is wrong with a call: its kind, and a sentence; None if nothing is."""
    between = f"From {nodes[one]} (rank {one}) to {nodes[other]} (rank {other})"
    value, elapsed_us = call[one]["value"], call[one]["elapsed_us"]
    if value is None:
        return "kind", f"{between} it returned {call[one]['kind']} on rank {one}, not a number."
    if not math.isfinite(value) or value <= 0:
        return "number", f"{between} it returned {value:g} µs, which cannot be a time."
    if not call[other]["arrived"]:
        return "there", f"{between}: rank {other} does not hold what rank {one} sent."
    if not call[one]["arrived"]:
        return "back", f"{between}: what came back to rank {one} is not what it sent."
    if value > elapsed_us:
        return "clock", (
            f"{between} it returned {value:,.1f} µs, but the whole call took {elapsed_us:,.1f} µs."
        )
    if value * TOO_SHORT < shortest_us:
        return "unit", (
            f"{between} it returned {value:,.3g} µs, but the shortest of our own trips took {shortest_us:,.1f} µs."
            " Does it return microseconds, and time a whole round trip?"
        )
    for rank, seen in call.items():
        if rank != one and seen["kind"] != "nothing":
            return "others", f"{between} it also returned {seen['kind']} on rank {rank}."
    return None


def own(record: Record) -> dict[str, Any]:
    """A Record's facts about the function: its source, its faults."""
    return next((dict(point.facts) for point in record.points if point.at.get("own")), {})


def table(record: Record) -> pd.DataFrame:
    """A row per ordered pair: the two nodes, their ranks, and the median round trip in µs with its interval."""
    rows = summarised(record, TRIP, ["node", "peer", "rank", "other"])
    return rows[["node", "peer", "rank", "other", "median", "low", "high"]]


def curves(record: Record) -> list[dict[float, float]]:
    """For each rank, the median round trip in µs to each other rank."""
    found: dict[int, dict[float, float]] = {}
    for point in record.points:
        if point.quantity == TRIP and point.samples:
            of_rank = found.setdefault(int(point.at["rank"]), {})
            of_rank[float(point.at["other"])] = float(median(point.samples))
    return [found[rank] for rank in sorted(found)]


def middle_us(record: Record) -> float:
    """The median of all pairs' medians, in µs; LabError without samples."""
    values = [value for curve in curves(record) for value in curve.values()]
    if not values:
        raise LabError("There are no round trips of yours yet.", "Measure again.")
    return float(median(values))


def lines(record: Record) -> list[str]:
    """What is wrong with the function, in sentences, or that it is right."""
    faults = [str(each) for each in own(record).get("faults", [])]
    if faults:
        return faults
    pairs = sum(1 for point in record.points if point.quantity == TRIP and point.samples)
    return [f"Right: every message came back unchanged, between {pairs} ordered pairs of nodes."]
