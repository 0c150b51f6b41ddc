"""L2, the synthetic gain beside the application's: what a shorter way for one byte gives to programs that compute too.

Paper E, sections 4.2 to 4.4, measured its ping-pong, HPL, HPCC and a search before and after, and concludes that
the ping-pong's gain is the limit of what an application can get. E3, E4 and E5 measure the same programs; here are
four kernels of NPB that talk much, beside the ping-pong, before and after in turns on all four nodes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.judgement import narrower, need_study, unjudged, verdict
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.measure.roundtrips import run as pingpong
from beowulf.measure.statistics import Ratio
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_07.states import AFTER, BEFORE, FEWEST_PAIRS, gain, turns
from beowulf.suites.npb import BENCHMARKS, result
from beowulf.tuning import paper_e_baseline
from beowulf.verdict import Outcome, Verdict

ID = "L2"
TITLE = "The gain of the ping-pong beside that of NPB's kernels"

KERNELS = ("IS", "CG", "MG", "FT")
RANKS, LETTER = 4, "S"
TIME = "kernel_s"
LAUNCHES, QUICK_LAUNCHES = 8, 3  # never below FEWEST_PAIRS
PING_BYTES, PING_PASSES = 8, 10

SOME = "Tuning the latency makes a kernel that talks much faster"
LIMIT = "The ping-pong gains more than any kernel: it is the limit of what one can get"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> Record:
    """The ping-pong and each kernel once a launch, in both states in turns."""
    need_nodes(cluster, RANKS)
    launches = QUICK_LAUNCHES if quick else LAUNCHES
    told = {"states": [BEFORE, AFTER], "launches": launches, "class": LETTER}
    with (
        paper_e_baseline.states(cluster) as states,
        Measurement(
            ID,
            cluster,
            folder,
            quick=quick,
            progress=progress,
            launches=launches * len(states) * (1 + len(KERNELS)),
            sweep={**told, "testbed": paper_e_baseline.TESTBED},
        ) as session,
    ):
        for name in KERNELS:
            session.prepare(BENCHMARKS[name].source)
        for launch, state in turns(states, launches):
            at = {"state": state}
            pingpong(session, 2, [PING_BYTES], passes=PING_PASSES, launch=launch, at=at)
            for name in KERNELS:
                _kernel(session, name, launch, state)
    return session.record()


def _kernel(session: Measurement, name: str, launch: int, state: str) -> None:
    at = {"kernel": name, "state": state}
    lines = session.launch(BENCHMARKS[name].source, RANKS, [LETTER], launch=launch, at=at)
    seconds = float(result(lines, name, LETTER)["seconds"])
    session.add({**at, "launch": launch}, TIME, [seconds])


def found(record: Record) -> dict[str, Ratio]:
    """The time after as a share of the time before: of the ping-pong, and of each kernel."""
    known = {"ping-pong": gain(record, HALF)}
    known |= {name: gain(record, TIME, kernel=name) for name in KERNELS}
    return {name: each for name, each in known.items() if each and each.n >= FEWEST_PAIRS}


def claims(record: Record) -> list[Verdict]:
    """Whether kernels gain, each, and whether none gains more than the ping-pong."""
    need_study(record, ID)
    bad = trouble(record, HALF)
    names = {f"{name.lower()}-gains": f"{SOME}: {name}" for name in KERNELS}
    if NO_SAMPLES in bad:
        return unjudged(record, {**names, "synthetic-is-the-limit": LIMIT}, bad)
    known = found(record)
    said = [_gains(record, name, known.get(name), bad) for name in KERNELS]
    return [*said, _limit(record, known, bad)]


def _text(ratio: Ratio) -> str:
    percent = [100 * (value - 1) for value in (ratio.median, ratio.low, ratio.high)]
    return f"{percent[0]:+.1f} % ({percent[1]:+.1f} to {percent[2]:+.1f})"


def _gains(record: Record, name: str, ratio: Ratio | None, bad: list[str]) -> Verdict:
    claim, says = f"{name.lower()}-gains", f"{SOME}: {name}"
    if ratio is None:
        seen = f"{name} was not measured {FEWEST_PAIRS} times in both states"
        return verdict(record, claim, says, "inconclusive", seen, advice=narrower(record))
    outcome: Outcome = "holds" if ratio.high < 1 else "inconclusive"
    if ratio.low > 1:
        outcome = "contradicted"
    return verdict(
        record,
        claim,
        says,
        outcome,
        f"its time changes by {_text(ratio)} when the testbed's state is taken away",
        advice=narrower(record) if outcome == "inconclusive" else "",
        numbers={"times": ratio.median},
        trouble=bad,
    )


def _limit(record: Record, known: dict[str, Ratio], bad: list[str]) -> Verdict:
    ping = known.get("ping-pong")
    kernels = {name: ratio for name, ratio in known.items() if name in KERNELS}
    if not ping or not kernels:
        seen = "the ping-pong or the kernels were not measured in both states"
        advice = narrower(record)
        return verdict(record, "synthetic-is-the-limit", LIMIT, "inconclusive", seen, advice=advice)
    most = min(kernels, key=lambda name: kernels[name].median)
    outcome: Outcome = "inconclusive"
    if all(ratio.low > ping.high for ratio in kernels.values()):
        outcome = "holds"
    elif any(ratio.high < ping.low for ratio in kernels.values()):
        outcome = "contradicted"
    return verdict(
        record,
        "synthetic-is-the-limit",
        LIMIT,
        outcome,
        f"the ping-pong changes by {_text(ping)}, {most}, which gains most, by {_text(kernels[most])}",
        advice=narrower(record) if outcome == "inconclusive" else "",
        numbers={name: ratio.median for name, ratio in known.items()},
        trouble=bad,
    )


def picture(record: Record) -> Figure:
    """The change of each time with its interval: the ping-pong's and the kernels'."""
    import pandas as pd

    from beowulf.figures.segments import Value, intervals

    need_study(record, ID)
    known = found(record)
    if not known:
        raise LabError(
            "The Record has no times of before and after.", f"`beowulf study {ID}` measures them."
        )
    values = [
        Value(name, 100 * (each.median - 1), 100 * (each.low - 1), 100 * (each.high - 1))
        for name, each in known.items()
    ]
    drawn = intervals(
        values,
        title="The testbed's state taken away: ping-pong and kernels",
        value_title="time, change (%): median of the pairs",
    )
    rows = [{"what": name, **vars(each)} for name, each in known.items()]
    return replace(drawn, table=pd.DataFrame(rows))
