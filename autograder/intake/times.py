"""When a class handed in, by its LMS: Moodle's grading worksheet, or a table with the columns `id` and `handed_in`."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from autograder.course.roster import Directory
from beowulf.errors import LabError, UsageError

LARGEST_BYTES = 10_000_000
TIME = ("handed_in", "last modified (submission)")
WHO = ("id", "username", "id number", "email address", "full name")
# As Moodle writes a time in English, by its version and its kind of English.
FORMS = (
    "%A, %d %B %Y, %I:%M %p",
    "%A, %B %d, %Y, %I:%M %p",
    "%d %B %Y, %I:%M %p",
    "%B %d, %Y, %I:%M %p",
)
NONE = ("", "-")


def read(file: Path, learners: Directory) -> dict[str, datetime]:
    """The time of each learner's hand-in; LabError when the file is no such table."""
    if not file.is_file():
        raise UsageError(
            f"There is no file {file}.", "Name Moodle's grading worksheet, a CSV file."
        )
    try:
        if file.stat().st_size > LARGEST_BYTES:
            raise LabError(f"{file} has more than {LARGEST_BYTES // 10**6} MB.")
        reader = csv.DictReader(io.StringIO(file.read_text(encoding="utf-8-sig"), newline=""))
        names = {heading.strip().casefold(): heading for heading in reader.fieldnames or []}
        rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise LabError(f"{file} cannot be read ({problem}).") from None
    time = next((names[each] for each in TIME if each in names), "")
    who = [names[each] for each in WHO if each in names]
    if not time or not who:
        raise LabError(
            f"{file} has no column with a learner and a time; its columns are: {', '.join(names)}.",
            "Moodle's grading worksheet has them, or write a table with `id` and `handed_in`.",
        )
    times: dict[str, datetime] = {}
    for line, row in rows:
        text = (row.get(time) or "").strip()
        if text in NONE:
            continue
        when = _time(text, f"{file}, line {line}")
        for column in who:
            name = (row.get(column) or "").strip()
            student, _ = learners.find(name, full_name=True) if name else ("", "")
            if student:
                times[student] = when
                break
    return times


def _time(text: str, at: str) -> datetime:
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromisoformat(text).astimezone(UTC)
    for form in FORMS:
        with suppress(ValueError, OverflowError, OSError):
            return datetime.strptime(text, form).astimezone(UTC)
    raise LabError(
        f"{at}: {text[:60]!r} is no time that can be read.",
        "Set Moodle to English for the download, or write 2030-01-31 18:00 into a table with `id` and `handed_in`.",
    )
