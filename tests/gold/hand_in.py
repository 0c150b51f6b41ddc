"""A hand-in made from code: a released notebook with answers in it, and records/ beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import release
from beowulf.record import Record
from tests.gold.measured import as_handed_in

EXPLANATION = (
    "A node's own name comes first, because a rank tells the others the address that it finds."
)


@cache
def _released(slug: str) -> Any:
    return release.student_version(release.sources()[slug])


def released(slug: str) -> Any:
    """The notebook of a lab as a learner gets it."""
    return deepcopy(_released(slug))


def file_name(slug: str) -> str:
    """What the notebook of a lab is called."""
    return release.sources()[slug].with_suffix(".ipynb").name


def plain_answers(slug: str) -> dict[str, Any]:
    """The answers to questions in the author's own notebook that are plain values, and need no Record."""
    text = release.sources()[slug].read_text(encoding="utf-8")
    asked = re.findall(r"^lab\.form\((\w+), ", text, re.M)  # nobody grades the others
    found: dict[str, Any] = {}
    for solution in re.findall(r"^### BEGIN SOLUTION\n(.*?)^### END SOLUTION", text, re.M | re.S):
        for line in ast.parse(solution).body:
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                with suppress(ValueError):
                    found[line.targets[0].id] = ast.literal_eval(line.value)
    return {name: found[name] for name in asked if isinstance(found.get(name), float | int | str)}


def answered(notebook: Any, answers: Mapping[str, Any], explanation: str = EXPLANATION) -> Any:
    """A copy of a released notebook with `answers` in its answer cells."""
    written = {name: repr(value) for name, value in answers.items()}
    return written_in(notebook, written, explanation)


def written_in(notebook: Any, answers: Mapping[str, str], explanation: str = EXPLANATION) -> Any:
    """The same with answers as a learner types them: `name = TEXT`."""
    copy = deepcopy(notebook)
    for cell in copy.cells:
        marks = cell.metadata.get("nbgrader", {})
        if not marks.get("solution"):
            continue
        if cell.cell_type == "markdown":
            cell.source = explanation
        lines = [_answered(line, answers) for line in cell.source.split("\n")]
        cell.source = "\n".join(lines)
    return copy


def _answered(line: str, answers: Mapping[str, str]) -> str:
    found = re.match(r"(\w+) = None", line)
    name = found[1] if found else ""
    return f"{name} = {answers[name]}{line[found.end() :]}" if found and name in answers else line


def hand_in(
    folder: Path, notebook: Any, kept: Iterable[Record], name: str = "validation", student: str = ""
) -> Path:
    """Write a notebook with records/ beside it, as a learner hands it in; the folder."""
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    (folder / "records").mkdir()
    for record in kept:
        as_handed_in(record, student).save_in(folder / "records")
    return folder
