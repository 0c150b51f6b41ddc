"""The heat program, which the learner owns from lab 02 on: written, checked, kept as Records H2 to H7, T4, T5."""

from beowulf.exercises.heat.beginning import check as check
from beowulf.exercises.heat.beginning import start as start
from beowulf.exercises.heat.knob_worth import tuned as tuned
from beowulf.exercises.heat.knob_worth import worth as worth
from beowulf.exercises.heat.measurements import exchanges as exchanges
from beowulf.exercises.heat.measurements import overlap as overlap
from beowulf.exercises.heat.measurements import speed_up as speed_up
from beowulf.exercises.heat.measurements import steps as steps
from beowulf.exercises.heat.pictures import picture as picture
from beowulf.exercises.heat.reading import bound_percent as bound_percent
from beowulf.exercises.heat.reading import deadlock as deadlock
from beowulf.exercises.heat.reading import gain as gain
from beowulf.exercises.heat.reading import lines as lines
from beowulf.exercises.heat.reading import part_medians as part_medians
from beowulf.exercises.heat.reading import table as table
from beowulf.exercises.heat.timelines import circle as circle
from beowulf.exercises.heat.timelines import stuck as stuck
from beowulf.exercises.heat.timelines import traced_exchanges as traced_exchanges
from beowulf.exercises.heat.timelines import traced_overlap as traced_overlap
from beowulf.exercises.heat.wire import capture as capture
