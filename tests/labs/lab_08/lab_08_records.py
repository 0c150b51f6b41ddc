"""Records of lab 08's studies as they would be, made of figures to choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from beowulf import papers
from beowulf.labs.lab_08 import (
    c3_striping,
    c4_gas,
    c5_galaxy,
    c6_overhead,
    c7_barrier,
    machine_1995,
    tokens,
)
from beowulf.labs.lab_08.c3_striping import KERNEL, MULTIPATH, ONE, PROGRAM_TURNS
from beowulf.record import Point, Record
from tests.gold import lab_08
from tests.gold.lab_08 import point
from tests.gold.measured import NODES, as_measured

SIXTEEN = [f"node{n:02}" for n in range(16)]
SIMULATED = {"kind": "simulated", "nodes": SIXTEEN, "mpi": "simulated"}
MACHINE = {**SIMULATED, "platform": machine_1995.ethernet().as_dict()}
ONE_MACHINE = {"kind": "namespaces", "nodes": list(NODES), "node_cores": dict.fromkeys(NODES, 2)}
PCS = {"kind": "ssh", "nodes": SIXTEEN, "node_cores": dict.fromkeys(SIXTEEN, 1)}
Change = Callable[[dict[str, Any], float], float]


def measured(study: str, points: Iterable[Point], cluster: Mapping[str, Any]) -> Record:
    record = as_measured(lab_08.record(study, points))
    record.cluster = dict(cluster)
    return record


# C1 and C2

ONE_MB_PER_S, TWO_TIMES = 2.2, 1.85
ODD, OTHERS = (1.05, 1.6), (1.6, 1.6)  # gains below a size of 512 bytes and from it on
GROWING = {2: ODD, 4: (1.5, 1.6)}
Samples = Callable[[int], Any]  # so many factors


def rate(networks: int, demand: int, size: int) -> float:
    """MB/s as paper C describes its figures 1 and 2, at twice its rate: a cable each way."""
    alone = ONE_MB_PER_S * size / (size + 1200)
    if demand == 1:
        return alone * (1.5 if networks == 2 and size > lab_08.PIECE else 1.0)
    if networks == 1:
        return ONE_MB_PER_S * size / (size + 220)
    return TWO_TIMES * ONE_MB_PER_S * size / (size + 1024) * min(1.0, 0.5 + 0.1 * demand)


def tokens_with(
    change: Change = lambda at, seconds: seconds,
    study: str = "C1",
    noise: float | Samples = 0.0,
    *,
    demands: Collection[int] = tokens.DEMANDS,
    sizes: Iterable[int] = tokens.SIZES,
    gains: Mapping[int, tuple[float, float]] = GROWING,
    cluster: Mapping[str, Any] = {"rate": "10mbit", "networks": 2},
) -> Record:
    """A Record of the paper's tokens whose seconds are changed at some places, with noise from sample to sample.

    `gains` are those of short and of long tokens where the kernel takes two networks in turn, by demand.
    """
    places = [
        {"networks": n, "demand": d, "size_bytes": s}
        for n in (1, 2)
        for d in demands
        for s in sizes
    ]
    places += [
        {"networks": 1, "demand": d, "size_bytes": s, tokens.STRIPING: "on"}
        for d in tokens.STRIPED_DEMANDS if study == "C2" and d in demands for s in tokens.STRIPED_SIZES
    ]  # fmt: skip
    points = []
    for at in places:
        seconds = change(
            at, at["size_bytes"] / rate(at["networks"], at["demand"], at["size_bytes"]) * 1e-6
        )
        if tokens.STRIPING in at:
            seconds /= gains.get(at["demand"], OTHERS)[at["size_bytes"] >= 512]
        for launch in range(3):
            factors = (
                noise(10)
                if callable(noise)
                else [1 + noise * ((n + at["networks"]) % 2) for n in range(10)]
            )
            points.append(
                Point(
                    {**at, "launch": launch},
                    tokens.QUANTITY,
                    [seconds * float(each) for each in factors],
                )
            )
    return measured(study, points, cluster)


def same(_: dict[str, Any], seconds: float) -> float:
    return seconds


def two_times(factor: float) -> Change:
    """Two networks carry so many times as much, with whatever token."""

    def change(at: dict[str, Any], seconds: float) -> float:
        one = at["size_bytes"] / rate(1, at["demand"], at["size_bytes"]) * 1e-6
        return one / factor if at["networks"] == 2 else seconds

    return change


def growing(power: float) -> Change:
    """The rate grows evenly with the size, and saturates nowhere."""
    return lambda at, _: 1e-4 * at["size_bytes"] ** (1 - power)


def as_published(factor: float, cluster: Mapping[str, Any] = MACHINE) -> Record:
    """A Record of C1 in which every point that the paper names has so many times its rate."""
    named = {
        (row.networks, row.demand, row.size_bytes): 1e-6 * row.size_bytes / row.rate_mb_per_s
        for row in papers.table(tokens.PUBLISHED).itertuples()
    }

    def change(at: dict[str, Any], seconds: float) -> float:
        paper = named.get((at["networks"], at["demand"], at["size_bytes"]))
        return paper / factor if paper else seconds

    return tokens_with(change, cluster=cluster)


# C3

PASSES, SEGMENTS = 12, 1000
ALONE = {ONE: 1.0, PROGRAM_TURNS: 1.9, KERNEL: 1.8, MULTIPATH: 1.7}
BUSY = {PROGRAM_TURNS: 0.8, KERNEL: 0.6, MULTIPATH: 1.2}


def striped(
    rates: Mapping[str, float] = {},
    busy: Mapping[str, float] = {},
    *,
    late: Mapping[str, float] = {KERNEL: 0.4},
    again: float = 0.0,
    noise: float = 0.0,
    absent: str = "",
) -> Record:
    """A Record in which each way carries so many times as much as one network, with these shares out of order."""
    points = [Point({"way": absent}, facts={"absent": "this kernel cannot"})] if absent else []
    for beside, factors in ((False, {**ALONE, **rates}), (True, {**BUSY, **busy})):
        for way, factor in factors.items():
            if way != absent:
                shares = late.get(way, 0.0), again
                points += launched(way, beside, factor, shares, 0.0 if way == ONE else noise)
    made = as_measured(lab_08.record("C3", [], sweep={"size_bytes": 2**20}))
    made.points[:] = points
    return made


def launched(
    way: str, beside: bool, factor: float, shares: tuple[float, float], noise: float
) -> Iterator[Point]:
    """Three launches of a way; `shares` are those of the segments that are late, and that come again."""
    quantity = c3_striping.BESIDE if beside else c3_striping.STREAM
    streams: list[dict[str, Any]] = []
    for number in range(PASSES):
        late, again = (round(SEGMENTS * each * (1 - noise * (number % 2))) for each in shares)
        stream = {"segments": SEGMENTS, "out_of_order": late, "again": again}
        stream |= {"retransmitted": again, "acks": SEGMENTS, "duplicate_acks": 0}
        streams.append({**stream, "bytes": {"eth0": 600, "eth1": 0 if way == ONE else 400}})
    times = [0.9 / factor * (1 + noise * (number % 2)) for number in range(PASSES)]
    for launch in range(3):
        yield Point({"way": way, "launch": launch}, quantity, list(times))
        facts = {"streams": streams, "capture": {"dropped": 0}}
        yield Point({"way": way, "beside": beside, "launch": launch}, facts=facts)


# C4


def gas(
    *,
    cluster: Mapping[str, Any] = ONE_MACHINE,
    shock: float = 1.0,
    smooth: float = 3.0,
    drift: float = 1e-16,
    bits: Iterable[str] = ("a", "a"),
    step_s: float = 2.7,
    fixed: float = 6.9,
    scaled: float = 13.8,
) -> Record:
    """A Record of C4 whose errors fall with these orders, and whose 16 nodes are so many times as fast."""
    points = [
        Point(
            {"what": "verified", "problem": problem, "zones": zones, "ranks": 1, "result": True},
            facts={"density_error": zones**-order},
        )
        for problem, order, sizes in (
            (c4_gas.SHOCK, shock, (100, 200)),
            (c4_gas.RAMP, smooth, (60, 120)),
            (c4_gas.WAVE, 2.3, (30, 60)),
        )
        for zones in sizes
    ]
    drifts = {f"{name}_drift": drift for name in c4_gas.CONSERVED}
    for ranks, each in zip((1, 4), bits, strict=True):
        points.append(Point({"what": "bits", "ranks": ranks, "result": True}, facts={"bits": each}))
    for ranks, grown, times in ((1, False, 1.0), (16, False, fixed), (16, True, scaled)):
        at = {"what": "speed", "scaled": grown, "ranks": ranks}
        points.append(Point({**at, "result": True}, facts=drifts))
        seconds = step_s * (ranks if grown else 1) / times
        for name in ("step", "computing", "communicating", "waiting"):
            points += point(f"{name}_s", at, seconds)
    return measured("C4", points, cluster)


# C5


def galaxy(
    *,
    cluster: Mapping[str, Any] = ONE_MACHINE,
    errors: Iterable[float] = (1e-4, 1e-3, 5e-3, 2e-2),
    power: float = 0.0,
    drift: float = 1e-5,
    bits: Iterable[str] = ("a", "a"),
    times: float = 19 / 3.5,
) -> Record:
    """A Record of C5; a particle's interactions grow with log N, and with this power of N beside."""
    points = []

    def add(what: str, quantity: str, ranks: int = 1, **facts: Any) -> None:
        at = {"what": what, "ranks": ranks, "result": True}
        points.append(Point(at, facts={"quantity": quantity, **facts}))

    for angle, error in zip(c5_galaxy.ANGLES, errors, strict=True):
        add("error", "force_error", angle=angle, median=error, p99=2 * error)
    for count in c5_galaxy.QUICK_SIZES:
        pairs = {"pairs_per_step": count * 50 * math.log(count) * count**power}
        add("growth", "steps", particles=count, **pairs, cells_per_step=0.0, step_s=1.0)
    add("energy", "state", step=0, energy=-0.25)
    add("energy", "state", step=40, energy=-0.25 * (1 + drift))
    for ranks, each in zip((1, 4), bits, strict=True):
        add("bits", "state", ranks, bits=each)
    for ranks, faster in ((1, 1.0), (16, times)):
        seconds = 36.6 / faster
        add("speed", "steps", ranks, mflops=3.5 * faster, step_s=seconds)
        points += point("step_s", {"what": "speed", "ranks": ranks}, seconds)
    return measured("C5", points, cluster)


