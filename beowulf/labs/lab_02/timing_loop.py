"""Lab 02's first exercise: a learner's own timing loop, on calls of known length and on the node's own clock.

A Record of A3 with the variant `timing`: the learner's function times a call as A3's programs do.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.course import personal_code
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_02 import on_node
from beowulf.labs.lab_02.on_first_node import about, tried
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.engines import Engines
    from beowulf.figures import Figure

STUDY, VARIANT = "A3", "timing"
EXERCISE = Exercise(STUDY, VARIANT)
NAME = "time_per_call_us"
QUANTITY = "call_us"
TRIALS = 3  # calls of known length
OWN, OURS = "own", "timeit"  # two loops that time the same real call
FEWEST_SAMPLES, FEWEST_STEPS = 11, 100
# In an interval of a hundred steps or more, one step is a per cent or less.
CLOSE = 0.02
OTHER_UNITS = (1e3, 1e-3, 1e-6)  # nanoseconds, milliseconds and seconds instead of microseconds
# Python's loop takes a large part of so short a time, and other programs disturb both loops.
TIMES_OURS = 2.0
LONGEST_S = 120.0
IN_THE_LOOP = "it reads the clock after each call, which takes time as well"


def drawn(chance: random.Random) -> list[list[int]]:
    """For each call its length, the step of its clock, and the clock's first value (ns).

    A long call on a fine clock, a short and a medium one on coarse clocks.
    """

    def between(low: float, high: float) -> int:
        return round(float(np.exp(chance.uniform(np.log(low), np.log(high)))))

    return [
        [between(3e5, 3e6), between(80, 300), between(1e9, 1e12)],
        [between(300, 900), between(1e4, 4e4), between(1e9, 1e12)],
        [between(5e3, 4e4), between(2e5, 8e5), between(1e9, 1e12)],
    ]


def measure(engines: Engines, name: str = NAME, chance: random.Random | None = None) -> Record:
    """Time calls with the function `name` on the first node's engine, and save the Record.

    Without `chance`, a learner with a personal code always gets the same calls. The Record reports in sentences what
    is wrong with the function.
    """
    cluster = engines.cluster
    calls = drawn(chance or personal_code.chance(f"{STUDY} {VARIANT}"))
    folder, node = cluster.records or Path("records"), cluster.nodes[0]
    with Measurement(STUDY, cluster, folder, sweep={"exercise": name, "nodes": [node]}) as session:
        found = tried(engines, on_node.looked_at.__name__, name, calls, timeout_s=LONGEST_S)
        for place, trial in enumerate(found["trials"]):
            session.points.append(Point({"trial": place}, facts=dict(trial)))
        for place, each in enumerate(found["real"]):
            at = {"node": node, "call": "getppid", "launch": place}
            session.points += [
                Point({**at, "loop": OWN}, QUANTITY, each[OWN], {"why": each["why"]}),
                Point({**at, "loop": OURS}, QUANTITY, each[OURS]),
            ]
    record = session.record()
    record.program = about(name, found)
    print(*lines(record), sep="\n")
    return EXERCISE.keep(record, folder, half=True)


def trials(record: Record) -> list[dict[str, Any]]:
    """What the function returned for each call of known length."""
    return [point.facts for point in record.points if "trial" in point.at]


def length_fault(trial: Mapping[str, Any]) -> str:
    """What is wrong with the measured length, in a sentence; "" if it is right."""
    if trial["why"]:
        return str(trial["why"])
    samples, length, step = trial["samples"], trial["length_us"], trial["step_us"]
    if not samples:
        return "it returns an empty list"
    found = float(np.median(samples))
    if abs(found - length) <= CLOSE * length:
        return ""
    message = f"it returns {found:.4g} µs for a call of {length:.4g} µs"
    if any(abs(found - factor * length) <= CLOSE * factor * length for factor in OTHER_UNITS):
        return f"{message}: the unit is microseconds"
    if _reads_in_the_loop(trial) and found > length:
        return f"{message}: {IN_THE_LOOP}"
    if all(each is None for each in trial["steps"]):
        return f"{message}, on a clock with steps of {step:.4g} µs: does it read `clock`?"
    return f"{message}, on a clock with steps of {step:.4g} µs"


def sample_fault(trial: Mapping[str, Any]) -> str:
    """What is wrong with the intervals of the samples; "" if they are long enough."""
    steps = trial["steps"]
    if trial["why"] or not steps:
        return str(trial["why"]) or "it returns an empty list"
    if len(steps) < FEWEST_SAMPLES:
        return f"it returns {len(steps)} samples; at least {FEWEST_SAMPLES} are needed"
    if any(each is None for each in steps):
        if _reads_in_the_loop(trial):
            return IN_THE_LOOP
        return "a sample is not an interval divided by its number of calls: return the samples as they were measured"
    if min(steps) < FEWEST_STEPS:
        return (
            f"an interval lasts {min(steps)} steps of the clock; at least {FEWEST_STEPS} are needed"
        )
    return ""


def _reads_in_the_loop(trial: Mapping[str, Any]) -> bool:
    return bool(2 * trial["intervals"] > trial["calls"] > FEWEST_SAMPLES)


def real_fault(record: Record) -> str:
    """What is wrong with the samples of a real call on the node's own clock; "" if they agree with timeit."""
    own, ours = (_of(record, loop) for loop in (OWN, OURS))
    if not ours:
        return "not tried until the calls of known length are right"
    if whys := [str(p.facts["why"]) for p in record.select(loop=OWN) if p.facts["why"]]:
        return whys[0]
    rounds = len(record.select(loop=OWN))
    if len(own) < FEWEST_SAMPLES * rounds:
        return (
            f"{len(own)} samples in {rounds} rounds; at least {FEWEST_SAMPLES} per round are needed"
        )
    times = min(own) / min(ours)
    if not 1 / TIMES_OURS <= times <= TIMES_OURS:
        return f"its best is {times:.3g} times that of timeit, which calls the same function"
    return ""


def _of(record: Record, loop: str) -> list[float]:
    return [sample for point in record.select(loop=loop) for sample in point.samples]


def lines(record: Record) -> list[str]:
    """Whether each call was timed correctly, in sentences."""
    said = []
    for place, trial in enumerate(trials(record), start=1):
        faults = dict.fromkeys(filter(None, (length_fault(trial), sample_fault(trial))))
        said.append(f"call {place} of known length: {'; '.join(faults) or 'right'}")
    said.append(f"getppid on {record.sweep['nodes'][0]}: {real_fault(record) or 'right'}")
    return list(dict.fromkeys(said))


def table(record: Record) -> pd.DataFrame:
    """The real call by the learner's loop and by timeit: samples, median and best (µs); empty if there are none."""
    import pandas as pd

    rows = [
        {"loop": loop, "samples": len(samples)}
        | {"median_us": float(np.median(samples)), "best_us": min(samples)}
        for loop in (OWN, OURS)
        if (samples := _of(record, loop))
    ]
    return pd.DataFrame(rows, columns=["loop", "samples", "median_us", "best_us"])


def picture(record: Record) -> Figure | None:
    """Every raw sample of the real call, in the order in which each loop took them; nothing if there are none."""
    from beowulf import figures

    series = {loop: dict(enumerate(_of(record, loop), start=1)) for loop in (OWN, OURS)}
    if not all(series.values()):
        return None
    node = record.sweep["nodes"][0]
    return figures.plot(
        series,
        "loop",
        "call_us",
        title=f"Every raw sample of os.getppid() on {node}",
        x_title="sample, in the order it was taken",
        y_title="time per call (µs)",
        joined=False,
    )
