"""Lab 04, does it matter how we send: its studies, its exercises, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(
    __name__,
    "beowulf.exercises.heat",
    "beowulf.exercises.own_plot",
    "beowulf.exercises.timelines",
    "a7_rate_by_nodes:saturation_bytes",
    "own_roundtrip",
    "own_roundtrip:message_time",
    "beowulf.measure.mpptest",
    "beowulf.measure.measurement:Measurement",
    "beowulf.measure.roundtrips:rates",
    "beowulf.measure.roundtrips:run",
    "beowulf.measure.table:summarised",
    "beowulf.this_machine.user:learner",
    "beowulf.course.personal_code:asked_bytes",
    "beowulf.course.personal_code:asked_limit",
)
