"""E4, the HPC Challenge: seven benchmarks in one run, of which some talk and some do not.

Paper E, section 4.3: with its changes to the latency the whole suite took 29 % less time; latency, bandwidth and
PTRANS moved, DGEMM and STREAM did not, because each node works there for itself. Our own ping-pong is run beside
b_eff: the same wire, another library (Open MPI there, MPICH here), the same 8 bytes.
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
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_03 import hpcc_runs
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
from beowulf.suites import hpl
from beowulf.suites.hpcc_results import RESULTS, SECTIONS
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pandas as pd

ID = "E4"
TITLE = "HPC Challenge: seven benchmarks in one run"

WHOLE, SECTION = "launch_s", "section_s"
LAUNCHES, QUICK_LAUNCHES = 2, 1
MOST_NODES = 4
PING_BYTES, PING_PASSES, QUICK_PASSES = 8, 6, 3
TIME_AFTER = 0.71
ALIKE = 1.25  # the fastest node over the slowest
SAME_LATENCY = 2.0  # two libraries, one wire
UNMOVED = 0.1
LOCAL = ("dgemm_gflops", "stream_gb_per_s")
ON_THE_WIRE = ("latency_us", "ring_latency_us", "ptrans_gb_per_s")

CHECKS = "Every benchmark of the suite passes its own check"
NODES = "The nodes perform alike: DGEMM is about as fast on each"
LATENCY = "b_eff and our own ping-pong find the same latency"
TIME = "After tuning the latency, the whole suite takes 29 % less time"
STILL = "What is local, DGEMM and STREAM, does not move when the latency is tuned"
MOVED = "What talks, latency and PTRANS, gets better when the latency is tuned"
CLAIMS = {
    "checks": CHECKS,
    "nodes-alike": NODES,
    "latency-agrees": LATENCY,
    "tuned-time": TIME,
    "local-unmoved": STILL,
    "network-moved": MOVED,
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
    """All of hpcc on up to four nodes and our ping-pong, in each of the states in turns.

    Quick: a small problem, and b_eff's long messages are cut short, so its bandwidth is left out.
    """
    need_nodes(cluster, 2)
    launches = QUICK_LAUNCHES if quick else LAUNCHES
    if len(states) > 1:
        launches = max(launches, FEWEST_PAIRS)
    ranks = min(len(cluster.nodes), MOST_NODES)
    problem = hpl.choose(cluster, ranks, size=size, quick=quick)
    with Measurement(
        ID,
        cluster,
        folder,
        quick=quick,
        progress=progress,
        launches=2 * launches * len(states),
        sweep=hpcc_runs.sweep(problem, states, launches),
    ) as session:
        for launch, state in turns(states, launches):
            passes = QUICK_PASSES if quick else PING_PASSES
            where = {"state": state}
            pingpong(session, 2, [PING_BYTES], passes=passes, launch=launch, mode="imb", at=where)
            results, at = hpcc_runs.run(session, problem, brief=quick, launch=launch, state=state)
            for result in RESULTS:
                if result.key in results.figures:
                    named = {"result": result.key, "test": result.test, "unit": result.unit}
                    session.add({**named, **at}, result.key, [results.figures[result.key]])
            slow, fast = results.spread["dgemm"]
            session.add({"spread": "dgemm", **at}, "dgemm_gflops_of_a_rank", [slow, fast])
    return session.record()


def claims(record: Record) -> list[Verdict]:
    """Whether all checks pass, the nodes are alike and the latencies agree; and what tuning gave."""
    need_study(record, ID)
    bad = trouble(record, WHOLE, enough=1)
    if NO_SAMPLES in bad:
        return unjudged(record, CLAIMS, bad)
    return [
        _checks(record),
        _alike(record, bad),
        _agrees(record, bad),
        tuned(record, "tuned-time", TIME, WHOLE, TIME_AFTER, trouble=bad),
        _states(record, "local-unmoved", STILL, LOCAL, bad),
        _states(record, "network-moved", MOVED, ON_THE_WIRE, bad),
    ]


def _checks(record: Record) -> Verdict:
    failures = [f for p in record.select(suite="hpcc") for f in p.facts.get("failures", [])]
    return verdict(
        record,
        "checks",
        CHECKS,
        "contradicted" if failures else "holds",
        "; ".join(failures) or "no check failed",
        numbers={"failures": len(failures)},
    )


def _alike(record: Record, bad: list[str]) -> Verdict:
    found = [point.samples for point in record.select(spread="dgemm")]
    slow, fast = min(min(each) for each in found), max(max(each) for each in found)
    seen = f"the slowest rank has {slow:.3g} Gflop/s in DGEMM, the fastest {fast:.3g}"
    outcome: Outcome = "holds" if slow > 0 and fast / slow <= ALIKE else "contradicted"
    advice, but = "", ""
    if outcome == "contradicted" and any(
        p.facts.get("crowded") for p in record.select(suite="hpcc")
    ):
        but = "the ranks outnumber the cores, and some waited for one"
        advice = (
            "Measure on nodes with a core each; `beowulf node-bench --all` asks them one by one."
        )
    return verdict(
        record,
        "nodes-alike",
        NODES,
        outcome,
        seen,
        advice=advice,
        but=but,
        numbers={"slowest": slow, "fastest": fast},
        trouble=bad,
    )


def _agrees(record: Record, bad: list[str]) -> Verdict:
    state = measured(record)[0]
    # The least of each: on a crowded machine, what lies above it is the wait for a core.
    theirs = min(samples(record, "least_latency_us", state=state))
    ours = min(samples(record, HALF, state=state))
    times = max(theirs / ours, ours / theirs)
    return verdict(
        record,
        "latency-agrees",
        LATENCY,
        "holds" if times <= SAME_LATENCY else "contradicted",
        f"{PING_BYTES} bytes, half round trip: b_eff at least {theirs:.1f} µs with Open MPI,"
        f" ours at least {ours:.1f} µs with MPICH",
        numbers={"b_eff_us": theirs, "ours_us": ours, "times": times},
        trouble=bad,
    )


def _states(
    record: Record, claim: str, says: str, keys: tuple[str, ...], bad: list[str]
) -> Verdict:
    """Whether all of the results moved (those on the wire), or none of them did (the local ones)."""
    rates = {result.key: not result.smaller_is_better for result in RESULTS}
    found = {key: gain(record, key, rate=rates[key]) for key in keys}
    known = {key: each for key, each in found.items() if each and each.n >= FEWEST_PAIRS}
    if len(known) < len(keys):
        seen = f"there are fewer than {FEWEST_PAIRS} pairs of before and after"
        return verdict(record, claim, says, "inconclusive", seen, advice=TUNE)
    said = ", ".join(f"{key} {each.median:.2f}" for key, each in known.items())
    if keys == LOCAL:
        moved = [e for e in known.values() if e.low > 1 + UNMOVED or e.high < 1 - UNMOVED]
        unsure = [e for e in known.values() if e.low < 1 - UNMOVED or e.high > 1 + UNMOVED]
        outcome: Outcome = "contradicted" if moved else "inconclusive" if unsure else "holds"
    else:
        better = [each.high < 1 for each in known.values()]
        worse = [each.low >= 1 for each in known.values()]
        outcome = "holds" if all(better) else "contradicted" if any(worse) else "inconclusive"
    return verdict(
        record,
        claim,
        says,
        outcome,
        f"the time after as a share of the time before: {said}",
        numbers={key: each.median for key, each in known.items()},
        trouble=bad,
    )


def table(record: Record) -> pd.DataFrame:
    """One row a result and state: state, test, result, value (median of the launches), unit, local."""
    import pandas as pd

    rows = []
    for state in measured(record):
        for each in RESULTS:
            found = samples(record, each.key, state=state, result=each.key)
            if found:
                rows.append(
                    {
                        "state": state,
                        "test": each.test,
                        "result": each.key,
                        "value": float(np.median(found)),
                        "unit": each.unit,
                        "local": each.local,
                    }
                )
    if not rows:
        raise LabError(f"The Record of study {ID} has no result of hpcc.", "Measure again.")
    return pd.DataFrame(rows)


def sections(record: Record) -> dict[str, dict[str, float]]:
    """By state, the seconds of each section of hpcc that lasted one or more (its clock has whole seconds)."""
    found: dict[str, dict[str, float]] = {}
    for state in measured(record):
        for name in SECTIONS:
            seconds = samples(record, SECTION, state=state, section=name)
            if seconds and np.median(seconds) >= 1:
                found.setdefault(state, {})[name] = float(np.median(seconds))
    return found


def picture(record: Record) -> Figure:
    """Where the time of the suite goes, in each state; its table has the results."""
    from beowulf import figures

    need_study(record, ID)
    found = table(record)
    drawn = figures.bars(
        sections(record),
        title="Where the time of hpcc goes",
        value_title="seconds (median of the launches; its clock has whole seconds)",
    )
    results = ", ".join(
        f"{row.result} {float(str(row.value)):.3g} {row.unit} ({row.state})"
        for row in found.itertuples()
    )
    return Figure(drawn.drawing, drawn.title, f"{drawn.alt} Results: {results}.", found)
