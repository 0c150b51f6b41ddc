"""The course's side of variants: the words that it gave out, and which learner made a Record.

`words.csv` in the course's folder has a line for each student. Where it is there, the course has
variants; the words themselves follow from `course.key`, so that no edited line changes anything while the key is
there.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autograder.evidence.finding import IMPOSSIBLE, Finding, is_number
from beowulf import predictions
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.record import Record

KEY, WORDS = "course.key", "words.csv"
MARK = "mark"  # in a Record's description of the cluster
# Programs that print the seed of their order, and that a study starts with one of the word's.
SEEDED = {
    *("roundtrip", "collectives", "processes", "latencies", "bandwidths", "memory", "run_heat.py"),
}
MOST_LAUNCHES = 1000  # of a study


# Each measurement of these counts in a capture, which it names.
CAPTURED = {"A5", "A10", "A11", "A12", "H6"}


@dataclass(frozen=True)
class Own:
    """A student's word in a course, and the student of each mark of the class."""

    student: str
    word: str
    marks: Mapping[str, str]

    @property
    def mark(self) -> str:
        """What a Record made under this word carries."""
        return personal_code.mark(self.word)

    def whose(self, mark: str) -> str:
        """The other student under whose word a Record with this mark was made; "" if there is none."""
        who = self.marks.get(mark, "")
        return who if who != self.student else ""


def issue(
    course: Path, students: Iterable[str], emails: Mapping[str, str | None] | None = None
) -> Path:
    """Make words.csv in the course's folder: each student and their word on a line, for that student only.

    With the address of each that is known, for a mail merge.

    Students who are in it stay. LabError when the course has no key.
    """
    key = _key(course)
    if not key and (course / WORDS).exists():
        raise LabError(
            f"{course / KEY} is gone, and a new one would give other codes.",
            f"Restore it from a backup. Learners who are in {WORDS} keep their codes; no new ones can be made.",
        )
    if not key:
        raise LabError(f"There is no {KEY} in {course}.", "`beowulf class init` makes one.")
    all_students = sorted({*_rows(course), *students})
    fresh = course / f".{WORDS}.new"
    # Anyone who has a word can make Records that look like its owner's.
    with open(
        os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", newline=""
    ) as file:
        rows = csv.writer(file)
        rows.writerow(["student", "word", "email"])
        rows.writerows(
            [student, personal_code.of(key, student), (emails or {}).get(student) or ""]
            for student in all_students
        )
    return fresh.replace(course / WORDS)


def of(course: Path | None, student: str) -> Own | None:
    """What is the student's own in a course; None where it has no variants, or does not know the student."""
    if course is None or not student:
        return None
    place = course.absolute()
    words, marks = _class(place, _state(place / KEY), _state(place / WORDS))
    return Own(student, words[student], marks) if student in words else None


def findings(record: Record, own: Own | None) -> list[Finding]:
    """Whether a Record was made under the learner's own word; nothing where the course gave out none.

    A prediction may have been sealed before the learner had the word.
    """
    if own is None or record.study[:1] == predictions.LETTER:
        return []
    mark = record.cluster.get(MARK, "")
    if mark == own.mark:
        return [*_seeds(record, own), *_capture(record)]
    if own.whose(mark):
        message = "It was made with another learner's personal code. Measure with your own."
    else:
        message = f"It was made without your personal code. Put it into work/{personal_code.FILE}, and measure again."
    return [Finding(IMPOSSIBLE, message)]


def _seeds(record: Record, own: Own) -> list[Finding]:
    """Whether the orders of a study follow from the word; an exercise may have an order of its own."""
    if record.variant:
        return []
    first = personal_code.seed(own=own.word)
    seeds = [_number(record.sweep.get("seed", first)) - first]
    printed = False
    for point in record.points:
        if point.at.get("about") and point.facts.get("program") in SEEDED:
            launch = _number(point.at.get("launch", 0))
            seeds.append(_number(point.facts.get("seed")) - first - launch)
            printed = True
    if any(seeds) or not _is_launch(record, first):
        message = "The seed of its order does not follow from your personal code. Measure it again."
        return [Finding(IMPOSSIBLE, message)]
    ours = [each.strip() for each in record.program.get("name", "").split(",")]
    silent = [each for each in ours if each.removesuffix(".c") in SEEDED]
    if silent and not printed:
        message = f"It lacks the line in which {silent[0]} prints the seed of its order."
        return [Finding(IMPOSSIBLE, message)]
    return []


def _is_launch(record: Record, first: int) -> bool:
    """Whether the last launch was started with a seed of the word, where it was started with one."""
    words = record.program.get("arguments", [])
    if "--seed" not in words[:-1]:
        return True
    seed = str(words[words.index("--seed") + 1])
    return seed.isdecimal() and len(seed) < 12 and 0 <= int(seed) - first < MOST_LAUNCHES


def _capture(record: Record) -> list[Finding]:
    """Whether a Record of these names its capture; whether that is there and fits, is looked at elsewhere."""
    if record.study not in CAPTURED or any(facts.get("sha256") for facts in record.captures):
        return []
    return [Finding(IMPOSSIBLE, "It names no capture, and a measurement of this study leaves one.")]


def _number(value: object) -> float:
    return value if is_number(value) else math.inf


@lru_cache(maxsize=4)
def _class(course: Path, *_states: tuple[int, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """The words of a class by student, and the students by the marks of their words.

    Computed once for each state of the files, because every Record of the class needs them.
    """
    key = _key(course)
    # With the key gone, what was given out is all that is known, and the class goes on with it.
    known = {
        each: personal_code.of(key, each) if key else word for each, word in _rows(course).items()
    }
    words = {each: word for each, word in known.items() if _is_word(word)}
    return words, {personal_code.mark(word): each for each, word in words.items()}


def _is_word(text: str) -> bool:
    try:
        return bool(personal_code.checked(text))
    except LabError:
        return False


def _state(file: Path) -> tuple[int, ...]:
    """What differs once a file was written again."""
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _key(course: Path) -> str:
    file = course / KEY
    return file.read_text(encoding="ascii").strip() if file.is_file() else ""


def _rows(course: Path) -> dict[str, str]:
    """The students in words.csv, each with the word in their line."""
    if not (course / WORDS).is_file():
        return {}
    with (course / WORDS).open(encoding="utf-8", newline="") as file:
        return {row["student"]: row["word"] or "" for row in csv.DictReader(file)}
