"""Lab 06: one long message from its call to its packets, as Record T6 with a trace and a capture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises import timelines
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.run_packets import DATA, REQUEST

STUDY, RUN = "T6", "one message"
PROGRAM, TAG = "conversation.c", 6
BYTES = 200_000  # more than the eager limit
WORK_BYTES = 40_000_000  # on which both ranks work while the message could travel
ARGUMENTS = (
    *("--protocol", "nonblocking", "--exchanges", 1, "--chunks", 1, "--tag", TAG),
    *("--bytes", BYTES, "--overlap-bytes", WORK_BYTES),
)


def traced(cluster: Cluster, program: Path | str = PROGRAM) -> Record:
    """Exchange one long message during work, and record calls and packets; or read its Record."""

    def go(session: Measurement) -> None:
        session.launch(Path(program), 2, ARGUMENTS)
        session.points.append(_message(timelines.keep(session, RUN)))

    return timelines.recorded(cluster, STUDY, go, capture=True)


def moments(record: Record) -> dict[str, Any]:
    """When request and data left, in ms since MPI_Isend began, and in which call of the sender the data left."""
    for point in record.select(**{timelines.RUN: RUN}):
        if "tag" in point.at:
            return dict(point.facts)
    raise LabError(f"{record.file_name} has no message on a timeline.", "Record it again.")


def _message(found: Analysis) -> Point:
    """The message of rank 0, from the call that began it to its last packet."""
    messages = found.messages
    (number,) = messages.index[(messages["source"] == 0) & (messages["tag"] == TAG)]
    began = int(found.events["began_ns"].to_numpy()[int(messages["send"][number])])
    packets = found.wire.packets if found.wire else None
    mine = packets[packets["message"] == number] if packets is not None else None
    if mine is None or not {REQUEST, DATA} <= set(mine["kind"]):
        raise LabError("The packets of the message were not all captured.", "Record it again.")

    at = {kind: int(mine.loc[mine["kind"] == kind, "time_ns"].min()) for kind in (REQUEST, DATA)}
    facts = {
        "request_at_ms": (at[REQUEST] - began) / timelines.NS_PER_MS,
        "data_at_ms": (at[DATA] - began) / timelines.NS_PER_MS,
        "data_in": _call_at(found, 0, at[DATA]),
    }
    return Point({timelines.RUN: RUN, "tag": TAG, "size_bytes": BYTES}, facts=facts)


def _call_at(found: Analysis, rank: int, time_ns: int) -> str:
    """The MPI call that a rank is in at that time; empty if it is in none."""
    events = found.events[found.events["rank"] == rank]
    inside = events[(events["began_ns"] <= time_ns) & (events["ended_ns"] >= time_ns)]
    return found.name(int(inside.index[-1])) if len(inside) else ""
