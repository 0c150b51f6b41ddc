"""How many ranks of a Record compute at a time: on one machine its nodes share the cores."""

from __future__ import annotations

from beowulf.cluster.description import on_one_machine
from beowulf.record import Record

RANKS = 4


def workers(record: Record, ranks: int = RANKS) -> int:
    """The ranks that can compute at the same time: all where each has a node of its own, else as many as cores."""
    if not on_one_machine(record.cluster):
        return ranks
    return min(ranks, int(record.circumstances["before"]["cores"]))
