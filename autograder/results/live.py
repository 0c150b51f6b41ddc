"""A class at work on a lab: who is in which section, what is checked, who is stuck, what was sealed and measured.

It is read from a folder a learner: what `beowulf share` writes, and hand-ins that were collected. A file is opened
again only when its time or size has changed.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from autograder.course.course import Course
from autograder.evidence import record_files
from autograder.evidence.finding import is_number
from autograder.intake import exchange
from autograder.rubrics import questions
from autograder.self_check import states, work
from beowulf import paths, predictions
from beowulf.course import lab_file
from beowulf.course.checklist import DONE
from beowulf.desk import sharing
from beowulf.errors import LabError
from beowulf.predictions import Prediction

if TYPE_CHECKING:
    from autograder.rubrics.pooled import Pool, Value

T = TypeVar("T")
SAME_ERRORS, QUIET_MIN, GONE_MIN = 3, 20, 45
LARGEST_STATE_BYTES = 100_000
OPEN_TO_ALL = 0o3733  # everybody may make a folder in it; only its owner lists it, and its group reads what is in it
ERROR = re.compile(r"\w{1,60}")


@dataclass
class Learner:
    """What is known of one learner; `at` is the last sign of life on this machine, 0 of one who only handed in."""

    code: str
    at: float = 0.0
    began: float = 0.0
    elsewhere: bool = False  # in another lab
    section: str = ""
    error: str = ""
    times: int = 0  # that it came, one after the other
    symbols: dict[str, str] = field(
        default_factory=dict
    )  # by question, as `beowulf check` has them
    records: int = 0
    recorded: float = 0.0  # when the newest Record came
    sealed: dict[str, Prediction] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)
    pooled: dict[str, Value] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """How many questions are done."""
        return sum(symbol == DONE for symbol in self.symbols.values())

    def stuck(self, now: float) -> str:
        """Why the learner may need help, in a few words; "" where nothing says so."""
        if self.elsewhere or now - self.at > 60 * GONE_MIN or self.done == len(self.symbols) > 0:
            return ""
        if self.times >= SAME_ERRORS:
            return f"the same {self.error} {self.times} times"
        quiet = (now - max(self.recorded, self.began)) / 60
        return f"no Record for {quiet:.0f} minutes" if quiet >= QUIET_MIN else ""


@dataclass(frozen=True)
class Seen:
    """What the pages need of one Record."""

    started: str
    sealed: Prediction | None
    measured: Mapping[str, float]
    pooled: Mapping[str, Value]


class Room:
    """The class of a course at one lab, with the folder in which its learners share, if there is one."""

    def __init__(self, course: Course, slug: str, shared: Path | None) -> None:
        self.course, self.slug, self.shared = course, slug, shared
        self.lab = lab_file.read(slug)
        self.pools = _pools(slug)
        text = (paths.labs()[slug] / "README.md").read_text(encoding="utf-8")
        self.sections = re.findall(r"^## \d+ (.+)$", text, re.MULTILINE)
        self.passed_over: list[str] = []
        with course.gradebook() as book:
            self.roster = {str(student.id) for student in book.students}
        self._checks_owners = exchange.checks_owners(course)
        self._read = {f"P{int(slug[:2])}", *(each.study.split()[0] for each in self.pools)}
        self._known: dict[Path, tuple[tuple[int, ...], Any]] = {}

    def look(self) -> list[Learner]:
        """Everyone who has shared or handed in something."""
        self.passed_over = []
        found: dict[str, Learner] = {}
        for code in self.course.submitted(self.slug):
            folder = self.course.folder / "submitted" / code / self.slug
            learner = found[code] = Learner(code)
            for notebook in sorted(folder.glob("*.ipynb"))[:1]:
                learner.symbols = self._of(notebook, self._check) or {}
            self._records(folder, learner)
        for folder in self._shared():
            learner = found.setdefault(folder.name, Learner(folder.name))
            try:
                self._now(folder / sharing.NOW, learner)
                checked = self._of(folder / self.slug / sharing.CHECKED, _json) or {}
                self._records(folder / self.slug, learner)
            except OSError as problem:  # closed, or taken away meanwhile
                self.passed_over.append(f"{folder.name} cannot be read ({problem.strerror})")
                continue
            known = [(name, checked.get(name)) for name in self.lab.questions]
            learner.symbols |= {name: text for name, text in known if isinstance(text, str)}
        for learner in found.values():
            done = [q for q, symbol in learner.symbols.items() if symbol == DONE]
            if not learner.section and done:
                learner.section = self.lab.questions[done[-1]].read
        return [found[code] for code in sorted(found)]

    def _shared(self) -> Iterator[Path]:
        """The folders of those who share, each of its learner."""
        for folder in sorted(self.shared.iterdir()) if self.shared else ():
            owner = exchange.user(folder.lstat().st_uid)
            if self._checks_owners and owner != folder.name:
                self.passed_over.append(f"{folder.name} {exchange.BELONGS} {owner}")
            elif self.roster and folder.name not in self.roster:
                self.passed_over.append(f"{folder.name} is not on the roster")
            elif folder.is_dir() and not folder.is_symlink():
                yield folder

    def _now(self, file: Path, learner: Learner) -> None:
        said = self._of(file, _json)
        if said is None:
            return
        learner.at = file.stat().st_mtime
        minutes, times = (said.get(name) for name in ("minutes", "times"))
        learner.began = learner.at - 60 * (minutes if is_number(minutes) else 0)
        learner.elsewhere = said.get("lab") != self.slug
        learner.section = next((s for s in self.sections if s == said.get("section")), "")
        if ERROR.fullmatch(str(said.get("error"))) and isinstance(times, int):
            learner.error, learner.times = str(said["error"]), times

    def _records(self, folder: Path, learner: Learner) -> None:
        seen: list[Seen] = []
        for file in _files(folder / record_files.RECORDS):
            if file.name[0] != predictions.LETTER:
                learner.records += 1
                learner.recorded = max(learner.recorded, file.stat().st_mtime)
            if file.name.partition("-")[0] in self._read:
                seen += filter(None, [self._of(file, self._record)])
        for each in sorted(seen, key=lambda each: each.started):
            if each.sealed and each.sealed.name in self.lab.predictions and not each.sealed.late:
                learner.sealed.setdefault(each.sealed.name, each.sealed)
            learner.measured |= each.measured
            learner.pooled |= each.pooled

    def _record(self, file: Path) -> Seen | None:
        record = record_files.read(file)
        if record is None:
            return None
        found = {pool.title: pool.of(record) for pool in self.pools}
        pooled = {title: value for title, value in found.items() if value is not None}
        results = predictions.result_in(record)
        return Seen(record.started, predictions.of_record(record), results, pooled)

    def _check(self, notebook: Path) -> dict[str, str]:
        try:
            lines = states.checklist(work.find(self.slug, notebook.parent)).lines
        except LabError:
            return {}
        return {line.question: line.symbol for line in lines}

    def _of(self, file: Path, make: Callable[[Path], T]) -> T | None:
        """What `make` makes of a file, once for each state of it; None where there is no such file."""
        try:
            about = file.lstat()
        except OSError:
            return None
        if not stat.S_ISREG(about.st_mode):
            return None
        state = about.st_ino, about.st_mtime_ns, about.st_size
        if self._known.get(file, ((),))[0] != state:
            self._known[file] = state, make(file)
        found: T = self._known[file][1]
        return found


def _pools(slug: str) -> tuple[Pool, ...]:
    """What is read from a lab's Records; nothing in a kit, which has no rubrics."""
    if not questions.has_rubric(slug):
        return ()
    from autograder.rubrics.pooled import POOLS

    return POOLS.get(slug[:2], ())


