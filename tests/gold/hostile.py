"""Notebooks that want more than they earned, and notebooks that were damaged: each gets exactly its points."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from autograder.rubrics.score import MIME_TYPE
from tests.gold import lab_01, lab_02
from tests.gold.broken_files import FILE, FULL, SLUG, whole
from tests.gold.case import Case
from tests.gold.hand_in import answered, file_name, hand_in, released, written_in

MEASURED = lab_01.MEASURED
_read: Callable[..., Any] = nbformat.read
# Code that a notebook's kernel would run; a rubric never does.
ATTACKS = {
    "ends its process": "import os\nos._exit(0)",
    "patches form": "import beowulf.course.answers as n\nn.form = lambda *a: 100\nform = n.form\n100",
    "writes Records": "import pathlib\n[p.unlink() for p in pathlib.Path('records').glob('*')]",
}


def cases() -> list[Case]:
    """Every kind of hostile or damaged notebook that we know."""
    return [*_attacks(), *_notebooks(), *_answers(), *_earlier_answers()]


def _changed(
    name: str, change: Callable[[Any], object], points: Mapping[str, float], **said: str
) -> Case:
    """The perfect hand-in with its notebook changed."""

    def write(folder: Path) -> None:
        path = whole(folder, name) / FILE
        notebook = _read(path, as_version=4)
        change(notebook)
        # nbformat would repair a part of it.
        path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")

    return Case(SLUG, name, write, points, {key.replace("_", "-"): v for key, v in said.items()})


def _marked(notebook: Any, mark: str) -> list[Any]:
    return [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get(mark)]


def _tests(notebook: Any) -> list[Any]:
    return [c for c in _marked(notebook, "grade") if c.cell_type == "code"]


def _attacks() -> list[Case]:
    """Code before all other cells, in a hand-in without an answer: it earns what the Records earn."""

    def write(folder: Path, name: str, code: str) -> None:
        notebook = released(SLUG)
        notebook.cells.insert(0, new_code_cell(code))
        hand_in(folder, notebook, lab_01.records(), Path(FILE).stem, student=name)

    return [
        Case(SLUG, name, partial(write, name=name, code=code), MEASURED)
        for name, code in ATTACKS.items()
    ]


def _each(cells: list[Any], **parts: Any) -> None:
    for cell in cells:
        cell.update(deepcopy(parts))


def _all_marks(cells: list[Any], **marks: Any) -> None:
    for cell in cells:
        cell.metadata.nbgrader.update(marks)


def _without(notebook: Any, cells: list[Any]) -> None:
    notebook.cells = [cell for cell in notebook.cells if cell not in cells]


def _odd_marks(notebook: Any) -> None:
    kinds: list[Any] = [None, [], "marks", 7, {"grade_id": ["a2-record"]}, {"grade_id": 3}]
    for cell, marks in zip(_own(notebook), kinds, strict=False):
        cell.metadata.nbgrader = marks


def _own(notebook: Any) -> list[Any]:
    """The cells that are no question's."""
    return [cell for cell in notebook.cells if "nbgrader" not in cell.metadata]


def _as_text(notebook: Any) -> None:
    for cell in _marked(notebook, "solution"):
        cell.cell_type = "markdown"
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


def _twice(notebook: Any) -> None:
    """Each answer cell once more in front, with another answer: the last one counts."""
    for cell in [c for c in _marked(notebook, "solution") if c.cell_type == "code"]:
        copy = deepcopy(cell)
        copy.source = copy.source.replace("=", "= 7 #")
        notebook.cells.insert(0, copy)


def _damaged(notebook: Any) -> None:
    for number, cell in enumerate(_own(notebook)):
        cell["metadata"] = [None, 7, [], "text"][number % 4]
        cell.pop(sorted(cell)[number % len(cell)])


def _lines(notebook: Any) -> None:
    for cell in notebook.cells:
        cell.source = cell.source.splitlines(keepends=True)


def _no_text(notebook: Any) -> None:
    for number, cell in enumerate(_own(notebook)):
        cell.source = [number, True, None, {"a": 1}][number % 4]


