"""What an instructor wants to know of a class' points and hand-ins: a sentence, a table, a picture each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

import pandas as pd

from autograder.grading.lateness import minute
from autograder.grading.points import ClassOfLab, Reason
from autograder.intake.submissions import Collected
from autograder.results import charts
from autograder.text import counted, without_moments
from beowulf.figures import Figure

FULL, PART, NONE = "full points", "part of them", "none"
AGAIN, WAITS = "measure again", "waits for you"
# Where each has its place among the colours: what is well in blue, what is not in red.
KINDS = {FULL: 0, PART: 5, NONE: 1, AGAIN: 3, WAITS: 4}
MOST_WRONG = 5  # answers of one question


@dataclass(frozen=True)
class Section:
    """One part of the report; `name` is that of its CSV file."""

    name: str
    title: str
    text: str
    table: pd.DataFrame
    figure: Figure | None = None
    urgent: str = ""  # a line for the top of the page


def by_question(lab_class: ClassOfLab) -> Section:
    """How the class did in each question."""
    counts: dict[str, Counter[str]] = {question: Counter() for question in lab_class.questions}
    points: dict[str, list[float]] = {question: [] for question in lab_class.questions}
    again = {(each.student, each.question) for each in lab_class.reasons if each.score.outcome}
    for each in lab_class.given:
        kind = WAITS
        if each.points is not None:
            points[each.question].append(each.points)
            kind = FULL if each.points >= each.of else PART if each.points > 0 else NONE
        if kind in (PART, NONE) and (each.student, each.question) in again and not each.by_hand:
            kind = AGAIN
        counts[each.question][kind] += 1
    rows: list[tuple[Any, ...]] = []
    for question, of in lab_class.questions.items():
        middle = mean(points[question]) if points[question] else None
        share = None if middle is None or not of else round(100 * middle / of)
        points_each = None if middle is None else round(middle, 2)
        rows.append((question, of, points_each, share, *(counts[question][kind] for kind in KINDS)))
    columns = ["question", "of", "mean points", "mean share (%)", *KINDS]
    text = "How many learners have all the points of a question, some of them, or none."
    # Of a question that was graded for some only, a mean means little.
    complete = [(row[3], row[0]) for row in rows if row[3] is not None and not row[-1]]
    share, hardest = min(complete, key=lambda each: each[0], default=(100, ""))
    if share < 100:
        text += f" The hardest is {hardest}: {share} % on average."
    figure = charts.shares(counts, KINDS, title="Points by question", value_title="learners")
    shown = figure if lab_class.given else None
    table = pd.DataFrame(rows, columns=columns)
    return Section("questions", "Points by question", text, table, shown)


def by_learner(lab_class: ClassOfLab) -> Section:
    """What each learner has, question by question."""
    most = sum(lab_class.questions.values())
    late = ["for being late"] if lab_class.taken_off else []
    rows: list[tuple[Any, ...]] = []
    totals: list[float] = []
    waiting: list[float] = []
    for student in lab_class.graded:
        given = lab_class.of_student(student)
        points = [given[q].points if q in given else None for q in lab_class.questions]
        waits = sum(each.of for each in given.values() if each.points is None)
        totals.append(sum(value for value in points if value is not None))
        waiting += [waits] if waits else []
        lost = [-lab_class.taken_off.get(student, 0.0)] if late else []
        rows.append((student, totals[-1], most - waits, waits, *lost, *points))
    columns = ["learner", "points", "of", "waits", *late, *lab_class.questions]
    missing = [student for student in lab_class.roster if student not in lab_class.submitted]
    text = f"{len(lab_class.graded)} graded; {len(missing)} on the roster handed in nothing"
    text += f": {listed(missing)}." if missing else "."
    figure = None
    if rows:
        text += f" {_middle(totals, waiting, most)}"
        title = "Points so far, without those by hand" if waiting else "Points in the class"
        figure = charts.histogram(totals, most, title=title, value_title="points")
    table = pd.DataFrame(rows, columns=columns)
    return Section("points", "Points by learner", text, table, figure)


def _middle(totals: Sequence[float], waiting: Sequence[float], most: float) -> str:
    """The median and the mean, of the points that can have been given by now."""
    middle = f"the median is {median(totals):.3g}, the mean {mean(totals):.3g}"
    if not waiting:
        return f"Out of {most:g} points, {middle}."
    low, high = min(waiting), max(waiting)
    missing = f"{high:g}" if low == high else f"{low:g} to {high:g}"
    whose = counted(len(waiting), "learner")
    return f"So far {middle}, without what waits for you: {missing} of {most:g} points, of {whose}."


def wrong_answers(lab_class: ClassOfLab) -> Section:
    """The same wrong answers of several learners."""
    equal: dict[str, dict[str, list[Reason]]] = defaultdict(lambda: defaultdict(list))
    for each in lab_class.reasons:
        if each.score.points < each.score.of:
            answer = without_moments(each.score.found)
            equal[each.question][answer].append(each)
    rows: list[tuple[Any, ...]] = []
    for question in lab_class.questions:
        often = sorted(equal[question].items(), key=lambda each: (-len(each[1]), each[0]))
        for answer, given in often[:MOST_WRONG]:
            if len(given) > 1:
                first, who = given[0].score, ", ".join(sorted(each.student for each in given))
                rows.append((question, len(given), answer, first.expected, first.read, who))
    columns = ["question", "learners", "found", "expected of the first", "where to read", "who"]
    text = "No two learners lost points in the same way."
    if rows:
        text = "What lost points for at least two learners in the same way."
    table = pd.DataFrame(rows, columns=columns)
    return Section("wrong-answers", "Common wrong answers", text, table)


def waiting(lab_class: ClassOfLab) -> Section:
    """What only a person can grade, and has not."""
    order = list(lab_class.questions)
    rows = [(each.question, each.student, each.of) for each in lab_class.waiting]
    rows.sort(key=lambda row: (order.index(row[0]), row[1]))
    table = pd.DataFrame(rows, columns=["question", "learner", "of"])
    title = "Waiting for you"
    if not rows:
        return Section("waiting", title, "Nothing waits to be graded by hand.", table)
    text = (
        "`beowulf class mark LAB` shows them one after the other. Or start `jupyter lab` in the course's folder and"
        " choose Nbgrader > Formgrader."
    )
    urgent = f"{counted(len(rows), 'answer')} to grade by hand"
    return Section("waiting", title, text, table, urgent=urgent)


def hand_ins(lab_class: ClassOfLab) -> Section:
    """The notes on each hand-in from when it was collected and graded."""
    results = {each.student: each for each in lab_class.collected if each.student}
    rows: list[tuple[Any, ...]] = []
    for student in sorted({*lab_class.submitted, *results}):
        collected = results.get(student, Collected(student, ""))
        problem = lab_class.problems.get(student, "")
        state = "not graded" if problem else "graded"
        if collected.outcome == "refused" and student not in lab_class.submitted:
            state = "refused"
        notes = dict.fromkeys(filter(None, (*collected.notes, problem)))
        rows.append((student, state, collected.sender, " ".join(notes)))
    unknown = [each for each in lab_class.collected if not each.student]
    rows += [("", "unknown", each.sender, " ".join(each.notes)) for each in unknown]
    there = {student for student, *_ in rows}
    missing = [student for student in lab_class.roster if student not in there]
    rows += [(student, "nothing handed in", "", "") for student in missing]
    outcomes = Counter(state for _, state, *_ in rows)
    bad = sum(outcomes[state] for state in ("refused", "not graded", "unknown"))
    return Section(
        "hand-ins",
        "Hand-ins",
        "What was handed in, under which name it came, and the notes from collecting and grading.",
        pd.DataFrame(rows, columns=["learner", "state", "sender", "notes"]),
        urgent=f"{counted(bad, 'hand-in')} that could not be collected or graded" if bad else "",
    )


def late(lab_class: ClassOfLab) -> Section:
    """Who handed in late, how that is known, and what it loses."""
    late = {student: each for student, each in lab_class.late.items() if each.is_late}
    rows = [
        (
            *(student, minute(each.due), minute(each.handed_in), each.days),
            *(lab_class.taken_off.get(student, 0.0), each.says),
        )
        for student, each in sorted(late.items())
    ]
    columns = ["learner", "due", "handed in", "days", "taken off", "how it is known"]
    unsure = sum(not each.sure for each in late.values())
    text = f"{counted(len(rows), 'hand-in')} after the date." if rows else "No hand-in is late."
    if unsure:
        text += (
            f" For {unsure}, only the learner's own files say when: nothing was taken off. If you know the time, write"
            " it into `dates.csv`, or collect with `--times`."
        )
    urgent = f"{counted(unsure, 'hand-in')} that may have come late" if unsure else ""
    return Section("late", "Late", text, pd.DataFrame(rows, columns=columns), urgent=urgent)


def listed(names: Sequence[str], most: int = 8) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - most
    return ", ".join([*names[:most], *([f"and {more} more"] if more > 0 else [])])
