"""Who is in the class: read from a CSV file, stored in nbgrader's database, looked up by a name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from autograder.course import table_file
from beowulf.errors import LabError

FILE = "roster.csv"
# nbgrader makes a folder of an ID, and patterns and formats of folders.
NOT_IN_AN_ID = re.compile(r"[/\\*?\[\]{}+,\x00-\x1f\x7f]")
LONGEST_ID = 100
NAMESAKES = "on the roster all have this name"

# The headings of nbgrader's own import, of Moodle's list of participants and of Canvas' gradebook.
HEADINGS = {
    "id": ("sis login id", "student_id", "username", "id", "id number", "email address"),
    "first_name": ("first_name", "first name", "given name"),
    "last_name": ("last_name", "last name", "surname"),
    "email": ("email", "email address", "e-mail"),
    "lms_user_id": ("lms_user_id", "canvas id"),
}
CANVAS = {"id", "sis login id"}


@dataclass(frozen=True)
class Student:
    """A learner as the roster has them; everything but the ID may be empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""  # the number that Canvas gives a person


def fault_of_id(student: str) -> str:
    """Why this cannot be a learner's ID, as the end of a sentence; "" when it can."""
    if not student.strip():
        return "is empty"
    if student != student.strip() or student.startswith((".", "-")):
        return "begins or ends with a blank, a dot or a dash"
    if character := NOT_IN_AN_ID.search(student):
        return f"holds {character[0]!r}, which nbgrader cannot have in a folder's name"
    return "is too long" if len(student.encode()) > LONGEST_ID else ""


def read(path: Path) -> list[Student]:
    """The learners in a CSV file, in its order; LabError when two are one or an ID cannot be used."""
    headings, rows = table_file.read(path)
    names = {_plain(heading): heading for heading in headings if heading}
    if set(names) >= CANVAS and {"student", "lastname"} & set(names):
        students = [(n, _from_canvas(row, names)) for n, row in rows if _is_person(row, names)]
    else:
        # Moodle's column of ID numbers is empty where a site has none.
        filled = {each for each in names if any(row[names[each]] for _, row in rows)}
        columns = {
            field: names[next((each for each in there if each in filled), there[0])]
            for field, wanted in HEADINGS.items()
            if (there := [each for each in wanted if each in names])
        }
        if "id" not in columns:
            raise LabError(
                f"{path} has no column with the learners' IDs; its columns are: {', '.join(headings)}.",
                "Call the column `id`; first_name, last_name, email and lms_user_id may be beside it.",
            )
        students = [
            (line, Student(**{field: row[name] for field, name in columns.items()}))
            for line, row in rows
        ]
    if not students:
        raise LabError(f"There is no learner in {path}.", "It needs a line for each learner.")
    _must_differ(path, students)
    return [student for _, student in students]


def _plain(heading: str) -> str:
    return " ".join(heading.casefold().split())


def _is_person(row: Mapping[str, str], names: Mapping[str, str]) -> bool:
    # Canvas has a line of maximum points, and a learner for trying things out.
    last, first = _canvas_name(row, names)
    no_person = (last.casefold(), first.casefold()) in (
        ("points possible", ""),
        ("student", "test"),
    )
    return not no_person and bool(row[names["sis login id"]] or row[names["id"]])


def _canvas_name(row: Mapping[str, str], names: Mapping[str, str]) -> tuple[str, str]:
    """The last and the first name, which are in one column or in two."""
    if "student" in names:
        last, _, first = row[names["student"]].partition(",")
        return last.strip(), first.strip()
    return row[names["lastname"]], row[names["firstname"]]


def _from_canvas(row: Mapping[str, str], names: Mapping[str, str]) -> Student:
    last, first = _canvas_name(row, names)
    number, login = row[names["id"]], row[names["sis login id"]]
    return Student(login, first, last, "", number)


def _must_differ(path: Path, students: list[tuple[int, Student]]) -> None:
    # Folders of IDs that differ only in capitals are one folder on some disks.
    for what, value in (("ID", "id"), ("LMS number", "lms_user_id")):
        lines: dict[str, int] = {}
        for line, student in students:
            given = str(getattr(student, value))
            if what == "ID" and (fault := fault_of_id(given)):
                raise LabError(f"The ID {given!r} in line {line} of {path} {fault}.")
            first = lines.setdefault(given.casefold(), line) if given else line
            if first != line:
                raise LabError(
                    f"The {what} {given!r} is in line {first} and in line {line} of {path}.",
                    "Each learner needs a different one; nothing was imported.",
                )


def enrol(book: Any, students: Iterable[Student]) -> None:
    """Put learners into nbgrader's database, or update them; none is removed."""
    for student in students:
        given = {name: value or None for name, value in asdict(student).items() if name != "id"}
        book.update_or_create_student(student.id, **given)


def enrolled(book: Any) -> list[Student]:
    """The learners in nbgrader's database, by their IDs."""
    names = [field.name for field in fields(Student)]
    students = [Student(*(getattr(each, name) or "" for name in names)) for each in book.students]
    return sorted(students, key=lambda each: each.id)


class Directory:
    """The learners by everything that an LMS may call them."""

    def __init__(self, students: Iterable[Student], complete: bool) -> None:
        self.complete = complete  # there is a roster: a sender who is not in it is unknown
        self._exact: dict[str, str] = {}
        self._others: dict[str, set[str]] = {}
        for student in students:
            self._exact[student.id] = student.id
            for name in _names(student):
                self._others.setdefault(name, set()).add(student.id)

    def find(self, name: str, number: str = "", full_name: bool = False) -> tuple[str, str]:
        """The learner's ID and "", or "" and why there is none.

        `number` is Canvas' own; a `full_name` can only be looked up in a roster, and is no ID by itself.
        """
        for each in (name, number):
            if each in self._exact:
                return each, ""
        ids: set[str] = set()
        keys = [f"number {number}"] if number else []
        for key in [*keys, f"id {_plain(name)}", f"words {_words(name)}", f"run {_run(name)}"]:
            ids = ids or self._others.get(key, set())
        if len(ids) == 1:
            return next(iter(ids)), ""
        if ids:
            return "", f"{', '.join(sorted(ids))} {NAMESAKES}"
        if self.complete:
            return "", "no learner on the roster has this name"
        if number or full_name:
            how = "`beowulf class init . --roster FILE.csv`"
            return "", f"only a roster can identify this learner: {how}"
        fault = fault_of_id(name)
        return ("", f"as an ID it {fault}") if fault else (name, "")


def _names(student: Student) -> set[str]:
    first, last = student.first_name, student.last_name
    names = {f"id {_plain(each)}" for each in (student.id, student.email) if each}
    if student.lms_user_id:
        names |= {f"number {student.lms_user_id}"}
    if first or last:
        whole = f"{first} {last}"
        names |= {f"words {_words(whole)}", f"run {_run(last + first)}", f"run {_run(whole)}"}
    return names


def _letters(text: str) -> str:
    """Small letters and digits without accents, everything else a blank."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join(c if c.isalnum() else " " for c in bare.casefold())


def _words(name: str) -> str:
    # Some sites write the last name first.
    return " ".join(sorted(_letters(name).split()))


def _run(name: str) -> str:
    return "".join(_letters(name).split())
