"""Lab 08's Records as nobody measured them: tokens, a barrier, a gas, a galaxy, and the machine of 1995."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from itertools import product
from typing import Any

from beowulf import paths
from beowulf.exercises import gas
from beowulf.labs.lab_08 import c7_barrier, first_beowulf, galaxy, tokens
from beowulf.record import Point, Record
from tests.gold import measured
from tests.gold.case import worth
from tests.gold.hand_in import plain_answers

SLUG = "08-first-beowulf"
record, sealed = measured.record, partial(measured.sealed, 8)
PASSES = 12
PIECE, MOST_MB_PER_S, EMPTY_S = 1448, 2.4, 30e-6
# Per cent of a step, on four ranks and on one.
PARTS = {"computing": 20.0, "communicating": 50.0, "waiting": 30.0}
ALONE = {"computing": 100.0, "communicating": 0.01, "waiting": 0.01}
BALANCE = 1.003


def token_s(networks: int, size: int) -> float:
    """The seconds of a token, of all pairs together: what sending takes, and its bytes on the networks that it uses."""
    used = min(networks, -(-size // PIECE))
    return EMPTY_S + size / (MOST_MB_PER_S * 1e6 * used)


def point(quantity: str, at: dict[str, Any], value: float) -> list[Point]:
    """Three launches with a sample a pass, nearly alike."""
    samples = [value * (1 + 0.001 * (number % 3)) for number in range(PASSES)]
    facts = {"pass": list(range(PASSES))}
    return [Point({**at, "launch": launch}, quantity, samples, facts) for launch in (0, 1, 2)]


def c1(networks: Iterable[int] = (1, 2), **changes: Any) -> Record:
    """Tokens of all sizes and demands."""
    points = []
    for count, demand, size in product(networks, tokens.QUICK_DEMANDS, tokens.SIZES):
        at = {"networks": count, "demand": demand, "size_bytes": size}
        at |= {"ranks": 16, "way": "sockets"}
        points += point(tokens.QUANTITY, at, token_s(count, size))
    return record("C1", points, **{"cluster": {"rate": "10mbit", "networks": 2}, **changes})


def c7() -> Record:
    """Barriers of 60 µs on two nodes and 120 on four."""
    two, four = (point(c7_barrier.QUANTITY, {"ranks": n}, n * 30e-6) for n in (2, 4))
    return record("C7", [*two, *four])


@cache
def sources() -> dict[str, str]:
    """What is handed out, by file."""
    files = [paths.lab("08") / name for name in (gas.SOURCE, galaxy.SOURCE)]
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def edited(name: str) -> dict[str, Any]:
    """How a Record names a program in which a learner wrote: its digest is none of ours."""
    return {"name": name, "arguments": [], "sha256": "1" * 64}


def own_gas(why: str = "", bits: Iterable[str] = ("12ab", "12ab"), **changes: Any) -> Record:
    """A learner's own exchange, and what a step of the gas took."""
    facts = {"text": sources()[gas.SOURCE], "right": not why, "why": why}
    points = [Point({"function": gas.FUNCTION}, facts=facts)]
    if not why:
        for ranks, each in zip((1, gas.RANKS), bits, strict=True):
            facts = {"bits": each, "mflops": 900.0, "mass_drift": 0.0}
            points.append(Point({"result": "blast", "ranks": ranks}, facts=facts))
            step, shares = (0.02, ALONE) if ranks == 1 else (0.025, PARTS)
            for name, percent in {"step": 100.0, **shares}.items():
                values = [step * percent / 100 * (1 + 0.001 * (n % 3)) for n in range(gas.PASSES)]
                at = {"ranks": ranks, "launch": 0}
                points.append(Point(at, f"{name}_s", values, {"pass": list(range(gas.PASSES))}))
    return record(gas.STUDY, points, variant=gas.VARIANT, program=edited(gas.SOURCE), **changes)


def own_galaxy(balance: float = BALANCE, why: str = "", **changes: Any) -> Record:
    """A learner's own partition."""
    facts: dict[str, Any] = {"text": sources()[galaxy.SOURCE], "right": not why, "why": why}
    if not why:
        facts["balance"] = balance
    points, program = [Point({"function": galaxy.FUNCTION}, facts=facts)], edited(galaxy.SOURCE)
    return record(galaxy.STUDY, points, variant=galaxy.VARIANT, program=program, **changes)


def step_s(cables: int, nodes: int) -> float:
    """A step of the gas of 1995."""
    return 2.7 / nodes + (0.02 / cables + 0.1 if nodes > 1 else 0.0)


def machine(**changes: Any) -> Record:
    """Tokens and gas on the machine of 1995."""
    points = []
    for cables in (1, 2):
        for demand, size in product(first_beowulf.DEMANDS, first_beowulf.SIZES):
            at = {"cables": cables, "ranks": 16, "launch": 0}
            seconds = (1260e-6 / demand + size / 1.1e6) / (cables if size > PIECE else 1)
            points.append(Point({**at, "demand": demand, "size_bytes": size}, "token_s", [seconds]))
        for nodes in first_beowulf.NODES:
            at = {"cables": cables, "ranks": nodes, "launch": 0}
            points.append(Point(at, "step_s", [step_s(cables, nodes)]))
    program = edited(f"{tokens.PROGRAM.name}, {first_beowulf.GAS}")
    return record(
        first_beowulf.STUDY, points, variant=first_beowulf.VARIANT, program=program, **changes
    )


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 08 has."""
    return [
        sealed("second", 1.8, 1.4, 2.1, "C1"),
        sealed("speed-up", 10, 5, 15, "S8-first-beowulf"),
        c1(),
        c7(),
        own_gas(),
        own_galaxy(),
        machine(),
    ]


def _gain(size: int) -> float:
    return token_s(1, size) / token_s(2, size)


def _saturated(networks: int) -> int:
    rates = {size: size / token_s(networks, size) for size in tokens.SIZES}
    most = max(rates.values())
    return next(size for size, rate in rates.items() if rate >= tokens.SATURATED * most)


RIGHT: dict[str, Any] = plain_answers(SLUG) | {
    "saturated_one_bytes": _saturated(1),
    "saturated_two_bytes": _saturated(2),
    "gain_8192": _gain(8192),
    "gain_256": _gain(256),
    "round_us": 60.06,
    "other_barrier_us": 240.24,
    "no_communicating_times": 2.0,
    "no_computing_times": 1.25,
    "overhead_one_percent": 100 * (1 - step_s(1, 1) / step_s(1, 16) / 16),
    "cable_percent": 100 * 0.01 / (1 - 1 / 1.7) / step_s(1, 16),
    "below_percent": 13.9,
    "overhead_percent": 56.9,
}
WORTH = worth(SLUG)
# What needs no answer.
MEASURED = worth(SLUG, "predict-second", "predict-speed-up", "ghosts", "galaxy", "c1-record")
