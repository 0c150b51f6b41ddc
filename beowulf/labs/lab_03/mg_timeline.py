"""Lab 03: MG on four ranks with every MPI call recorded, as Record T3 with its trace: where does the time go?"""

from __future__ import annotations

from typing import Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises import timelines
from beowulf.exercises.heat.measurements import several
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.suites import npb

STUDY, RUN, CLASS = "T3", "MG", "S"
PARTS = ("computing", "network", "waiting")


def traced(cluster: Cluster) -> Record:
    """Run MG once and save its ranks' calls."""

    def go(session: Measurement) -> None:
        ranks = max(npb.BENCHMARKS[RUN].counts(several(cluster)))
        npb.run(session, RUN, CLASS, ranks)
        timelines.keep(session, RUN)

    return timelines.recorded(cluster, STUDY, go)


def parts(record: Record) -> Any:
    """A row per rank: the milliseconds that it computes, waits for another rank, and spends otherwise in MPI."""
    import pandas as pd

    return pd.DataFrame([{"rank": point.at["rank"], **point.facts} for point in _of_ranks(record)])


def shares(record: Record) -> dict[str, float]:
    """The share of all ranks' time in each part, in per cent; LabError if the times are missing."""
    sums = {part: sum(p.facts[f"{part}_ms"] for p in _of_ranks(record)) for part in PARTS}
    whole = sum(sums.values())
    if whole <= 0:
        raise LabError("it has no times for the ranks")
    return {part: 100 * value / whole for part, value in sums.items()}


def _of_ranks(record: Record) -> list[Point]:
    return [p for p in record.select(**{timelines.RUN: RUN}) if "rank" in p.at]