ALL_POINTS = {"text/plain": "100", MIME_TYPE: {"points": 100, "of": 100}}
ONLY_TEXT = new_markdown_cell("I did everything. Please give me all points.")
# What is done to the perfect hand-in's notebook: RestoreCells gives marks and tests back.
CHANGES: dict[str, Callable[[Any], object]] = {
    "edited tests": lambda n: _each(_tests(n), source="100"),
    "dearer questions": lambda n: _all_marks(_marked(n, "grade"), points=100),
    "skipped tests": lambda n: [c.metadata.update(tags=["skip-execution"]) for c in _tests(n)],
    "outputs with points": lambda n: _each(
        _tests(n), outputs=[new_output("execute_result", data=ALL_POINTS)]
    ),
    "removed tests": lambda n: _without(n, _tests(n)),
    "copied tests": lambda n: n.cells.extend(deepcopy(_tests(n)) * 3),
    "marks of odd types": _odd_marks,
    "cells backwards": lambda n: n.cells.reverse(),
    "one id for all": lambda n: _each(n.cells, id="the-same"),
    "no ids": lambda n: [cell.pop("id", None) for cell in n.cells],
    "answers as text cells": _as_text,
    "sources in lines": _lines,
    "sources that are no text": _no_text,
    "answered twice": _twice,
    "cells that were damaged": _damaged,
    "thousands of cells": lambda n: n.cells.extend(new_code_cell("x = 1") for _ in range(3000)),
}


def _notebooks() -> list[Case]:
    return [
        *(_changed(name, change, FULL) for name, change in CHANGES.items()),
        # Nothing says any more which cell is an answer; what the cells assign is read all the same.
        _changed("lost metadata", lambda n: _each(n.cells, metadata={}), FULL),
        _changed("only a text", lambda n: n.update(cells=[ONLY_TEXT]), MEASURED),
    ]


def _written(
    name: str, points: Mapping[str, float], said: Mapping[str, str], **answers: str
) -> Case:
    """A hand-in of lab 01 with answers as they are typed."""

    def write(folder: Path) -> None:
        right = {key: repr(value) for key, value in lab_01.RIGHT.items()}
        notebook = written_in(released(SLUG), right | answers)
        hand_in(folder, notebook, lab_01.records(), Path(FILE).stem, student=name)

    return Case(SLUG, name, write, points, said)


def _answers() -> list[Case]:
    no_pairs = {name: worth for name, worth in FULL.items() if name != "ordered-pairs"}
    no_rate = {name: worth for name, worth in FULL.items() if name != "idle-mbit"}
    run, too_large = "cannot be read without running it", "a number out of range"

    def pairs(name: str, typed: str, said: str = run) -> Case:
        return _written(name, no_pairs, {"ordered-pairs": said}, ordered_pairs=typed)

    def rate(name: str, typed: str, said: str = "") -> Case:
        return _written(name, no_rate, {"idle-mbit": said}, idle_mbit_per_s=typed)

    return [
        pairs("a call", "len(cluster.nodes) * 3"),
        pairs("a power", "9 ** 9 ** 9", too_large),
        pairs("a text for a number", "'12'", "'12'"),
        pairs("a list of answers", "[12, 6]", "[12, 6]"),
        pairs("no Python", "twelve of them", "cannot be read as Python"),
        pairs("a null byte", "12\0", "cannot be read as Python"),
        pairs("very long", "'" + "x" * 200_000 + "'", "more than"),
        pairs("a deep bracket", "(" * 300 + "12" + ")" * 300, "cannot be read as Python"),
        rate("not a number", "float('nan')", too_large),
        rate("infinity", "1e999", too_large),
        rate("a huge integer", "9" * 5000, "cannot be read as Python"),
        rate("a script", "'<script>alert(1)</script>'", "<script>"),
        _written("a sum", FULL, {}, ordered_pairs="4 * (4 - 1)"),
        _written("an earlier answer", FULL, {}, ring_messages="ordered_pairs / 3"),
        pairs("a later answer", "ring_messages * 3", "`ring_messages` has no value"),
    ]


def _earlier_answers() -> list[Case]:
    """Lab 02 with answers that name answers further up, as its notebook allows."""

    def write(folder: Path) -> None:
        notebook = answered(released(lab_02.SLUG), lab_02.RIGHT)
        for cell in notebook.cells:
            cell.source = cell.source.replace("= 7.05", "= full_round_trip_us / 2")
        stem = Path(file_name(lab_02.SLUG)).stem
        hand_in(folder, notebook, lab_02.records(), stem, student="names")

    return [Case(lab_02.SLUG, "names of earlier answers", write, lab_02.WORTH)]
