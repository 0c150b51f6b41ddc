"""Lab 05's overlapped step of the heat program: the learner's Records of it, with and without MPI_Test.

A Record contains what a recording of the function shows; whether it calls MPI_Test distinguishes the two versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf import figures
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.calls import TESTS
from beowulf.exercises.exercise import Exercise
from beowulf.exercises.heat.reading import BYTES, PARTS, columns_of, functions, part_medians
from beowulf.figures.segments import Part, timeline
from beowulf.measure.improvement import improvement_percent
from beowulf.record import Record, readable

if TYPE_CHECKING:
    import pandas as pd

STUDY = "H5"
FUNCTIONS = {"python": "overlapped_step", "c": "overlapped"}
# Rows of 32,000 to 160,000 bytes; the last of them is longer than the eager limit.
COLUMNS = (4000, 8000, 14_000, 20_000)
DRAGGED = {"work_ms": range(1, 41), "row_bytes": [BYTES * columns for columns in COLUMNS]}
WITHOUT, WITH = "without MPI_Test", "with MPI_Test"
# Records of 1.0 have no recording, and only the text of the function.
TESTED = re.compile(r"\b(MPI_|\.)(Test|test|Iprobe|iprobe)")


def version(record: Record) -> str:
    """Whether the function that a Record measured calls MPI_Test, or another function that checks for messages."""
    facts = functions(record).get(FUNCTIONS.get(record.variant, ""), {})
    if "mpi_calls" in facts:
        return WITH if TESTS.intersection(facts["mpi_calls"]) else WITHOUT
    return WITH if TESTED.search(str(facts.get("source", ""))) else WITHOUT


def versions(records: Iterable[Record]) -> dict[str, Record]:
    """The newest Record of each version of the Python function that has samples of it."""
    found: dict[str, Record] = {}
    for record in sorted(records, key=lambda each: each.started):
        if (record.study, record.variant) == (STUDY, "python") and record.select(way="overlapped"):
            found[version(record)] = record
    return {name: found[name] for name in (WITHOUT, WITH) if name in found}


def kept(cluster: Cluster) -> dict[str, Record]:
    """The newest Record of each version next to the notebook; prints which version is missing."""
    found = versions(readable(cluster.records or Path("records"), f"{STUDY}-*.json")[0])
    for name in (WITHOUT, WITH):
        if name not in found:
            print(f"There is no Record of your overlapped_step {name} yet.")
    return found


def medians(*records: Record) -> pd.DataFrame:
    """A row for each Record and each length of row: the medians of the four parts in ms, of the slowest rank."""
    import pandas as pd

    names = ["version", "row_bytes", *(f"{way}_ms" for way in PARTS)]
    rows = []
    for record in records:
        for columns in columns_of(record.points):
            try:
                parts = part_medians(record, columns)
            except LabError:  # a function that was not right has no times
                continue
            times = [1e3 * parts[way] for way in PARTS]
            rows.append([version(record), BYTES * columns, *times])
    return pd.DataFrame(rows, columns=names)


@figures.draggable(Exercise(STUDY, "python").own, "lab.heat.overlap", **DRAGGED)
def hidden_message(record: Record, work_ms: float = 1, row_bytes: int = 160_000) -> figures.Figure:
    """How much of your exchange the work can hide at best, with the bound by equation 1: drag the work."""
    times = medians(record).set_index("row_bytes")
    if row_bytes not in times.index:
        raise LabError(f"The Record has no rows of {row_bytes:,} bytes.", "Run `lab.heat.overlap`.")
    message, compute, own = (
        float(times[f"{part}_ms"].to_dict()[row_bytes])
        for part in ("exchange", "compute", "overlapped")
    )
    longer, hidden = max(work_ms, message), min(work_ms, message)
    rest = Part("work" if work_ms > message else "messages", longer - hidden)
    bound = improvement_percent(longer, work_ms + message)
    return timeline(
        {
            "one after the other": [Part("messages", message), Part("work", work_ms)],
            "at once, at best": [Part("both", hidden), rest],
            f"yours, with {compute:.3g} ms of work": [Part("your step", own)],
        },
        title=f"Work hides {hidden:.3g} of {message:.3g} ms of messages: {bound:.0f} % at best",
        value_title="time (ms)",
    )
