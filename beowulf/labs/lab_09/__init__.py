"""Lab 09, predictions for another network: its studies, its exercises, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(
    __name__,
    "beowulf.exercises.own_plot",
    "collectives",
    "replays",
    "scaling",
    "stairs",
    "stairs:piece_size",
    "beowulf.measure.calibration",
    "beowulf.studies.given",
)
