"""Lab 03's exercise in Python: a learner's own laws, called with numbers drawn by chance, and kept beside the notebook.

A Record of A4 with the variant `laws`: the laws are those that A4's figures are read by.
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
TIMES = 5  # each law is asked, with other numbers each time
CLOSE = 1e-6  # of our own answer: what the order of a sum may change

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
    """A Point for each law: what it was asked, and what the learner's function gave.

    What is no number is kept as None, with the reason.
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
    """Whether an answer of the learner's is what the law says."""
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return False
    wanted = OURS[name](*question)
    return abs(answer - wanted) <= CLOSE * max(abs(wanted), CLOSE)


def measure(
    cluster: Cluster, source: Path | str = "laws.py", chance: random.Random | None = None
) -> Record:
    """Ask the functions in `source`, and keep the Record.

    LabError when `source` is no Python.
    """
    program, sweep = file_functions.about(Path(source)), {"exercise": Path(source).name}
    with EXERCISE.record(cluster, sweep=sweep, program=program) as made:
        made.points = asked(file_functions.functions(Path(source)), chance or random.Random())
    return made


def lines(points: Sequence[Point]) -> list[str]:
    """What each law gives, and whether it is right; our own number stays with us."""
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
    """Your plates' speed-ups, and Amdahl's law with so many per cent that one rank does alone: drag the law."""
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
    """Ask the functions of the file that was started, and say what is right."""
    try:
        if len(words) != 1:
            raise UsageError("It takes no arguments.", "`python laws.py`")
        for line in lines(asked(functions, random.Random())):
            print(line)
    except LabError as problem:
        sys.exit(f"laws.py: {problem}")
