"""The numbers of lab 06 that differ for each learner, derived from their personal code."""

from __future__ import annotations

from beowulf.course import personal_code
from beowulf.exercises.heat.wire import COLUMNS as USUAL_COLUMNS

# None of these lengths fills its last segment, so every cluster divides it into the same segments.
COLUMNS = (600, 800, 1200, 1500, 2000)
# For a card that fits into one packet, and for one that does not.
LETTERS, USUAL_LETTERS = (150, 250, 400, 550, 700, 850), 300
LONG_LETTERS, USUAL_LONG_LETTERS = (2000, 3500, 5000, 6500, 8000), 4500


def columns(own: str | None = None) -> int:
    """The columns of the captured plate."""
    return personal_code.choice("06 plate", USUAL_COLUMNS, COLUMNS, own)


def letters(own: str | None = None) -> int:
    """The letters of the card whose packet is asked for."""
    return personal_code.choice("06 postcard", USUAL_LETTERS, LETTERS, own)


def long_letters(own: str | None = None) -> int:
    """The letters of the card whose headers are asked for, in all of its packets."""
    return personal_code.choice("06 headers", USUAL_LONG_LETTERS, LONG_LETTERS, own)
