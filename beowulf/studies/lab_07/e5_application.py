"""E5, a real application: a search in a database of DNA, divided among the nodes, as mpiBLAST did it.

Paper E, section 4.4: with its changes to the latency, a fixed workload of mpiBLAST took 11 % less time, where the
ping-pong had gained 42 %. The synthetic gain is the limit of what an application can get. Here lab 03's search.py
runs Debian's BLAST on made-up sequences, whole and in parts; our ping-pong is run beside it in each state.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.judgement import need_study, unjudged, verdict
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.measure.roundtrips import run as pingpong
from beowulf.measure.statistics import summary
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_07.states import (
    AS_FOUND,
    FEWEST_PAIRS,
    TUNE,
    States,
    gain,
    measured,
    samples,
    tuned,
    turns,
)
from beowulf.suites import blast
from beowulf.suites.sequences import Collection
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pandas as pd

ID = "E5"
TITLE = "A real application: a search of sequences, divided among the nodes"

TOTAL = "total_s"
PARTS = (1, 2, 4)
LAUNCHES, QUICK_LAUNCHES = 6, 3
USUAL, QUICK = Collection(16_000_000, 400), Collection(4_000_000, 40)
PING_BYTES, PING_PASSES = 8, 3
TIME_AFTER = 0.89

SAME = "The parts find what a search of the whole database finds"
TIME = "After tuning the latency, the application takes 11 % less time"
LIMIT = "The ping-pong gains more than the application: it is the limit of what one can get"
CLAIMS = {"identical": SAME, "tuned-time": TIME, "synthetic-is-the-limit": LIMIT}


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    states: States = AS_FOUND,
    collection: Collection | None = None,
    most_alone: bool = False,
) -> Record:
    """Search in 1, 2 and 4 parts, a node for each, and our ping-pong, in each of the states in turns.

    `most_alone`: in the most parts only, which leaves open whether they find what the whole has.
    """
    need_nodes(cluster, 2)
    launches = QUICK_LAUNCHES if quick else LAUNCHES  # never below FEWEST_PAIRS
    made = collection or (QUICK if quick else USUAL)
    parts = [count for count in PARTS if count <= len(cluster.nodes)]
    parts = parts[-1:] if most_alone else parts
    with (
        Measurement(
            ID,
            cluster,
            folder,
            quick=quick,
            progress=progress,
            launches=launches * len(states) * (len(parts) + 1),
            sweep={"parts": parts, "states": list(states), "launches": launches, **vars(made)},
        ) as session,
        blast.files(made) as (database, looked_for),
    ):
        for launch, state in turns(states, launches):
            where = {"state": state}
            pingpong(
                session,
                2,
                [PING_BYTES],
                passes=PING_PASSES,
                launch=launch,
                mode="imb",
                at=where,
            )
            # Each launch begins with another number of parts.
            turned = parts[launch % len(parts) :] + parts[: launch % len(parts)]
            for count in turned:
                blast.run(session, database, looked_for, count, launch=launch, at=where)
    return session.record()


def claims(record: Record) -> list[Verdict]:
    """Whether the parts find the same, and what paper E says that tuning gave."""
    need_study(record, ID)
    bad = trouble(record, TOTAL, enough=QUICK_LAUNCHES)
    if NO_SAMPLES in bad:
        return unjudged(record, CLAIMS, bad)
    most = max(record.sweep["parts"])
    return [
        _identical(record),
        tuned(record, "tuned-time", TIME, TOTAL, TIME_AFTER, trouble=bad, parts=most),
        _limit(record, most, bad),
    ]


def _identical(record: Record) -> Verdict:
    found = {
        (point.at["parts"], digest)
        for point in record.points
        if point.quantity == TOTAL
        for digest in point.facts["digest"]
    }
    hits = next(p.facts["hits"][0] for p in record.points if p.quantity == TOTAL)
    counts = sorted({parts for parts, _ in found})
    alike = len({digest for _, digest in found}) == 1
    outcome: Outcome = "holds" if alike else "contradicted"
    advice = ""
    if (alike and counts[:1] != [1]) or len(counts) < 2:
        outcome, advice = "inconclusive", "Search in 1 part and in more than 1."
    return verdict(
        record,
        "identical",
        SAME,
        outcome,
        f"in {', '.join(map(str, counts))} parts there are {len({d for _, d in found})} results,"
        f" of {hits} hits",
        advice=advice,
        numbers={"parts": counts, "hits": hits},
    )


def _limit(record: Record, parts: int, bad: list[str]) -> Verdict:
    name = "synthetic-is-the-limit"
    application, synthetic = gain(record, TOTAL, parts=parts), gain(record, HALF)
    if not application or not synthetic or min(application.n, synthetic.n) < FEWEST_PAIRS:
        seen = f"there are fewer than {FEWEST_PAIRS} pairs of before and after"
        return verdict(record, name, LIMIT, "inconclusive", seen, advice=TUNE)
    outcome: Outcome = "inconclusive"
    if synthetic.high < application.low:
        outcome = "holds"
    elif application.high < synthetic.low:
        outcome = "contradicted"
    return verdict(
        record,
        name,
        LIMIT,
        outcome,
        f"after the change the ping-pong takes {synthetic.median:.2f} times as long as before,"
        f" the application {application.median:.2f} times",
        numbers={"pingpong_times": synthetic.median, "application_times": application.median},
        trouble=bad,
    )


def table(record: Record) -> pd.DataFrame:
    """One row a state and number of parts: the median seconds of each step, n, speed-up over 1 part, hits."""
    import pandas as pd

    rows = []
    for state in measured(record):
        alone = samples(record, TOTAL, state=state, parts=1)
        for parts in record.sweep["parts"]:
            whole = samples(record, TOTAL, state=state, parts=parts)
            if not whole:
                continue
            found = summary(whole)
            steps = {
                f"{step}_s": float(
                    np.median(samples(record, f"{step}_s", state=state, parts=parts))
                )
                for step in blast.STEPS
            }
            faster = float(np.median(alone)) / found.median if alone else float("nan")
            more = {"low_s": found.low, "high_s": found.high, "n": found.n, "speed_up": faster}
            rows.append({"state": state, "parts": parts, **steps, **more})
    if not rows:
        raise LabError(f"The Record of study {ID} has no search.", "Measure again.")
    return pd.DataFrame(rows)


def picture(record: Record) -> Figure:
    """The seconds of each step, by the number of parts, in each state."""
    from beowulf import figures

    need_study(record, ID)
    found = table(record)
    several = len(measured(record)) > 1
    values: dict[str, dict[str, float]] = {}
    for row in found.to_dict("records"):
        parts = "1 part" if row["parts"] == 1 else f"{row['parts']} parts"
        name = f"{parts}, {row['state']}" if several else parts
        for step in blast.STEPS:
            values.setdefault(step, {})[name] = float(row[f"{step}_s"])
    drawn = figures.bars(values, title=TITLE, value_title="seconds (median)")
    return Figure(drawn.drawing, drawn.title, drawn.alt, found)
