"""Can nbgrader grade a notebook again that a learner cut up, copied from and re-marked?"""

from __future__ import annotations

from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.cells import KnownCell, identify, new_cell, node, restored
from autograder.intake import inspection


def known(name: str, kind: str = "code", source: str = "stub", **marks: Any) -> KnownCell:
    plain = {"locked": False, "grade": False, "solution": False, "task": False, "points": 0.0}
    return KnownCell(name, kind, source, "", **(plain | marks))


KNOWN = {
    cell.name: cell
    for cell in (
        known("answer", solution=True),
        known("test", grade=True, locked=True, points=2.0, source="assert answer"),
        known("read-only", "markdown", locked=True),
        known("explain", "markdown", grade=True, solution=True, points=4.0),
    )
}


def as_released(name: str, source: str | None = None, kind: str = "") -> Any:
    cell = KNOWN[name]
    text = cell.source if source is None else source
    return new_cell(kind or cell.cell_type, text, metadata={"nbgrader": cell.marks()})


def names(cells: list[Any]) -> list[str]:
    return [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in cells]


def restored_as(name: str, *cells: Any) -> Any:
    """The one cell of this name in what becomes of these cells."""
    (found,) = [each for each in restored(list(cells), KNOWN) if names([each]) == [name]]
    return found


def test_an_untouched_notebook_stays_as_it_is() -> None:
    cells = [new_markdown_cell("# Title"), *map(as_released, KNOWN)]
    found = restored(cells, KNOWN)
    assert names(found) == ["", *KNOWN]
    assert [cell.source for cell in found] == [cell.source for cell in cells]


@pytest.mark.parametrize("order", [("answer = 1", "stub"), ("stub", "answer = 1")])
def test_of_a_copied_answer_cell_the_one_with_an_answer_counts(order: tuple[str, str]) -> None:
    cells = [as_released("answer", source) for source in order]
    assert restored_as("answer", *cells, as_released("test")).source == "answer = 1"


def test_missing_questions_come_back_where_they_stood() -> None:
    found = restored([as_released("answer"), new_markdown_cell("mine")], KNOWN)
    assert names(found) == ["answer", "test", "explain", ""]
    assert found[1].source == "assert answer"
    assert names(restored([], KNOWN)) == ["test", "explain"]


@pytest.mark.parametrize(
    "changes", [{"points": 100, "grade": False, "solution": True}, {"schema_version": 99}]
)
def test_changed_marks_and_cell_types_are_what_they_were(changes: dict[str, Any]) -> None:
    cell = as_released("test", kind="markdown")
    cell.metadata["nbgrader"].update(changes)
    cell.metadata["tags"] = ["skip-execution", "raises-exception"]
    found = restored_as("test", cell)
    assert (found.cell_type, found.metadata) == ("code", {"nbgrader": KNOWN["test"].marks()})


@pytest.mark.parametrize("marks", [{"grade_id": "unknown", "grade": True}, {}, [], "text", None])
def test_marks_that_nobody_released_are_dropped(marks: object) -> None:
    cell = inspection.kept({"cell_type": "code", "source": "x", "metadata": {"nbgrader": marks}})
    assert restored([node(cell)], {})[0].metadata == {}


def test_cells_that_are_hardly_cells_do_no_harm() -> None:
    strange = [{}, {"cell_type": "video", "source": ["a", 3]}, {"metadata": None, "source": None}]
    found = restored([node(inspection.kept(cell)) for cell in strange], {})
    assert [cell.cell_type for cell in found] == ["raw", "raw", "raw"]


def test_pictures_in_an_explanation_stay() -> None:
    cell = as_released("explain", "![](attachment:a.png)")
    cell["attachments"] = {"a.png": {"image/png": "aGVsbG8="}}
    assert restored_as("explain", cell).attachments == cell.attachments


def test_ids_of_cells_are_unique_and_stay() -> None:
    notebook = node({"cells": [as_released("test"), as_released("test"), new_code_cell("x")]})
    identify(notebook)
    first = [cell.id for cell in notebook.cells]
    identify(notebook)
    assert [cell.id for cell in notebook.cells] == first
    assert len(set(first)) == 3
