"""A lab's `lab.toml`: its title and studies, its questions with points and tolerances, and what is to be predicted.

A course changes points and tolerances, and asks questions of its own, in tables [labs.NN.questions.NAME] of its
`course.toml`. Both are written by hand, so that every mistake is a LabError which names the file and the line.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from beowulf import paths
from beowulf.errors import LabError

COURSE_FILE = "course.toml"  # in a course's folder
# What a key holds.
TEXT, TEXTS, TABLE = "text", "a list of texts", "a table"
NUMBER, AMOUNT = "a number", "a number that is 0 or more"
OF_LAB = {
    **{"title": TEXT, "question": TEXT, "objectives": TEXTS, "minutes": AMOUNT},
    **{"prerequisites": TEXTS, "studies": TEXTS, "questions": TABLE, "predictions": TABLE},
    **{"picture": TEXT, "cluster": TABLE},
}
USUAL = {"networks": 1, "rate": "100mbit"}  # the cluster of a lab that asks for no other
OF_CLUSTER = {"networks": NUMBER, "rate": TEXT}
OF_QUESTION = {
    **{"points": AMOUNT, "read": TEXT, "asks": TEXT, "limits": TABLE, "hints": TEXTS},
    **{"tolerance": AMOUNT, "tolerance_percent": AMOUNT},
}
OF_PREDICTION = {"study": TEXT, "unit": TEXT, "asks": TEXT}
MAY_LACK = (
    "picture",
    "cluster",
    "predictions",
    "limits",
    "hints",
    "tolerance",
    "tolerance_percent",
)
# A question's name is that of its cell.
QUESTION = re.compile("[a-z0-9][a-z0-9-]{0,39}")
# Where a learner reads about a question of the course's own that names no section.
USUAL_SECTION = "The questions"
# Both become part of a file's name: a prediction's own, and that of a study or of one of its variants.
PREDICTION = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
STUDY = re.compile(r"[A-Z][0-9]{1,3}(-\w[\w-]*)?")
# Both say how far an answer may be from the right number: in its own unit, and in per cent of it.
TOLERANCES = ("tolerance", "tolerance_percent")
# Of a question that has any: `beowulf check NN --hint QUESTION` opens one after the other.
HINTS = 3


@dataclass(frozen=True)
class QuestionTable:
    """The table `[questions.NAME]`: the teacher's side of a question."""

    name: str
    points: float
    read: str  # the heading of the handout's section that answers it
    asks: str  # as in the handout's table of questions
    limits: Mapping[str, float]  # the tolerances, and other numbers by which it is scored
    where: str  # the file and the line
    hints: tuple[str, ...] = ()  # the last one is nearly the solution


@dataclass(frozen=True)
class PredictionTable:
    """The table `[predictions.NAME]`: a number that a learner predicts before something is measured."""

    name: str
    study: str  # `A7`, or `A12-loop` for a variant: whose first Record ends the time for predicting
    unit: str
    asks: str
    where: str  # the file and the line


@dataclass(frozen=True)
class LabFile:
    """A whole lab.toml."""

    slug: str
    title: str
    question: str
    objectives: list[str]
    minutes: float
    prerequisites: list[str]
    studies: list[str]
    questions: dict[str, QuestionTable]  # in the order of the file
    predictions: dict[str, PredictionTable] = field(default_factory=dict)
    picture: str = ""  # in docs/figures
    cluster: dict[str, Any] = field(default_factory=USUAL.copy)

    @property
    def boots(self) -> list[str]:
        """The words behind `beowulf up` for the cluster that this lab asks for."""
        return [f"--{name}={value}" for name, value in self.cluster.items()]

    @property
    def name(self) -> str:
        """The file, as messages name it."""
        return _name(self.slug)

    @property
    def handout(self) -> str:
        """The handout, as learners are sent to it."""
        return f"labs/{self.slug}/README.md"

    @property
    def core(self) -> set[str]:
        """The questions of the handout's core sections."""
        text = (paths.labs()[self.slug] / "README.md").read_text(encoding="utf-8")
        more = set(re.findall(r"^## (?:[0-9]+ )?(.+)\n\s*\*More, ", text, re.MULTILINE))
        return {each.name for each in self.questions.values() if each.read not in more}

    def refuse_unknown_sections(self) -> None:
        """LabError when a question sends a learner to a section that the handout does not have."""
        text = (paths.labs()[self.slug] / "README.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (?:[0-9]+ )?(.+)$", text, re.MULTILINE)
        for each in self.questions.values():
            if each.read not in headings:
                raise LabError(
                    f"{each.where}: the question {each.name} sends the learner to {each.read!r}, "
                    f"a heading that {self.handout} does not have.",
                    nearest(each.read, headings),
                )


def read(slug: str, course: Path | None = None) -> LabFile:
    """The lab.toml of a lab, with what the course in a folder changes of its questions; LabError when one is wrong."""
    if slug not in paths.labs():
        raise LabError(f"There is no {_name(slug)}.")
    text, content = _toml(paths.labs()[slug] / "lab.toml", _name(slug))
    asked = deepcopy(content.get("questions", {}))
    lab = _Reader(_name(slug), text).lab(slug, content)
    if course is None or not (course / COURSE_FILE).is_file():
        return lab
    return replace(lab, questions=lab.questions | _of_course(course / COURSE_FILE, slug, asked))


