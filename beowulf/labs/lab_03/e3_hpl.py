"""E3, HPL: the rate at which the nodes solve one system of equations, and how much of it the network costs.

Paper E, section 4.2: N 37326, blocks of 168, a grid of 15 x 16 ranks; after tuning the latency, 56 % less time and
almost 2.5 times the performance. Here the problem fits this cluster, and is solved several times in each launch.
DGEMM of the same run is the rate of the ranks without messages.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from beowulf import papers
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_03 import hpcc_runs
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import LEAST_PAIRS, Summary, summary
from beowulf.measure.table import summary_of
from beowulf.record import Record
from beowulf.studies.quantity import Quantity, scaled
from beowulf.studies.states import (
    AS_FOUND,
    BEFORE,
    Compared,
    States,
    measured,
    samples,
    tuned,
    turns,
)
from beowulf.studies.study import Claim, Judgement, Plan, Study
from beowulf.suites import hpl
from beowulf.suites.problem import THRESHOLD

if TYPE_CHECKING:
    import pandas as pd

RATE, SECONDS, ALONE = "hpl_gflops", "hpl_s", "dgemm_gflops"
LAUNCHES, RUNS = 2, 8
QUICK_LAUNCHES, QUICK_RUNS = 1, 4
MOST_NODES = 4
BELOW = 0.9  # of the rate without messages
PRINTED = partial(papers.figure, "E-applications", workload="HPL")
TIME_AFTER = 1 + PRINTED("change_percent", quantity="time") / 100
RATE_AFTER = PRINTED("times", quantity="performance")


def plan(cluster: Cluster, *, quick: bool, states: States = AS_FOUND, size: int = 0) -> Plan:
    """HPL on up to four nodes, alternating between the states; `size` equations instead of the usual number."""
    launches, runs = (QUICK_LAUNCHES, QUICK_RUNS) if quick else (LAUNCHES, RUNS)
    if len(states) > 1:
        launches = max(launches, -(-LEAST_PAIRS // runs))
    nodes = min(len(cluster.nodes), MOST_NODES)
    problem = hpl.choose(cluster, nodes, size=size, quick=quick, runs=runs)

    def steps(measurement: Measurement) -> None:
        for launch, state in turns(states, launches):
            results, at = hpcc_runs.run(
                measurement, problem, brief=True, launch=launch, state=state
            )
            for each in results.solutions:
                checked = {"residual": each.residual, "passed": each.passed}
                measurement.add(at, RATE, [each.gflops], **checked)
                measurement.add(at, SECONDS, [each.seconds])
            measurement.add(at, ALONE, [results.figures[ALONE]])

    return Plan(launches * len(states), hpcc_runs.sweep(problem, states, launches), steps)


def residual(record: Record) -> Judgement:
    """Whether every solution passes HPL's own check."""
    rates = [point for point in record.points if point.quantity == RATE]
    passed = [word for point in rates for word in point.facts["passed"]]
    largest = max(value for point in rates for value in point.facts["residual"])
    return Judgement(
        "holds" if all(passed) else "contradicted",
        f"{sum(passed)} of {len(passed)} solutions pass; the largest scaled residual is {largest:.2g},"
        f" and it has to be below {THRESHOLD:g}",
        {"passed": sum(passed), "solutions": len(passed), "largest": largest},
    )


def ranks(record: Record) -> int:
    """How many ranks there are."""
    return int(record.sweep["p"] * record.sweep["q"])


def rate(record: Record, quantity: str) -> Summary:
    """The Gflop/s of all launches in the last state, the cluster as it was found."""
    last = record.select(state=measured(record)[-1])
    return summary_of((p for p in last if p.quantity == quantity), busy=record.busy)


TOGETHER = Quantity("HPL", lambda record: rate(record, RATE), "Gflop/s")
EACH_ALONE = Quantity(
    "all ranks in DGEMM", lambda record: scaled(rate(record, ALONE), ranks(record)), "Gflop/s"
)


