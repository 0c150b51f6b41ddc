"""Lab 02's exercise: rows that a learner wrote, measured on the first node.

It is a Record of A3 with the variant `own`: measured as A3 is, with the learner's functions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.measure.measurement import Measurement
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "A3", "own"
EXERCISE = Exercise(STUDY, VARIANT, "Your own rows")
QUANTITY = "operation_us"
EXAMPLE = "null call"
LIBRARY, SYSTEM_CALL, PIPE = "clock, library", "clock, system call", "pipe to oneself"
YOURS = (LIBRARY, SYSTEM_CALL, PIPE)
LONGEST_S = 60.0


def measure(cluster: Cluster, source: Path | str = "own_rows.c") -> Record:
    """Compile and run `source` on the first node, and save the Record.

    LabError if it does not compile, does not end, or a row is wrong.
    """
    file, node = Path(source), cluster.nodes[0]

    def steps(session: Measurement) -> None:
        session.launch(file, 1, at={"node": node}, hosts=(node,), timeout_s=LONGEST_S)

    return EXERCISE.measure(
        cluster, steps, of=file.name, sweep={"exercise": file.name, "nodes": [node]}
    )


def best_us(record: Record) -> dict[str, float]:
    """The best time of each row by name; LabError without samples."""
    found: dict[str, list[float]] = {}
    for point in record.points:
        if point.quantity == QUANTITY and point.samples:
            found.setdefault(str(point.at["row"]), []).extend(point.samples)
    if not found:
        raise LabError("The Record has no samples for any row.", "Measure again.")
    return {name: float(np.min(samples)) for name, samples in found.items()}


def table(record: Record) -> pd.DataFrame:
    """A line for each row: its median and its best in microseconds, and the best in null calls."""
    import pandas as pd

    from beowulf.measure.table import table as samples

    best = pd.Series(best_us(record))
    median = samples(record, QUANTITY).groupby("row")[QUANTITY].median()
    found = pd.DataFrame({"median_us": median, "best_us": best}).rename_axis("row")
    found["null_calls"] = best / best.get(EXAMPLE, float("nan"))
    return found.loc[[name for name in (EXAMPLE, *YOURS) if name in best]].reset_index()
