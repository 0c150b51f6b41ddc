"""A4: the NAS Parallel Benchmarks on one node and on several, and how much of their time is spent inside of MPI.

Paper A's table 5 has MG, FT, LU, SP and BT in Mop/s, of its own cluster at class A and of Grendel at class B, so its
columns cannot be compared. What can be compared is how the five lie to each other: MG and FT do far fewer operations
a second than the others. The paper does not say why. Here each benchmark also runs with profile.c between it and MPI.
All run in the paper's class A but SP and BT, which have class W: of class A they would send for minutes at 100 Mbit/s.

The nodes of a local cluster share the cores of one machine: there, four are at most as many times as fast as there are
cores, and who waits for a core inside of MPI is counted as communicating.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from beowulf import variant
from beowulf.cluster import Cluster
from beowulf.cluster.description import on_one_machine
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_03 import parallel_tables
from beowulf.labs.lab_03.parallel_tables import (
    DURATION,
    PAPERS,
    RANKS,
    calls,
    in_words,
    mops,
    points,
    shares,
    table,
)
from beowulf.measure.judgement import below, rising
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import need_nodes
from beowulf.measure.speedup import karp_flatt
from beowulf.measure.statistics import ratio
from beowulf.record import Point, Record
from beowulf.studies.study import Claim, Judgement, Plan, Study
from beowulf.suites import npb
from beowulf.suites.npb import BENCHMARKS
from beowulf.verdict import Outcome

__all__ = ["STUDY", "calls", "table"]

LAUNCHES, QUICK_LAUNCHES, PROFILED = 3, 2, 1
COUNTS = (1, RANKS)
# The paper's own class.
CLASS, QUICK_CLASS = "A", "S"
# At 100 Mbit/s one run of SP's class A takes more than a minute on four nodes and one of BT's about half a minute:
# with four of each the study would not end within ten minutes.
SMALLER = {"SP": "W", "BT": "W"}
FEWEST, FEWEST_QUICK = 3, 2
FLOWS = ("LU", "SP", "BT")
SLOW = ("MG", "FT")
# Table 5, column of the paper's own cluster, from the fewest Mop/s to the most.
ORDER = ("FT", "MG", "BT", "SP", "LU")
CHEAP = 1.05
# Spearman's rank correlation of 8 pairs reaches this by chance once in twenty times (one-sided).
CORRELATED = 0.643


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Every benchmark on each number of nodes, in an order of its own for each launch; then under profile.c."""
    need_nodes(cluster, RANKS)
    launches = QUICK_LAUNCHES if quick else LAUNCHES
    letters = {name: QUICK_CLASS if quick else SMALLER.get(name, CLASS) for name in npb.BENCHMARKS}
    for name, letter in letters.items():
        npb.refuse(cluster, [name], letter, RANKS)
    places = [(name, ranks) for name in npb.BENCHMARKS for ranks in COUNTS]
    planned = launches * len(places) + PROFILED * len(npb.BENCHMARKS)

    def steps(measurement: Measurement) -> None:
        draw = random.Random(variant.seed())
        measurement.progress(0, planned, "A4: compiling")
        measurement.prepare_all([benchmark.source for benchmark in npb.BENCHMARKS.values()])
        for number in range(launches):
            for name, ranks in draw.sample(places, len(places)):
                run(measurement, name, letters[name], ranks, number)
        for number in range(PROFILED):
            for name in draw.sample(list(npb.BENCHMARKS), len(npb.BENCHMARKS)):
                run(measurement, name, letters[name], RANKS, number, profiled=True)

    sweep = {"classes": letters, "launches": launches, "profiled_launches": PROFILED}
    sweep |= {"seed": variant.seed()}
    return Plan(planned, sweep, steps)


def run(
    measurement: Measurement,
    name: str,
    letter: str,
    ranks: int,
    number: int,
    *,
    profiled: bool = False,
) -> None:
    """Run a benchmark once, and keep its seconds, its Mop/s and its profile."""
    measurement.progress(measurement.done, measurement.planned, f"A4: {name} on {ranks}")
    result = npb.run(measurement, name, letter, ranks, launch=number, profiled=profiled)
    at = {"benchmark": name, "class": letter, "profiled": profiled}
    at |= {"ranks": ranks, "launch": number}
    facts = {"profile": result.profile.as_plain()} if result.profile else {}
    measurement.add(
        at, DURATION, [result.seconds], mops=result.mops, verified=result.verified, **facts
    )


