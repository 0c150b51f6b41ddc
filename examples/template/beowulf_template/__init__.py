"""The lab: its study, and what its notebook calls."""

from beowulf.labs import offer

# A module of this package, or a function of one: "x1_sum:table".
__getattr__, __dir__ = offer(__name__, "x1_sum")
