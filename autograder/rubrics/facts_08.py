"""What the Records of lab 08 show, for the questions of its rubric."""

from __future__ import annotations

from autograder.rubrics.record_facts import Facts
from beowulf.exercises import gas
from beowulf.labs.lab_08 import c7_barrier, first_beowulf
from beowulf.labs.lab_08.tokens import MOST_DEMAND, Tokens
from beowulf.record import Record

LONG, SHORT = 8192, 256  # bytes of the tokens that are asked for


def two_networks(record: Record) -> Facts:
    """What a Record of C1 on two networks shows: where each saturates, and what the second one gains."""
    seen = Tokens.of(record)
    seen.need_two()

    def gain(size: int) -> float:
        return seen.rate(2, MOST_DEMAND, size).median / seen.rate(1, MOST_DEMAND, size).median

    return {
        "saturated_one_bytes": seen.saturated_at(1),
        "saturated_two_bytes": seen.saturated_at(2),
        "gain_8192": gain(LONG),
        "gain_256": gain(SHORT),
    }


def barriers(record: Record) -> Facts:
    """The µs of a barrier on the fewest nodes and on the most."""
    times = c7_barrier.times(record)
    return {
        "barrier_two_us": times[min(times)].median,
        "barrier_all_us": times[max(times)].median,
    }


def shares(record: Record) -> Facts:
    """The shares of a step of the learner's own gas on four ranks."""
    of = gas.parts(record).loc[gas.RANKS]
    return {name: float(str(of[name])) for name in ("computing_percent", "communicating_percent")}


def speed_ups(record: Record) -> Facts:
    """The speed-up of the gas on the 16 nodes of 1995."""
    of = first_beowulf.gas(record).loc[max(first_beowulf.NODES)]
    return {f"speed_up_{name}": float(str(of[f"{name}_speed_up"])) for name in ("one", "two")}


def exchange_fault(record: Record) -> str:
    """Why a Record shows no right exchange; empty where it does."""
    facts = gas.function(record)
    if facts.get("right") is not True:
        return str(facts.get("why") or "it was not tried")
    bits = gas.bits(record)
    if set(bits) != {1, gas.RANKS}:
        return "the gas was not run on one rank and on four"
    return (
        "" if len(set(bits.values())) == 1 else "the gas has other bits on four ranks than on one"
    )