def troubles(record: Record) -> list[str]:
    """What is wrong with the runs without profile.c, of which there are few."""
    plain = replace(record, points=[p for p in record.points if p.at.get("profiled") is not True])
    return trouble(plain, DURATION, enough=FEWEST_QUICK if record.sweep.get("quick") else FEWEST)


def need(*samples: object) -> None:
    """LabError where some of these samples were not measured."""
    if not all(samples):
        raise LabError("A benchmark was not measured.", "Measure again.")


def all_verified(record: Record) -> Judgement:
    """Which places of the sweep have the published results."""
    places = [point for point in record.points if point.quantity == DURATION and point.samples]
    need({str(point.at["benchmark"]) for point in places} == set(BENCHMARKS))
    wrong = sum(not all(point.facts["verified"]) for point in places)
    evidence = f"{len(places) - wrong} of {len(places)} places of the sweep are verified"
    return Judgement("contradicted" if wrong else "holds", evidence, {"wrong": wrong})


def launch_by_launch(some: Sequence[Point], others: Sequence[Point]) -> list[tuple[float, float]]:
    """The samples of `some` beside those of `others` of the same launch."""
    beside = {point.at["launch"]: point.samples for point in others}
    return [
        pair
        for point in some
        for pair in zip(point.samples, beside.get(point.at["launch"], ()), strict=False)
    ]


def faster(name: str) -> Claim:
    """One node's time over four nodes', of the same launch."""

    def judge(record: Record) -> Judgement:
        ones, fours = (points(record, name, ranks) for ranks in (1, RANKS))
        pairs = [(one, four) for four, one in launch_by_launch(fours, ones)]
        times = ratio(pairs, busy=record.busy)
        serial = karp_flatt(times.median, RANKS)
        evidence = (
            f"{times.median:.2f} times as fast ({times.low:.2f} to {times.high:.2f}),"
            f" Karp and Flatt's serial part {serial:.2f}{shared_cores(record)}"
        )
        numbers = {"low": times.low, "high": times.high, "n": times.n, "karp_flatt": serial}
        return Judgement(below(1, times), evidence, {"speed_up": times.median, **numbers})

    return Claim(
        f"{name.lower()}-faster-on-4", f"{name} is faster on four nodes than on one", judge
    )


def shared_cores(record: Record) -> str:
    """How many cores the nodes share, where those are fewer than the nodes."""
    cores = record.circumstances.get("before", {}).get("cores")
    if not on_one_machine(record.cluster) or not cores or cores >= RANKS:
        return ""
    return f"; the four nodes share {cores} cores"


def communicates(name: str, says: str, high: Sequence[str], low: Sequence[str]) -> Claim:
    """Whether the shares inside of MPI of all of `high` lie above those of all of `low`, in every launch."""

    def judge(record: Record) -> Judgement:
        inside = {each: shares(record, each) for each in (*high, *low)}
        need(*inside.values())
        evidence = ", ".join(f"{each} {span(values, 100)} %" for each, values in inside.items())
        return Judgement(above(inside, high, low), evidence, means(inside))

    return Claim(name, f"{says}, on four nodes", judge, needs="quiet samples")


def communicates_more(name: str) -> Claim:
    """MG or FT against LU, SP and BT."""
    says = f"{name} spends a larger part of its time inside of MPI than LU, SP and BT"
    return communicates(f"{name.lower()}-communicates-more", says, [name], FLOWS)


def above(
    values: Mapping[str, Sequence[float]], high: Sequence[str], low: Sequence[str]
) -> Outcome:
    """Holds if every launch of each of `high` is above every launch of each of `low`."""
    if min(min(values[name]) for name in high) > max(max(values[name]) for name in low):
        return "holds"
    if any(max(values[upper]) < min(values[lower]) for upper in high for lower in low):
        return "contradicted"
    return "inconclusive"


