"""How long do learners wait in the line of a machine before a deadline? Simulated, from what studies took."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.result import Findings, Result
from benchmarks.rows import Question
from beowulf import paths
from beowulf.lab_file import read
from beowulf.measure.line import LONGEST_REST_S
from beowulf.progress import Progress
from beowulf.studies import find

TITLE = "Waiting in the line before a deadline, simulated"
ROUNDS = 20  # draws of the arrivals
FILLS_THE_CORES = True

RESULTS = Path(__file__).with_name("results")
FULL, QUICK = "full", "quick"
# How many machines are tried for a class.
CLASSES = {
    30: (1, 2, 4, 8),
    300: (1, 2, 4, 8, 16, 32, 64),
    10_000: (8, 16, 32, 64, 128, 256, 512, 1024),
}
DAYS = 7
DOUBLES_EVERY_DAYS = 1.0  # so much nearer to the deadline, twice as many begin in a day
BEARABLE_S = 900.0
SECONDS_A_DAY = 86_400.0
SHARE = 0.95

NOTES = [
    "A simulation: nobody has measured here. It uses the seconds that each study took with all of its launches"
    " (full_studies.json) and with --quick (studies.json). Each learner measures each timed study of one lab once, of"
    " the lab that takes longest, and goes to the end of the line again for the next one.",
    f"Learners begin within {DAYS} days before the deadline, and twice as many for each {DOUBLES_EVERY_DAYS:g} day"
    " nearer to it; the hour of the day is not regarded. This is an assumption, and the one that matters most.",
    f"Someone who has waited rests {LONGEST_REST_S:g} s, until the load of the one before has gone. That is the most.",
    "Each learner measures on one of the machines, drawn by chance, each with a line of its own.",
    "A figure is the 95th percentile over the learners of the longest wait of each.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Each class on more and more machines, until nearly all wait for a bearable time."""
    samples: dict[str, list[float]] = {}
    facts: dict[str, Any] = {"days": DAYS, "bearable_s": BEARABLE_S}
    late: dict[str, float] = {}
    enough: dict[str, int | None] = {}
    for how in (FULL, QUICK):
        lab, turns_s = longest_lab(how)
        facts |= {
            f"lab, {how}": lab,
            f"studies, {how}": len(turns_s),
            f"seconds, {how}": sum(turns_s),
        }
        for number, (learners, tried) in enumerate(CLASSES.items()):
            enough[f"{learners}, {how}"] = None
            for machines in tried:
                name = of(learners, machines, how)
                progress(number, len(CLASSES), name)
                draw = np.random.default_rng([seed, learners, machines])
                runs = [simulated(learners, machines, turns_s, draw) for _ in range(rounds)]
                samples[name] = [float(np.quantile(longest_s, SHARE)) for longest_s, _ in runs]
                late[name] = float(np.median([share for _, share in runs]))
                if np.median(samples[name]) <= BEARABLE_S:
                    enough[f"{learners}, {how}"] = machines
                    break
    questions = [Question(name, name) for name in samples]
    return Findings(
        questions, samples, facts=facts | {"late": late, "enough": enough}, notes=list(NOTES)
    )


def of(learners: int, machines: int, how: str) -> str:
    """The name of what is simulated."""
    return f"{learners:,} learners on {machines:,}, {how} studies"


def longest_lab(how: str) -> tuple[str, list[float]]:
    """The lab whose timed studies take longest, and how long each of them has the machine."""
    took_s = _full() if how == FULL else _quick()
    labs = {
        slug: [took_s[each] for each in read(slug).studies if each in took_s and find(each).timed]
        for slug in paths.labs()
    }
    return max(labs.items(), key=lambda lab: sum(lab[1]))


def _full() -> dict[str, float]:
    runs = Result.load(RESULTS / "full_studies.json").facts["runs"]
    return {name: float(run["took_s"]) for name, run in runs.items()}


def _quick() -> dict[str, float]:
    samples = Result.load(RESULTS / "studies.json").samples_s
    return {name.partition(" ")[0]: float(np.median(taken)) for name, taken in samples.items()}


def simulated(
    learners: int, machines: int, turns_s: Sequence[float], draw: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Each learner's longest wait in seconds, and the share of learners who are done after the deadline."""
    deadline_s = DAYS * SECONDS_A_DAY
    came_s = arrivals(learners, draw)
    at = draw.integers(machines, size=learners)
    longest_s, done_s = np.zeros(learners), np.zeros(learners)
    for machine in range(machines):
        free_s = 0.0
        # Who came when, for which turn. Who has had a turn comes again at once.
        line = [(came_s[who], int(who), 0) for who in np.flatnonzero(at == machine)]
        heapq.heapify(line)
        while line:
            joined_s, who, turn = heapq.heappop(line)
            begins_s = max(free_s, joined_s)
            longest_s[who] = max(longest_s[who], begins_s - joined_s)
            rest_s = LONGEST_REST_S if begins_s > joined_s else 0.0
            free_s = done_s[who] = begins_s + rest_s + turns_s[turn]
            if turn + 1 < len(turns_s):
                heapq.heappush(line, (free_s, who, turn + 1))
    return longest_s, float(np.mean(done_s > deadline_s))


def arrivals(learners: int, draw: np.random.Generator) -> np.ndarray:
    """When each learner begins, in seconds; the density doubles again and again until the deadline."""
    days = draw.random(learners) * (1 - 2 ** (-DAYS / DOUBLES_EVERY_DAYS))
    before_s = -np.log2(1 - days) * DOUBLES_EVERY_DAYS * SECONDS_A_DAY
    return np.asarray(DAYS * SECONDS_A_DAY - before_s)