# C6


def machine(
    fixed: Mapping[int, float] = {1: 4.5, 8: 25, 16: 28},
    scaled: float = 60.5,
    galaxies: Iterable[float] = (18.0, 19.0, 20.0),
    eight: float = 17.5,
    second: float = 1.0,
    second_galaxy: float = 1.05,
    balancing: float = 1.5,
    communicating: float = 0.01,
    ours: float = 1.0,
    operations: Iterable[int] = c6_overhead.OPERATIONS,
) -> Record:
    """A Record of C6 with these MFLOPS on one network, and these gains by a second one.

    `ours` is how many times as fast the gas is on 16 processors with our own operations a zone.
    """
    points = []
    for cables in (1, 2):
        gains = (second, second_galaxy, balancing) if cables == 2 else (1.0, 1.0, 1.0)
        of_gas, of_galaxy, of_balancing = gains
        steps = {(nodes, 1): rate for nodes, rate in fixed.items()} | {(16, 16): scaled}
        for flops, ((nodes, grown), rate) in product(operations, steps.items()):
            work = flops * c6_overhead.ZONES * grown / 1e6
            step = work / rate / (of_gas if nodes > 1 else 1.0)
            step /= ours if nodes == 16 and flops == machine_1995.ZONE_FLOPS else 1.0
            at = {"cables": cables, "ranks": nodes, "launch": 0, "zone_flops": flops}
            at |= {"scaled": True} if grown > 1 else {}
            shares = {"step": 1.0, "waiting": 0.0, "communicating": communicating}
            # All that is not communicating is useful work, in equal parts.
            shares["computing"] = work / fixed[1] / nodes / step
            points += [Point(at, f"{name}_s", [step * each]) for name, each in shares.items()]
        for particles, most in zip(c6_overhead.PARTICLES, galaxies, strict=True):
            for nodes, rate in ((1, 3.5), (8, eight), (16, most)):
                step = particles / rate / (of_galaxy if nodes > 1 else 1.0)
                at = {"cables": cables, "particles": particles, "ranks": nodes, "launch": 0}
                points.append(Point(at, "step_s", [step]))
                phases = dict.fromkeys(("computing", "building", "communicating", "waiting"), step)
                phases["balancing"] = step * (of_galaxy / of_balancing if cables == 2 else 1.0)
                for phase, seconds in phases.items():
                    points.append(Point({**at, "phase": phase}, "phase_s", [seconds / 5]))
                facts = {"quantity": "steps", "mflops": particles / step, "step_s": step}
                points.append(Point({**at, "result": True}, facts=facts))
    return measured("C6", points, MACHINE)


# C7


def barriers(us: Mapping[int, float], noise: float | Samples = 0.0) -> Record:
    points = []
    for (nodes, each), launch in product(us.items(), range(3)):
        factors = noise(12) if callable(noise) else [1 + noise * (n % 2) for n in range(12)]
        samples = [each * 1e-6 * float(factor) for factor in factors]
        points.append(Point({"ranks": nodes, "launch": launch}, c7_barrier.QUANTITY, samples))
    return measured("C7", points, ONE_MACHINE)
