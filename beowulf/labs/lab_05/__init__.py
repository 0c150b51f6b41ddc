"""Lab 05, does a message leave while its sender works: its studies, its exercises, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(
    __name__,
    "beowulf.exercises.heat",
    "beowulf.exercises.own_plot",
    "beowulf.exercises.timelines",
    "d1_synchronisation",
    "d5_improvement",
    "by_lot",
    "exchange",
    "own_step",
    "own_step:hidden_message",
)
