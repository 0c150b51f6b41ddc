"""Lab 07: what a knob is worth to the heat program, in pairs of launches before and after it is turned."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.heat.measurements import EXCHANGES, PLATE_ROWS, several
from beowulf.exercises.heat.measuring import Heat, measured
from beowulf.measure.statistics import Ratio, ratio
from beowulf.record import Record
from beowulf.tuning import knobs
from beowulf.tuning.ab_comparison import AFTER, BEFORE, SURE, TURNS, Decision, decided
from beowulf.tuning.change import changing

COLUMNS, PASSES, BLOCKS, WAY = 100, 25, 3, "nonblocking"
UNDISTURBED = 10  # the percentile of a launch that represents it: what disturbs only adds


def tuned(
    cluster: Cluster,
    knob: str,
    value: str = "",
    *,
    columns: int = COLUMNS,
    folder: Path | None = None,
) -> Record:
    """Measure steps and exchanges with short rows before and after a knob is turned, in turns; then it is as before.

    Without a `value`, the one whose effect can be seen on a cluster of this machine. LabError when the knob has that
    value already, or cannot be turned here.
    """
    turned = knobs.find(knob)
    ranks, name = several(cluster), EXCHANGES[WAY]
    wanted = turned.accepted(value or turned.shows)

    def go(heat: Heat) -> None:
        heat.look_at(needed=("step_numpy", name))
        words: list[str | int] = ["--rows", PLATE_ROWS, "--columns", columns, "--passes", PASSES]
        with changing(cluster, [(turned, wanted)]) as change:
            if change.each[0].changes_nothing:
                raise LabError(f"{turned.name} is {wanted} already.", "Give another value.")
            for number, state in enumerate(TURNS * BLOCKS):
                change(state == AFTER)
                at = {"state": state, "knob": turned.name, "value": wanted}
                heat.launch({WAY: name}, ranks, "exchange", words, launch=number, at=at)
                if heat.faults:
                    break

    return measured(
        cluster,
        "H7",
        f"What {turned.name} is worth to your plate",
        go,
        folder=folder,
        launches=len(TURNS) * BLOCKS,
        variant=turned.name,
        sweep={"knob": turned.name, "value": wanted, "columns": columns},
    )


def by_launch(record: Record, quantity: str, state: str) -> dict[int, float]:
    """Of each launch in a state the time while little disturbs, in s."""
    return {
        int(point.at["launch"]): float(np.percentile(point.samples, UNDISTURBED))
        for point in record.select(state=state)
        if point.quantity == quantity and point.samples
    }


def pairs(record: Record, quantity: str = "step_s") -> list[tuple[float, float]]:
    """The times of neighbouring launches in s: with the knob turned, and without."""
    before, after = (by_launch(record, quantity, state) for state in (BEFORE, AFTER))
    found = []
    for first in range(0, max([*before, *after], default=-1) + 1, 2):
        one = before.get(first, before.get(first + 1))
        other = after.get(first, after.get(first + 1))
        if one is not None and other is not None:
            found.append((other, one))
    return found


def worth(record: Record, quantity: str = "step_s") -> tuple[Ratio, Decision]:
    """How many times as long it takes with the knob turned, over pairs of neighbouring launches; the decision."""
    both = pairs(record, quantity)
    found = ratio(both)
    return found, decided(found, ratio(both, confidence=SURE))
