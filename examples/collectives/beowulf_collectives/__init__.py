"""Lab 10, fewer rounds or fewer bytes: its study, and what its notebook calls."""

from beowulf.labs import offer

__getattr__, __dir__ = offer(__name__, "g1_rounds", "beowulf.papers:table")
