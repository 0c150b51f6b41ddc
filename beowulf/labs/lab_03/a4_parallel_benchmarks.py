"""A4: the NAS Parallel Benchmarks on one node and on several, and the share of their time inside MPI.

Paper A's table 5 lists MG, FT, LU, SP and BT in Mop/s, for its own cluster in class A and for Grendel in class B, so
its columns cannot be compared. The five rows of one column can: MG and FT do far fewer operations per second than the
others. The paper does not say why. Here each benchmark also runs with profile.c between it and MPI. All run in one
class, because different classes would change the order of their Mop/s. It is W: in class A, the paper's, one run of SP
takes more than a minute at 100 Mbit/s. `beowulf suite npb --class A` runs that class.

The nodes of a local cluster share one machine's cores. There, the speed-up of four nodes is at most the number of
cores, and a rank that waits for a core inside MPI counts as communicating.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from beowulf.cluster import Cluster
from beowulf.course import personal_code
from beowulf.errors import LabError
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
    workers,
)
from beowulf.measure.judgement import Span
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import need_nodes
from beowulf.measure.statistics import LEAST_PAIRS, Ratio, ratio
from beowulf.record import Point, Record
from beowulf.studies.quantity import TIMES, Judge, Quantity, in_order
from beowulf.studies.study import Claim, Judgement, Plan, Study
from beowulf.suites import npb
from beowulf.suites.npb import BENCHMARKS
from beowulf.verdict import Outcome

__all__ = ["STUDY", "calls", "table"]

TITLE = "Parallel benchmarks: how fast are four nodes, and what do they wait for?"
LAUNCHES, QUICK_LAUNCHES = LEAST_PAIRS, 2
PROFILED = 1
COUNTS = (1, RANKS)
# The largest class in which all five of table 5 fit into ten minutes at 100 Mbit/s, with so many launches.
CLASS, QUICK_CLASS = "W", "S"
FEWEST, FEWEST_QUICK = 3, 2
FLOWS = ("LU", "SP", "BT")
SLOW = ("MG", "FT")
# Table 5, column of the paper's own cluster, from the fewest Mop/s to the most.
ORDER = ("FT", "MG", "BT", "SP", "LU")
CHEAP = 1.05
# Spearman's rank correlation of 8 pairs reaches this by chance once in twenty times (one-sided).
CORRELATED = 0.643


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Every benchmark on each number of nodes, in a new order for each launch; then with profile.c."""
    need_nodes(cluster, RANKS)
    launches = QUICK_LAUNCHES if quick else LAUNCHES
    letter = QUICK_CLASS if quick else CLASS
    npb.refuse(cluster, list(npb.BENCHMARKS), letter, RANKS)
    places = [(name, ranks) for name in npb.BENCHMARKS for ranks in COUNTS]
    planned = launches * len(places) + PROFILED * len(npb.BENCHMARKS)

    def steps(measurement: Measurement) -> None:
        draw = random.Random(personal_code.seed())
        measurement.progress(0, planned, "A4: compiling")
        measurement.prepare_all([benchmark.source for benchmark in npb.BENCHMARKS.values()])
        runs = [
            (launch, name, ranks, False)
            for launch in range(launches)
            for name, ranks in draw.sample(places, len(places))
        ]
        runs += [
            (launch, name, RANKS, True)
            for launch in range(PROFILED)
            for name in draw.sample(list(npb.BENCHMARKS), len(npb.BENCHMARKS))
        ]
        for launch, name, ranks, profiled in runs:
            measurement.progress(measurement.done, planned, f"A4: {name} on {ranks}")
            how: dict[str, Any] = {"profiled": profiled, "launch": launch}
            result = npb.run(measurement, name, letter, ranks, **how)
            facts: dict[str, Any] = {"mops": result.mops, "verified": result.verified}
            facts |= {"profile": result.profile.as_plain()} if result.profile else {}
            at = {"benchmark": name, "class": letter, "ranks": ranks, **how}
            measurement.add(at, DURATION, [result.seconds], **facts)

    sweep = {"class": letter, "launches": launches, "profiled_launches": PROFILED}
    sweep |= {"seed": personal_code.seed()}
    return Plan(planned, sweep, steps)


def troubles(record: Record) -> list[str]:
    """What is wrong with the few runs without profile.c."""
    plain = replace(record, points=[p for p in record.points if p.at.get("profiled") is not True])
    return trouble(plain, DURATION, enough=FEWEST_QUICK if record.sweep.get("quick") else FEWEST)


def all_verified(record: Record) -> Judgement:
    """Which places of the sweep have the published results."""
    places = [point for point in record.points if point.quantity == DURATION and point.samples]
    if {str(point.at["benchmark"]) for point in places} != set(BENCHMARKS):
        raise LabError("A benchmark was not measured.", "Measure again.")
    wrong = sum(not all(point.facts["verified"]) for point in places)
    evidence = f"{len(places) - wrong} of {len(places)} places of the sweep are verified"
    return Judgement("contradicted" if wrong else "holds", evidence, {"wrong": wrong})


def launch_by_launch(some: Sequence[Point], others: Sequence[Point]) -> list[tuple[float, float]]:
    """The samples of `some`, paired with those of `others` in the same launch."""
    beside = {point.at["launch"]: point.samples for point in others}
    return [
        pair
        for point in some
        for pair in zip(point.samples, beside.get(point.at["launch"], ()), strict=False)
    ]


