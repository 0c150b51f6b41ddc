"""Lab 02, what one node can do: its studies, its exercises, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(
    __name__,
    "beowulf.exercises.heat",
    "beowulf.figures:bars",
    "beowulf.papers",
    "array_sweep",
    "array_sweep:working_set",
    "by_lot",
    "load_times",
    "odd_node",
    "own_rows",
    "timing_loop",
    "node_comparison:compared",
)
