"""Lab 09's Records as nobody measured them: a network, a staircase, and a plate on more nodes than there are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from beowulf import paths
from beowulf.labs.lab_09 import scaling, stairs
from beowulf.measure import calibration
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record
from tests.gold import measured
from tests.gold.case import worth
from tests.gold.hand_in import plain_answers

SLUG = "09-prediction"
record, sealed = measured.record, partial(measured.sealed, 9)
SIZES = (0, *(2**n for n in range(21)))
ALPHA_US, US_A_BYTE = 25.0, 0.085
# By network: the µs that the messages of a step take.
MESSAGES_US = {scaling.OWN: 5600.0, scaling.GIGABIT: 600.0}
ROWS_US = 20_000.0
# Of the functions of stairs.c, whose times tests/labs/lab_09/test_stairs.py holds against the simulator.
TIMES_MS = {
    **{"naive": 8.71921, "ring": 75.50929, "tree": 0.83041},
    **{"pipelined": 81.10257, "reduce": 52.541506, "halo": 12.251042},
}


def step_us(network: str, nodes: int) -> float:
    """A step of the plate on so many nodes."""
    return ROWS_US / nodes + (MESSAGES_US[network] if nodes > 1 else 0.0)


def speed_up(network: str, nodes: int = 64) -> float:
    """And how many times faster that is than on one."""
    return step_us(network, 1) / step_us(network, nodes)


@cache
def source() -> str:
    """The functions of the notebook's author, behind the head of what is handed out."""
    notebook = paths.root() / "notebooks" / "source" / SLUG / "predicting.py"
    _, _, rest = notebook.read_text(encoding="utf-8").partition('+ r"""\n')
    own, _, _ = rest.partition('"""\n)')
    handed_out = (paths.lab("09") / stairs.SOURCE).read_text(encoding="utf-8")
    head, _, _ = handed_out.partition("/* TODO: each rank gets")
    return head + own


def times(**changes: Any) -> Record:
    """An E1 on a line, the shortest messages a little above it."""
    points = []
    facts = {"pass": list(range(12))}
    for launch in (0, 1, 2):
        for size in SIZES:
            us = ALPHA_US + US_A_BYTE * size
            samples = [us * (1 + 0.001 * (number % 3)) for number in range(12)]
            at = {"ranks": 2, "launch": launch, "sweep": "wide", "size_bytes": size}
            points.append(Point({**at, "protocol": "blocking"}, HALF, samples, facts))
    return record("E1", points, **{"cluster": {"rate": "100mbit"}, **changes})


def staircase(text: str = "", took: Mapping[str, float | str] = TIMES_MS, **changes: Any) -> Record:
    """What stairs.measure keeps of a source: a time or a fault of each step."""
    points = []
    for name, each in took.items():
        step = stairs.BY_NAME[name]
        at = {"step": name, "ranks": step.ranks, "size_bytes": step.size_bytes}
        if isinstance(each, str):
            points.append(Point(at, facts={"why": each}))
        else:
            points.append(Point(at, "duration_s", [each / 1e3]))
    points.append(Point({"source": "stairs.c"}, facts={"text": text or source()}))
    return record(stairs.STUDY, points, variant=stairs.VARIANT, **changes)


def plate(**changes: Any) -> Record:
    """Steps on 1 to 256 nodes of two networks; on 2 and 4 of the first one measured as well."""
    points = [Point({"ranks": 1, "launch": 0}, "row_s", [ROWS_US * 1e-6 / scaling.ROWS])]
    for network in MESSAGES_US:
        for nodes in scaling.NODES:
            at = {"network": network, "ranks": nodes, "launch": 0}
            seconds = step_us(network, nodes) * 1e-6
            points.append(Point({**at, "way": scaling.SIMULATED}, "step_s", [seconds]))
            if network == scaling.OWN and nodes in (2, 4):
                samples = [seconds * (1.02 + 0.001 * (n % 3)) for n in range(scaling.PASSES)]
                points.append(Point({**at, "way": scaling.MEASURED}, "step_s", samples))
    return record(scaling.STUDY, points, variant=scaling.VARIANT, **changes)


def scaling_plot(**other: Any) -> Record:
    """The speed-ups on both networks."""
    lines = {name: {n: speed_up(name, n) for n in scaling.NODES} for name in MESSAGES_US}
    labels = {"x_scale": "log", "y_scale": "log", "x_label": "nodes", "y_label": "speed-up"}
    return measured.plot("F9", "scaling", lines, **{**labels, **other})


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 09 has."""
    return [
        times(),
        sealed("broadcast", 10, 6, 20, "S9-stairs"),
        sealed("plate", 4, 2, 10, "S9-plate"),
        staircase(),
        plate(),
        scaling_plot(),
    ]


_MADE = calibration.of(times())
RIGHT: dict[str, Any] = plain_answers(SLUG) | {
    "alpha_us": _MADE.sizes[0].median,
    "longest_us": _MADE.sizes[-1].median,
    "worst_percent": _MADE.worst_percent,
    "least_ms": 0.698,
    "equal_bytes": 4118,
    "memo_row_us": ROWS_US / scaling.ROWS,
    "memo_one_ms": ROWS_US / 1e3,
    "memo_own_ms": step_us(scaling.OWN, 16) / 1e3,
    "memo_gigabit_ms": step_us(scaling.GIGABIT, 16) / 1e3,
    "speed_up_64": speed_up(scaling.OWN),
    "speed_up_64_gigabit": speed_up(scaling.GIGABIT),
}
WORTH = worth(SLUG)
WRITTEN = ("tree", "ring", "pipelined", "reduce", "halo")
# What needs no answer.
MEASURED = worth(SLUG, "predict-broadcast", "predict-plate", *WRITTEN, "scaling-plot")
