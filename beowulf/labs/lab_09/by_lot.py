"""What lab 09 asks each learner of their own, drawn from the word that a course gave them."""

from __future__ import annotations

from beowulf.course import personal_code

RANKS, USUAL_RANKS = (20, 40, 50, 150, 200, 250), 100


def ranks(own: str | None = None) -> int:
    """To how many ranks the broadcast goes whose least time is asked for."""
    return personal_code.choice("09 lower-bound", USUAL_RANKS, RANKS, own)
