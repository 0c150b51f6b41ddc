"""What lab 06 asks each learner of their own, drawn from the word that a course gave them."""

from __future__ import annotations

from beowulf.course import personal_code
from beowulf.exercises.heat.wire import COLUMNS as USUAL_COLUMNS

# None of these lengths fills its last segment, so that it is cut alike on every cluster.
COLUMNS = (600, 800, 1200, 1500, 2000)


def columns(own: str | None = None) -> int:
    """How many columns the plate has that is captured."""
    return personal_code.choice("06 plate", USUAL_COLUMNS, COLUMNS, own)
