"""Restores the names and marks of nbgrader's cells after a learner edited the notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode, from_dict

# nbformat has no types; this is how its plain dicts become what nbgrader works on.
node: Callable[..., NotebookNode] = from_dict
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_-]")
_SOLUTION = re.compile(r"^### BEGIN SOLUTION\n(.*?)^### END SOLUTION", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class KnownCell:
    """A cell of the released notebook, from the gradebook."""

    name: str
    cell_type: str
    source: str
    checksum: str
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float

    def marks(self) -> dict[str, Any]:
        """The metadata of nbgrader in this cell, as it was released."""
        same = ("cell_type", "checksum", "locked", "grade", "solution", "task")
        marks = {"grade_id": self.name, "schema_version": 3}
        marks |= {name: getattr(self, name) for name in same}
        return marks | ({"points": self.points} if self.grade or self.task else {})


@dataclass(frozen=True)
class KnownNotebook:
    """A released notebook, from the gradebook: its cells that have names, in their order."""

    name: str
    kernelspec: dict[str, Any]
    cells: dict[str, KnownCell]


def new_cell(cell_type: str, source: str, **parts: Any) -> NotebookNode:
    """A cell of nbformat, not yet compared with its schema; a type that does not exist gives a raw cell."""
    code: dict[str, Any] = {"outputs": [], "execution_count": None} if cell_type == "code" else {}
    kind = cell_type if cell_type in ("code", "markdown") else "raw"
    return node({"cell_type": kind, "metadata": {}, "source": source, **code, **parts})


def text_of(cell: Any) -> str:
    """What the author wrote in a cell, without what the learner gets."""
    solved = _SOLUTION.findall(cell.source)
    return "\n".join(solved or [cell.source]).strip()


def identify(notebook: NotebookNode) -> None:
    """Give every cell an ID that stays: its grade_id, or how far it is behind the last cell that has one.

    So a cell that is added elsewhere changes the ID of no other one.
    """
    taken: set[str] = set()
    last, behind = "top", 0
    for place, cell in enumerate(notebook.cells):
        if name := cell.metadata.get("nbgrader", {}).get("grade_id"):
            last, behind = name, 0
        else:
            behind += 1
            name = f"{last}-{behind}"
        cell_id = unique = _NOT_IN_AN_ID.sub("-", str(name))[:56]
        while unique in taken:
            unique = f"{cell_id}-{place:02}"
            cell_id += "-"
        taken.add(unique)
        cell["id"] = unique


def known(notebook: Any) -> KnownNotebook:
    """A notebook as nbgrader's database has it."""
    worth = {cell.name: cell.max_score for cell in [*notebook.grade_cells, *notebook.task_cells]}
    grades = {cell.name for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    tasks = {cell.name for cell in notebook.task_cells}
    cells = {
        cell.name: KnownCell(
            name=cell.name,
            cell_type=cell.cell_type,
            source=cell.source or "",
            checksum=cell.checksum or "",
            locked=bool(cell.locked),
            grade=cell.name in grades,
            solution=cell.name in solutions,
            task=cell.name in tasks,
            points=float(worth.get(cell.name, 0.0)),
        )
        for cell in notebook.source_cells
    }
    return KnownNotebook(notebook.name, json.loads(notebook.kernelspec or "{}"), cells)


def known_in(cells: Iterable[Mapping[str, Any]]) -> dict[str, KnownCell]:
    """The cells that have names of a released notebook that is a file, as the gradebook would have them."""
    found = {}
    for cell in cells:
        if marks := cell["metadata"].get("nbgrader"):
            name = str(marks["grade_id"])
            kinds = {
                each: bool(marks.get(each)) for each in ("locked", "grade", "solution", "task")
            }
            found[name] = KnownCell(
                name=name,
                cell_type=cell["cell_type"],
                source="".join(cell["source"]),  # a text, or a file's lines
                checksum=marks.get("checksum", ""),
                points=float(marks.get("points", 0.0)),
                **kinds,
            )
    return found


def restore(notebook: NotebookNode, released: KnownNotebook) -> None:
    """Give a submitted notebook its released kernel, cells and texts of tests back.

    Copied and missing cells, changed marks, tags and cell types would stop nbgrader, or change what it counts.
    """
    notebook.metadata = node({"kernelspec": released.kernelspec} if released.kernelspec else {})
    notebook.cells = restored(notebook.cells, released.cells)
    identify(notebook)
    # Cells have IDs from this minor version on.
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        original = released.cells.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if original and original.locked:
            cell.source = original.source


def restored(cells: Iterable[Any], released: dict[str, KnownCell]) -> list[NotebookNode]:
    """The `cells` that inspection kept, with each of the `released` ones once, marked as it was released."""
    fresh = [_fresh(cell, released) for cell in cells]
    for name, original in released.items():
        copies = [cell for cell in fresh if cell.metadata.get("nbgrader") == original.marks()]
        # Where a learner copied a cell, the last of the copies that has an answer counts.
        answered = [cell for cell in copies if cell.source != original.source]
        for extra in copies:
            if extra is not (answered or copies)[-1]:
                extra.metadata = node({})
        if not copies and (original.grade or original.task):
            missing = new_cell(
                original.cell_type, original.source, metadata={"nbgrader": original.marks()}
            )
            fresh.insert(_place(fresh, name, list(released)), missing)
    return fresh


def _fresh(cell: Any, released: dict[str, KnownCell]) -> NotebookNode:
    """The cell with its released type and marks, its outputs, and the pictures pasted into an explanation."""
    original = released.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
    metadata = {"nbgrader": original.marks()} if original else {}
    kind = original.cell_type if original else cell.cell_type
    made = new_cell(kind, cell.source, metadata=metadata)
    if made.cell_type == "markdown" and "attachments" in cell:
        made["attachments"] = cell["attachments"]
    if made.cell_type == "code" and "outputs" in cell:
        made["outputs"], made["execution_count"] = cell["outputs"], cell["execution_count"]
    return made


def _place(cells: list[NotebookNode], name: str, order: list[str]) -> int:
    """Where a missing cell belongs: after the nearest of the known cells that were before it."""
    places = {
        cell.metadata["nbgrader"]["grade_id"]: place
        for place, cell in enumerate(cells)
        if cell.metadata.get("nbgrader")
    }
    before = order[: order.index(name)]
    return max((places[each] + 1 for each in before if each in places), default=0)
