"""Hand-ins made of real Records, honest ones and ones that were made up: which does the report list as doubtful?"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from autograder.results import doubts
from autograder.results.doubts import Doubt
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from beowulf.progress import Progress
from beowulf.record import Record
from tests.gold import drawn_records
from tests.gold.drawn_records import COPIES, LABS, WAYS

TITLE = "Doubts about samples: who is listed?"
ROUNDS = 300  # honest hand-ins, and of each way a third of that
FILLS_THE_CORES = True

HONEST = "an honest hand-in is not listed"
PAIRS = "two real Records of a study are no near-copies"
MOST_HONEST, LEAST_MADE_UP = 0.01, 0.9  # shares that may and have to be listed


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """A round is an honest hand-in; of each way to make one up there are a third of them, in turns over the labs."""
    generator = np.random.default_rng(seed)
    labs, made_up = list(LABS), max(rounds // 3, 1)
    samples: dict[str, list[float]] = {HONEST: []}
    questions = [Question(HONEST, HONEST, bar=_bar(rounds, 1 - MOST_HONEST), unit="trials")]
    listed: Counter[str] = Counter()
    for number in range(rounds):
        progress(number, rounds, "honest")
        slug = labs[number % len(labs)]
        found = _doubts(hers=drawn_records.honest(slug, generator))
        samples[HONEST].append(float(not found))
        listed[slug] += bool(found)
    for way in WAYS:
        of_class, alone = f"{way}, from a Record of the class", f"{way}, from one of nobody"
        samples |= {of_class: [], alone: []}
        for number in range(made_up):
            progress(number, made_up, way)
            hers, his = drawn_records.made_up(labs[number % len(labs)], way, generator)
            samples[of_class].append(float(_lists("hers", _doubts(hers=hers, his=his))))
            samples[alone].append(float(_lists("hers", _doubts(hers=hers))))
        bar = _bar(made_up, LEAST_MADE_UP)
        questions += [
            Question(of_class, of_class, bar=bar, unit="trials"),
            Question(alone, alone, bar=None if way in COPIES else bar, unit="trials"),
        ]
    samples[PAIRS] = [float(not _doubts_of_pair(*pair)) for pair in _pairs()]
    bar = _bar(len(samples[PAIRS]), 1)
    questions.insert(1, Question(PAIRS, PAIRS, bar=bar, unit="trials"))
    kept = [f"{record.study}: {where}" for where, record in drawn_records.real()]
    return Findings(
        questions,
        samples,
        facts={
            "real Records": kept,
            "honest hand-ins that are listed, by lab": {slug: listed[slug] for slug in labs},
        },
        notes=[
            "The real Records are of one machine, as namespaces. An honest hand-in has one of them for each study, with"
            " its launches drawn again. What other machines show was not measured.",
            "A made-up hand-in has what a program prints: whole nanoseconds, nine digits, but for the rounded one.",
            "Scaled and rounded Records of nobody in the class keep all that a machine left in them: of the rounded one"
            " the digits are found, of the scaled one nothing.",
        ],
    )


def _bar(number: int, share: float) -> Bar:
    return Bar(number, "count", least=share * number)


def _doubts(**of_students: list[Record]) -> list[Doubt]:
    plain = {name: [record.as_plain() for record in own] for name, own in of_students.items()}
    return doubts.found(plain)


def _lists(student: str, found: list[Doubt]) -> bool:
    return any(student in each.students for each in found)


def _pairs() -> list[tuple[Record, Record]]:
    pairs = combinations([record for _, record in drawn_records.real()], 2)
    return [(one, other) for one, other in pairs if one.study == other.study]


def _doubts_of_pair(one: Record, other: Record) -> bool:
    return any(len(each.students) == 2 for each in _doubts(hers=[one], his=[other]))
