"""E3, HPL: the rate at which the nodes solve one system of equations, and what the network takes of it.

Paper E, section 4.2: N 37326, blocks of 168, a grid of 15 x 16 ranks; after its changes to the latency, the time
was down by 56 % and the performance almost 2.5 times. The problem here has the size of this cluster, solved
several times in each launch. DGEMM of the same run says what the ranks do when nobody talks.
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
from beowulf.measure.statistics import summary
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_03 import hpcc_runs
from beowulf.studies.lab_07.states import AS_FOUND, States, measured, samples, tuned, turns
from beowulf.suites import hpl
from beowulf.suites.problem import THRESHOLD
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pandas as pd

ID = "E3"
TITLE = "HPL: one system of equations on all nodes"

RATE, SECONDS, ALONE = "hpl_gflops", "hpl_s", "dgemm_gflops"
LAUNCHES, RUNS = 2, 8
QUICK_LAUNCHES, QUICK_RUNS = 1, 4
MOST_NODES = 4
BELOW = 0.9  # of the rate without talking
TIME_AFTER, RATE_AFTER = 0.44, 2.5

RESIDUAL = "The solution is right: it passes HPL's own check"
NETWORK = "HPL leans on the network: it stays below the rate at which the ranks multiply alone"
TIME = "After tuning the latency, HPL takes 56 % less time"
PERFORMANCE = "After tuning the latency, HPL has almost 2.5 times the performance"
CLAIMS = {
    "residual": RESIDUAL,
    "below-dgemm": NETWORK,
    "tuned-time": TIME,
    "tuned-rate": PERFORMANCE,
}


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    states: States = AS_FOUND,
    size: int = 0,
) -> Record:
    """HPL on up to four nodes, in each of the states in turns; `size` equations instead of the usual ones."""
    launches, runs = (QUICK_LAUNCHES, QUICK_RUNS) if quick else (LAUNCHES, RUNS)
    ranks = min(len(cluster.nodes), MOST_NODES)
    problem = hpl.choose(cluster, ranks, size=size, quick=quick, runs=runs)
    with Measurement(
        ID,
        cluster,
        folder,
        quick=quick,
        progress=progress,
        launches=launches * len(states),
        sweep=hpcc_runs.sweep(problem, states, launches),
    ) as session:
        for launch, state in turns(states, launches):
            results, at = hpcc_runs.run(session, problem, brief=True, launch=launch, state=state)
            for each in results.solutions:
                checked = {"residual": each.residual, "passed": each.passed}
                session.add(at, RATE, [each.gflops], **checked)
                session.add(at, SECONDS, [each.seconds])
            session.add(at, ALONE, [results.figures[ALONE]])
    return session.record()


def claims(record: Record) -> list[Verdict]:
    """Whether HPL was solved, what the network took, and what paper E says that tuning gave."""
    need_study(record, ID)
    bad = trouble(record, RATE, enough=QUICK_RUNS)
    if NO_SAMPLES in bad:
        return unjudged(record, CLAIMS, bad)
    return [
        _residual(record),
        _network(record, bad),
        tuned(record, "tuned-time", TIME, SECONDS, TIME_AFTER, trouble=bad),
        tuned(record, "tuned-rate", PERFORMANCE, RATE, 1 / RATE_AFTER, rate=True, trouble=bad),
    ]


def _residual(record: Record) -> Verdict:
    found = [point for point in record.points if point.quantity == RATE]
    passed = [word for point in found for word in point.facts["passed"]]
    largest = max(value for point in found for value in point.facts["residual"])
    return verdict(
        record,
        "residual",
        RESIDUAL,
        "holds" if all(passed) else "contradicted",
        f"{sum(passed)} of {len(passed)} solutions pass; the largest scaled residual is {largest:.2g},"
        f" and it has to be below {THRESHOLD:g}",
        numbers={"passed": sum(passed), "solutions": len(passed), "largest": largest},
    )


def _network(record: Record, bad: list[str]) -> Verdict:
    together = samples(record, RATE)
    ranks = record.sweep["p"] * record.sweep["q"]
    alone = ranks * float(np.median(samples(record, ALONE)))
    share = float(np.median(together)) / alone
    outcome: Outcome = "holds" if share < BELOW else "contradicted"
    return verdict(
        record,
        "below-dgemm",
        NETWORK,
        outcome,
        f"{float(np.median(together)):.3g} Gflop/s, which is {share:.0%} of the {alone:.3g} Gflop/s"
        f" of {ranks} ranks in DGEMM",
        numbers={"share": share, "hpl_gflops": float(np.median(together)), "dgemm_gflops": alone},
        trouble=bad,
    )


def table(record: Record) -> pd.DataFrame:
    """One row a state: n, ranks, solutions, seconds and Gflop/s (median), the best, DGEMM of all ranks, the share."""
    import pandas as pd

    rows = []
    for state in measured(record):
        rates = samples(record, RATE, state=state)
        if not rates:
            continue
        found = summary(rates)
        ranks = record.sweep["p"] * record.sweep["q"]
        alone = ranks * float(np.median(samples(record, ALONE, state=state)))
        rows.append(
            {
                "state": state,
                "n": record.sweep["n"],
                "ranks": ranks,
                "solutions": found.n,
                "seconds": float(np.median(samples(record, SECONDS, state=state))),
                "gflops": found.median,
                "low": found.low,
                "high": found.high,
                "best_gflops": max(rates),
                "dgemm_gflops": alone,
                "share": found.median / alone,
            }
        )
    if not rows:
        raise LabError(f"The Record of study {ID} has no solution of HPL.", "Measure again.")
    return pd.DataFrame(rows)


def picture(record: Record) -> Figure:
    """What the nodes reach together beside what they reach alone, in each state."""
    from beowulf import figures

    need_study(record, ID)
    found = table(record)
    values = {
        str(row.state): {
            "HPL, together": float(str(row.gflops)),
            "DGEMM, each alone": float(str(row.dgemm_gflops)),
        }
        for row in found.itertuples()
    }
    drawn = figures.bars(
        values,
        title=f"HPL, N {record.sweep['n']:,}: together and each alone",
        value_title="Gflop/s of all ranks (median)",
    )
    return Figure(drawn.drawing, drawn.title, drawn.alt, found)