def compared(record: Record) -> list[Compared]:
    """What is shown alongside the other programs, before and after."""
    return [Compared(f"HPL, {record.sweep['n']:,} equations", SECONDS, "s", workload="HPL")]


def table(record: Record) -> pd.DataFrame:
    """One row per state: n, ranks, solutions, seconds and Gflop/s (median), the best, DGEMM of all ranks, the share."""
    import pandas as pd

    rows = []
    for state in measured(record):
        rates = samples(record, RATE, state=state)
        if not rates:
            continue
        of = summary(rates, busy=record.busy)
        alone = float(ranks(record) * np.median(samples(record, ALONE, state=state)))
        rows.append(
            {
                "state": state,
                "n": record.sweep["n"],
                "ranks": ranks(record),
                "solutions": of.n,
                "seconds": float(np.median(samples(record, SECONDS, state=state))),
                "gflops": of.median,
                "low": of.low,
                "high": of.high,
                "best_gflops": max(rates),
                "dgemm_gflops": alone,
                "share": of.median / alone,
            }
        )
    if not rows:
        raise LabError("The Record of study E3 has no HPL solution.", "Measure again.")
    return pd.DataFrame(rows)


def picture(record: Record) -> Figure:
    """The nodes' rate together and alone, in each state, and paper E's gain applied to it."""
    from beowulf import figures

    states = table(record)
    before = states[states["state"] == BEFORE]["gflops"]
    gained = {"HPL, together": RATE_AFTER * float(before.iloc[0])} if len(before) else {}
    columns = {"HPL, together": "gflops", "DGEMM, each alone": "dgemm_gflops"}
    values = {
        str(row["state"]): {says: float(row[name]) for says, name in columns.items()}
        for row in states.to_dict("records")
    }
    drawn = figures.bars(
        values,
        title=f"HPL, N {record.sweep['n']:,}: together and each alone",
        value_title="Gflop/s of all ranks (median)",
        published={f"before, {RATE_AFTER:g} times (the paper: almost)": gained} if gained else None,
    )
    return Figure(drawn.drawing, drawn.title, drawn.alt, states)


STUDY = Study(
    id="E3",
    title="HPL: one system of equations on all nodes",
    plan=plan,
    judged=[
        Claim(
            "residual",
            "The solution is right: it passes HPL's own check",
            residual,
            needs="samples",
        ),
        Claim(
            "below-dgemm",
            "HPL leans on the network: it stays below the rate at which the ranks multiply alone",
            TOGETHER / EACH_ALONE < BELOW,
        ),
        tuned(
            "tuned-time",
            f"After tuning the latency, HPL takes {100 * (1 - TIME_AFTER):.0f} % less time",
            SECONDS,
            TIME_AFTER,
        ).at("section 4.2"),
        tuned(
            "tuned-rate",
            f"After tuning the latency, HPL has almost {RATE_AFTER:g} times the performance",
            RATE,
            1 / RATE_AFTER,
            rate=True,
        ).at("section 4.2"),
    ],
    draw=picture,
    # Intervals are drawn by launches, and pairs are of one launch: launches may differ.
    troubles=lambda record: trouble(record, RATE, similar_within=math.inf, enough=QUICK_RUNS),
    differs={
        "holds": (
            "HPL verifies its own solution, and its panels cross the network, so with any library "
            "the ranks stay below the rate at which each multiplies alone."
        ),
        "contradicted": (
            "At 100 Mbit/s a small problem waits for bytes more than for latency, and ranks that share "
            "cores lose their gain to interrupts; the paper's 56 % comes from 240 processes on Gigabit Ethernet."
        ),
        "inconclusive": (
            "A gain needs two alternating states, as in `beowulf tune compare hpl`, or launches differ "
            "by as much as the gain, which PCs with a core for each rank would decide."
        ),
    },
)
