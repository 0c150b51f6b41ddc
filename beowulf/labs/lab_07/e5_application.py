"""E5, a real application: a search in a database of DNA, divided among the nodes, as in mpiBLAST.

Paper E, section 4.4: with its changes to the latency, a fixed workload of mpiBLAST took 11 % less time, where the
ping-pong had gained 42 %. The synthetic gain is the limit of what an application can get. Here lab 03's search.py
runs Debian's BLAST on made-up sequences, whole and in parts; our ping-pong runs alongside it in each state.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf import papers
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.measure.roundtrips import run as pingpong
from beowulf.measure.statistics import summary
from beowulf.record import Record
from beowulf.studies.quantity import TIMES, Quantity
from beowulf.studies.states import (
    AS_FOUND,
    TOO_FEW,
    Compared,
    States,
    emulated,
    gain,
    measured,
    ping_beside,
    samples,
    several,
    tuned,
    turns,
)
from beowulf.studies.study import Claim, Judgement, Plan, Study
from beowulf.suites import blast
from beowulf.suites.sequences import Collection

if TYPE_CHECKING:
    import pandas as pd

TOTAL = "total_s"
PARTS = (1, 2, 4)
LAUNCHES, QUICK_LAUNCHES = 16, 3  # fewer seldom tell 11 % from half of it
USUAL, QUICK = Collection(16_000_000, 400), Collection(4_000_000, 40)
PING_BYTES, PING_PASSES = 8, 3
TIME_AFTER = 1 + papers.figure("E-applications", "change_percent", workload="mpiBLAST") / 100


def plan(
    cluster: Cluster,
    *,
    quick: bool,
    states: States = AS_FOUND,
    collection: Collection | None = None,
    most_alone: bool = False,
) -> Plan:
    """Search in 1, 2 and 4 parts, a node for each, and run our ping-pong, with the states alternating.

    `most_alone`: in the most parts only, without a test that they find the same hits.
    """
    need_nodes(cluster, 2)
    launches = QUICK_LAUNCHES if quick and len(states) == 1 else LAUNCHES
    made = collection or (QUICK if quick else USUAL)
    parts = [count for count in PARTS if count <= len(cluster.nodes)]
    parts = parts[-1:] if most_alone else parts

    def steps(measurement: Measurement) -> None:
        with blast.files(made) as (database, queries):
            for launch, state in turns(states, launches):
                at = {"state": state}
                how: dict[str, Any] = {"passes": PING_PASSES, "launch": launch, "at": at}
                pingpong(measurement, 2, [PING_BYTES], mode="imb", **how)
                # Each launch begins with another number of parts.
                turned = parts[launch % len(parts) :] + parts[: launch % len(parts)]
                for count in turned:
                    blast.run(measurement, database, queries, count, launch=launch, at=at)

    sweep = {"parts": parts, "states": list(states), "launches": launches, **vars(made)}
    return Plan(launches * len(states) * (len(parts) + 1), sweep, steps)


def most_parts(record: Record) -> dict[str, Any]:
    """The coordinate of the searches in the most parts."""
    return {"parts": max(record.sweep["parts"])}


def identical(record: Record) -> Judgement:
    """Whether every search has the same hits."""
    totals = [point for point in record.points if point.quantity == TOTAL]
    results = {(point.at["parts"], digest) for point in totals for digest in point.facts["digest"]}
    hits = totals[0].facts["hits"][0]
    counts = sorted({parts for parts, _ in results})
    digests = {digest for _, digest in results}
    evidence = f"in {', '.join(map(str, counts))} parts: {len(digests)} results, of {hits} hits"
    numbers = {"parts": counts, "hits": hits}
    if (len(digests) == 1 and counts[:1] != [1]) or len(counts) < 2:
        advice = "Search in 1 part and in more than 1."
        return Judgement("inconclusive", evidence, numbers, advice)
    return Judgement("holds" if len(digests) == 1 else "contradicted", evidence, numbers)


def limit(record: Record) -> Judgement:
    """The times after as shares of those before: of the ping-pong, and of the search in the most parts."""
    times = {"ping": gain(record, HALF), "search": gain(record, TOTAL, **most_parts(record))}
    known = several(times)
    if len(known) < 2:
        return TOO_FEW
    ping, search = (
        Quantity(f"the {name}, after over before", itemgetter(name), TIMES) for name in times
    )
    return (ping < search)(known)


def compared(record: Record) -> list[Compared]:
    """What is shown beside the other programs, before and after."""
    at = most_parts(record)
    total = Compared(f"search, {at['parts']} parts", TOTAL, "s", at, workload="mpiBLAST")
    return [ping_beside("the search", workload="IMB PingPong"), total]


def table(record: Record) -> pd.DataFrame:
    """One row a state and number of parts: the median seconds of each step, n, speed-up over 1 part, hits."""
    import pandas as pd

    rows = []
    for state in measured(record):
        alone = samples(record, TOTAL, state=state, parts=1)
        for parts in record.sweep["parts"]:
            at = {"state": state, "parts": parts}
            if not (whole := samples(record, TOTAL, **at)):
                continue
            of = summary(whole, busy=record.busy)
            steps = {
                f"{step}_s": float(np.median(samples(record, f"{step}_s", **at)))
                for step in blast.STEPS
            }
            faster = float(np.median(alone)) / of.median if alone else float("nan")
            ends = {"low_s": of.low, "high_s": of.high, "n": of.n}
            rows.append({**at, **steps, **ends, "speed_up": faster})
    if not rows:
        raise LabError("The Record of study E5 has no search.", "Measure again.")
    return pd.DataFrame(rows)


def picture(record: Record) -> Figure:
    """The seconds of each step, by the number of parts, in each state."""
    from beowulf import figures

    steps = table(record)
    several = len(measured(record)) > 1
    values: dict[str, dict[str, float]] = {}
    for row in steps.to_dict("records"):
        parts = "1 part" if row["parts"] == 1 else f"{row['parts']} parts"
        name = f"{parts}, {row['state']}" if several else parts
        for step in blast.STEPS:
            values.setdefault(step, {})[name] = float(row[f"{step}_s"])
    drawn = figures.bars(values, title=STUDY.title, value_title="seconds (median)")
    return Figure(drawn.drawing, drawn.title, drawn.alt, steps)


STUDY = Study(
    id="E5",
    title="A real application: a search of sequences, divided among the nodes",
    plan=plan,
    judged=[
        Claim(
            "identical",
            "The parts find what a search of the whole database finds",
            identical,
            needs="samples",
        ),
        tuned(
            "tuned-time",
            f"After tuning the latency, the application takes {100 * (1 - TIME_AFTER):.0f} % less time",
            TOTAL,
            TIME_AFTER,
            where=most_parts,
        ).at("section 4.4"),
        Claim(
            "synthetic-is-the-limit",
            "The ping-pong gains more than the application: it is virtually the limit of what one can get",
            limit,
            caveat=emulated,
            place="section 4.4",
        ),
    ],
    draw=picture,
    troubles=lambda record: trouble(record, TOTAL, enough=QUICK_LAUNCHES),
    differs={
        "holds": (
            "Each part is searched with the size of the whole database, so the hits are the same, and a search"
            " computes far longer than it sends, so it gains less than a ping-pong."
        ),
        "contradicted": (
            "A search of this size computes nearly all of the time, so a lower latency hardly changes it; the"
            " paper's 11 % are those of mpiBLAST on 32 nodes with network cards."
        ),
        "inconclusive": (
            "A gain needs at least six pairs of two alternating states, which `beowulf tune compare search`"
            " measures; `beowulf study E5` has only one state."
        ),
    },
)
