"""Labs 04 and 05: some steps of the heat program on a timeline, and why its ranks waited, as Records T4 and T5."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.heat.measurements import (
    EXCHANGES,
    OVERLAP_RANKS,
    OVERLAP_ROWS,
    PLATE_ROWS,
    several,
)
from beowulf.exercises.heat.measuring import Heat, measured
from beowulf.exercises.timelines import RUN, analysed, folder_of, points
from beowulf.record import Record
from beowulf.timeline import waits

EXCHANGED, OVERLAPPED = "T4", "T5"
STUDIES = (EXCHANGED, OVERLAPPED)
STEPS = 5
DEADLOCK, TURNS, NONBLOCKING = "deadlock", "in turns", "non-blocking"
# Rows of the first are longer than the eager limit, and those of the others are not.
DEADLOCK_COLUMNS, COLUMNS, HANGS_AFTER_S = 20_000, 10_000, 1.0
SHORT, LONG = "64,000 bytes", "160,000 bytes"
OVERLAP_COLUMNS = {SHORT: 8000, LONG: 20_000}


def traced_exchanges(cluster: Cluster, *, folder: Path | None = None) -> Record:
    """Lab 04: exchange_send_first until it hangs, then some steps in turns and non-blocking, on a timeline."""
    ranks = several(cluster)

    def go(heat: Heat) -> None:
        heat.look_at(*EXCHANGES.values(), needed=("step_numpy",))
        ways = {DEADLOCK: "send_first", TURNS: "in_turns", NONBLOCKING: "nonblocking"}
        for run, way in ways.items():
            if EXCHANGES[way] in heat.faults:
                continue
            if run == DEADLOCK:
                words = f"--columns {DEADLOCK_COLUMNS} --limit {HANGS_AFTER_S}"
                heat.once("deadlock", way, ranks, words.split())
            else:
                plate = ["--rows", PLATE_ROWS, "--columns", COLUMNS]
                heat.launch({way: EXCHANGES[way]}, ranks, "wire", _words(plate))
            _keep(heat, EXCHANGES[way], run)

    return _recorded(cluster, EXCHANGED, "Your exchanges on a timeline", go, folder, 3)


def traced_overlap(cluster: Cluster, *, folder: Path | None = None) -> Record:
    """Lab 05: some steps of overlapped_step with rows below and above the eager limit, on a timeline."""
    several(cluster)

    def go(heat: Heat) -> None:
        heat.look_at("overlapped_step", needed=("step_numpy",))
        for run, columns in OVERLAP_COLUMNS.items():
            plate = ["--rows", OVERLAP_ROWS["Python"], "--columns", columns]
            way = {"overlapped": "overlapped_step"}
            heat.launch(way, OVERLAP_RANKS, "wire", _words(plate))
            _keep(heat, "overlapped_step", run)

    return _recorded(cluster, OVERLAPPED, "Your overlapped step on a timeline", go, folder, 2)


def stuck(record: Record, run: str = DEADLOCK) -> dict[int, int]:
    """For each rank that never left a call the rank that it waited for there."""
    return {
        int(point.at["stuck"]): int(point.facts["for_rank"])
        for point in record.select(**{RUN: run})
        if "stuck" in point.at
    }


def circle(record: Record) -> list[int]:
    """The ranks that wait for each other in a deadlock, the lowest first; LabError where there are none."""
    if ranks := waits.circle(stuck(record)):
        return sorted(ranks)
    raise LabError("no ranks wait for each other in it")


def _recorded(
    cluster: Cluster,
    study: str,
    title: str,
    go: Callable[[Heat], None],
    folder: Path | None,
    launches: int,
) -> Record:
    def traced(heat: Heat) -> None:
        heat.session.traces = folder_of(cluster, study)
        go(heat)

    return measured(
        cluster, study, title, traced, folder=folder, launches=launches, sweep={"traced": True}
    )


def _words(plate: list[Any]) -> list[str | int]:
    return [*plate, "--steps", STEPS, "--passes", 1]


def _keep(heat: Heat, name: str, run: str) -> None:
    """Add what the last launch left to the Record; nothing where its function was wrong."""
    trace = heat.session.last_trace
    if trace and name not in heat.faults:
        heat.session.points += points(analysed(trace), run, trace.name)
