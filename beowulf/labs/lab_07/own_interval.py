"""Lab 07's decision: the learner's function for the effect of a change and its interval, compared with ours.

A Record of E7 with the variant `interval`. The function is called with the pairs of the learner's own cycle, and with
those of made-up cycles, whose machine gets slower meanwhile and is disturbed now and then.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import mean, median
from typing import Any

import numpy as np

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises import file_functions
from beowulf.exercises.exercise import Exercise
from beowulf.exercises.file_functions import UNWRITTEN
from beowulf.exercises.heat import knob_worth
from beowulf.labs.lab_07 import knob_gains
from beowulf.labs.lab_07.e7_procedure import STEP
from beowulf.labs.lab_07.knob_gains import ALONE
from beowulf.measure import statistics
from beowulf.measure.statistics import ratio
from beowulf.record import Point, Record
from beowulf.tuning import ab_comparison

STUDY, VARIANT = "E7", "interval"
EXERCISE = Exercise(STUDY, VARIANT)
YOURS, MADE_UP = "your cycle of nothing", "made up"
CASES, PAIRS = 4, 160  # that are made up, and the pairs of each
LEAST_PAIRS = 20  # of a cycle whose interval can be compared with ours
# In percentage points, for rounding; and of the width of our interval, because another draw gives other ends.
NEAR, OF_WIDTH, LEAST_WIDTH = 0.02, 0.35, 0.1
# All ranges together, as shares of ours: one of 90 % has 0.84 times the width, one of 99 % 1.31 times.
WIDTHS = 0.91, 1.18
OF_HEAT = {"step": "step_s", "exchange": "exchange_s"}

# Gives the change in per cent, and the ends of its interval, from the times before and those after.
Change = Callable[[list[float], list[float]], Any]
Both = tuple[list[float], list[float]]


def pairs(record: Record, what: str = "") -> Both:
    """The times before and those after in µs, in which two of the same place are neighbours: of a cycle, undisturbed.

    `what` is one of the comparisons of E6 or E7, such as "firewall" or "all together"; of the heat program "step" or
    "exchange".
    """
    if record.study == "H7":
        seconds = knob_worth.pairs(record, OF_HEAT[_one_of(OF_HEAT, what or "step")])
        both = [(1e6 * after, 1e6 * before) for after, before in seconds]
    else:
        both = [pair for cycle in _cycles(record, what) for pair in ab_comparison.pairs(*cycle)]
    return [before for _, before in both], [after for after, _ in both]


def samples(record: Record, what: str = "") -> Both:
    """All half round trips before and all after, disturbed ones too, in µs; `what` as in pairs()."""
    known = _cycles(record, what)
    before = [us for one, _ in known for us in one.samples]
    return before, [us for _, other in known for us in other.samples]


def _cycles(record: Record, what: str) -> list[tuple[Point, Point]]:
    """The Points of before and after of one comparison, those of each launch together."""
    found = {
        knob if way in (ALONE, STEP) else f"{knob} {way}": [*launches.values()]
        for (knob, way), launches in knob_gains.cycles(record).items()
    }
    if not found:
        raise LabError("The Record has no before-and-after cycle.", "Measure again.")
    if not what and len(found) == 1:
        what = next(iter(found))
    return found[_one_of(found, what)]


def _one_of(known: Collection[str], what: str) -> str:
    if what in known:
        return what
    raise LabError(
        f"The Record compares no {what!r}.", f"It has: {', '.join(map(repr, sorted(known)))}."
    )


def measure(
    cluster: Cluster, function: Change, cycle: Record, chance: random.Random | None = None
) -> Record:
    """Call `function` with the pairs of a cycle and with made-up ones, print the result, and keep the Record.

    LabError while the function is not written.
    """
    text, program = file_functions.of_cell(function)
    with EXERCISE.record(cluster, sweep={"source": text}, program=program) as made:
        made.points = tried(function, pairs(cycle), chance or random.Random())
        if all(point.facts["why"] == UNWRITTEN for point in made.points):
            raise LabError(f"{program['name']}: {UNWRITTEN}.", "First write it and run its cell.")
    print("\n".join(lines(made)))
    return made


def tried(function: Change, own: Both, chance: random.Random) -> list[Point]:
    """A Point for each cycle: its pairs, what the function returned, and why that is wrong."""
    cases = {YOURS: own} | {
        f"{MADE_UP} {number}": made_up(chance.uniform(-40.0, 20.0), chance)
        for number in range(1, CASES + 1)
    }
    points = []
    for name, (before, after) in cases.items():
        given, why = _called(function, before, after)
        why = why or judged(before, after, given)
        facts = {"before": before, "after": after, "given": given, "why": why}
        points.append(Point({"cycle": name}, facts=facts))
    if not any(point.facts["why"] for point in points) and (why := width_fault(points)):
        for point in points:
            point.facts["why"] = why
    return points


def width_fault(cycles: Sequence[Point]) -> str:
    """Why the function's ranges for all cycles are not ranges of 95 %; empty where they are."""
    pairs, widths = 0, 0.0
    for point in cycles:
        before, after, (_, low, high) = (point.facts[each] for each in ("before", "after", "given"))
        least, most = _ours(before, after)
        pairs += len(before)
        widths += len(before) * (high - low) / max(most - least, LEAST_WIDTH)
    if WIDTHS[0] <= widths / pairs <= WIDTHS[1]:
        return ""
    narrow = "narrow" if widths < pairs else "wide"
    return f"its ranges are too {narrow}: {widths / pairs:.2f} times as wide as a 95 % range"