def faster(name: str) -> Claim:
    """One node's time divided by four nodes', in the same launch."""

    def times(record: Record) -> Ratio:
        ones, fours = (points(record, name, ranks) for ranks in COUNTS)
        pairs = [(one, four) for four, one in launch_by_launch(fours, ones)]
        return ratio(pairs, busy=record.busy)

    return Claim(
        f"{name.lower()}-faster-on-4",
        f"{name} is faster on four nodes than on one",
        Quantity("one node's time over four nodes'", times, TIMES) > 1,
        caveat=shared_cores,
    )


def shared_cores(record: Record) -> str:
    """How many cores the nodes share, if these are fewer than the nodes."""
    at_a_time = workers(record)
    return f"the four nodes share {at_a_time} cores" if at_a_time < RANKS else ""


def of_launches(name: str, values: Callable[[Record, str], Sequence[float]], unit: str) -> Quantity:
    """The range from the smallest to the largest value of a benchmark's launches."""

    def spanned(record: Record) -> Span:
        if not (found := values(record, name)):
            raise LabError(f"{name} was not measured.", "Measure again.")
        return Span(min(found), max(found))

    return Quantity(name, spanned, unit)


def share(name: str) -> Quantity:
    """The share of its time that a benchmark spends inside MPI, on four nodes."""
    return of_launches(name, shares, "of its time")


def rate(name: str) -> Quantity:
    """A benchmark's Mop/s on four nodes."""
    return of_launches(name, lambda record, name: mops(record, name, RANKS), "Mop/s")


def communicates(name: str, says: str, low: Sequence[str], high: Sequence[str]) -> Claim:
    """Whether all of `high` have larger shares inside MPI than all of `low`, in every launch."""
    above = in_order([*map(share, low)], [*map(share, high)])
    return Claim(name, f"{says}, on four nodes", above, needs="quiet samples")


def communicates_more(name: str) -> Claim:
    """MG or FT against LU, SP and BT."""
    says = f"{name} spends a larger part of its time inside of MPI than LU, SP and BT"
    return communicates(f"{name.lower()}-communicates-more", says, FLOWS, [name])


def classes(record: Record) -> dict[str, str]:
    """The class of each measured benchmark of table 5."""
    found = {name: points(record, name, RANKS) for name in PAPERS}
    return {name: str(launches[0].at["class"]) for name, launches in found.items() if launches}


def in_table_5(name: str, says: str, judge: Judge) -> Claim:
    """What table 5 says about the five Mop/s of the paper's cluster; a difference between classes is no finding."""

    def not_of_one_class(record: Record) -> list[str]:
        letters = classes(record)
        if len(set(letters.values())) < 2:
            return troubles(record)
        return [*troubles(record), f"its benchmarks are of {in_words(letters)}, not of one class"]

    return Claim(
        name,
        f"{says}, all five of one class (here on four nodes)",
        judge,
        needs="quiet samples",
        caveat=lambda record: f"{in_words(classes(record))}, and the paper's is A",
        place="table 5",
        troubles=not_of_one_class,
    )


def share_slows(record: Record) -> Judgement:
    """The rank correlation of the share inside MPI and the speed-up."""
    both = table(record)[["communication_percent", "speed_up"]].dropna()
    if len(both) < len(BENCHMARKS):
        raise LabError("A benchmark was not measured.", "Measure again.")
    ranked = float(both.communication_percent.rank().corr(both.speed_up.rank()))
    outcome: Outcome = "inconclusive"
    if abs(ranked) >= CORRELATED:
        outcome = "holds" if ranked < 0 else "contradicted"
    evidence = f"the rank correlation over {len(both)} benchmarks is {ranked:.2f}, and less than -{CORRELATED} is asked"
    return Judgement(outcome, evidence, {"rho": ranked})


def counted_times(record: Record) -> Ratio:
    """The time of a run with profile.c divided by that of one without, in the same launch."""
    pairs = []
    for name in BENCHMARKS:
        counted = points(record, name, RANKS, profiled=True)
        pairs += launch_by_launch(counted, points(record, name, RANKS))
    return ratio(pairs, busy=record.busy)


STUDY = Study(
    id="A4",
    title=TITLE,
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
            ["EP"],
            [name for name in BENCHMARKS if name != "EP"],
        ),
        in_table_5(
            "mg-ft-slowest",
            "MG and FT do fewer Mop/s than LU, SP and BT",
            in_order([*map(rate, SLOW)], [*map(rate, FLOWS)]),
        ),
        in_table_5(
            "table-5-order",
            "The Mop/s come in the order LU, SP, BT, MG, FT",
            in_order(*([rate(name)] for name in ORDER)),
        ),
        Claim(
            "share-slows",
            "The larger the part inside of MPI, the smaller the speed-up from one node to four",
            share_slows,
            needs="quiet samples",
        ),
        # A claim about our instrument, not the paper: the shares mean little if counting itself takes long.
        Claim(
            "profile-is-cheap",
            "Counting its calls makes a run at most 5 % longer",
            Quantity("with profile.c over without", counted_times, TIMES) < CHEAP,
        ),
    ],
    draw=partial(parallel_tables.picture, title=TITLE),
    troubles=troubles,
    differs={
        "holds": (
            "A specification fixes what a benchmark computes and sends, so neither processor nor "
            "MPI library decides which of them waits most for a cable of 100 Mbit/s."
        ),
        "contradicted": (
            "A modern core computes many times as fast as the paper's nodes, so the cable and the "
            "wait for shared cores decide the order; the paper does not explain its low MG and FT rates."
        ),
        "inconclusive": (
            "Ranks that share cores also wait for one inside MPI, so two similar benchmarks overlap, "
            "which four PCs would decide; benchmarks of several classes have no order."
        ),
    },
)
