"""L1, the latency budget: where the microseconds go, as a bar for each kind of receiver.

Paper E turns knobs to find the part of the system that causes latency. Here the path of a message is measured step by
step.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.judgement import Interval
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.record import Record
from beowulf.studies.quantity import Judge, Quantity
from beowulf.studies.study import SEPARATE, Claim, Judgement, Plan, Study, undecided
from beowulf.tuning import budget
from beowulf.tuning.budget import CABLE, CALLS, LONG, MPI, SHORT, STACK, WAKE_UP, WIRE

if TYPE_CHECKING:
    import pandas as pd

BLOCKS, PASSES = 8, 10
QUICK_BLOCKS, QUICK_PASSES = 3, 6
BARS = {"a receiver that waits": "waiting", "a receiver that polls": "polling", "MPI": "mpi"}
SAYS = {
    CALLS: "two system calls, one that sends and one that receives",
    STACK: "the kernel's TCP/IP within one node",
    CABLE: "the way between two nodes, in addition to that within one",
    WAKE_UP: "waking up a receiver that sleeps, in addition to one that polls",
    MPI: "MPI, in addition to plain TCP",
    WIRE: "the message's bits, at the rate of the link",
}
WAYS = {"waiting": "nodes waiting", "polling": "nodes polling", "mpi": "mpi"}  # by receiver
UNSPLIT = "not split"  # what no step of a bar accounts for
RECEIVERS = {WAKE_UP: "waiting", MPI: "mpi"}  # the others are in the way of every receiver
WIRE_NEAR = 0.15  # of what bytes and rate come to
REAL_PCS = (
    "A shaped link lets a short burst pass at once, which no cable does: short messages"
    " do not feel it. Measure on real PCs."
)


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """All paths of a message, alternating, of 1 byte and of 16 KB, with and without a rate of the links."""
    need_nodes(cluster, 2)
    blocks, passes = (QUICK_BLOCKS, QUICK_PASSES) if quick else (BLOCKS, PASSES)

    def steps(measurement: Measurement) -> None:
        budget.measure(measurement, blocks=blocks, passes=passes)

    return Plan(1, {"passes": passes}, steps)


def time(size: int, name: str) -> Quantity:
    """How long a step takes."""

    def of(record: Record) -> Interval:
        steps = budget.steps(record, size, RECEIVERS.get(name, "polling"))
        return next(each.us for each in steps if each.name == name)

    return Quantity(SAYS[name], of, "µs")


def bits_take_time(size: int) -> Judge:
    """Of the wire, whether it takes what its bits and the rate come to."""

    def judge(record: Record) -> Judgement:
        step = budget.wire_step(record, size)
        if step is None or not step.computed_us:
            why = "the links of this cluster cannot be measured with and without a rate"
            advice = "Measure on a cluster of this machine: `beowulf up --rate 100mbit`."
            return undecided(why, advice)
        near = [step.computed_us * (1 + way * WIRE_NEAR) for way in (-1, 1)]
        seen = time(size, WIRE).within(*near)(record)
        evidence = f"{seen.evidence}, ±{WIRE_NEAR:.0%} of the {step.computed_us:.2f} µs"
        evidence += f" of the bits at {record.sweep['shaped']}"
        advice = REAL_PCS if seen.outcome == "contradicted" else seen.advice
        return replace(seen, evidence=evidence, advice=advice)

    return judge


def takes_time(size: int, name: str) -> Claim:
    """Whether a step takes more than no time."""
    short_name = name.replace(" ", "-").replace("/", "-").lower()
    judge = bits_take_time(size) if name == WIRE else time(size, name) > 0
    return Claim(f"{short_name}-{size}", f"{size:,} B: time for {SAYS[name]}", judge)


def table(record: Record) -> pd.DataFrame:
    """Every step of every bar: microseconds with their interval, the computed time, and the finding."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "size_bytes": size,
                "receiver": receiver,
                "step": step.name,
                "us": step.us.median,
                "low_us": step.us.low,
                "high_us": step.us.high,
                "computed_us": step.computed_us,
                "finding": step.finding,
            }
            for size in (SHORT, LONG)
            for receiver, way in BARS.items()
            for step in budget.steps(record, size, way)
        ]
    )


def ways(record: Record, size: int = SHORT) -> pd.DataFrame:
    """Every path of a message of that size, and one system call: microseconds with their interval."""
    import pandas as pd

    return pd.DataFrame(
        {"way": way, "us": us.median, "low_us": us.low, "high_us": us.high}
        for way, us in budget.ways(record, size).items()
    )


def picture(record: Record) -> Figure:
    """The steps of a short message, one after the other, for each kind of receiver; the table has the long one too."""
    from beowulf.figures.segments import Part, timeline

    bars: dict[str, list[Part]] = {}
    left_out: dict[str, dict[str, None]] = {}  # by finding, the names of steps
    whole = budget.ways(record, SHORT)
    for name, receiver in BARS.items():
        start, parts, missing = 0.0, [], whole[WAYS[receiver]].median
        steps = budget.steps(record, SHORT, receiver)
        for step in steps:
            if step.finding != "measured":
                left_out.setdefault(step.finding, {})[step.name] = None
                continue
            us = step.us
            parts.append(Part(step.name, us.median, start + us.low, start + us.high))
            start += us.median
            missing -= us.median if step.name != WIRE else 0.0
        if missing > 0 and any(s.finding != "measured" and s.name != WIRE for s in steps):
            parts.append(Part(UNSPLIT, missing))
        if parts:
            bars[name] = parts
    absent = "; ".join(
        f"{why}, so not drawn: {', '.join(names)}" for why, names in left_out.items()
    )
    drawn = timeline(
        bars,
        title="Where the microseconds of one byte go" + (f"\n({absent})" if absent else ""),
        value_title="half round trip (µs): a step is the median of many differences",
    )
    return replace(drawn, table=table(record))


STUDY = Study(
    id="L1",
    title="The latency budget: where the microseconds go",
    plan=plan,
    judged=[takes_time(size, name) for size in (SHORT, LONG) for name in SAYS],
    draw=picture,
    troubles=lambda record: trouble(record, HALF),
    needs=(SEPARATE,),
    differs={
        "holds": (
            "The path of a message still has the layers from system call to MPI, and each takes time, but nodes"
            " without network cards lack the one that paper E found largest."
        ),
        "contradicted": (
            "A step is the difference between two paths, so it is wrong where they differ in more than the step: a"
            " shaped link, for example, lets a short burst pass without a charge."
        ),
        "inconclusive": (
            "A step of a fraction of a microsecond is the difference of two much longer times, and their scatter"
            " hides it."
        ),
    },
)
