"""What an instructor wants to know of what a class measured: time, odd clusters, equal hand-ins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations
from statistics import median

import pandas as pd

from autograder.results import charts
from autograder.results.copies import KINDS, Suspicion
from autograder.results.outliers import LEAST_STUDENTS, LONGEST_PAUSE_MIN, Compared
from autograder.results.sections import MOST_IN_A_PICTURE, Section, listed
from autograder.text import counted
from beowulf.figures import matrix, titled


def time_spent(minutes: Mapping[str, float | None]) -> Section:
    """How long each learner measured."""
    measured = {student: value for student, value in minutes.items() if value is not None}
    rows = [(student, round(value, 1)) for student, value in sorted(measured.items())]
    title, table = "Time spent", pd.DataFrame(rows, columns=["learner", "minutes"])
    if not measured:
        return Section("time", title, "No Record has a time.", table)
    text = (
        "From the first Record to the last, without pauses of more than"
        f" {LONGEST_PAUSE_MIN:g} minutes; reading before the first measurement is not in it."
        f" The median is {counted(round(median(measured.values())), 'minute')}."
    )
    figure = charts.histogram(
        list(measured.values()),
        max(measured.values()),
        title="Time spent measuring",
        value_title="minutes",
    )
    return Section("time", title, text, table, figure)


def measured_values(values: Sequence[Compared]) -> Section:
    """Whose cluster differs from the others."""
    order = sorted(values, key=lambda each: (not each.odd, each.study, each.quantity, each.student))
    rows = [
        (e.study, e.quantity, e.student, float(f"{e.times:.4g}"), e.places, e.odd) for e in order
    ]
    columns = ["study", "quantity", "learner", "times the class' middle", "places", "far"]
    title, table = "Measured values beside the class", pd.DataFrame(rows, columns=columns)
    if not values:
        text = f"Fewer than {LEAST_STUDENTS} learners measured the same, so that no comparison is possible."
        return Section("values", title, text, table)
    odd: dict[str, list[str]] = defaultdict(list)
    for each in filter(lambda each: each.odd, values):
        odd[each.student].append(f"{titled(each.quantity)} of {each.study} {each.times:.3g} times")
    text = "Each learner's values as a multiple of the class' middle, over all places of a sweep."
    urgent = ""
    if odd:
        who = "; ".join(f"{student}: {listed(what, 3)}" for student, what in sorted(odd.items()))
        text += f" Far from the class, because of a slow machine or a mistake: {who}."
        clusters = f"{counted(len(odd), 'cluster')} that differ from the others"
        urgent = f"{clusters}: {listed(sorted(odd))}"
    else:
        text += " No learner is far from the class."
    return Section(
        "values", title, text, table, charts.beside_the_class(values, title=title), urgent
    )


def suspected_copies(suspicions: Sequence[Suspicion]) -> Section:
    """Which learners have the same measurements; nothing is concluded from it."""
    rows = [
        (", ".join(each.students), KINDS[each.kind], each.what, "\n".join(each.files))
        for each in suspicions
    ]
    title = "Suspected copies"
    table = pd.DataFrame(rows, columns=["learners", "the same", "what", "files"])
    if not suspicions:
        text = "No two hand-ins share a Record, raw samples, a capture or the ups and downs of their launches."
        return Section("copies", title, text, table)
    who = sorted({student for each in suspicions for student in each.students})
    shown = who[:MOST_IN_A_PICTURE]
    figure = matrix(
        shown, shown, _pairs(suspicions, shown), title="Who shares what with whom", good="nothing"
    )
    text = (
        "The same measurement in two hand-ins. No points were taken: you decide, with the"
        " files side by side. Ask both how they measured, or let them measure it again before you."
    )
    urgent = f"{counted(len(suspicions), 'suspicion')} of a copy among {listed(who)}"
    return Section("copies", title, text, table, figure, urgent)


def _pairs(suspicions: Sequence[Suspicion], shown: Sequence[str]) -> dict[tuple[str, str], str]:
    """The surest of what each two learners have in common."""
    pairs: dict[tuple[str, str], str] = {}
    surest = list(KINDS)
    every = [shared for each in suspicions for shared in each.shared]
    for shared in sorted(every, key=lambda shared: surest.index(shared.kind)):
        here = [student for student in shared.students if student in shown]
        for pair in permutations(here, 2):
            pairs.setdefault(pair, KINDS[shared.kind])
    return pairs
