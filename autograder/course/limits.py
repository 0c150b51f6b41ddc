"""`course.toml`, which a course gives out: what its class sees of answers, when labs are due, what it asks otherwise.

Its tables [labs.NN.questions.NAME] are read where those of lab.toml are (`beowulf.course.lab_file`).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from beowulf import paths
from beowulf.course import personal_code
from beowulf.course.checklist import FORM, LEVELS, RIGHT
from beowulf.course.lab_file import COURSE_FILE, line_of, nearest
from beowulf.errors import LabError

FILE = COURSE_FILE
WANTED = {
    "check": f"one of {', '.join(LEVELS)}",
    "hints": "true or false",
    "solutions_from": "a day without quotes, such as 2030-01-31",
    "due": "a day or a time without quotes, such as 2030-01-31T18:00:00",
    "late_points": "a number of points that is not negative",
    "grace_hours": "a number of hours that is not negative",
    "leave_out": "true or false",
    "codes": "true or false",
}
KEYS = tuple(WANTED)
TEXT = """\
# What `beowulf check` may say to this class. It goes into the kit and beside each released notebook; who deletes it
# and has a clone of the project sees everything, so give out a kit (`beowulf class kit`).

# "form": whether an answer is there and has its form, and whether programs and plots are right by their Records.
# "fit": also whether an answer fits the learner's own Records. "right": also whether it is right, with points.
check = "form"
# Whether `beowulf check NN --hint QUESTION` opens hints.
hints = false
# From this day on `beowulf check` says all of it and shows solutions. Without a day, never.
# solutions_from = 2030-01-31

# What a hand-in loses for each day or part of a day after its lab's `due`; 0: it is shown as late, and loses nothing.
late_points = 0
# A hand-in that comes at most so many hours after `due` is not late.
grace_hours = 0

# Whether each learner has a personal code (words.csv): then `beowulf study` and `beowulf check` ask for a missing one.
codes = false

# A lab of its own: the same keys, in a table with its number. `due` is in the time of the instructor's machine; a day
# ends at midnight. Another date for one learner is in dates.csv, which is not given out.
# [labs.01]
# due = 2030-01-10T18:00:00
# solutions_from = 2030-01-17
# [labs.08]
# leave_out = true

# Other points or another tolerance than in the lab, and a question of your own; `beowulf class release` writes them,
# with all sums, into the notebook and the handout.
# [labs.01.questions.idle-mbit]
# points = 3
# tolerance_percent = 5
# [labs.01.questions.own-network]
# points = 2
# asks = "what your own network at home would do with the ring"
"""


@dataclass(frozen=True)
class Limits:
    """What one lab's check may say today; `whose` says in a sentence who limits it, "" where nobody does."""

    level: str = RIGHT
    hints: bool = True
    solutions: bool = True
    solutions_from: date | None = None
    whose: str = ""
    due: datetime | None = None  # with its time zone
    late_points: float = 0.0  # for each day or part of a day
    grace_hours: float = 0.0
    left_out: bool = False  # the course does not have this lab


def of_course(slug: str, course: Path) -> Limits:
    """What a course's own file sets for a lab; the usual where it has none. LabError when the file is wrong."""
    if not (course / FILE).is_file():
        return Limits()
    return _read(course / FILE, slug)


def of_lab(slug: str, folder: Path) -> Limits:
    """The limits for a lab that is worked on in `folder`; LabError when the course's file is wrong.

    The file beside the notebook counts, else that in work/, else that of the checkout. Who has a course's word but
    no file is in a class and gets what a class gets; who has neither learns alone, and nothing is limited.
    """
    if place := place_of(folder):
        return _read(place / FILE, slug)
    if personal_code.word():
        return Limits(FORM, False, False, None, "You have a personal code, so ")
    return Limits()


def place_of(folder: Path) -> Path | None:
    """The folder with the course's file that counts for a learner who works in `folder`; None without any."""
    places = (folder, paths.work(""), paths.root())
    return next((place for place in places if (place / FILE).is_file()), None)


def text_of(course: Path | None) -> str:
    """What a course gives out as its limits: its file, or the usual one; LabError when its file is wrong."""
    if course is None or not (course / FILE).exists():
        return TEXT
    _read(course / FILE, "")
    return (course / FILE).read_text(encoding="utf-8")


def _read(file: Path, slug: str) -> Limits:
    try:
        text = file.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise LabError(f"{file} is not valid TOML: {problem}.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise LabError(f"{file} cannot be read ({problem}).") from None
    labs = content.pop("labs", {})
    if not isinstance(labs, dict) or not all(isinstance(each, dict) for each in labs.values()):
        raise LabError(
            f"{file}, line {line_of(text, '', 'labs')}: `labs` must hold only tables, such as [labs.01]."
        )
    known = {each.partition("-")[0] for each in paths.labs()}
    for name in labs:
        if name not in known:
            raise LabError(
                f"{file}, line {line_of(text, f'labs.{name}')}: there is no lab {name!r}.",
                nearest(name, sorted(known)),
            )
    number = slug.partition("-")[0]
    limits = Limits(FORM, False, False, None, "Your course's file course.toml says that ")
    for name, whole in {"": content, **labs}.items():
        table = {key: value for key, value in whole.items() if not (name and key == "questions")}
        lines = {key: line_of(text, name and f"labs.{name}", key) for key in table}
        changed = _changed(limits, table, file, lines)
        limits = changed if name in ("", number) else limits
    if limits.solutions_from and limits.solutions_from <= date.today():
        return replace(limits, level=RIGHT, hints=True, solutions=True, whose="")
    return limits


def _changed(
    limits: Limits, table: Mapping[str, Any], file: Path, lines: Mapping[str, int]
) -> Limits:
    for key, value in table.items():
        at = f"{file}, line {lines[key]}"
        if key == "check" and value in LEVELS:
            limits = replace(limits, level=value)
        elif key == "leave_out" and isinstance(value, bool):
            limits = replace(limits, left_out=value)
        elif key == "hints" and isinstance(value, bool):
            limits = replace(limits, hints=value)
        elif key == "solutions_from" and isinstance(value, date):
            day = value.date() if isinstance(value, datetime) else value
            limits = replace(limits, solutions_from=day)
        elif key == "due" and isinstance(value, date):
            limits = replace(limits, due=end_of(value))
        elif key == "codes" and isinstance(value, bool):
            continue  # read where Records are made
        elif key == "signed" and value is False:
            continue  # version 1.0.0 wrote it into each course
        elif key in ("late_points", "grace_hours") and _is_amount(value):
            amounts: dict[str, Any] = {key: float(value)}
            limits = replace(limits, **amounts)
        elif key in KEYS:
            raise LabError(f"{at}: `{key}` must be {WANTED[key]}, not {value!r}.")
        else:
            raise LabError(f"{at}: `{key}` is not a key of {FILE}.", nearest(key, KEYS))
    return limits


def _is_amount(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and 0 <= value < 1e6  # type: ignore[operator, arg-type]


def end_of(day: date) -> datetime:
    """A time with its zone, this machine's where it has none; of a day its last second."""
    if not isinstance(day, datetime):
        day = datetime.combine(day, time(23, 59, 59))
    return day if day.tzinfo else day.astimezone()
