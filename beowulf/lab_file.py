"""A lab's `lab.toml`: its title and studies, its questions with points and tolerances, and what is to be predicted.

A teacher changes it by hand, so that every mistake in it is a LabError which names the file and the line.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from beowulf import paths
from beowulf.errors import LabError

TEXTS, LISTS = ("title", "question"), ("objectives", "prerequisites", "studies")
OF_LAB = (*TEXTS, *LISTS, "minutes", "questions")
OF_QUESTION = ("points", "read", "asks")
OF_PREDICTION = ("study", "unit", "asks")
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

    @property
    def name(self) -> str:
        """The file, as messages name it."""
        return _name(self.slug)

    @property
    def handout(self) -> str:
        """The handout, as learners are sent to it."""
        return f"labs/{self.slug}/README.md"

    def refuse_unknown_sections(self) -> None:
        """LabError when a question sends a learner to a section that the handout does not have."""
        path = paths.labs()[self.slug] / "README.md"
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise LabError(f"{path} cannot be read ({problem}).") from None
        headings = re.findall(r"^## (?:[0-9]+ )?(.+)$", text, re.MULTILINE)
        for each in self.questions.values():
            if each.read not in headings:
                raise LabError(
                    f"{each.where}: the question {each.name} sends to {each.read!r}, "
                    f"a heading that {self.handout} does not have.",
                    nearest(each.read, headings),
                )


def read(slug: str) -> LabFile:
    """The lab.toml of a lab; LabError when it is wrong."""
    if slug not in paths.labs():
        raise LabError(f"There is no {_name(slug)}.")
    path = paths.labs()[slug] / "lab.toml"
    try:
        text = path.read_text(encoding="utf-8")
        return _Reader(slug, text).lab(tomllib.loads(text))
    except tomllib.TOMLDecodeError as problem:
        raise LabError(f"{_name(slug)} is no TOML: {problem}.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise LabError(f"{path} cannot be read ({problem}).") from None


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

    slug: str
    text: str

    def lab(self, content: Mapping[str, Any]) -> LabFile:
        self._refuse_keys(content, (*OF_LAB, "predictions"), OF_LAB, "", "a lab")
        for key in TEXTS:
            self._text(content, "", key)
        for key in LISTS:
            if not isinstance(content[key], list) or not all(
                isinstance(each, str) for each in content[key]
            ):
                raise LabError(f"{self._where('', key)}: `{key}` is no list of texts.")
        tables = {key: content.get(key, {}) for key in ("questions", "predictions")}
        for key, table in tables.items():
            if not isinstance(table, dict):
                raise LabError(f"{self._where('', key)}: `{key}` is no table.")
        questions, predictions = tables.values()
        return LabFile(
            slug=self.slug,
            minutes=self._number(content, "", "minutes"),
            questions={name: self._question(name, table) for name, table in questions.items()},
            predictions={
                name: self._prediction(name, table) for name, table in predictions.items()
            },
            **{key: content[key] for key in (*TEXTS, *LISTS)},
        )

    def _prediction(self, name: str, content: Any) -> PredictionTable:
        table = f"predictions.{name}"
        if not isinstance(content, dict):
            raise LabError(
                f"{self._where('predictions', name)}: the prediction {name} is no table.",
                f"Write [{table}] above its study.",
            )
        if not PREDICTION.fullmatch(name):
            raise LabError(
                f"{self._where(table)}: a prediction's name has letters, digits and hyphens, and {name!r} does not."
            )
        self._refuse_keys(content, OF_PREDICTION, OF_PREDICTION, table, f"the prediction {name}")
        texts = {key: self._text(content, table, key) for key in OF_PREDICTION}
        if not STUDY.fullmatch(texts["study"]):
            raise LabError(
                f"{self._where(table, 'study')}: `study` is {texts['study']!r}, which names no study.",
                "`A7` does, and `A12-loop` for the variant of an exercise.",
            )
        return PredictionTable(name=name, where=self._where(table), **texts)

    def _question(self, name: str, content: Any) -> QuestionTable:
        table = f"questions.{name}"
        if not isinstance(content, dict):
            raise LabError(
                f"{self._where('questions', name)}: the question {name} is no table.",
                f"Write [{table}] above its points.",
            )
        every = (*OF_QUESTION, *TOLERANCES, "limits", "hints")
        self._refuse_keys(content, every, OF_QUESTION, table, f"the question {name}")
        limits = content.get("limits", {})
        if not isinstance(limits, dict):
            raise LabError(f"{self._where(table, 'limits')}: `limits` is no table of numbers.")
        positive = {
            key: self._number(content, table, key)
            for key in ("points", *TOLERANCES)
            if key in content
        }
        for key, value in positive.items():
            if value < 0:
                raise LabError(f"{self._where(table, key)}: `{key}` is negative: {value:g}.")
        return QuestionTable(
            name=name,
            points=positive.pop("points"),
            read=self._text(content, table, "read"),
            asks=self._text(content, table, "asks"),
            limits=positive | {key: self._number(limits, table, key, "limits") for key in limits},
            where=self._where(table),
            hints=self._hints(content, table),
        )

    def _hints(self, content: Mapping[str, Any], table: str) -> tuple[str, ...]:
        hints = content.get("hints")
        if hints is None:
            return ()
        right = isinstance(hints, list) and all(isinstance(each, str) and each for each in hints)
        if not right or len(hints) != HINTS:
            raise LabError(
                f"{self._where(table, 'hints')}: `hints` is no list of {HINTS} texts.",
                "The first says where to look, the last is nearly the solution.",
            )
        return tuple(hints)

    def _refuse_keys(
        self,
        content: Mapping[str, Any],
        right: Collection[str],
        needed: Collection[str],
        table: str,
        what: str,
    ) -> None:
        for key in content:
            if key not in right:
                raise LabError(
                    f"{self._where(table, key)}: `{key}` is no key of {what}.", nearest(key, right)
                )
        for key in needed:
            if key not in content:
                raise LabError(f"{self._where(table)}: {what} has no `{key}`.")

    def _text(self, content: Mapping[str, Any], table: str, key: str) -> str:
        value = content[key]
        if not isinstance(value, str) or not value:
            raise LabError(f"{self._where(table, key)}: `{key}` is no text: {value!r}.")
        return value

    def _number(self, content: Mapping[str, Any], table: str, key: str, within: str = "") -> float:
        value = content[key]
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            where = self._where(table, within or key)
            raise LabError(f"{where}: `{key}` is no number: {value!r}.")
        return value

    def _where(self, table: str, key: str = "") -> str:
        line = line_of(self.text, table, key)
        return f"{_name(self.slug)}, line {line}" if line else _name(self.slug)
