"""How long do learners wait in the line of a machine before a deadline? Simulated, from what studies took.

Nobody has measured here. Each learner measures each timed study of one lab once, of the lab that takes longest (but
none that only root can measure), on one of the machines, drawn by chance, and goes to the end of its line again for
the next one. Learners begin within seven days before the deadline, and each day nearer to it twice as many: an
assumption, and the one that matters most. Those who have waited rest as long as they do at most, until the load of
the one before has gone. A figure is the 95th percentile over the learners of the longest wait of each.
"""

from __future__ import annotations

import heapq
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.result import Findings, Question, kept
from beowulf import paths
from beowulf.course.lab_file import read
from beowulf.measure.machine_queue import LONGEST_REST_S
from beowulf.studies import find
from beowulf.studies.study import Study
from beowulf.this_machine.progress import Progress

TITLE = "Waiting in the line before a deadline, simulated"
ROUNDS = 20  # draws of the arrivals

# How many machines are tried for a class.
CLASSES = {
    30: (1, 2, 4, 8),
    300: (1, 2, 4, 8, 16, 32, 64),
    10_000: (8, 16, 32, 64, 128, 256, 512, 1024),
}
DAYS = 7
BEARABLE_S = 900.0
DAY_S = 86_400.0
SHARE = 0.95


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Each class on more and more machines, until nearly all wait for a bearable time."""
    findings = Findings(facts={"late": {}})
    for how, took_s in ways().items():
        lab, turns_s = longest_lab(took_s)
        findings.facts[how] = {"lab": lab, "studies": len(turns_s), "seconds": sum(turns_s)}
        for number, (learners, tried) in enumerate(CLASSES.items()):
            for machines in tried:
                name = f"{learners:,} learners on {machines:,}, {how} studies"
                progress(number, len(CLASSES), name)
                draw = np.random.default_rng([seed, learners, machines])
                runs = [simulated(learners, machines, turns_s, draw) for _ in range(rounds)]
                waits = [float(np.quantile(longest_s, SHARE)) for longest_s, _ in runs]
                findings.samples[name] = waits
                findings.facts["late"][name] = statistics.median(late for _, late in runs)
                if statistics.median(waits) <= BEARABLE_S:
                    break
    findings.questions = [Question(name, name) for name in findings.samples]
    return findings


def ways() -> dict[str, dict[str, float]]:
    """How long each study took: with all of its launches, and with --quick."""
    full: Mapping[str, Any] = kept("full_studies")["facts"]["runs"]
    quick: Mapping[str, Any] = kept("studies")["samples"]
    return {
        "full": {study: run["took_s"] for study, run in full.items()},
        "quick": {study: statistics.median(taken) for study, taken in quick.items()},
    }


def longest_lab(took_s: Mapping[str, float]) -> tuple[str, list[float]]:
    """The lab whose timed studies take longest, and how long each of them has the machine."""
    labs = {
        slug: [
            took_s[each] for each in read(slug).studies if each in took_s and waited_for(find(each))
        ]
        for slug in paths.labs()
    }
    return max(labs.items(), key=lambda lab: sum(lab[1]))


def waited_for(study: Study) -> bool:
    """Whether it holds the machine, and a learner who is not root can measure it."""
    return study.timed and not any(
        need.ability == "cpu_limits" and not need.part for need in study.needs
    )


def simulated(
    learners: int, machines: int, turns_s: Sequence[float], draw: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Each learner's longest wait in seconds, and the share of learners who are done after the deadline."""
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
    return longest_s, float(np.mean(done_s > DAYS * DAY_S))


def arrivals(learners: int, draw: np.random.Generator) -> np.ndarray:
    """When each learner begins, in seconds; the density doubles each day until the deadline."""
    before_days = -np.log2(1 - draw.random(learners) * (1 - 2**-DAYS))
    return np.asarray((DAYS - before_days) * DAY_S)
