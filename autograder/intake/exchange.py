"""nbgrader's exchange: the folders that were handed in for a lab, for whom, and why one is not believed.

Every user of the machine may put a folder there under any name. So it counts for the learner in its name only when it,
and all that is in it, belongs to the user of that name.
"""

from __future__ import annotations

import os
import pwd
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autograder.course.course import Course
from autograder.course.roster import fault_of_id
from autograder.intake import submissions

CHANGED_LATER = timedelta(hours=1)
BELONGS = "belongs to"
AHEAD = timedelta(minutes=5)  # of the machine's clock: the learner's was the same one


@dataclass(frozen=True)
class HandIn:
    """A folder in the exchange: whose name it has, its time, and why it is not believed, or ""."""

    folder: Path
    student: str
    when: datetime
    fault: str = ""
    ahead: bool = False  # its time is still to come
    changed: datetime | None = None  # when something in it was, if that is long after its time


def hand_ins(course: Course, slug: str) -> dict[str, list[HandIn]]:
    """What is in the exchange for a lab, by the learner that each folder names, the one to collect last."""
    inbound = Path(course.api.exchange_root) / str(course.api.course_id) / "inbound"
    # As nbgrader names them: LEARNER+LAB+TIME, or LEARNER+LAB+TIME+RANDOM.
    form = re.compile(
        rf"(?P<student>.+?)\+{re.escape(slug)}\+(?P<time>[^+]*)(?:\+[^+]*)?", re.DOTALL
    )
    names = sorted(os.listdir(inbound)) if inbound.is_dir() else []
    checked, now = checks_owners(course), datetime.now(UTC)
    found: dict[str, list[HandIn]] = {}
    for name in names:
        if named := form.fullmatch(name):
            each = _hand_in(inbound / name, named["student"], named["time"], now, checked=checked)
            found.setdefault(each.student, []).append(each)
    for several in found.values():
        several.sort(key=lambda each: (not each.fault, not each.ahead, each.when))
    return found


def _hand_in(folder: Path, student: str, named: str, now: datetime, *, checked: bool) -> HandIn:
    try:
        fault, changed = _looked_through(folder, student, checked=checked)
    except OSError as problem:
        fault, changed = f"cannot be read ({problem.strerror})", now
    in_name = submissions.as_time(named)
    if fault or not in_name:
        return HandIn(folder, student, in_name or now, fault or "has no time in its name")
    when = submissions.timestamp(folder) or in_name
    later = changed if changed - when > CHANGED_LATER else None
    return HandIn(folder, student, when, "", max(when, in_name) > now + AHEAD, later)


def _looked_through(folder: Path, student: str, *, checked: bool) -> tuple[str, datetime]:
    """Why a folder is not collected, as the end of a sentence, or ""; and when something in it was changed last."""
    about = folder.lstat()
    # The time of a change is the system's own; what is in a file is the learner's.
    changed, fault = about.st_ctime, ""
    if not stat.S_ISDIR(about.st_mode):
        fault = "is not a folder"
    elif wrong := fault_of_id(student):
        fault = f"names no learner: as an ID it {wrong}"
    elif checked and (owner := user(about.st_uid)) != student:
        fault = f"{BELONGS} {owner}, not to {student}"
    else:
        for path in _inside(folder):
            inner = path.lstat()
            changed = max(changed, inner.st_ctime)
            if checked and not fault and inner.st_uid != about.st_uid:
                whose = user(inner.st_uid)
                fault = f"has a file of another user in it ({path.name} belongs to {whose})"
    return fault, datetime.fromtimestamp(changed, UTC)


def _inside(folder: Path) -> Iterator[Path]:
    def fail(problem: OSError) -> None:
        raise problem

    for here, folders, files in os.walk(folder, onerror=fail):
        yield from (Path(here, name) for name in (*folders, *files))


def user(uid: int) -> str:
    """The name of a user of this machine, or a few words where the number has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user number {uid}, who has no name here"


def owner(course: Course, student: str) -> int | None:
    """The user to whom all of a learner's files in the exchange belong; None where owners say nothing."""
    return pwd.getpwnam(student).pw_uid if checks_owners(course) else None


def checks_owners(course: Course) -> bool:
    """What the course sets as nbgrader's `c.ExchangeCollect.check_owner`."""
    api = course.api
    app = api.exchange.Collect(coursedir=api.coursedir, authenticator=api.authenticator, parent=api)
    return bool(app.check_owner)