def _files(folder: Path) -> Iterable[Path]:
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    records = [name for name in names if re.fullmatch(r"[A-Z].*\.json", name)]
    return [folder / name for name in records[: record_files.MOST_RECORDS]]


def _json(file: Path) -> dict[str, Any]:
    """A small file of a learner's, which may hold anything."""
    try:
        content = json.loads(file.read_bytes()[:LARGEST_STATE_BYTES])
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def open_folder(course: Course, chosen: Path | None) -> Path | None:
    """The folder in which learners share, made where it is not there; None where no user of this machine could.

    It is the one that was chosen, or `live` beside the course's hand-ins in an exchange outside its own folder.
    LabError where learners could read what others share.
    """
    exchanged = Path(course.api.exchange_root).absolute() / str(course.api.course_id)
    folder = chosen.absolute() if chosen else exchanged / "live"
    if not chosen and course.folder in folder.parents:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if folder.stat().st_uid == os.getuid():
            folder.chmod(OPEN_TO_ALL)
    except OSError as problem:
        raise LabError(
            f"{folder} cannot be opened to the class ({problem.strerror}).",
            "Choose another one with `--folder`.",
        ) from None
    group = folder.stat().st_gid
    with course.gradebook() as book:
        students = [str(student.id) for student in book.students]
    if inside := [each for each in students if group in _groups(each)]:
        raise LabError(
            f"{folder} belongs to a group that includes {inside[0]}, who could read what others share.",
            f"Run `chgrp GROUP {folder}` with a group of your own, then `beowulf class live` again.",
        )
    return folder


def _groups(user: str) -> list[int]:
    """The groups of a user of this machine; none of a learner who has no account on it."""
    try:
        return os.getgrouplist(user, pwd.getpwnam(user).pw_gid)
    except KeyError:
        return []
