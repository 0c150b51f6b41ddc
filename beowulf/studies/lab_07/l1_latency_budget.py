"""L1, the latency budget: where the microseconds go, as a bar for each kind of receiver.

Paper E asks which part of the system the latency comes from, and finds out by turning knobs. Here the way of a
message is measured step by step.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.judgement import need_study, unjudged, verdict
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.tuning import budget
from beowulf.tuning.budget import CABLE, CALLS, LONG, MPI, SHORT, STACK, WAKE_UP, WIRE, Step
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pandas as pd

ID = "L1"
TITLE = "The latency budget: where the microseconds go"

BLOCKS, PASSES = 8, 10
QUICK_BLOCKS, QUICK_PASSES = 3, 6
BARS = {"a receiver that waits": "waiting", "a receiver that polls": "polling", "MPI": "mpi"}
SAYS = {
    CALLS: "Two system calls, one that sends and one that receives",
    STACK: "The kernel's TCP/IP, within one node",
    CABLE: "From one node to the other, beyond what one node alone takes",
    WAKE_UP: "Waking a receiver that sleeps, beyond one that polls",
    MPI: "MPI, beyond plain TCP",
    WIRE: "The bits of the message, at the rate of the link",
}
WIRE_NEAR = 0.15  # of what bytes and rate come to


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> Record:
    """All ways of a message by turns, of 1 byte and of 16 KB, with and without a rate of the links."""
    need_nodes(cluster, 2)
    blocks, passes = (QUICK_BLOCKS, QUICK_PASSES) if quick else (BLOCKS, PASSES)
    with Measurement(
        ID, cluster, folder, quick=quick, progress=progress, launches=1, sweep={"passes": passes}
    ) as session:
        budget.measure(session, blocks=blocks, passes=passes)
    return session.record()


def claims(record: Record) -> list[Verdict]:
    """Of each step, whether it takes time that can be told from nothing; of the wire, whether it is as reckoned."""
    need_study(record, ID)
    bad = trouble(record, HALF)
    names = {
        _name(step, size): f"{says}: {size:,} B"
        for size in (SHORT, LONG)
        for step, says in SAYS.items()
    }
    if NO_SAMPLES in bad:
        return unjudged(record, names, bad)
    found = []
    for size in (SHORT, LONG):
        known = {
            step.name: step
            for receiver in BARS.values()
            for step in budget.steps(record, size, receiver)
        }
        for name in SAYS:
            if name in known:
                found.append(_verdict(record, known[name], size, bad))
            elif name == WIRE:
                found.append(_no_wire(record, size))
    return found


def _name(step: str, size: int) -> str:
    return f"{step.replace(' ', '-').replace('/', '-').lower()}-{size}"


def _verdict(record: Record, step: Step, size: int, bad: list[str]) -> Verdict:
    us = step.us
    seen = f"{us.median:.2f} µs ({us.low:.2f} to {us.high:.2f}), {step.told}"
    outcomes: dict[str, Outcome] = {"measured": "holds", "less than nothing": "contradicted"}
    outcome = outcomes.get(step.told, "inconclusive")
    advice = "It is short beside what else happens: measure on a quiet machine, and longer."
    numbers = {"us": us.median}
    if step.reckoned_us is not None:
        numbers["reckoned_us"] = step.reckoned_us
        seen += f"; its bits come to {step.reckoned_us:.2f} µs at {record.sweep['shaped']}"
        if outcome == "holds" and abs(us.median / step.reckoned_us - 1) > WIRE_NEAR:
            outcome = "contradicted"
        advice = (
            "A shaped link lets a short burst pass at once, which no cable does: short messages"
            " do not feel it. Measure on real PCs."
        )
    return verdict(
        record,
        _name(step.name, size),
        f"{SAYS[step.name]}, takes time: {size:,} B",
        outcome,
        seen,
        advice=advice if outcome == "inconclusive" else "",
        numbers=numbers,
        trouble=bad,
    )


def _no_wire(record: Record, size: int) -> Verdict:
    return verdict(
        record,
        _name(WIRE, size),
        f"{SAYS[WIRE]}, takes time: {size:,} B",
        "inconclusive",
        "the links of this cluster cannot be measured with and without a rate",
        advice="Measure on a cluster of this machine: `beowulf up --rate 100mbit`.",
    )


def table(record: Record) -> pd.DataFrame:
    """Every step of every bar: microseconds with their interval, what is reckoned, and whether it is there at all."""
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
                "reckoned_us": step.reckoned_us,
                "told": step.told,
            }
            for size in (SHORT, LONG)
            for receiver, way in BARS.items()
            for step in budget.steps(record, size, way)
        ]
    )


def picture(record: Record) -> Figure:
    """The steps of a short message, one after the other, for each kind of receiver; the table has the long one too."""
    from beowulf.figures.segments import Part, timeline

    need_study(record, ID)
    if not any(point.samples for point in record.points):
        raise LabError(
            "The Record has no samples of any step.", f"`beowulf study {ID}` measures them."
        )
    bars: dict[str, list[Part]] = {}
    left_out = []
    for name, way in BARS.items():
        start, parts = 0.0, []
        for step in budget.steps(record, SHORT, way):
            if step.told != "measured":
                left_out.append(f"{step.name} {step.told}")
                continue
            us = step.us
            parts.append(Part(step.name, us.median, start + us.low, start + us.high))
            start += us.median
        if parts:
            bars[name] = parts
    drawn = timeline(
        bars, title="Where the microseconds of one byte go", value_title="half round trip (µs)"
    )
    said = "; ".join(dict.fromkeys(left_out))
    alt = f"{drawn.alt} Not drawn: {said}." if said else drawn.alt
    return replace(drawn, alt=alt, table=table(record))
