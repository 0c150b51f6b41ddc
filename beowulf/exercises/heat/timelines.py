"""Labs 04 and 05: some steps of the heat program with every MPI call recorded, and why its ranks waited, as a Record.

A Record has the waits and the parts of each rank; the traces that the timeline draws are in the folder `timelines`
beside the Records, the newest of each run. What is before the first message and after the last one is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import variant
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
from beowulf.record import Point, Record

if TYPE_CHECKING:
    from beowulf.timeline.analysis import Analysis
    from beowulf.timeline.page import Page

EXCHANGED, OVERLAPPED = "T4", "T5"
STUDIES = (EXCHANGED, OVERLAPPED)
FOLDER, RUN = "timelines", "timeline"
STEPS = 5
DEADLOCK, TURNS, NONBLOCKING = "deadlock", "in turns", "non-blocking"
# Rows of the first are longer than the eager limit, and those of the others are not.
DEADLOCK_COLUMNS, COLUMNS, HANGS_AFTER_S = 20_000, 10_000, 1.0
SHORT, LONG = "64,000 bytes", "160,000 bytes"
OVERLAP_COLUMNS = {SHORT: 8000, LONG: 20_000}
MOST_WAITS = 20  # of a run, in a Record
NONE = "none"  # in place of a reason, where no rank waited
NS_PER_MS = 1e6


def traced_exchanges(cluster: Cluster, *, folder: Path | None = None) -> Record:
    """Lab 04: exchange_send_first until it hangs, then some steps in turns and non-blocking, on a timeline."""
    if recorded := cluster.replay(EXCHANGED):
        return recorded
    ranks = several(cluster)

    def go(heat: Heat) -> None:
        heat.look_at(*EXCHANGES.values(), needed=("step_numpy",))
        ways = {DEADLOCK: "send_first", TURNS: "in_turns", NONBLOCKING: "nonblocking"}
        for run, way in ways.items():
            if EXCHANGES[way] in heat.faults:
                continue
            if run == DEADLOCK:
                words: list[str | int] = ["deadlock", "--columns", DEADLOCK_COLUMNS]
                words += ["--limit", str(HANGS_AFTER_S), "--seed", variant.seed()]
                heat.start(heat.run, ranks, [*words, *heat.named([way])], 0, {})
            else:
                plate = ["--rows", PLATE_ROWS, "--columns", COLUMNS]
                heat.launch({way: EXCHANGES[way]}, ranks, "wire", _words(plate))
            _keep(heat, EXCHANGES[way], run)

    return _recorded(cluster, EXCHANGED, "Your exchanges on a timeline", go, folder, 3)


def traced_overlap(cluster: Cluster, *, folder: Path | None = None) -> Record:
    """Lab 05: some steps of overlapped_step with rows below and above the eager limit, on a timeline."""
    if recorded := cluster.replay(OVERLAPPED):
        return recorded
    several(cluster)

    def go(heat: Heat) -> None:
        heat.look_at("overlapped_step", needed=("step_numpy",))
        for run, columns in OVERLAP_COLUMNS.items():
            plate = ["--rows", OVERLAP_ROWS["Python"], "--columns", columns]
            way = {"overlapped": "overlapped_step"}
            heat.launch(way, OVERLAP_RANKS, "wire", _words(plate))
            _keep(heat, "overlapped_step", run)

    return _recorded(cluster, OVERLAPPED, "Your overlapped step on a timeline", go, folder, 2)


def timeline(cluster: Cluster, record: Record, run: str) -> Page | Any:
    """The timeline of one run of a Record; where its trace is not beside the Records, a table of its waits."""
    from beowulf.timeline.page import Page

    about = _about(record, run)
    place = _folder(cluster, record.study) / Path(str(about["trace"])).name
    if not _is_there(place, about):
        print(
            "The trace of this run is not beside the Records: only the newest runs are kept, and only where they were"
            " recorded. This is what the Record says of its longest waits."
        )
        return waits(record, run)
    return Page(analysed(place))


def analysed(trace: Path) -> Analysis:
    """What the ranks of a run did from their first message to their last one."""
    from beowulf.timeline import analysis

    return analysis.between_messages(analysis.read(trace))


def waits(record: Record, run: str) -> Any:
    """A row for each of the longest waits of a run: which rank, in which call, why, for whom and how long."""
    import pandas as pd

    found = [p for p in record.select(**{RUN: run}) if "wait" in p.at]
    return pd.DataFrame([point.facts for point in sorted(found, key=lambda p: p.at["wait"])])


def longest(record: Record, run: str) -> dict[str, Any]:
    """The longest wait of a run: its `reason`, `wait_ms`, `rank`, `for_rank` and `call`; 0 ms where nobody waited."""
    _about(record, run)
    for point in record.select(**{RUN: run}, wait=0):
        return dict(point.facts)
    return {"rank": -1, "call": "", "reason": NONE, "for_rank": -1, "wait_ms": 0.0}


def stuck(record: Record, run: str = DEADLOCK) -> dict[int, int]:
    """For each rank that never left a call the rank that it waited for there."""
    found = {}
    for point in record.select(**{RUN: run}):
        if "stuck" in point.at:
            found[int(point.at["stuck"])] = int(point.facts["for_rank"])
    return found


def circle(record: Record) -> list[int]:
    """The ranks that wait for each other in a deadlock, the lowest first; LabError where there are none."""
    waits_for = stuck(record)
    for first in sorted(waits_for):
        chain = [first]
        while (after := waits_for.get(chain[-1], -1)) >= 0 and after not in chain:
            chain.append(after)
        if after == first and len(chain) > 1:
            return sorted(chain)
    raise LabError("no ranks wait for each other in it")


def points(found: Analysis, run: str, trace: str) -> list[Point]:
    """What a Record keeps of a run: of the whole, of each rank, of each call that never ended, of the longest waits."""
    from beowulf.timeline.waits import NEVER_ENDED

    at = {RUN: run}
    about: dict[str, Any] = {
        "trace": trace,
        "events": len(found.events),
        "messages": len(found.messages),
        "length_ms": found.length_ns / NS_PER_MS,
        "began_ns": found.trace.began_ns,
    }
    kept = [Point(at, facts=about)]
    for row in found.parts.to_dict("records"):
        parts = {
            "computing_ms": row["computing"],
            "network_ms": row["in_mpi"] - row["waiting"],
            "waiting_ms": row["waiting"],
        }
        facts: dict[str, Any] = {name: int(ns) / NS_PER_MS for name, ns in parts.items()}
        kept.append(Point({**at, "rank": int(row["rank"])}, facts=facts))
    for number, row in enumerate(found.waits.head(MOST_WAITS).to_dict("records")):
        facts = {
            "at_ms": (int(row["since_ns"]) - found.trace.began_ns) / NS_PER_MS,
            "rank": int(row["rank"]),
            "call": found.name(int(row["event"])),
            "reason": str(row["kind"]),
            "for_rank": int(row["cause"]),
            "wait_ms": int(row["waited_ns"]) / NS_PER_MS,
        }
        kept.append(Point({**at, "wait": number}, facts=facts))
    never = found.waits[found.waits["kind"] == NEVER_ENDED]
    for row in never.sort_values("rank").to_dict("records"):
        facts = {"call": found.name(int(row["event"])), "for_rank": int(row["cause"])}
        kept.append(Point({**at, "stuck": int(row["rank"])}, facts=facts))
    return kept


def _recorded(
    cluster: Cluster,
    study: str,
    title: str,
    go: Callable[[Heat], None],
    folder: Path | None,
    launches: int,
) -> Record:
    def traced(heat: Heat) -> None:
        heat.session.traces = _folder(cluster, study)
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


def _folder(cluster: Cluster, study: str) -> Path:
    return (cluster.records or Path("records")).absolute().parent / FOLDER / study


def _about(record: Record, run: str) -> dict[str, Any]:
    for point in record.select(**{RUN: run}):
        if "trace" in point.facts:
            return point.facts
    raise LabError(f"{record.file_name} has no run {run!r} on a timeline.", "Record it again.")


def _is_there(trace: Path, about: dict[str, Any]) -> bool:
    """Whether a folder has the trace of this very run: a later one takes its place."""
    try:
        return bool(analysed(trace).trace.began_ns == about["began_ns"])
    except LabError:
        return False
