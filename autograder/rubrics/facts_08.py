"""What the Records of lab 08 show, for the questions of its rubric."""

from __future__ import annotations

import math

from autograder.rubrics.record_facts import Facts
from beowulf.exercises import gas
from beowulf.labs.lab_08 import c7_barrier, first_beowulf
from beowulf.labs.lab_08.tokens import MOST_DEMAND, Tokens
from beowulf.record import Record

LONG, SHORT = 8192, 256  # bytes of the tokens that are asked for
OTHER_NODES = 12  # of the barrier that is asked for: C7 measures powers of two
MOST_NODES = max(first_beowulf.NODES)
# What two networks carry of long messages, of one: what the simulated machine of 1995 was given.
TWO_CARRY = 1.7


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
    """The µs of a round of a barrier on the most nodes, and those of a barrier of other nodes with such rounds."""
    times = c7_barrier.times(record)
    rounds, others = (math.ceil(math.log2(nodes)) for nodes in (max(times), OTHER_NODES))
    round_us = times[max(times)].median / rounds
    return {"round_us": round_us, "other_barrier_us": others * round_us}


def without_a_part(record: Record) -> Facts:
    """How many times faster a step of the learner's own gas on four ranks is without one of its parts."""
    of = gas.parts(record).loc[gas.RANKS]
    return {
        f"no_{part}_times": 100 / (100 - float(str(of[f"{part}_percent"])))
        for part in ("communicating", "computing")
    }


def held_back(record: Record) -> Facts:
    """Of the gas on the 16 nodes of 1995 with one network: the overhead, and the share of the step on the cable."""
    of = first_beowulf.gas(record).loc[MOST_NODES]
    names = ("one_ms", "two_ms", "one_speed_up")
    one_ms, two_ms, speed_up = (float(str(of[name])) for name in names)
    cable_ms = (one_ms - two_ms) / (1 - 1 / TWO_CARRY)
    return {
        "overhead_one_percent": 100 * (1 - speed_up / MOST_NODES),
        "cable_percent": 100 * cable_ms / one_ms,
    }


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
