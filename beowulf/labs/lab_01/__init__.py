"""Lab 01, is this a cluster: its studies, its exercises, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(
    __name__,
    "beowulf.cluster.namespaces.breakable:breakable",
    "beowulf.exercises.own_plot",
    "broken_ring",
    "own_ring",
    "own_trips",
    "a2_validation:diagnose",
)
