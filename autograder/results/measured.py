"""What an instructor wants to know of what a class measured: time spent, equal hand-ins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

import pandas as pd

from autograder.evidence import record_files
from autograder.evidence.shared_records import LABEL
from autograder.results import charts
from autograder.results.copies import KINDS, Suspicion
from autograder.results.sections import Section, listed
from autograder.text import counted
from beowulf.record import Record

LONGEST_PAUSE_MIN = 30.0
LONGEST_MEASUREMENT = timedelta(days=7)


def own_records(hand_in: Path) -> list[Record]:
    """What a learner measured; a file that is no Record, or one that the course gave, is left out."""
    files = record_files.records(hand_in / record_files.RECORDS)
    return [record for _, record, _ in files if record and LABEL not in record.cluster]


def minutes_spent(records: Sequence[Record]) -> float | None:
    """From the first measurement to the last, without pauses of more than half an hour; None without any."""
    times = [(datetime.fromisoformat(r.started), datetime.fromisoformat(r.ended)) for r in records]
    spans = sorted(
        (start, end) for start, end in times if timedelta() <= end - start <= LONGEST_MEASUREMENT
    )
    if not spans:
        return None
    total, last = timedelta(), spans[0][0]
    for start, end in spans:
        # What runs on after a pause counts from its start.
        since = start if start - last > timedelta(minutes=LONGEST_PAUSE_MIN) else last
        total, last = total + max(end - since, timedelta()), max(end, last)
    return total / timedelta(minutes=1)


def time_spent(minutes: Mapping[str, float | None]) -> Section:
    """How long each learner measured."""
    measured = {student: value for student, value in minutes.items() if value is not None}
    rows = [(student, round(value, 1)) for student, value in sorted(measured.items())]
    title, table = "Time spent", pd.DataFrame(rows, columns=["learner", "minutes"])
    if not measured:
        return Section("time", title, "No Record has a time.", table)
    text = (
        "From the first Record to the last, without pauses of more than"
        f" {LONGEST_PAUSE_MIN:g} minutes; reading before the first measurement is not included."
        f" The median is {counted(round(median(measured.values())), 'minute')}."
    )
    values, heading = list(measured.values()), "Time spent measuring"
    figure = charts.histogram(values, max(values), title=heading, value_title="minutes")
    return Section("time", title, text, table, figure)


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
    text = (
        "The same measurement in two hand-ins. No points were taken off: you decide, with the"
        " files side by side. Ask both how they measured, or have them measure again in front of you."
    )
    urgent = f"{counted(len(suspicions), 'suspicion')} of a copy among {listed(who)}"
    return Section("copies", title, text, table, urgent=urgent)
