"""How far a learner is, lab by lab: answers, Records, sealed predictions, and the time between Records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any

from autograder.rubrics.submission import RECORDS
from autograder.self_check import states
from autograder.self_check.work import find
from beowulf import paths, predictions
from beowulf.course import lab_file
from beowulf.course.checklist import DONE
from beowulf.errors import LabError
from beowulf.record import Record


@dataclass(frozen=True)
class Row:
    """One lab: how much of it there is, of how much."""

    lab: str
    answered: int
    questions: int
    core_answered: int
    core: int
    whole: int
    records: int
    sealed: int  # in time
    predictions: int
    minutes: int
    note: str = ""


@dataclass(frozen=True)
class Progress:
    """All labs, and how many of the predictions that were measured lie inside of their range."""

    rows: list[Row]
    inside: int
    judged: int

    @property
    def calibration(self) -> str:
        """How well the ranges of the predictions were chosen, in a sentence."""
        return predictions.in_words(self.inside, self.judged)

    def as_plain(self) -> dict[str, Any]:
        """The same as JSON knows it."""
        return asdict(self) | {"calibration": self.calibration}


def progress() -> Progress:
    """What the folder for work has of every lab."""
    folders = [paths.work(slug) / RECORDS for slug in paths.labs()]
    return Progress([_row(slug) for slug in paths.offered()], *predictions.calibration(folders))


def _row(slug: str) -> Row:
    lab = lab_file.read(slug)
    try:
        work = find(slug, paths.work(slug))
    except LabError as problem:
        note = problem.message if paths.work(slug).is_dir() else "not begun"
        many = len(lab.questions), 0, len(lab.core)
        return Row(slug, 0, *many, 0, 0, 0, len(lab.predictions), 0, note)
    done = {line.question for line in states.checklist(work).lines if line.symbol == DONE}
    in_time = [each for each in predictions.sealed_in(work.folder / RECORDS) if not each.late]
    # Without what was predicted.
    every = work.submission.records
    measured = [each for each in every if not predictions.STUDY.fullmatch(each.study)]
    return Row(
        lab=slug,
        answered=len(done),
        questions=len(lab.questions),
        core_answered=len(done & lab.core),
        core=len(lab.core),
        whole=sum(record.complete for record in measured),
        records=len(measured),
        sealed=sum(each.name in lab.predictions for each in in_time),
        predictions=len(lab.predictions),
        minutes=minutes(measured),
    )


def minutes(records: Iterable[Record]) -> int:
    """From the first Record of a day to the end of its last one, all days together."""
    days: dict[date, list[datetime]] = {}
    for record in records:
        began, ended = (
            datetime.fromisoformat(text).astimezone() for text in (record.started, record.ended)
        )
        days.setdefault(began.date(), []).extend((began, ended))
    seconds = sum((max(times) - min(times)).total_seconds() for times in days.values())
    return round(seconds / 60)
