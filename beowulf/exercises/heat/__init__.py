"""The heat program, which the learner owns from lab 02 on: written, checked, kept as Records H2 to H7, T4, T5."""

from beowulf.exercises.heat.beginning import check, start
from beowulf.exercises.heat.knob_worth import tuned, worth
from beowulf.exercises.heat.measurements import exchanges, overlap, speed_up, steps
from beowulf.exercises.heat.pictures import picture
from beowulf.exercises.heat.reading import (
    bound_percent,
    deadlock,
    gain,
    lines,
    part_medians,
    table,
)
from beowulf.exercises.heat.timelines import (
    circle,
    stuck,
    traced_exchanges,
    traced_overlap,
)
from beowulf.exercises.heat.wire import capture

__all__ = [
    "bound_percent",
    "capture",
    "check",
    "circle",
    "deadlock",
    "exchanges",
    "gain",
    "lines",
    "overlap",
    "part_medians",
    "picture",
    "speed_up",
    "start",
    "steps",
    "stuck",
    "table",
    "traced_exchanges",
    "traced_overlap",
    "tuned",
    "worth",
]
