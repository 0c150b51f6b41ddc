"""A4: the NAS Parallel Benchmarks on one node and on several, and how much of their time is spent inside of MPI.

Paper A's table 5 has MG, FT, LU, SP and BT in Mop/s, of its own cluster at class A and of Grendel at class B, so its
columns cannot be compared. What can be compared is how the five lie to each other: MG and FT do far fewer operations
a second than the others. The paper does not say why. Here each benchmark also runs with profile.c between it and MPI.

The nodes of a local cluster share the cores of one machine: there, four are at most as many times as fast as there are
cores, and who waits for a core inside of MPI is counted as communicating.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.measure.judgement import need_study
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import need_nodes
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_03 import parallel_tables, parallel_verdicts
from beowulf.studies.lab_03.parallel_tables import DURATION, RANKS, calls, table
from beowulf.suites import npb
from beowulf.verdict import Verdict

if TYPE_CHECKING:
    from beowulf.figures import Figure

__all__ = ["calls", "claims", "measure", "picture", "table"]

ID = "A4"
TITLE = "Parallel benchmarks: how fast are four nodes, and what do they wait for?"
LAUNCHES, PROFILED = 3, 2
QUICK_LAUNCHES, QUICK_PROFILED = 2, 1
COUNTS, QUICK_COUNTS = (1, 2, RANKS), (1, RANKS)
CLASS, QUICK_CLASS = "W", "S"
SEED = 1


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> Record:
    """Every benchmark on each number of nodes, in an order of its own for each launch; then under profile.c."""
    need_nodes(cluster, RANKS)
    letter = QUICK_CLASS if quick else CLASS
    counts = QUICK_COUNTS if quick else COUNTS
    launches, profiled = (QUICK_LAUNCHES, QUICK_PROFILED) if quick else (LAUNCHES, PROFILED)
    npb.refuse(cluster, list(npb.BENCHMARKS), letter, RANKS)
    places = [
        (name, ranks)
        for name, benchmark in npb.BENCHMARKS.items()
        for ranks in counts
        if benchmark.takes(ranks)
    ]
    sweep = {"class": letter, "launches": launches, "profiled_launches": profiled, "seed": SEED}
    planned = launches * len(places) + profiled * len(npb.BENCHMARKS)
    draw = random.Random(SEED)
    with Measurement(
        ID, cluster, folder, quick=quick, progress=progress, launches=planned, sweep=sweep
    ) as session:
        progress(0, planned, f"{ID}: compiling")
        session.prepare_all([benchmark.source for benchmark in npb.BENCHMARKS.values()])
        for number in range(launches):
            for name, ranks in draw.sample(places, len(places)):
                _run(session, name, letter, ranks, number)
        for number in range(profiled):
            for name in draw.sample(list(npb.BENCHMARKS), len(npb.BENCHMARKS)):
                _run(session, name, letter, RANKS, number, profiled=True)
    return session.record()


def _run(
    session: Measurement, name: str, letter: str, ranks: int, number: int, *, profiled: bool = False
) -> None:
    session.progress(session.done, session.planned, f"{ID}: {name} on {ranks}")
    run = npb.run(session, name, letter, ranks, launch=number, profiled=profiled)
    at = {"benchmark": name, "class": letter, "profiled": profiled}
    at |= {"ranks": ranks, "launch": number}
    facts = {"profile": run.profile.as_plain()} if run.profile else {}
    session.add(at, DURATION, [run.seconds], mops=run.mops, verified=run.verified, **facts)


def claims(record: Record) -> list[Verdict]:
    """What table 5 shows, what four nodes are to be good for, and what the profile explains."""
    need_study(record, ID)
    return parallel_verdicts.claims(record)


def picture(record: Record) -> Figure:
    """How the time of each benchmark is divided, and its Mop/s beside those of table 5."""
    need_study(record, ID)
    return parallel_tables.picture(record, TITLE)
