"""Lab 07: where on the path of a message firewall rules cost time, as Record T7 with traces and captures beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises import timelines
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.run_packets import DATA
from beowulf.tuning.change import changed
from beowulf.tuning.knobs import ALL

if TYPE_CHECKING:
    import pandas as pd

STUDY = "T7"
PROGRAM, TAG = Path("06-protocol-analysis", "conversation.c"), 7
EXCHANGES = 1000
ARGUMENTS = ("--exchanges", EXCHANGES, "--chunks", 1, "--bytes", 8, "--tag", TAG)
FIREWALL, RULES = "firewall", 1000
NONE, WITH = "no rules", f"{RULES} rules"
BEFORE, AFTER = "before_us", "after_us"


def traced(cluster: Cluster) -> Record:
    """Send short messages to and fro, without and with rules on the second node; or return what a Record has."""

    def go(session: Measurement) -> None:
        for run, value in ((NONE, "none"), (WITH, str(RULES))):
            with changed(cluster, [(ALL[FIREWALL], value)], nodes=cluster.nodes[1:2]):
                session.launch(paths.root() / "labs" / PROGRAM, 2, ARGUMENTS)
            found = timelines.keep(session, run)
            session.points += [_way(found, run, source) for source in (0, 1)]

    return timelines.recorded(cluster, STUDY, go, capture=True, launches=2)


def ways(record: Record) -> pd.DataFrame:
    """A row for each run and direction: the medians before and after the packet was seen on the wire, in µs."""
    import pandas as pd

    found = [point for point in record.points if "from_rank" in point.at]
    return pd.DataFrame([{**point.at, **point.facts} for point in found]).rename(
        columns={timelines.RUN: "run"}
    )


def added(record: Record) -> dict[tuple[int, str], float]:
    """What the rules add to each part of the way of each rank's messages, in µs."""
    of = {
        (p.at[timelines.RUN], p.at["from_rank"]): p.facts
        for p in record.points
        if "from_rank" in p.at
    }
    if len(of) < 4:
        raise LabError(f"{record.file_name} lacks one of the two runs.", "Record it again.")
    return {
        (rank, part): of[WITH, rank][part] - of[NONE, rank][part]
        for rank in (0, 1)
        for part in (BEFORE, AFTER)
    }


def _way(found: Analysis, run: str, source: int) -> Point:
    """Of the messages of one rank: from the call to the wire, and from the wire to the end of the receive."""
    if found.wire is None:
        raise LabError("The packets of this run were not captured.", "Record it again.")
    mine = found.messages[(found.messages["source"] == source) & (found.messages["tag"] == TAG)]
    packets = found.wire.packets
    seen = packets[packets["kind"] == DATA].groupby("message")["time_ns"].min()
    mine = mine[mine.index.isin(seen.index)]
    wire = seen.loc[mine.index].to_numpy()
    began = found.events["began_ns"].to_numpy()[mine["send"]]
    ended = found.events["ended_ns"].to_numpy()[mine["received"]]

    def median_us(ns: Any) -> float:
        import numpy as np

        return float(np.median(ns)) / 1000

    facts = {"messages": len(mine), BEFORE: median_us(wire - began), AFTER: median_us(ended - wire)}
    return Point({timelines.RUN: run, "from_rank": source}, facts=facts)
