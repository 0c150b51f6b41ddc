"""Lab 08, the first Beowulf: its studies, its exercises, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(
    __name__,
    "beowulf.exercises.gas",
    "c7_barrier",
    "first_beowulf",
    "first_beowulf:speed_up_1995",
    "galaxy",
    "tokens",
    "c3_striping",
    "c4_gas",
)
