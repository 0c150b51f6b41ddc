"""A lab with one question of each kind, so that what is said of a hand-in does not depend on what the labs ask."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

from autograder.course import release
from autograder.evidence import invented
from autograder.rubrics.answers import given, is_near
from autograder.rubrics.record_facts import (
    ByRecord,
    Facts,
    best_of_own,
    numbers_and_words,
    record_of,
)
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf import paths
from beowulf.record import Point, Record
from tests.gold.hand_in import written_in
from tests.gold.measured import LABEL, as_handed_in

NUMBER, SLUG, NAME = "99", "99-tiny", "tiny.ipynb"
STUDY, OWN = "A7", "own"
LAB = """\
title = "Tiny"
question = "How small?"
objectives = ["count to two"]
minutes = 10
prerequisites = ["none"]
studies = ["A7"]

[predictions.rate]
study = "A7"
unit = "bytes"
asks = "from where on?"
"""
HINTS = 'hints = ["look", "nearer", "so"]\n'
HANDOUT = "# Lab 99: How small?\n\n## Do: count\n\nOne.\n"
# Each question with its points and the cells between its heading and its test.
QUESTIONS: dict[str, tuple[int, str, str]] = {
    "seen-record": (1, "", 'assert a7.study == "A7"'),
    "seen-bytes": (2, "seen_bytes = 16384", 'form(seen_bytes, "number")'),
    "both": (
        2,
        'kind = "ring"\ntimes = 3',
        'form(kind, "choice:ring,pairs")\nform(times, "number")',
    ),
    "by-hand": (1, "answer = 6 * 7", 'form(answer, "number")'),
    "own-program": (2, "pass_token = len", 'assert own.variant == "own"'),
    "sealed": (1, "", "print(1)"),
    "drawn": (1, "", "print(1)"),
}
RIGHT = {"seen_bytes": "16384", "kind": "'ring'", "times": "3", "answer": "42"}
RIGHT |= {"pass_token": "print"}
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def _source() -> str:
    """The author's notebook."""
    cells = ["# %% [markdown]\n# # Lab 99: How small?"]
    for name, (points, solved, test) in QUESTIONS.items():
        if solved:
            empty = "\n".join(f"{line.partition(' ')[0]} = None" for line in solved.split("\n"))
            marks = f'{{"grade_id": "{name}-answer", "solution": true}}'
            cells.append(f"# %% nbgrader={marks}\n{empty}\n{BEGIN}\n{solved}\n{END}")
        marks = f'{{"grade_id": "{name}", "grade": true, "points": {points}, "locked": true}}'
        cells.append(f"# %% nbgrader={marks}\n{test}")
    marks = '{"grade_id": "explain", "grade": true, "points": 2, "solution": true}'
    cells.append(f"# %% [markdown] nbgrader={marks}\n# {BEGIN}\n# Small is one.\n# {END}")
    return "\n\n".join(cells) + "\n"


def _toml() -> str:
    worth = {name: points for name, (points, _, _) in QUESTIONS.items()} | {"explain": 2}
    tables = [
        f'[questions.{name}]\npoints = {points}\nread = "Do: count"\nasks = "it"\n'
        + ("tolerance_percent = 10\n" if name == "seen-bytes" else "")
        + (HINTS if name == "by-hand" else "")
        for name, points in worth.items()
    ]
    return "\n".join([LAB, *tables])


def _facts(record: Record) -> Facts:
    return dict(record.points[0].facts)


def _both(submission: Submission, facts: Facts, by: str) -> Score:
    right = sum(submission.answers.get(name) == facts[name] for name in ("kind", "times"))
    return Score(right, 2, given(submission, "kind", "times"), "ring, 3")


def _by_hand(submission: Submission) -> Score:
    return Score(is_near(submission, "answer", 42, 0), 1, given(submission, "answer"), "6 * 7 = 42")


def _program(record: Record, expected: str) -> Score:
    right = float(record.points[0].facts["right"])
    why = "right" if right == 1 else "a wrong tag"
    return Score(2 * right, 2, f"{record.file_name}: {why}", expected)


def _kept(study: str, name: str, well: Callable[[Facts], bool], submission: Submission) -> Score:
    """A point for a prediction or a plot whose Record is well."""
    records = submission.measured(study, name)
    right = bool(records) and well(_facts(records[0]))
    return Score(right, 1, "well" if right else "not well", f"{name}: well")


SCORERS = {
    "seen-record": partial(record_of, _facts, STUDY),
    "seen-bytes": ByRecord(_facts, STUDY, numbers_and_words("seen_bytes")),
    "both": ByRecord(_facts, STUDY, _both),
    "by-hand": _by_hand,
    "own-program": partial(best_of_own, STUDY, OWN, "it passes the token on", _program),
    "sealed": partial(_kept, "P99", "rate", lambda facts: not facts["late"]),
    "drawn": partial(_kept, "F99", "rates", lambda facts: bool(facts["unit"])),
}


def build(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `root` stand for the checkout, with this lab alone in it; its Records are of the real one's programs."""
    ours = invented.known()
    monkeypatch.setattr(invented, "known", lambda: ours)
    folder, source = root / "labs" / SLUG, root / "notebooks" / "source" / SLUG / "tiny.py"
    folder.mkdir(parents=True)
    (folder / "lab.toml").write_text(_toml())
    (folder / "README.md").write_text(HANDOUT)
    source.parent.mkdir(parents=True)
    source.write_text(_source())
    monkeypatch.setattr(paths, "root", lambda: root)
    file = release.released(SLUG, source)
    file.parent.mkdir(parents=True)
    file.write_text(release.as_text(release.student_version(source)))
    name = f"autograder.rubrics.{SLUG.replace('-', '_')}"
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    module.__dict__["SCORERS"] = SCORERS
    monkeypatch.setitem(sys.modules, name, module)


def _made(study: str, name: str, /, **facts: Any) -> Record:
    record = Record(study, variant=name, points=[Point({"check": "tiny"}, facts=facts)])
    return replace(record, warnings=[LABEL])


def a7(**facts: Any) -> Record:
    """What the study has measured."""
    return _made(STUDY, "", **{"seen_bytes": 16384, "kind": "ring", "times": 3, **facts})


def own(right: float = 1) -> Record:
    """What the learner's own program has done: which share of it is right."""
    return _made(STUDY, OWN, right=right)


def sealed(late: bool = False) -> Record:
    """A prediction."""
    facts = {"value": 2.0, "low": 1.0, "high": 3.0, "unit": "bytes", "study": STUDY, "late": late}
    return _made("P99", "rate", **facts)


def drawn(unit: str = "s") -> Record:
    """A plot."""
    return _made("F99", "rates", unit=unit)


def records() -> list[Record]:
    """All that is needed for all points."""
    return [a7(), own(), sealed(), drawn()]


def work_on(
    folder: Path,
    typed: Mapping[str, str] | None = None,
    kept: list[Record] | None = None,
    explanation: str = "One is small.",
) -> Path:
    """Lay out a learner's folder, with answers as they are typed (all right, where none are given); the folder."""
    original = paths.root() / "notebooks" / "release" / SLUG / NAME
    notebook = nbformat.read(original, as_version=4)
    answers = RIGHT if typed is None else typed
    (folder / "records").mkdir(parents=True)
    nbformat.write(written_in(notebook, answers, explanation), folder / NAME)
    for record in records() if kept is None else kept:
        as_handed_in(record).save_in(folder / "records")
    return folder
