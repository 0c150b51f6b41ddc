"""Checks of a hand-in before it is graded: its notebook and its Records. Each fault is one sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder import evidence
from autograder.evidence import invented, record_files, shared_records, variants
from autograder.evidence.record_files import ANSWERS, RECORDS
from autograder.intake import archives
from autograder.text import shortened
from beowulf import paths
from beowulf.course import lab_file
from beowulf.errors import LabError

LARGEST_NOTEBOOK_BYTES = 20_000_000
# A notebook of the labs has 3,000 values and 80 cells.
MOST_VALUES, MOST_CELLS = 2_000_000, 5_000
MOST_OUTPUTS = 2_000  # of a cell
NOTEBOOK_VERSION = 4
MOST_SENTENCES = 8  # of one kind; the rest is counted
# A Record, a capture or an exported picture's table beside the notebook.
_OF_RECORDS = re.compile(r"[A-Z]\d+-.+\.(json|pcapng)")


class HandInError(LabError):
    """A hand-in that cannot be collected or read; the message is the reason."""


def notebook_fault(path: Path, lab_cells: Collection[str] = ()) -> str:
    """Why a submitted notebook cannot be graded, in a sentence; "" when it can be.

    It is of another lab when none of its cells is one of the `lab_cells`.
    """
    try:
        there = grade_ids(path)
    except HandInError as problem:
        return problem.message
    if lab_cells and not there & set(lab_cells):
        what = "another notebook's" if there else "none"
        return f"{path.name} has no question of this lab; its cells with names are {what}."
    return ""


def grade_ids(path: Path) -> set[str]:
    """The names of nbgrader's cells in a notebook; HandInError where it cannot be graded."""
    return {name for cell in _cells(path) if (name := _grade_id(cell)) is not None}


