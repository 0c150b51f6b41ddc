"""Before and after a knob as a cycle on a quiet machine would measure them, with the effect to choose."""

from __future__ import annotations

import random

from beowulf.labs.lab_07.knob_gains import ALONE
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.record import Point
from beowulf.tuning.ab_comparison import AFTER, BEFORE, TURNS

WHOLE_US = 50.0
BLOCKS, LAUNCHES = 8, LEAST_PAIRS


def compared(
    knob: str,
    times: float,
    way: str = ALONE,
    us: float = WHOLE_US,
    wide: float = 0.002,
    deviates: float = 0.5,
) -> list[Point]:
    """The Points of one comparison in which half a round trip of `us` becomes `times` as long.

    Its deviation becomes `deviates` times as large.
    """
    draw = random.Random(f"{knob} {way} {times}")
    points = []
    for launch in range(LAUNCHES):
        for state in (BEFORE, AFTER):
            at = {"knob": knob, "way": way, "launch": launch, "state": state}
            visits = [v for v in range(4 * BLOCKS) if TURNS[v % 4] == state for _ in range(4)]
            middle = us * (times if state == AFTER else 1.0)
            deviation = 0.1 * deviates / times if state == AFTER else 0.1
            samples = [
                middle * (1 + draw.uniform(-wide, wide) + deviation * (place % 4 == 3))
                for place in range(len(visits))
            ]
            points.append(Point(at, HALF, samples, {"visit": visits}))
    return points
