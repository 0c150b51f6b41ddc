"""Lab 03, what four nodes can do: its studies, its exercises, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(
    __name__,
    "beowulf.exercises.heat",
    "beowulf.exercises.own_plot",
    "beowulf.exercises.timelines",
    "a4_parallel_benchmarks",
    "e4_hpcc",
    "by_lot",
    "message_sizes",
    "mg_timeline",
    "speedup_laws",
    "speedup_laws:serial_part",
)
