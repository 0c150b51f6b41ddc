"""When a learner's lab is due: by `course.toml`, or by the table of exemptions `dates.csv`, which is not given out."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from autograder.course import limits, table_file
from autograder.course.limits import Limits, end_of
from beowulf import paths
from beowulf.course.lab_file import nearest
from beowulf.errors import LabError

FILE = "dates.csv"
COLUMNS = ("id", "lab", "due", "handed_in", "reason")


@dataclass(frozen=True)
class Exemption:
    """One line of the table: another due date, or when the instructor knows that it was handed in, and why."""

    due: datetime | None = None
    handed_in: datetime | None = None
    reason: str = ""


@dataclass(frozen=True)
class Dates:
    """The due date of a lab, what being late costs, and the exemptions by learner."""

    limits: Limits = field(default_factory=Limits)
    exemptions: Mapping[str, Exemption] = field(default_factory=dict)

    def due(self, student: str) -> datetime | None:
        """When a learner's lab is due; None where no date is set."""
        exemption = self.exemptions.get(student)
        return (exemption.due if exemption else None) or self.limits.due

    @property
    def last(self) -> datetime | None:
        """Until when someone may still work on the lab; None where no date is set."""
        dues = [self.limits.due, *(each.due for each in self.exemptions.values())]
        return max(filter(None, dues), default=None)


def of_lab(course: Path, slug: str) -> Dates:
    """A lab's dates, from the files of a course; LabError when one of them is wrong."""
    return Dates(limits.of_course(slug, course), _exemptions(course / FILE, slug))


def unknown_learners(course: Path, known: Collection[str]) -> list[str]:
    """A sentence for each line of the table that is about someone who is not in the class."""
    file = course / FILE
    lines = table_file.read(file)[1] if file.is_file() else []
    said = []
    for line, row in lines:
        if (student := row.get("id", "")) and student not in known:
            near = difflib.get_close_matches(student, known, 1)
            perhaps = f" Perhaps you mean {near[0]!r}." if near else ""
            said.append(f"{FILE}, line {line}: nobody in this class is {student!r}.{perhaps}")
    return said


def _exemptions(file: Path, slug: str) -> dict[str, Exemption]:
    """The lines about a lab; every line is checked, so that a slip of the pen never counts for nobody."""
    if not file.is_file():
        return {}
    headings, rows = table_file.read(file)
    hint = f"Its columns are: {', '.join(COLUMNS)}."
    for wanted in ("id", "lab"):
        if wanted not in headings:
            raise LabError(f"{file} has no column `{wanted}`.", hint)
    for heading in headings:
        if heading not in COLUMNS:
            raise LabError(f"{file}: `{heading}` is not a column of {FILE}.", hint)
    known = {each.partition("-")[0] for each in paths.labs()} | {slug}
    lines: dict[str, int] = {}
    exemptions = {}
    for line, row in rows:
        at = f"{file}, line {line}"
        cells = {name: row.get(name, "") for name in COLUMNS}
        lab = f"{int(cells['lab']):02}" if cells["lab"].isdecimal() else cells["lab"]
        if not cells["id"]:
            raise LabError(f"{at}: there is no learner's ID.")
        if lab.partition("-")[0] not in known and lab not in known:
            raise LabError(f"{at}: there is no lab {cells['lab']!r}.", nearest(lab, sorted(known)))
        times = {name: _time(cells[name], name, at) for name in ("due", "handed_in")}
        if lab not in (slug, slug.partition("-")[0]):
            continue
        if cells["id"] in lines:
            first = lines[cells["id"]]
            raise LabError(f"{at}: {cells['id']} and this lab are in line {first} already.")
        lines[cells["id"]] = line
        exemptions[cells["id"]] = Exemption(**times, reason=cells["reason"])
    return exemptions


def _time(text: str, name: str, at: str) -> datetime | None:
    if not text:
        return None
    with suppress(ValueError, OverflowError):
        return end_of(date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text))
    with suppress(ValueError, OverflowError):  # as spreadsheets of some countries write it
        return end_of(datetime.strptime(text, "%d.%m.%Y").date())
    with suppress(ValueError, OverflowError):
        return end_of(datetime.strptime(text, "%d.%m.%Y %H:%M"))
    raise LabError(
        f"{at}: `{name}` is {text!r}, which is not a time.",
        "Write it like 2030-01-31 or 2030-01-31 18:00.",
    )