def means(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The mean of each benchmark's launches."""
    return {name: sum(each) / len(each) for name, each in values.items()}


def span(values: Sequence[float], factor: float = 1.0) -> str:
    """From the least to the most, or the one value that both are."""
    least, most = (f"{factor * value:,.3g}" for value in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def rates(record: Record) -> tuple[dict[str, list[float]], str]:
    """The Mop/s on four nodes of the paper's benchmarks, and the sentence about them."""
    known = {name: mops(record, name, RANKS) for name in PAPERS}
    need(*known.values())
    letters = {name: points(record, name, RANKS)[0].at["class"] for name in PAPERS}
    each = ", ".join(f"{name} {span(values)}" for name, values in known.items())
    return known, f"Mop/s at {in_words(letters)} (the paper's class is A): {each}"


def slowest(record: Record) -> Judgement:
    """The Mop/s of MG and FT beside those of the others of table 5."""
    known, evidence = rates(record)
    return Judgement(above(known, FLOWS, SLOW), evidence, means(known))


def order(record: Record) -> Judgement:
    """Whether the Mop/s come in the order of table 5."""
    known, evidence = rates(record)
    outcome = rising([(min(known[name]), max(known[name])) for name in ORDER])
    return Judgement(outcome, evidence, means(known))


def share_slows(record: Record) -> Judgement:
    """The rank correlation of the part inside of MPI and the speed-up."""
    both = table(record)[["communication_percent", "speed_up"]].dropna()
    need(len(both) == len(BENCHMARKS))
    ranked = float(both.communication_percent.rank().corr(both.speed_up.rank()))
    outcome: Outcome = "inconclusive"
    if abs(ranked) >= CORRELATED:
        outcome = "holds" if ranked < 0 else "contradicted"
    evidence = f"the rank correlation over {len(both)} benchmarks is {ranked:.2f}"
    return Judgement(outcome, evidence, {"rho": ranked})


def profile_is_cheap(record: Record) -> Judgement:
    """Of our instrument, not of the paper: the shares mean little if counting takes long itself."""
    pairs = []
    for name in BENCHMARKS:
        counted = points(record, name, RANKS, profiled=True)
        pairs += launch_by_launch(counted, points(record, name, RANKS))
    times = ratio(pairs, busy=record.busy)
    evidence = f"{times.median:.3f} times as long ({times.low:.3f} to {times.high:.3f})"
    numbers = {"times": times.median, "low": times.low, "high": times.high, "n": times.n}
    return Judgement(below(times, CHEAP), evidence, numbers)


def picture(record: Record) -> Figure:
    """How the time of each benchmark is divided, and its Mop/s beside those of table 5."""
    return parallel_tables.picture(record, STUDY.title)


STUDY = Study(
    id="A4",
    title="Parallel benchmarks: how fast are four nodes, and what do they wait for?",
    plan=plan,
    judged=[
        Claim(
            "all-verified",
            "Every benchmark gives the published results on every number of nodes",
            all_verified,
            needs="samples",
        ),
        *map(faster, BENCHMARKS),
        *map(communicates_more, SLOW),
        communicates(
            "ep-communicates-least",
            "EP spends a smaller part of its time inside of MPI than any other",
            [name for name in BENCHMARKS if name != "EP"],
            ["EP"],
        ),
        Claim(
            "mg-ft-slowest",
            "MG and FT do fewer Mop/s than LU, SP and BT on four nodes, as in table 5",
            slowest,
            needs="quiet samples",
        ),
        Claim(
            "table-5-order",
            "On four nodes the Mop/s come in the order of table 5: LU, SP, BT, MG, FT",
            order,
            needs="quiet samples",
        ),
        Claim(
            "share-slows",
            "The larger the part inside of MPI, the smaller the speed-up from one node to four",
            share_slows,
            needs="quiet samples",
        ),
        Claim(
            "profile-is-cheap",
            "Counting its calls makes a run at most 5 % longer",
            profile_is_cheap,
        ),
    ],
    draw=picture,
    troubles=troubles,
    differs={
        "holds": (
            "What a benchmark computes and sends is fixed by its specification, so which of them "
            "wait most for a cable of 100 Mbit/s does not depend on the processor or on the MPI "
            "library."
        ),
        "contradicted": (
            "A node of today computes many times as fast as the paper's, so a cable of 100 "
            "Mbit/s, and cores that nodes of one machine share, decide more of the time; the 7 "
            "and 5 Mop/s of MG and FT in table 5 had a cause that the paper does not give."
        ),
        "inconclusive": (
            "Where four ranks share the cores of one machine, time inside of MPI includes waiting "
            "for a core, and launches overlap, so the order of two benchmarks that lie near each "
            "other stays open."
        ),
    },
)