def read(path: Path) -> NotebookNode:
    """The cells of a notebook, with what grading takes from them, as nbgrader's steps take one; HandInError.

    nbformat would check the rest, too, and needs minutes and gigabytes to say what is wrong with many outputs.
    """
    cells = [kept(cell) for cell in _cells(path)]
    make: Callable[..., NotebookNode] = nbformat.from_dict  # it has no types
    return make({"nbformat": NOTEBOOK_VERSION, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def _cells(path: Path) -> list[dict[str, Any]]:
    if not path.is_file() or path.is_symlink():
        names = sorted(each.name for each in path.parent.glob("*"))
        packed = [name for name in names if archives.is_no_zip(name)]
        others = [name for name in names if name.endswith(".ipynb")] + packed
        there = f"; there is {', '.join(others[:5])}" if others else ""
        hint = " Only a zip is unpacked: hand in the folder, or a zip of it." if packed else ""
        raise HandInError(f"There is no notebook {path.name} in the submission{there}.{hint}")
    if path.stat().st_size > LARGEST_NOTEBOOK_BYTES:
        raise HandInError(f"{path.name} has more than {LARGEST_NOTEBOOK_BYTES // 10**6} MB.")
    text = path.read_bytes()
    if not text:
        raise HandInError(f"{path.name} is empty.")
    # Before it is made objects of.
    if record_files.values(text) > MOST_VALUES:
        raise HandInError(f"{path.name} has more than {MOST_VALUES:,} values.")
    unread = f"{path.name} is not a notebook that can be read"
    try:
        content = json.loads(text.decode())
    except UnicodeDecodeError as problem:
        message = f"{unread}: it is not text in UTF-8 (byte {problem.start})."
        raise HandInError(message) from None
    except (ValueError, RecursionError, MemoryError) as problem:
        message = f"{unread}: its JSON breaks off or is wrong ({str(problem)[:80]})."
        raise HandInError(message) from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise HandInError(f"{unread}: it has no cells.")
    if (version := content.get("nbformat")) != NOTEBOOK_VERSION:
        message = f"{unread}: it is of version {str(version)[:20]}, and one of 4 is needed."
        raise HandInError(message)
    if len(cells) > MOST_CELLS:
        raise HandInError(f"{path.name} has {len(cells):,} cells; {MOST_CELLS:,} are allowed.")
    return cells


def kept(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A handed-in cell's type, source, name, outputs and pasted pictures, each of the type that it should have."""
    name, source = _grade_id(cell), cell.get("source")
    if isinstance(source, list):
        source = "".join(map(str, source))
    found: dict[str, Any] = {
        "cell_type": str(cell.get("cell_type"))[:20],
        "source": _text(source),
        "metadata": {} if name is None else {"nbgrader": {"grade_id": name}},
    }
    if found["cell_type"] == "code":
        outputs = cell.get("outputs")
        shown = map(_output, outputs[:MOST_OUTPUTS] if isinstance(outputs, list) else ())
        found["outputs"] = [each for each in shown if each is not None]
        found["execution_count"] = _count(cell)
    attachments = cell.get("attachments")
    if isinstance(attachments, dict):
        found["attachments"] = {
            file: {kind: data for kind, data in kinds.items() if isinstance(data, str)}
            for file, kinds in attachments.items()
            if isinstance(kinds, dict)
        }
    return found


def _output(output: object) -> dict[str, Any] | None:
    """An output as a page shows it; None where it is none."""
    if not isinstance(output, dict):
        return None
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return {"output_type": kind, "name": name, "text": _text(output.get("text"))}
    if kind == "error":
        lines = output.get("traceback")
        trace = [_text(line) for line in lines] if isinstance(lines, list) else []
        name, value = _text(output.get("ename")), _text(output.get("evalue"))
        return {"output_type": kind, "ename": name, "evalue": value, "traceback": trace}
    if kind not in ("display_data", "execute_result"):
        return None
    data = output.get("data")
    # Text and pictures; all else is no text, and is not shown.
    every = data.items() if isinstance(data, dict) else ()
    texts = {_text(name): _text(value) for name, value in every if isinstance(value, str | list)}
    shown: dict[str, Any] = {"output_type": kind, "metadata": {}, "data": texts}
    return shown | ({"execution_count": _count(output)} if kind == "execute_result" else {})


def _count(shown: Mapping[str, Any]) -> int | None:
    count = shown.get("execution_count")
    return count if type(count) is int and abs(count) < 1 << 31 else None


def _text(value: object) -> str:
    """A text, also where a file holds it as lines; a file cannot hold half a surrogate pair."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _grade_id(cell: Mapping[str, Any]) -> str | None:
    """The name that nbgrader's marks give a cell."""
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else None


def record_notes(folder: Path, slug: str, student: str, course: Path | None) -> list[str]:
    """Notes on the Records in a hand-in's records/: those that cannot be read, were made up, or are of another lab."""
    place = folder / RECORDS
    if slug not in paths.labs():
        return []
    if not place.is_dir():
        return [f"There is no folder {RECORDS}/ in it, so nothing that was measured."]
    own, accepted = variants.of(course, student), invented.accepted(course)
    given = shared_records.fingerprints_of(course)
    unreadable: list[str] = []
    foreign: list[str] = []
    made_up: list[str] = []
    others: dict[str, list[str]] = {}
    for path, record, why in record_files.records(place):
        if record is None:
            unreadable.append(why)
            continue
        if whose := own.whose(str(record.cluster.get(variants.MARK, ""))) if own else "":
            foreign.append(f"{path.name} was made with the personal code of {whose}.")
        elif record.study in _elsewhere(slug):
            others.setdefault(record.study, []).append(path.name)
        elif not shared_records.is_given(record, given):
            doubts = [
                *evidence.made_up(record, place, accepted),
                *evidence.guarded(partial(variants.findings, record, own)),
            ]
            if doubts:
                made_up.append(f"{path.name}: {' '.join(each.says for each in doubts)}")
    strange = [
        f"{len(names)} {'Record is' if len(names) == 1 else 'Records are'} of the study {study},"
        f" which is not of this lab: {', '.join(names[:3])}."
        for study, names in sorted(others.items())
    ]
    kinds = (unreadable, foreign, made_up, strange)
    return [note for notes in kinds for note in shortened(notes, MOST_SENTENCES)]


@cache
def _elsewhere(slug: str) -> frozenset[str]:
    """The studies of the other labs; those of a lab's own exercises are not listed."""
    of_labs = {each: frozenset(lab_file.read(each).studies) for each in paths.labs()}
    return frozenset[str]().union(*of_labs.values()) - of_labs[slug]


def belongs_to_records(name: str) -> bool:
    """Whether a file beside the notebook has the name of a Record or of its capture."""
    return bool(_OF_RECORDS.fullmatch(name)) or name == ANSWERS
