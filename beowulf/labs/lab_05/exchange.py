"""Lab 05's exercise: a learner's own overlapped exchange, measured and kept beside the notebook.

It is a Record of D4 with the variant `exchange`, because it answers D4's question with a program of
the learner's: its parts (comm, comp, before, during) are those of `both_sides.c`. The harness checks every byte and
the result of the work; it is compiled from the package's own headers, whatever the learner's copies hold.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_05 import d5_improvement as d5
from beowulf.measure.improvement import Improvement
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "D4", "exchange"
EXERCISE = Exercise(STUDY, VARIANT, "Your own exchange")
LAUNCHES = 2
HEADERS = ("exchange.h", "overlap.h")
LONGEST_SOURCE = 20_000  # characters of it that a Record keeps


def measure(cluster: Cluster, source: Path | str = "exchange.c") -> Record:
    """Compile and run `source`, save its Record beside the notebook.

    LabError when it does not compile, does not end, or exchanges wrong data.
    """
    with tempfile.TemporaryDirectory() as scratch:
        program = _beside_our_headers(Path(source), Path(scratch))
        try:
            return _measured(cluster, program)
        except LabError as problem:
            if scratch not in problem.message:
                raise
            # The compiler names our copy; the learner knows their own.
            message = problem.message.replace(f"{scratch}/", "")
            raise LabError(message, problem.hint) from None


def _measured(cluster: Cluster, program: Path) -> Record:
    name = program.name

    def steps(session: Measurement) -> None:
        for number in range(LAUNCHES):
            session.launch(program, 2, ["--lines"], launch=number, timeout_s=60)
        text = program.read_text(encoding="utf-8", errors="replace")[:LONGEST_SOURCE]
        session.points.append(Point({"source": name}, facts={"text": text}))

    sweep = {"exercise": name, "launches": LAUNCHES}
    return EXERCISE.measure(cluster, steps, of=name, launches=LAUNCHES, sweep=sweep)


def _beside_our_headers(source: Path, folder: Path) -> Path:
    """A copy of the learner's file, beside copies of the headers that it includes; UsageError when there is none."""
    if not source.is_file():
        hint = "Work in the folder where your copies of the lab lie."
        raise UsageError(f"There is no file {source}.", hint)
    for name in HEADERS:
        shutil.copy(paths.lab("05") / name, folder)
    return Path(shutil.copy(source, folder))


def passes(record: Record) -> pd.DataFrame:
    """One row a pass, one column a part, in seconds, of the slower rank; LabError without samples."""
    return d5.slower(record)


def gain(record: Record) -> Improvement:
    """Equation 1 of the learner's exchange against the one after the other, pass by pass."""
    return d5.equation_1(passes(record))
