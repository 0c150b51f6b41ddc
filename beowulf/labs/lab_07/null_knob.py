"""Lab 07's check of the method: a whole measuring cycle for a change that changes nothing.

It is a Record of E7 with the variant `null`. A cycle that finds an effect of nothing would find one of anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_07 import knob_gains
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF
from beowulf.record import Record
from beowulf.tuning import ab_comparison
from beowulf.tuning.ab_comparison import AFTER, BEFORE, Comparison, Length

if TYPE_CHECKING:
    from beowulf.figures import Figure

STUDY, VARIANT = "E7", "null"
EXERCISE = Exercise(STUDY, VARIANT, "Nothing, before and after")
NOTHING = "nothing"
WIDE = 20


def measure(cluster: Cluster, *, length: Length | None = None) -> Record:
    """Measure one cycle in which both states are the same, and keep the Record."""

    def steps(session: Measurement) -> None:
        # Neither state is any different.
        ab_comparison.compare(session, lambda _on: None, at={"knob": NOTHING}, length=length)

    return EXERCISE.measure(
        cluster, steps, of="The cycle", hint="Run this cell again.", sweep={"exercise": VARIANT}
    )


def comparison(record: Record) -> Comparison:
    """The result of the cycle in a Record; LabError when there is none."""
    for launches in knob_gains.cycles(record).values():
        for before, after in launches.values():
            if before.samples:
                return ab_comparison.compared(before, after)
    raise LabError("The Record has no before-and-after cycle.", "Measure again.")


def picture(record: Record) -> Figure:
    """The value of each visit, in order of time, and the decision."""
    import pandas as pd

    from beowulf import figures

    found = comparison(record)
    visits = pd.DataFrame(
        {"visit": visit, "state": state, HALF: us}
        for state, point in ((BEFORE, found.before), (AFTER, found.after))
        for visit, us in ab_comparison.by_visit(point).items()
    )
    change, low, high = (
        100 * (share - 1) for share in (found.ratio.median, found.ratio.low, found.ratio.high)
    )
    return figures.lines(
        visits,
        "visit",
        HALF,
        "state",
        title=f"{found.decision}: {change:+.1f} % ({low:+.1f} to {high:+.1f}), the median of {found.ratio.n} pairs",
        # On a busy machine a few visits take a thousand times as long, and would flatten the others.
        y_log=visits[HALF].max() > WIDE * visits[HALF].min(),
        x_title="visit, in order of time",
        y_title="half round trip, fastest tenth of a visit (µs)",
    )
