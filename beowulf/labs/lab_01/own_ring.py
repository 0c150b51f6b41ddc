"""Lab 01's exercise: a learner's own function passes a token round all nodes.

It is a Record of A2 with the variant `own-ring`, because A2 also checks with a ring that all nodes communicate.
broken_ring.py runs the same function on a broken cluster.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from beowulf.engines import Engines
from beowulf.errors import LabError
from beowulf.exercises import engine_function
from beowulf.exercises.exercise import Exercise
from beowulf.measure.watched import Watched
from beowulf.record import Point, Record

STUDY, VARIANT = "A2", "own-ring"
EXERCISE = Exercise(STUDY, VARIANT)
CALLS = 3


def measure(
    engines: Engines, name: str = "pass_token", *, chance: random.Random | None = None
) -> Record:
    """Call the function on all ranks three times, with a new token each time, and save the Record.

    A call that fails is kept with the reason. LabError if there is no such function.
    """
    cluster = engines.cluster
    chance = chance or random.Random()
    with Watched(cluster, STUDY) as watched:
        about = engine_function.about(engines, name)
        with engine_function.record(EXERCISE, cluster, about, watched) as made:
            for number in range(1, CALLS + 1):
                made.points.append(called(engines, name, number, chance))
                if not engines.alive:
                    break
            if engines.alive:
                facts = made.points[0].facts
                facts["mpi_calls"] = engine_function.called(engines, _call, name, ["token"])
    print(*lines(made), sep="\n")
    return made


def called(engines: Engines, name: str, number: int, chance: random.Random) -> Point:
    """One call of the function on all ranks: the token, what each rank returned, and what is wrong with that."""
    token = [f"token {chance.randrange(16**8):08x}"]
    facts: dict[str, Any] = {"given": token, "returned": [], "nodes": list(engines.nodes)}
    try:
        facts["returned"] = engines.apply(_call, name, token)
        facts["why"] = wrong(token, engines.nodes, facts["returned"])
    except LabError as problem:
        facts["why"] = problem.message
    facts["right"] = not facts["why"]
    return Point({"call": number}, facts=facts)


def _call(names: dict[str, Any], function: str, token: list[str]) -> list[str] | str:
    """On an engine: the returned list as texts, or the type if it is not a list."""
    given = names[function](list(token) if names["world"].Get_rank() == 0 else None)
    if not isinstance(given, list | tuple):
        return "None" if given is None else type(given).__name__
    return [str(each)[:100] for each in given[:100]]


def wrong(
    token: Sequence[str], nodes: Sequence[str], returned: Sequence[Sequence[str] | str]
) -> str:
    """What is wrong with the results, in a sentence about the first rank with a wrong one; "" if all are right."""
    for rank in [*range(1, len(nodes)), 0]:
        who, given = f"{nodes[rank]} (rank {rank})", returned[rank]
        # The token comes home to rank 0 after all others.
        right = [*token, *(nodes[: rank + 1] if rank else nodes)]
        if given == right:
            continue
        if isinstance(given, str):
            what = "the token that came home" if rank == 0 else "the list that it passed on"
            return f"{who} returned {given}, not {what}."
        listed = list(given)
        if listed[: len(token)] != list(token):
            return f"{who} returned a list that does not begin with the token: {_short(listed)}."
        if rank and listed == right[:-1]:
            return f"{who} did not append its node before it passed the token on."
        if rank == 0 and listed == right[: len(token) + 1]:
            return f"{who} returned what it passed on, not what came home."
        if rank == 0 and listed == [*right, nodes[0]]:
            return f"{who} appended its node a second time when the token came home."
        if rank == 1 and listed == [*token, nodes[1]]:
            return f"{nodes[0]} (rank 0) did not append its node before it passed the token on."
        return f"{who} returned {_short(listed)}; {_short(right)} would be right."
    return ""


def _short(listed: Sequence[str]) -> str:
    text = ", ".join(listed)
    return text if len(text) <= 200 else f"{text[:200]}…"


def right(record: Record) -> bool:
    """Whether every call of a Record returned the right lists."""
    calls = [point.facts for point in record.points if "call" in point.at]
    return len(calls) == CALLS and all(facts.get("right") is True for facts in calls)


def lines(record: Record) -> list[str]:
    """The result of each call, in a sentence."""
    return [
        f"Call {point.at['call']}: {'right' if point.facts['right'] else point.facts['why']}"
        for point in record.points
        if "call" in point.at
    ]
