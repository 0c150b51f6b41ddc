"""L2, the synthetic gain and the application's: what a lower latency gives to programs that also compute.

Paper E, sections 4.1 to 4.4, measured its ping-pong, HPL, HPCC and a search before and after, and concludes that
the ping-pong's gain is the limit of what an application can get. E3, E4 and E5 measure the same programs. L2 runs the
ping-pong and four kernels of NPB that talk much, with before and after alternating on all four nodes.
"""

from __future__ import annotations

from dataclasses import replace

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.measure.roundtrips import run as pingpong
from beowulf.measure.statistics import LEAST_PAIRS, Ratio
from beowulf.record import Record
from beowulf.studies.quantity import TIMES, Quantity, all_hold
from beowulf.studies.states import (
    AFTER,
    BEFORE,
    KNOBS,
    PING,
    Compared,
    gain,
    ping_beside,
    several,
    turns,
)
from beowulf.studies.study import Claim, Judgement, Plan, Study
from beowulf.suites.npb import BENCHMARKS, result
from beowulf.tuning import paper_e_baseline

KERNELS = ("IS", "CG", "MG", "FT")
RANKS, LETTER = 4, "S"
TIME = "kernel_s"
LAUNCHES, QUICK_LAUNCHES = 8, LEAST_PAIRS
PING_BYTES, PING_PASSES = 8, 10


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """The ping-pong and each kernel once a launch, in alternating states."""
    need_nodes(cluster, RANKS)
    launches = QUICK_LAUNCHES if quick else LAUNCHES
    both = [BEFORE, AFTER]
    sweep = {"states": both, "launches": launches, "class": LETTER}

    def steps(measurement: Measurement) -> None:
        with paper_e_baseline.states(cluster) as states:
            for name in KERNELS:
                measurement.prepare(BENCHMARKS[name].source)
            for launch, state in turns(states, launches):
                at = {"state": state}
                pingpong(measurement, 2, [PING_BYTES], passes=PING_PASSES, launch=launch, at=at)
                for name in KERNELS:
                    place = {"kernel": name, "state": state}
                    source = BENCHMARKS[name].source
                    lines = measurement.launch(source, RANKS, [LETTER], launch=launch, at=place)
                    seconds = float(result(lines)["seconds"])
                    measurement.add({**place, "launch": launch}, TIME, [seconds])

    planned = launches * len(both) * (1 + len(KERNELS))
    return Plan(planned, {**sweep, "testbed": paper_e_baseline.TESTBED}, steps)


def times(record: Record) -> dict[str, Ratio]:
    """The time after as a share of the time before: of the ping-pong, and of each kernel."""
    known = {PING: gain(record, HALF)}
    return several(known | {name: gain(record, TIME, kernel=name) for name in KERNELS})


def time(name: str) -> Quantity:
    """The same, of one of them; LabError where it was not measured often enough in both states."""

    def of(record: Record) -> Ratio:
        if found := times(record).get(name):
            return found
        raise LabError(f"{name} was measured in both states fewer than {LEAST_PAIRS} times.")

    return Quantity(f"{name}, after over before", of, TIMES)


def gains(name: str) -> Claim:
    """Whether a kernel gains."""
    says = f"Tuning the latency makes a kernel that talks much faster: {name}"
    return Claim(f"{name.lower()}-gains", says, time(name) < 1)


def limit(record: Record) -> Judgement:
    """Whether every kernel gains less than the ping-pong, of those that were measured in both states."""
    kernels = [name for name in times(record) if name != PING]
    if not kernels:
        raise LabError("No kernel was measured in both states.")
    return all_hold(*(time(PING) < time(name) for name in kernels))(record)


def compared(_record: Record) -> list[Compared]:
    """What is shown beside the other programs, before and after."""
    each = [
        Compared(f"NPB {name}, class {LETTER}", TIME, "s", {"kernel": name}) for name in KERNELS
    ]
    return [ping_beside("the kernels"), *each]


def picture(record: Record) -> Figure:
    """The change of each time with its interval: the ping-pong's and the kernels'."""
    import pandas as pd

    from beowulf.figures.segments import Value, intervals

    known = times(record)
    if not known:
        raise LabError(
            "The Record has no before-and-after times.", "`beowulf study L2` measures them."
        )
    values = [
        Value(name, 100 * (each.median - 1), 100 * (each.low - 1), 100 * (each.high - 1))
        for name, each in known.items()
    ]
    drawn = intervals(
        values,
        title="From E6's first state to the tuned one: ping-pong and kernels",
        value_title="time, change (%): median of the pairs",
    )
    rows = [{"what": name, **vars(each)} for name, each in known.items()]
    return replace(drawn, table=pd.DataFrame(rows))


STUDY = Study(
    id="L2",
    title="The gain of the ping-pong beside that of NPB's kernels",
    plan=plan,
    needs=(KNOBS,),
    judged=[
        *map(gains, KERNELS),
        Claim(
            "synthetic-is-the-limit",
            "The ping-pong gains more than any kernel: it is the limit of what one can get",
            limit,
        ),
    ],
    draw=picture,
    # A pair is of one launch: what makes another launch slower does not count.
    troubles=lambda record: trouble(record, TIME, enough=LEAST_PAIRS),
    differs={
        "holds": (
            "A kernel that talks gains when each message costs less, but it also computes, so the ping-pong's gain"
            " is the limit, as paper E concludes from mpiBLAST."
        ),
        "contradicted": (
            "Four ranks that share two cores wait for a core as well as for messages, and without moderation each"
            " packet interrupts a rank that computes, so a kernel may gain nothing."
        ),
        "inconclusive": (
            "A kernel of class S runs for a fraction of a second, in which one interruption costs as much as the"
            " gain in question: a core for each rank decides it."
        ),
    },
)
