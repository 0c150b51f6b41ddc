"""The notes on each hand-in from when it was collected, kept for the report: reports/SLUG/collected.json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from autograder.files import read_json, write_text
from autograder.intake.submissions import FILES, TABLE, Collected

FILE = "collected.json"
REPORTS = "reports"


def folder(course: Path, slug: str) -> Path:
    """Where the reports of a lab are."""
    return course / REPORTS / slug


def remember(course: Path, slug: str, collected: Iterable[Collected]) -> None:
    """Save the notes. Earlier notes on other learners stay; of unknown senders only the last ones are kept."""
    new = list(collected)
    by_student = {each.student: each for each in remembered(course, slug) if each.student}
    by_student |= {
        each.student: _with_times(each, by_student.get(each.student))
        for each in new
        if each.student
    }
    everything = [*by_student.values(), *(each for each in new if not each.student)]
    text = json.dumps([asdict(each) for each in everything], indent=1, ensure_ascii=False)
    write_text(folder(course, slug) / FILE, text + "\n")


def _with_times(new: Collected, before: Collected | None) -> Collected:
    """What was collected, with the times of what is in its place now."""
    if before is None or new.arrived:
        return new
    # Without a time of its own, what was there before stays. The same once more was here when it came first, and a mark
    # of lateness is never lost.
    known = new if new.by == TABLE or (new.by and before.by == FILES) else before
    late = before.late or (bool(new.by) and new.late)
    when, by = known.handed_in, known.by
    return replace(new, handed_in=when, by=by, late=late, arrived=before.arrived)


def remembered(course: Path, slug: str) -> list[Collected]:
    """The notes of the last collections of a lab."""
    content: list[dict[str, Any]] = read_json(folder(course, slug) / FILE, [])
    return [Collected(**each) for each in content]
