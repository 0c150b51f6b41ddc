"""What a Record keeps of a program whose MPI calls were recorded: the parts of each rank, and its longest waits.

The traces that the timeline draws are in the folder `timelines` beside the Records, the newest of each run. What is
before the first message and after the last one is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record

if TYPE_CHECKING:
    from beowulf.timeline.analysis import Analysis
    from beowulf.timeline.timeline_page import Page

FOLDER, RUN = "timelines", "timeline"
MOST_WAITS = 20  # of a run, in a Record
NONE = "none"  # in place of a reason, where no rank waited
NS_PER_MS = 1e6


def recorded(
    cluster: Cluster,
    study: str,
    go: Callable[[Measurement], None],
    *,
    capture: bool = False,
    launches: int = 1,
) -> Record:
    """What `go` measures with its launches recorded, kept as a Record."""
    traces = folder_of(cluster, study)
    return Exercise(study, "").measure(
        cluster, go, half=True, traces=traces, capture=capture, launches=launches
    )


def keep(session: Measurement, run: str) -> Analysis:
    """Add to a Record what the last launch left, under the name of the run."""
    assert session.last_trace
    found = analysed(session.last_trace)
    session.points += points(found, run, session.last_trace.name)
    return found


def timeline(cluster: Cluster, record: Record, run: str) -> Page | Any:
    """The timeline of one run of a Record; where its trace is not beside the Records, a table of its waits."""
    from beowulf.timeline.timeline_page import Page

    about = _about(record, run)
    place = folder_of(cluster, record.study) / Path(str(about["trace"])).name
    if not _is_there(place, about):
        print(
            "The trace of this run is not beside the Records: only the newest runs are kept, and only where they were"
            " recorded. This is what the Record says of its longest waits."
        )
        return waits(record, run)
    found = analysed(place)
    return Page(replace(found, details={**found.details, "program": f"{found.program}, {run}"}))


def of_run(name: str) -> Page | None:
    """The timeline of what `beowulf run --trace` recorded into this folder; where it is not there, what to type."""
    from beowulf.timeline import analysis
    from beowulf.timeline.timeline_page import Page

    try:
        return Page(analysis.read(Path(name)))
    except LabError as error:
        print(error)
        return None


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


def folder_of(cluster: Cluster, study: str) -> Path:
    """Where the traces of a study of ours are: beside the Records."""
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
