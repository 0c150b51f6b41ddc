"""What an instructor wants to know of a class' points and hand-ins: a sentence, a table, a picture each."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import mean, median
from typing import Any

import pandas as pd

from autograder.grading.points import ClassOfLab, Reason
from autograder.results import charts
from autograder.text import counted
from beowulf.figures import Figure

FULL, PART, NONE, AGAIN, WAITS = (
    "full points",
    "part of them",
    "none",
    "measure again",
    "waits for you",
)
# Where each has its place among the colours: what is well in blue, what is not in red.
KINDS = {FULL: 0, PART: 5, NONE: 1, AGAIN: 3, WAITS: 4}
MOST_WRONG = 5  # answers of one question
MOST_IN_A_PICTURE = 12
# A Record's name has its moment, and would make every answer different.
_RECORD_NAME = re.compile(r"\b([A-Z]\d{1,3})-[\w.-]{0,65}?\d{8}T[\w.-]{0,40}?\.json(?:\.\w+)?")


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
    points: dict[str, list[float]] = defaultdict(list)
    again = {(each.student, each.question) for each in lab_class.reasons if each.outcome}
    for each in lab_class.given:
        kind = WAITS if each.points is None else _kind(each.points, each.of)
        if kind in (PART, NONE) and (each.student, each.question) in again and not each.by_hand:
            kind = AGAIN
        counts[each.question][kind] += 1
        if each.points is not None:
            points[each.question].append(each.points)
    rows = [
        {
            "question": question,
            "of": of,
            "mean points": round(mean(points[question]), 2) if points[question] else None,
            "mean share (%)": round(100 * mean(points[question]) / of)
            if points[question] and of
            else None,
            **{kind: counts[question][kind] for kind in KINDS},
        }
        for question, of in lab_class.questions.items()
    ]
    table = table_of(rows, ["question", "of", "mean points", "mean share (%)", *KINDS])
    # Of a question that was graded for some only, a mean means little.
    complete = table[table[WAITS] == 0].dropna(subset=["mean share (%)"])
    text = "How many learners have all points of a question, a part of them, or none."
    if not complete.empty:
        hardest = complete.sort_values("mean share (%)", kind="stable").iloc[0]
        share = hardest["mean share (%)"]
        if share < 100:
            text += f" The hardest is {hardest['question']}: {share:.0f} % on average."
    figure = charts.shares(counts, KINDS, title="Points by question", value_title="learners")
    return Section(
        "questions", "Points by question", text, table, figure if lab_class.given else None
    )


def _kind(points: float, of: float) -> str:
    return FULL if points >= of else PART if points > 0 else NONE


def by_learner(lab_class: ClassOfLab) -> Section:
    """What each learner has, question by question."""
    rows: list[dict[str, Any]] = []
    most = sum(lab_class.questions.values())
    for student in lab_class.graded:
        given = lab_class.of_student(student)
        points = {q: given[q].points if q in given else None for q in lab_class.questions}
        waits = sum(each.of for each in given.values() if each.points is None)
        total = sum(value for value in points.values() if value is not None)
        row = {"learner": student, "points": total, "of": most - waits, "waits": waits}
        if lab_class.taken_off:
            row["for being late"] = -lab_class.taken_off.get(student, 0.0)
        rows.append(row | points)
    late = ["for being late"] if lab_class.taken_off else []
    table = table_of(rows, ["learner", "points", "of", "waits", *late, *lab_class.questions])
    missing = [student for student in lab_class.roster if student not in lab_class.submitted]
    text = f"{len(lab_class.graded)} graded; {len(missing)} on the roster handed in nothing"
    text += f": {listed(missing)}." if missing else "."
    figure = None
    if rows:
        totals = [float(row["points"]) for row in rows]
        waiting = [float(row["waits"]) for row in rows if row["waits"]]
        text += f" {_middle(totals, waiting, most)}"
        title = "Points so far, without those by hand" if waiting else "Points in the class"
        figure = charts.histogram(totals, most, title=title, value_title="points")
    return Section("points", "Points by learner", text, table, figure)


def _middle(totals: Sequence[float], waiting: Sequence[float], most: float) -> str:
    """The median and the mean, of the points that can have been given by now."""
    middle = f"the median is {median(totals):.3g}, the mean {mean(totals):.3g}"
    if not waiting:
        return f"Of {most:g} points {middle}."
    low, high = min(waiting), max(waiting)
    missing = f"{high:g}" if low == high else f"{low:g} to {high:g}"
    whose = counted(len(waiting), "learner")
    return f"So far {middle}, without what waits for you: {missing} of {most:g} points, of {whose}."


def wrong_answers(lab_class: ClassOfLab) -> Section:
    """The same wrong answers of several learners."""
    equal: dict[str, dict[str, list[Reason]]] = defaultdict(lambda: defaultdict(list))
    for reason in lab_class.reasons:
        if reason.points < reason.of:
            equal[reason.question][_RECORD_NAME.sub(r"a Record \1", reason.found)].append(reason)
    rows = []
    for question in lab_class.questions:
        often = sorted(equal[question].items(), key=lambda each: (-len(each[1]), each[0]))
        for answer, given in often[:MOST_WRONG]:
            if len(given) > 1:
                row = {"question": question, "learners": len(given), "found": answer}
                row |= {"expected of the first": given[0].expected, "where to read": given[0].read}
                rows.append(row | {"who": ", ".join(sorted(each.student for each in given))})
    columns = ["question", "learners", "found", "expected of the first", "where to read", "who"]
    table = table_of(rows, columns)
    text = "What at least two learners have in common and what lost them points."
    figure = None
    if rows:
        top = sorted(rows, key=lambda row: -int(str(row["learners"])))[:MOST_IN_A_PICTURE]
        values: dict[str, int] = {}
        for row in top:
            name = charts.label(f"{row['question']}: {row['found']}")
            values.setdefault(name, int(str(row["learners"])))
        figure = charts.counts(values, title="Common wrong answers", value_title="learners")
    else:
        text = "No two learners lost points in the same way."
    return Section("wrong-answers", "Common wrong answers", text, table, figure)


def waiting(lab_class: ClassOfLab) -> Section:
    """What only a person can grade, and has not."""
    rows = [
        {"question": each.question, "learner": each.student, "of": each.of}
        for each in lab_class.waiting
    ]
    rows.sort(
        key=lambda row: (list(lab_class.questions).index(str(row["question"])), str(row["learner"]))
    )
    title, columns = "Waits for you", ["question", "learner", "of"]
    if not rows:
        return Section(
            "waiting", title, "Nothing waits to be graded by hand.", table_of(rows, columns)
        )
    counts = Counter(str(row["question"]) for row in rows)
    text = (
        "`beowulf class mark LAB` shows them one after the other. Or start `jupyter lab` in the course's folder and"
        " choose Nbgrader > Formgrader."
    )
    figure = charts.counts(counts, title="Waits for you", value_title="answers")
    urgent = f"{counted(len(rows), 'answer')} to grade by hand"
    return Section("waiting", title, text, table_of(rows, columns), figure, urgent)


def hand_ins(lab_class: ClassOfLab) -> Section:
    """The notes on each hand-in from when it was collected and graded."""
    rows, outcomes = [], Counter[str]()
    results = {each.student: each for each in lab_class.collected if each.student}
    for student in sorted({*lab_class.submitted, *results}):
        collected = results.get(student)
        problem = lab_class.problems.get(student, "")
        refused = collected is not None and collected.outcome == "refused"
        state = (
            "refused"
            if refused and student not in lab_class.submitted
            else "not graded"
            if problem
            else "graded"
        )
        outcomes[state] += 1
        notes = [*(collected.notes if collected else ()), *([problem] if problem else [])]
        sender = collected.sender if collected else ""
        rows.append(
            {
                "learner": student,
                "state": state,
                "sender": sender,
                "notes": " ".join(dict.fromkeys(notes)),
            }
        )
    for each in lab_class.collected:
        if not each.student:
            outcomes["unknown"] += 1
            rows.append(
                {
                    "learner": "",
                    "state": "unknown",
                    "sender": each.sender,
                    "notes": " ".join(each.notes),
                }
            )
    missing = [
        student
        for student in lab_class.roster
        if student not in lab_class.submitted and student not in results
    ]
    if missing:
        outcomes["nothing handed in"] += len(missing)
        rows += [
            {"learner": each, "state": "nothing handed in", "sender": "", "notes": ""}
            for each in missing
        ]
    columns = ["learner", "state", "sender", "notes"]
    text = (
        "What was handed in, under which name it came, and the notes from collecting and grading."
    )
    bad = sum(outcomes[state] for state in ("refused", "not graded", "unknown"))
    urgent = f"{counted(bad, 'hand-in')} that could not be collected or graded" if bad else ""
    figure = None
    if outcomes:
        figure = charts.counts(outcomes, title="Hand-ins", value_title="hand-ins")
    return Section("hand-ins", "Hand-ins", text, table_of(rows, columns), figure, urgent)


def late(lab_class: ClassOfLab) -> Section:
    """Who handed in late, how that is known, and what it loses."""
    late = {student: each for student, each in lab_class.late.items() if each.is_late}
    rows = [
        {
            "learner": student,
            "due": _minute(each.due),
            "handed in": _minute(each.handed_in),
            "days": each.days,
            "taken off": lab_class.taken_off.get(student, 0.0),
            "how it is known": each.says,
        }
        for student, each in sorted(late.items())
    ]
    columns = ["learner", "due", "handed in", "days", "taken off", "how it is known"]
    unsure = sum(not each.sure for each in late.values())
    text = f"{counted(len(rows), 'hand-in')} after the date." if rows else "No hand-in is late."
    if unsure:
        text += (
            f" Of {unsure} only the learner's own files say when: nothing was taken off. If you know the time, write"
            " it into `dates.csv`, or collect with `--times`."
        )
    urgent = f"{counted(unsure, 'hand-in')} that may have come late" if unsure else ""
    if lab_class.strangers:
        nobody = f"`dates.csv` has a line for nobody of this class: {listed(lab_class.strangers)}"
        text += f" {nobody}."
        urgent = "; ".join(filter(None, [urgent, nobody.replace("`", "")]))
    return Section("late", "Late", text, table_of(rows, columns), urgent=urgent)


def _minute(when: datetime | None) -> str:
    return f"{when.astimezone():%Y-%m-%d %H:%M}" if when else ""


def table_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Rows as a table that has its columns even when it is empty."""
    return pd.DataFrame(list(rows), columns=list(columns))


def listed(names: Sequence[str], most: int = 8) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - most
    return ", ".join([*names[:most], *([f"and {more} more"] if more > 0 else [])])
