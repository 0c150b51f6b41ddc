"""Lab 06, what is on the wire: its studies, its exercises, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(
    __name__,
    "beowulf.exercises.heat",
    "beowulf.exercises.own_plot",
    "beowulf.exercises.timelines",
    "by_lot",
    "capture_run",
    "collectives",
    "one_message",
    "own_loop",
    "postcard",
    "postcard:packet_layers",
    "wire_picture",
    "beowulf.packets.dissector",
    "beowulf.packets.pictures",
    "beowulf.packets.report",
    "beowulf.packets.analysis:analyse",
    "beowulf.packets.costs:costs",
    "beowulf.packets.ladder:ladder",
    "beowulf.packets.mpi_messages:messages",
    "beowulf.packets.table:read",
)
