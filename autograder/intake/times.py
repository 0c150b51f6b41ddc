"""When a class handed in, by its LMS: Moodle's grading worksheet, or a table with the columns `id` and `handed_in`."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from autograder.course import table_file
from autograder.course.roster import NAMESAKES, Directory
from beowulf.errors import LabError

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
    headings, rows = table_file.read(file)
    names = {heading.casefold(): heading for heading in headings}
    time = next((names[each] for each in TIME if each in names), "")
    who = [names[each] for each in WHO if each in names]
    if not time or not who:
        raise LabError(
            f"{file} needs a column for the learner and one for the time; its columns are: {', '.join(names)}.",
            "Moodle's grading worksheet has both; or write a table with `id` and `handed_in`.",
        )
    times: dict[str, datetime] = {}
    for line, row in rows:
        text = row[time]
        if text in NONE:
            continue
        when = _time(text, f"{file}, line {line}")
        found = [learners.find(row[column], full_name=True) for column in who if row[column]]
        if student := next((student for student, _ in found if student), ""):
            times[student] = when
        elif why := next((why for _, why in found if why.endswith(NAMESAKES)), ""):
            raise LabError(
                f"{file}, line {line}: {why}.",
                "Add a column `id` with each learner's ID from the roster.",
            )
    return times


def _time(text: str, at: str) -> datetime:
    with suppress(ValueError):
        return datetime.fromisoformat(text).astimezone(UTC)
    for form in FORMS:
        with suppress(ValueError):
            return datetime.strptime(text, form).astimezone(UTC)
    raise LabError(
        f"{at}: {text[:60]!r} cannot be read as a time.",
        "Set Moodle to English for the download, or write times such as 2030-01-31 18:00 into a table with"
        " `id` and `handed_in`.",
    )
