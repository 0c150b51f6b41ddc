"""Lab 03's exercise in Python: a learner's own laws of speed-up, called with random numbers.

A Record of A4 with the variant `laws`, because these laws interpret A4's figures.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beowulf import figures
from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.exercises import file_functions
from beowulf.exercises.exercise import Exercise
from beowulf.exercises.heat import reading
from beowulf.measure import speedup
from beowulf.record import Point, Record

STUDY, VARIANT = "A4", "laws"
EXERCISE = Exercise(STUDY, VARIANT)
TIMES = 5  # how often each law is called, with new numbers each time
CLOSE = 1e-6  # relative to our own answer: rounding may differ

Numbers = list[float]
LAWS: tuple[Callable[..., float], ...] = (speedup.amdahl, speedup.karp_flatt, speedup.gustafson)
OURS = {law.__name__: law for law in LAWS}


def drawn(name: str, chance: random.Random) -> Numbers:
    """Arguments for a law, as a real run might have them."""
    ranks = chance.choice((2, 4, 8, 16, 64))
    if name == "karp_flatt":
        return [round(chance.uniform(0.4, 0.95 * ranks), 3), ranks]
    return [round(chance.uniform(0.01, 0.6), 3), ranks]


def asked(functions: Mapping[str, Any], chance: random.Random) -> list[Point]:
    """A Point for each law: its arguments, and what the learner's function returned.

    A result that is not a number is kept as None, with the reason.
    """
    found = []
    for name in OURS:
        questions = [drawn(name, chance) for _ in range(TIMES)]
        pairs = [file_functions.called(functions.get(name), name, each) for each in questions]
        answers, whys = [given for given, _ in pairs], [trouble for _, trouble in pairs]
        facts = {"asked": questions, "yours": answers, "why": next(filter(None, whys), "")}
        found.append(Point({"law": name}, facts=facts))
    return found


def is_right(name: str, question: Numbers, answer: object) -> bool:
    """Whether the learner's answer follows the law."""
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return False
    wanted = OURS[name](*question)
    return abs(answer - wanted) <= CLOSE * max(abs(wanted), CLOSE)


def measure(
    cluster: Cluster, source: Path | str = "laws.py", chance: random.Random | None = None
) -> Record:
    """Call the functions in `source`, and save the Record.

    LabError if `source` is not valid Python.
    """
    program, sweep = file_functions.about(Path(source)), {"exercise": Path(source).name}
    with EXERCISE.record(cluster, sweep=sweep, program=program) as made:
        made.points = asked(file_functions.functions(Path(source)), chance or random.Random())
    return made


def lines(points: Sequence[Point]) -> list[str]:
    """Whether each law is right, with a wrong result but without ours."""
    said = []
    for point in points:
        name, facts = str(point.at["law"]), point.facts
        pairs = list(zip(facts["asked"], facts["yours"], strict=True))
        wrong = [pair for pair in pairs if not is_right(name, *pair)]
        said.append(f"{name:<12} {_verdict(name, facts['why'], wrong)}")
    return said


def _verdict(name: str, why: str, wrong: Sequence[tuple[Numbers, Any]]) -> str:
    if why or not wrong:
        return why or "right"
    question, answer = wrong[0]
    way = "small" if answer < OURS[name](*question) else "large"
    first = "speed_up" if name == "karp_flatt" else "serial_share"
    words = f"{first}={question[0]:.7g}, ranks={question[1]:.7g}"
    return f"too {way}: {name}({words}) gives {answer:.6g}"


@figures.draggable(Exercise("H3", "").own, "lab.heat.speed_up", serial_percent=range(0, 101, 5))
def serial_part(record: Record, serial_percent: float = 0) -> figures.Figure:
    """Your plates' speed-ups, and Amdahl's law with a serial share of `serial_percent` per cent: drag the law."""
    speeds = reading.table(record)
    series = {
        f"your plate of {rows:,} rows": dict(zip(of["ranks"], of["speed_up"], strict=True))
        for rows, of in speeds.groupby("rows")
    }
    ranks = sorted(set(speeds["ranks"]))
    law = {n: speedup.amdahl(serial_percent / 100, n) for n in ranks}
    drawn = figures.plot(
        {**series, "Amdahl's law": law},
        *("ranks", "times_as_fast_as_one"),
        title=f"{serial_percent:g} % of the work is serial",
    )
    drawn.drawing.axes[0].set_xticks(ranks)
    return drawn


def main(words: Sequence[str], functions: Mapping[str, Any]) -> None:
    """Call the functions of the started file, and print what is right."""
    try:
        if len(words) != 1:
            raise UsageError("It takes no arguments.", "`python laws.py`")
        for line in lines(asked(functions, random.Random())):
            print(line)
    except LabError as problem:
        sys.exit(f"laws.py: {problem}")
