"""Lab 07, where the microseconds go: its studies, its exercises, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(
    __name__,
    "beowulf.exercises.heat",
    "beowulf.exercises.own_plot",
    "beowulf.exercises.timelines",
    "by_lot",
    "differing_node",
    "knob_gains",
    "null_knob",
    "own_interval",
    "own_knob",
    "rules_way",
    "small_writes",
    "small_writes:two_clocks",
    "l1_latency_budget",
    "e7_procedure",
    "beowulf.papers",
    "beowulf.tuning.knobs",
)