def _of_course(file: Path, slug: str, asked: dict[str, Any]) -> dict[str, QuestionTable]:
    """The questions that a course changes or adds: each with what it does not change as the lab asks it."""
    number = slug.partition("-")[0]
    text, tables = _toml(file, str(file))
    reader = _Reader(str(file), text, f"labs.{number}.")
    for key in ("labs", number, "questions"):
        tables = tables.get(key, {})
        if not _is(tables, TABLE):
            raise LabError(f"{file}: `{key}` is not a table.")
    changed = {}
    for name, table in tables.items():
        if not _is(table, TABLE):
            raise LabError(
                f"{reader.where('questions', name)}: the question {name} is not a table."
            )
        if not QUESTION.fullmatch(name):
            where = reader.where(f"questions.{name}")
            raise LabError(
                f"{where}: a question's name has only small letters, digits and hyphens."
            )
        before = asked.get(name, {"read": USUAL_SECTION})
        merged = deepcopy(before | table)
        if _is(table.get("limits"), TABLE):
            merged["limits"] = before.get("limits", {}) | table["limits"]
        changed[name] = reader.question(name, merged)
    return changed


def _toml(path: Path, name: str) -> tuple[str, dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise LabError(f"{name} is not valid TOML: {problem}.") from None


def nearest(word: str, right: Iterable[str]) -> str:
    """A hint with the right word that is most similar to a wrong one, or with all of them."""
    names = list(right)
    near = difflib.get_close_matches(word, names, 1)
    if near:
        return f"Perhaps you mean {near[0]!r}."
    return f"There are: {', '.join(names)}." if names else ""


def line_of(text: str, table: str, key: str = "") -> int:
    """The line of a key in a table of TOML ("" for the first keys), or that of the table's header; 0 without either."""
    inside, of_table = table == "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\[([\w.\" -]+)\]", line.strip()):
            inside = header[1].replace('"', "").strip() == table
            of_table = number if inside else of_table
        elif inside and key and re.match(rf'"?{re.escape(key)}"?\s*[=.]', line.strip()):
            return number
    return of_table


def _name(slug: str) -> str:
    return f"labs/{slug}/lab.toml"


@dataclass(frozen=True)
class _Reader:
    """Makes a LabFile of what TOML gives, and knows the line of what is wrong."""

    file: str
    text: str
    prefix: str = ""  # of its tables' names

    def lab(self, slug: str, content: dict[str, Any]) -> LabFile:
        """A whole file."""
        self._check(content, OF_LAB, "", "a lab")
        if "cluster" in content:
            self._check(content["cluster"], OF_CLUSTER, "cluster", "the cluster of a lab")
            content["cluster"] = USUAL | content["cluster"]
        predictions = content.pop("predictions", {})
        questions = content.pop("questions")
        return LabFile(
            slug=slug,
            questions={name: self.question(name, table) for name, table in questions.items()},
            predictions={
                name: self._prediction(name, table) for name, table in predictions.items()
            },
            **content,
        )

    def _prediction(self, name: str, content: Any) -> PredictionTable:
        table = f"predictions.{name}"
        self._check(content, OF_PREDICTION, table, f"the prediction {name}")
        if not PREDICTION.fullmatch(name):
            raise LabError(
                f"{self.where(table)}: a prediction's name is a word of letters, digits and hyphens, not {name!r}."
            )
        if not STUDY.fullmatch(content["study"]):
            raise LabError(
                f"{self.where(table, 'study')}: `study` is {content['study']!r}, which names no study.",
                "`A7` names one, and `A12-loop` the variant of an exercise.",
            )
        return PredictionTable(name=name, where=self.where(table), **content)

    def question(self, name: str, content: Any) -> QuestionTable:
        """A question's table."""
        table = f"questions.{name}"
        self._check(content, OF_QUESTION, table, f"the question {name}")
        limits = {key: content.pop(key) for key in TOLERANCES if key in content}
        for key, value in content.pop("limits", {}).items():
            if not _is(value, NUMBER):
                raise LabError(
                    f"{self.where(table, 'limits')}: `{key}` is not a number: {value!r}."
                )
            limits[key] = value
        hints = tuple(content.pop("hints", ()))
        if hints and len(hints) != HINTS:
            raise LabError(
                f"{self.where(table, 'hints')}: `hints` is not a list of {HINTS} texts.",
                "The first says where to look; the last is nearly the solution.",
            )
        return QuestionTable(
            name=name, limits=limits, where=self.where(table), hints=hints, **content
        )

    def _check(self, content: Any, kinds: Mapping[str, str], table: str, what: str) -> None:
        """LabError where a table is none, or a key of it is unknown, missing, or of another kind than is asked for."""
        if not _is(content, TABLE):
            where = self.where(*table.split(".", 1))
            raise LabError(f"{where}: {what} is not a table.", f"Write [{table}] above its keys.")
        for key, value in content.items():
            if key not in kinds:
                where = self.where(table, key)
                raise LabError(f"{where}: `{key}` is not a key of {what}.", nearest(key, kinds))
            if not _is(value, kinds[key]):
                raise LabError(
                    f"{self.where(table, key)}: `{key}` must be {kinds[key]}, not {value!r}."
                )
        for key in kinds:
            if key not in content and key not in MAY_LACK:
                raise LabError(f"{self.where(table)}: {what} has no `{key}`.")

    def where(self, table: str, key: str = "") -> str:
        """The file and the line of a table, or of a key in it."""
        line = line_of(self.text, table and f"{self.prefix}{table}", key)
        return f"{self.file}, line {line}" if line else self.file


def _is(value: object, kind: str) -> bool:
    if kind == TEXT:
        return isinstance(value, str) and bool(value)
    if kind == TEXTS:
        return isinstance(value, list) and all(_is(each, TEXT) for each in value)
    if kind == TABLE:
        return isinstance(value, dict)
    number = type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    return number and (kind == NUMBER or value >= 0)  # type: ignore[operator]
