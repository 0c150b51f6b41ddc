"""What a learner handed in, as a rubric sees it: Records, plain answers, notebook; never run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from nbformat import NotebookNode

from autograder import evidence
from autograder.evidence import captured, finding, invented, record_files, shared_records, variants
from autograder.evidence.finding import Finding
from autograder.evidence.variants import Own
from beowulf.course.answers import LONGEST_CELL, NoPythonError, Reading, as_written, asked, fault
from beowulf.labs.lab_09.stairs import Outcome
from beowulf.record import Record

T = TypeVar("T")
RECORDS = record_files.RECORDS
is_number = finding.is_number
MOST_OTHER_TEXT = 100_000  # characters of all cells that are no answers; a lab has 8,000
MOST_REASONS = 3  # why Records are doubted, in a message


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
    answers: dict[str, Any]  # name: value, where the learner assigned a constant
    unread_answers: dict[str, str]  # name: a sentence, where it was something else
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

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The answers that the notebook's tests ask for, each with its kind."""
        found: dict[str, str] = {}
        for cell in self.notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("locked"):
                found |= asked(str(cell.source))
        return found

    def given(self, name: str) -> str:
        """The learner's answer as they wrote it, or why there is none; with what its form lacks."""
        if name in self.unread_answers:
            return self.unread_answers[name]
        value = self.answers.get(name)
        if value is None or value is Ellipsis:
            return " ".join([f"{name} = no answer{'.' if self.notes else ''}", *self.notes])
        problem = fault(value, self.kinds[name]) if name in self.kinds else ""
        return f"{name}: {problem}" if problem else f"{name} = {as_written(value)}"

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
    """The values that cells assign, why others cannot be read, and which answer cells are no Python.

    Cells without marks are read, too: a learner's own, and the other half of an answer cell that was split. They give
    names to compute with, and the answers that the answer cells leave open.
    """
    reading = Reading()
    answers: dict[str, Any] = {}
    notes: list[str] = []
    left = MOST_OTHER_TEXT
    for cell in notebook.cells:
        marks, source = cell.metadata.get("nbgrader", {}), str(cell.source)
        is_answer = bool(marks.get("solution"))
        left -= 0 if is_answer else min(len(source), LONGEST_CELL)
        if cell.cell_type != "code" or marks.get("locked") or not (is_answer or left >= 0):
            continue
        try:
            names = reading.cell(source)
        except NoPythonError as problem:
            if is_answer:
                notes.append(f"The answer cell {marks.get('grade_id', '')} {problem}")
            continue
        if is_answer:
            for name in names:
                answers.pop(name, None)
                if reading.values.get(name) not in (None, ...):
                    answers[name] = reading.values[name]
    unread = {name: why for name, why in reading.unread.items() if name not in answers}
    return reading.values | answers, unread, notes
