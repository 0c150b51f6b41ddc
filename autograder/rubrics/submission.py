"""What a learner handed in, as a rubric sees it: Records, plain answers, notebook; never run."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from nbformat import NotebookNode

from autograder import evidence
from autograder.evidence import captured, finding, invented, record_files, shared_records, variants
from autograder.evidence.finding import Finding
from autograder.evidence.variants import Own
from autograder.text import as_written
from beowulf.labs.lab_09.stairs import Outcome
from beowulf.record import Record

T = TypeVar("T")
RECORDS = record_files.RECORDS
is_number = finding.is_number
LONGEST_CELL, MOST_LINES = 40_000, 2_000  # characters and lines of an answer cell
MOST_REASONS = 3  # why Records are doubted, in a message


def _power(base: float, exponent: float) -> float:
    """By floating point, in which 9 ** 9 ** 9 fails at once; a whole number where it is exact."""
    power = math.pow(base, exponent)
    whole = isinstance(base, int) and isinstance(exponent, int) and exponent >= 0
    return int(power) if whole and abs(power) < 2**53 else power


_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}


@dataclass(frozen=True)
class Unreadable:
    """A file in records/ that is not a Record that can be read, and why."""

    file: str
    why: str


@dataclass(frozen=True)
class Submission:
    """One learner's hand-in of one lab."""

    records: list[Record]
    unreadable: list[Unreadable]
    answers: dict[str, Any]  # name: value, where the learner assigned a plain value
    unread_answers: dict[str, str]  # name: source, where it was something else
    notebook: NotebookNode
    has_records_folder: bool = True
    notes: list[str] = field(default_factory=list)
    # By the place in `records`: what does not fit in a Record, and those that the course gave.
    doubts: dict[int, list[Finding]] = field(default_factory=dict)
    given_by_course: frozenset[int] = frozenset()
    own: Own | None = None  # the learner's variants, where the course has some
    # Simulates a source in C in a sandbox; without it a Record is believed, as where learners look at their own work.
    simulate: Callable[[str], dict[str, Outcome]] | None = None
    # What was read from the Records already, because several questions need it.
    cache: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def read(
        cls,
        folder: Path,
        notebook: NotebookNode,
        student: str = "",
        course: Path | None = None,
        own: Own | None = None,
    ) -> Submission:
        """The hand-in in `folder`; what cannot be read is listed with its reason, never raised.

        `course` is the folder of the `student`'s course; without it there are no Records that were given, and no
        variants but those of `own`, which is for a learner who looks at their own work.
        """
        files = list(record_files.records(folder / RECORDS))
        records = [record for _, record, _ in files if record]
        unreadable = [Unreadable(path.name, why) for path, record, why in files if not record]
        answers, unread, notes = _answers(notebook)
        exists = (folder / RECORDS).is_dir()
        own = own or variants.of(course, student)
        given = shared_records.fingerprints_of(course)
        accepted = invented.accepted(course)
        doubts: dict[int, list[Finding]] = {}
        gifts: set[int] = set()
        room = captured.Room()
        for place, record in enumerate(records):
            problems = evidence.findings(record, folder / RECORDS, accepted=accepted, room=room)
            if shared_records.is_given(record, given):
                gifts.add(place)
                problems += shared_records.findings(record, given, in_course=course is not None)
            else:
                problems += evidence.guarded(partial(variants.findings, record, own))
            if problems:
                doubts[place] = problems
        handed_in = cls(records, unreadable, answers, unread, notebook, exists, notes)
        return replace(handed_in, doubts=doubts, given_by_course=frozenset(gifts), own=own)

    @property
    def code(self) -> str:
        """The learner's personal code, by which their variants are drawn; "" without one."""
        return self.own.word if self.own else ""

    def once(self, key: Hashable, look: Callable[[], T]) -> T:
        """What `look` reads from the Records, once for each `key`."""
        if key not in self.cache:
            self.cache[key] = look()
        value: T = self.cache[key]
        return value

    def without(self, places: Collection[int]) -> Submission:
        """The same hand-in without these of its Records; `missing` explains why they are not there."""
        left = [place for place in range(len(self.records)) if place not in places]
        gone = [Unreadable(self.records[n].file_name, _why(self, n)) for n in sorted(places)]
        gifts = frozenset(new for new, old in enumerate(left) if old in self.given_by_course)
        return replace(
            self,
            records=[self.records[place] for place in left],
            cache={},
            unreadable=[*gone, *self.unreadable],
            doubts={new: self.doubts[old] for new, old in enumerate(left) if old in self.doubts},
            given_by_course=gifts,
        )

    def doubted(self) -> str:
        """What contradicts itself in its Records, in words: the first of them, and how many more."""
        reasons = [_why(self, place) for place in sorted(self.doubts)]
        more = len(reasons) - MOST_REASONS
        said = [f"{more} more have the same problem."] if more > 0 else []
        return " ".join([*reasons[:MOST_REASONS], *said])

    def measured(self, study: str, variant: str = "") -> list[Record]:
        """The Records of a study and variant, the newest first.

        A letter alone is any study with it: what was predicted is P and the lab's number, what was plotted F.
        """
        length = len(study) if len(study) == 1 else None
        wanted = [r for r in self.records if r.study[:length] == study and r.variant == variant]
        return sorted(wanted, key=lambda record: record.started, reverse=True)

    def given(self, name: str) -> str:
        """The learner's answer as they wrote it, or why there is none."""
        if self.answers.get(name) is not None:
            return as_written(self.answers[name])
        if name in self.unread_answers:
            return f"{self.unread_answers[name]}, which is no plain value: write the value itself"
        return " ".join(["no answer", *self.notes])

    def missing(self, study: str, variant: str = "") -> str:
        """Why there is no Record of that study and variant, in a sentence."""
        name = f"{study}, variant {variant}," if variant else study
        if not self.has_records_folder:
            return f"There is no Record {name}: the folder {RECORDS}/ was not handed in."
        stem = f"{study}-{variant}" if variant else study
        for bad in self.unreadable:
            if bad.file.startswith(stem):
                return f"There is no Record {name} that can be used. {bad.why}"
        others = ", ".join(sorted({_name(record) for record in self.records})) or "none"
        return f"There is no Record {name} in {RECORDS}/; the Records there: {others}."


