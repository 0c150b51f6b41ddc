"""Does a checklist say the same in a terminal, a notebook and a script, and does it know what is not saved yet?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from running import Beowulf

from beowulf import paths
from beowulf.course import personal_code
from beowulf.course.checklist import FIT, FORM, RIGHT, Checklist, Line
from beowulf.desk import jupyter

SLUG = "01-validation"
LINES = [
    Line("one", "right", "", 2, 2),
    Line("two", "not right", "x = '<b>7</b>'\x1b[31m", 3, 0.5, "Do: count"),
    Line("explain", "a person reads it", "", 4),
]


def made(level: str = RIGHT) -> Checklist:
    return Checklist(SLUG, "validation.ipynb", level, LINES, ["A <note>."])


def test_it_is_the_same_after_it_was_printed_as_json() -> None:
    plain = json.loads(json.dumps(made().as_plain()))
    assert Checklist.from_plain(plain) == made()
    assert Line("x", "of a later version").symbol == "?"


def test_its_page_holds_what_a_learner_wrote_as_text_and_it_says_how_far_a_lab_is() -> None:
    page = made()._repr_html_()
    assert "&lt;b&gt;7&lt;/b&gt;" in page
    assert "A &lt;note&gt;." in page
    assert "<b>" not in page
    assert "\x1b" not in str(made())
    assert (
        "2 of 3 questions are in order. Points: 2.5 of 5, counted by a program; a person gives up to 4 more"
        in made().summary
    )
    for level in (FORM, FIT):
        assert "Points" not in made(level).summary
        assert "2 of 3 questions are complete." in made(level).summary


@pytest.fixture
def learner(tmp_path: Path) -> Beowulf:
    """A learner without a cluster, in a folder for work of their own."""
    learner = Beowulf(tmp_path / "state", tmp_path)
    learner.environment |= {"BEOWULF_WORK": str(tmp_path / "work"), personal_code.VARIABLE: ""}
    return learner


@pytest.fixture
def laid_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notebook of a lab that nobody has worked on."""
    monkeypatch.setenv("BEOWULF_WORK", str(tmp_path / "work"))
    monkeypatch.setenv(personal_code.VARIABLE, "")
    return jupyter.lay_out(SLUG)


def test_the_commands_print_tables_boot_nothing_and_answer_a_mistake_with_a_sentence(
    learner: Beowulf, laid_out: Path
) -> None:
    said = learner("check", SLUG, "--folder", laid_out.parent)
    assert "Record missing" in said
    assert "a2-record" in said
    assert "questions are in order. Points: 0 of" in said
    assert not learner.state.exists()
    said = learner("progress")
    assert all(slug in said for slug in paths.labs())
    assert said.count("not begun") == len(paths.labs()) - 1
    laid_out.unlink()
    assert "There is no notebook validation.ipynb" in learner("check", "01", code=1)


def outputs(laid_out: Path, *cells: str) -> list[Any]:
    """What cells print in a kernel beside the notebook."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    NotebookClient(notebook, resources={"metadata": {"path": str(laid_out.parent)}}).execute()
    return list(notebook.cells[-1].outputs)


CHECK = 'from beowulf import check\ncheck("01")'


@pytest.mark.nightly
def test_in_a_notebook_a_check_is_a_table_and_says_what_is_not_saved(laid_out: Path) -> None:
    name = "ring_messages"  # an answer that the lab's notebook asks for
    printed, table = outputs(laid_out, f"{name} = 1 +  1", CHECK)
    assert f"{name} in this notebook's file is not what you ran last." in printed["text"]
    assert "Lab 01, before you hand it in" in table["data"]["text/html"]
    assert "Record missing" in table["data"]["text/plain"]
    notebook = nbformat.read(laid_out, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace(f"{name} = None", f"{name} = (1+1)")
    nbformat.write(notebook, laid_out)
    (table,) = outputs(laid_out, f"{name} = 1 +  1", CHECK)
    assert "text/html" in table["data"]


@pytest.mark.nightly
def test_in_a_notebook_an_answer_that_grading_cannot_read_is_named_with_what_to_write(
    laid_out: Path,
) -> None:
    asked = 'from beowulf.labs import lab_01 as lab\nlab.form(ring_messages, "number")'
    typed = "nodes = [0, 1, 2, 3]\nring_messages = len([*nodes])"
    (printed,) = outputs(laid_out, typed, asked)
    assert printed["text"].endswith(": write the value itself. Here: ring_messages = 4\n")
    assert outputs(laid_out, "ring_messages = len([0, 1, 2, 3])", asked) == []