def _ours(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """The ends of our own interval, in per cent."""
    ours = ratio(list(zip(after, before, strict=True)))
    return 100 * (ours.low - 1), 100 * (ours.high - 1)


def made_up(percent: float, chance: random.Random) -> Both:
    """A cycle with that change, on a machine whose times grow by half, disturbed in one pair of eight."""
    before, after = [], []
    for number in range(PAIRS):
        us = 6.0 * (1 + number / PAIRS / 2)
        pair = [us * chance.gauss(1, 0.012), us * (1 + percent / 100) * chance.gauss(1, 0.012)]
        if number % 8 == 3:
            pair[chance.random() < 0.4] *= chance.uniform(1.5, 4)
        before.append(round(pair[0], 4))
        after.append(round(pair[1], 4))
    return before, after


def judged(before: Sequence[float], after: Sequence[float], given: Sequence[float]) -> str:
    """Why a change or its interval is wrong for these pairs, in words; empty where both are right."""
    percent, low, high = given
    if why := wrong_change(before, after, percent):
        return why
    if not low <= percent <= high:
        return "the change is not between the two ends; return the low end before the high one"
    least, most = _ours(before, after)
    room = OF_WIDTH * max(most - least, LEAST_WIDTH)
    if low < least - room or high > most + room:
        return (
            "its range is too wide: it may be that of single pairs, or before and after were drawn separately; give"
            " the range of the median"
        )
    if low > least + room or high < most - room:
        return "its range is too narrow: it does not hold the median in 95 of 100 cases"
    return ""


def wrong_change(before: Sequence[float], after: Sequence[float], percent: float) -> str:
    """Why a change is not the median of the pairs' ratios in per cent, with the usual mistakes named."""
    ratios = [late / early for early, late in zip(before, after, strict=True)]
    times = median(ratios)
    middle = 100 * (times - 1)
    if abs(percent - middle) <= NEAR:
        return ""
    mistakes = {
        "it is not in per cent yet: 0.95 times is -5 %": (times, times - 1),
        "it divides before by after, or has the sign the wrong way round: shorter is negative": (
            100 * (median([1 / each for each in ratios]) - 1),
            -middle,
        ),
        "it compares the medians of both states, not the ratios of the pairs: take the median of after / before": (
            100 * (median(after) / median(before) - 1),
        ),
        "it is a mean, which a few disturbed pairs distort: take the median": (
            100 * (mean(ratios) - 1),
            100 * (mean(after) / mean(before) - 1),
        ),
    }
    for why, values in mistakes.items():
        if any(abs(percent - wrong) <= NEAR / 4 for wrong in values):
            return why
    return "it is not the median of after / before, pair by pair, in per cent"


def lines(record: Record) -> list[str]:
    """What the function returns for each cycle, and what is wrong with it."""
    said = []
    for point in record.points:
        given = point.facts["given"]
        gives = f"{given[0]:+.2f} % ({given[1]:+.2f} to {given[2]:+.2f})" if given else ""
        said.append(f"{point.at['cycle']:<21} {gives:>28}  {point.facts['why'] or 'right'}")
    return said


def _called(function: Any, before: list[float], after: list[float]) -> tuple[list[float], str]:
    """The three numbers that a function returns; none, and the reason, when it returns something else."""
    given, why = file_functions.unaided(statistics, function, list(before), list(after))
    if why:
        return [], why
    named = isinstance(given, Mapping)
    values = [*given.values()] if named else given if isinstance(given, tuple | list) else [given]
    try:  # a pair of ends may be one value
        three = np.concatenate([np.ravel(np.asarray(each, dtype=float)) for each in values])
    except (TypeError, ValueError):
        return [], f"it does not return numbers, but {type(given).__name__}"
    if three.shape != (3,):
        return [], "it has to return three numbers: the change, and both ends of its range"
    if not np.isfinite(three).all():
        return [], "one of its numbers is not finite"
    if named:  # in any order
        low, percent, high = sorted(three.tolist())
        return [percent, low, high], ""
    return three.tolist(), ""
