"""Lab 05's exercise: a learner's own overlapped exchange, measured and kept next to the notebook.

It is a Record of D4 with the variant `exchange`, because it answers D4's question with the learner's program. Its
parts (comm, comp, before, during) are those of `both_sides.c`. The harness checks every byte and the result of the
work; it is compiled with the package's own headers, not the learner's copies.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.exercises.exercise import Exercise
from beowulf.exercises.gas import LONGEST_SOURCE, beside_headers
from beowulf.labs.lab_05 import d5_improvement as d5
from beowulf.measure.improvement import Improvement
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "D4", "exchange"
EXERCISE = Exercise(STUDY, VARIANT, "Your own exchange")
LAUNCHES = 2


def measure(cluster: Cluster, source: Path | str = "exchange.c") -> Record:
    """Compile and run `source`, and save its Record next to the notebook.

    LabError when it does not compile, does not end, or exchanges wrong data.
    """
    with beside_headers(Path(source), "05") as program:

        def steps(session: Measurement) -> None:
            for number in range(LAUNCHES):
                session.launch(program, 2, ["--lines"], launch=number, timeout_s=60)
            text = program.read_text(encoding="utf-8", errors="replace")[:LONGEST_SOURCE]
            session.points.append(Point({"source": program.name}, facts={"text": text}))

        sweep = {"exercise": program.name, "launches": LAUNCHES}
        return EXERCISE.measure(cluster, steps, of=program.name, launches=LAUNCHES, sweep=sweep)


def passes(record: Record) -> pd.DataFrame:
    """One row per pass, one column per part, in seconds, for the slower rank; LabError without samples."""
    return d5.slower(record)


def gain(record: Record) -> Improvement:
    """Equation 1 of the learner's exchange against working first and then exchanging, pass by pass."""
    return d5.equation_1(passes(record))