def _why(submission: Submission, place: int) -> str:
    name = submission.records[place].file_name
    findings = " ".join(each.says for each in submission.doubts.get(place, []))
    return f"{name}: {findings or 'The course gave it.'}"


def _name(record: Record) -> str:
    return f"{record.study} ({record.variant})" if record.variant else record.study


def _answers(notebook: NotebookNode) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    answers: dict[str, Any] = {}
    unread: dict[str, str] = {}
    notes: list[str] = []
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or not marks.get("solution"):
            continue
        try:
            assignments = list(_assignments(str(cell.source)))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
            where = marks.get("grade_id", "a cell")
            notes.append(f"The answer cell {where} cannot be read as Python ({problem}).")
            continue
        for name, value, text in assignments:
            try:
                answers[name] = literal(value, answers)
                unread.pop(name, None)
            except (ValueError, ArithmeticError, RecursionError, MemoryError) as problem:
                reason = " (a number out of range)" if isinstance(problem, OutOfRangeError) else ""
                unread[name] = _short(text) + reason
                answers.pop(name, None)
    return answers, unread, notes


def _assignments(source: str) -> Iterable[tuple[str, ast.expr, str]]:
    """The names that a cell assigns at its top level, with expression and source, in order."""
    if len(source) > LONGEST_CELL:
        raise ValueError(f"it has more than {LONGEST_CELL:,} characters")
    if source.count("\n") > MOST_LINES:
        raise ValueError(f"it has more than {MOST_LINES:,} lines")
    # Lines for a shell or for IPython are no Python.
    plain = re.sub(r"(?m)^[ \t]*[!%].*$", "", source)
    lines = plain.encode().splitlines(keepends=True)
    for statement in ast.parse(plain).body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        text = _segment(lines, statement.value)
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value, text


def _segment(lines: list[bytes], expression: ast.expr) -> str:
    """The source of an expression: ast.get_source_segment would split the whole cell for each."""
    last = (expression.end_lineno or expression.lineno) - 1
    part = lines[expression.lineno - 1 : last + 1]
    part[-1] = part[-1][: expression.end_col_offset]
    part[0] = part[0][expression.col_offset :]
    return b"".join(part).decode(errors="replace")


def literal(expression: ast.expr, names: Mapping[str, Any] | None = None) -> Any:
    """The value of plain values, with + - * / ** between numbers; ValueError for anything else.

    A name is looked up among the plain answers in `names`; nothing is called, and
    no attribute of a value is read.
    """
    if isinstance(expression, ast.Name) and names is not None and expression.id in names:
        return names[expression.id]
    if isinstance(expression, ast.BinOp) and type(expression.op) in _ARITHMETIC:
        left, right = literal(expression.left, names), literal(expression.right, names)
        if is_number(left) and is_number(right):
            return _ARITHMETIC[type(expression.op)](left, right)
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
        value = literal(expression.operand, names)
        if is_number(value):
            return -value
    try:
        value = ast.literal_eval(expression)
    except (TypeError, SyntaxError) as problem:
        raise ValueError(str(problem)) from None
    if _is_out_of_range(value):
        raise OutOfRangeError("a number out of range")
    return value


class OutOfRangeError(ValueError):
    """A number that nothing can be computed with, such as 1e400."""


def _is_out_of_range(value: object) -> bool:
    """Whether a plain value is such a number, or holds one."""
    if isinstance(value, int | float | complex):
        return not abs(value) < 1e300
    if isinstance(value, Mapping):
        return any(map(_is_out_of_range, (*value.keys(), *value.values())))
    return isinstance(value, list | tuple | set) and any(map(_is_out_of_range, value))


def _short(text: str, longest: int = 80) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
