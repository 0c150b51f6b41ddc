"""What lab 08 asks each learner of their own, drawn from the word that a course gave them."""

from __future__ import annotations

from beowulf.course import personal_code

# C7 measures powers of two.
NODES, USUAL_NODES = (6, 10, 20, 24, 40, 48), 12


def nodes(own: str | None = None) -> int:
    """Of how many nodes the barrier is that is asked for and was not measured."""
    return personal_code.choice("08 barrier", USUAL_NODES, NODES, own)
