"""Lab 05's exercise: a learner's own overlapped exchange, measured and kept beside the notebook.

It is a Record of D4 with the variant `exchange`, because it answers D4's question with a program of
the learner's: its parts (comm, comp, before, during) are those of `both_sides.c`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.record import Record
from beowulf.studies.lab_05.d5_improvement import Improvement, improvement
from beowulf.user import learner

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

STUDY, VARIANT = "D4", "exchange"
PARTS = {
    "comm": "the messages alone",
    "comp": "the work alone",
    "before": "one after the other",
    "during": "your exchange",
}
LAUNCHES = 2


def measure(cluster: Cluster, source: Path | str = "exchange.c") -> Record:
    """Compile and run `source`, save its Record beside the notebook; a recorded cluster gives what was saved.

    LabError when it does not compile, does not end, or exchanges wrong data.
    """
    if recorded := cluster.replay(STUDY, VARIANT):
        return recorded
    from beowulf.measure.measurement import Measurement
    from beowulf.progress import bar

    folder = cluster.records or Path("records")
    sweep = {"exercise": Path(source).name, "launches": LAUNCHES}
    with (
        bar("Your own exchange") as told,
        Measurement(
            STUDY, cluster, folder, progress=told, launches=LAUNCHES, sweep=sweep
        ) as session,
    ):
        for number in range(LAUNCHES):
            session.launch(Path(source), 2, ["--lines"], launch=number, timeout_s=60)
    record = session.record()
    if not record.complete:
        # Half an exercise is none: what went wrong is reported, and nothing is saved.
        raise LabError(
            f"{Path(source).name} was not measured to its end. {' '.join(record.warnings)}",
            "Fix it, save it, and run this cell again.",
        )
    record.learner, record.variant = learner(), VARIANT
    record.save_in(folder)
    return record


def passes(record: Record) -> pd.DataFrame:
    """One row a pass, one column a part, in seconds, of the slower rank; LabError without samples."""
    from beowulf.measure.table import table

    found = table(record, "duration_s")
    keys = ["launch", "pass", "rank"]
    if missing := [name for name in (*keys, "part") if name not in found]:
        raise LabError(f"The samples say nothing about {', '.join(missing)}.", "Measure again.")
    wide = found.pivot_table(index=keys, columns="part", values="duration_s", aggfunc="max")
    slower = wide.groupby(level=["launch", "pass"]).max()
    if missing := [part for part in PARTS if part not in slower]:
        raise LabError(f"There are no samples of {', '.join(missing)}.", "Measure again.")
    return slower[list(PARTS)].dropna()


def gain(record: Record) -> Improvement:
    """Equation 1 of the learner's exchange against the one after the other, pass by pass."""
    found = passes(record)
    return improvement(found["during"], found["before"], found.index.get_level_values("launch"))


def picture(record: Record) -> Figure:
    """The medians of the four parts, and what is gained."""
    from beowulf import figures

    found, gained = passes(record), gain(record)
    middle = {PARTS[part]: 1e3 * float(found[part].median()) for part in PARTS}
    return figures.bars(
        middle,
        title=f"Your exchange: {gained.percent:+.1f} % by equation 1",
        value_title="median of the slower rank (ms)",
    )
