"""The report of a class for its instructor: one page, its tables as CSV and its pictures, in reports/SLUG/."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from autograder.files import as_csv, write_text
from autograder.grading import lateness, points
from autograder.intake import log
from autograder.results import copies, measured, sections
from autograder.results.class_page import page
from autograder.results.sections import Section
from beowulf.errors import LabError
from beowulf.this_machine.progress import Progress, no_progress

if TYPE_CHECKING:
    from autograder.course.course import Course

PAGE = "index.html"
PARTS = {
    "Points by question": sections.by_question,
    "Points by learner": sections.by_learner,
    "Waiting for you": sections.waiting,
    "Hand-ins": sections.hand_ins,
    "Late hand-ins": sections.late,
    "Common wrong answers": sections.wrong_answers,
}


def write(course: Course, slug: str, progress: Progress = no_progress) -> Path:
    """Write the page of a lab and each table and picture; returns the page.

    LabError when the lab was not released, or nothing was collected.
    """
    lateness.refresh(course, [slug])
    lab_class = points.gather(course, slug, with_reasons=True)
    if not (lab_class.submitted or lab_class.collected):
        raise LabError(
            f"No submission of {slug} has been collected yet.",
            f"`beowulf class collect {slug} FOLDER` collects what was handed in.",
        )
    folders = {
        student: course.folder / "submitted" / student / slug for student in lab_class.submitted
    }
    minutes = {}
    for done, (student, folder) in enumerate(folders.items()):
        progress(done, len(folders), f"reading {student}")
        minutes[student] = measured.minutes_spent(measured.own_records(folder))
    progress(len(folders), len(folders) or 1, "drawing")
    with warnings.catch_warnings():
        # A letter that the font lacks; the table has it.
        warnings.simplefilter("ignore", UserWarning)
        made = [_guarded(title, partial(make, lab_class)) for title, make in PARTS.items()]
        made.append(_guarded("Time spent", lambda: measured.time_spent(minutes)))
        made.append(_guarded("Suspected copies", lambda: _copies(folders, course.folder)))
        when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        counts = f"{len(lab_class.submitted)} handed in, {len(lab_class.roster)} on the roster"
        about = f"Course {course.api.course_id}; {counts}; written {when}. For instructors only."
        return _write(log.folder(course.folder, slug), slug, made, about)


def _copies(hand_ins: Mapping[str, Path], course: Path) -> Section:
    return measured.suspected_copies(copies.suspected(hand_ins, course))


def _guarded(title: str, make: Callable[[], Section]) -> Section:
    """A section, or a sentence in its place: one learner's broken hand-in affects no other section."""
    try:
        return make()
    except Exception as problem:
        name = title.lower().replace(" ", "-")
        text = f"This part could not be made ({type(problem).__name__}: {str(problem)[:200]})."
        urgent = f"{title}: this part could not be made"
        return Section(name, title, text, pd.DataFrame(), urgent=urgent)


def _write(folder: Path, slug: str, made: list[Section], about: str) -> Path:
    for section in made:
        rows = [list(section.table.columns), *section.table.itertuples(index=False, name=None)]
        plain = [
            ["; ".join(v.splitlines()) if isinstance(v, str) else v for v in row] for row in rows
        ]
        write_text(folder / f"{section.name}.csv", as_csv(plain))
        if section.figure:
            section.figure.save(folder / "pictures" / f"{section.name}.png")
    write_text(folder / PAGE, page(f"{slug}: the class", about, made))
    return folder / PAGE
