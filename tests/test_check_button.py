"""Does the button above a notebook show what `beowulf check` finds, in JupyterLab as we start it?"""

from __future__ import annotations

import time
import urllib.error
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jupyter import Jupyter
from jupyter import served as serve
from running import PATIENCE_S

from beowulf import jupyter, variant

SLUG, NAME = "01-validation", "validation.ipynb"


@dataclass(frozen=True)
class Served:
    """A JupyterLab over a folder with the copies of a lab."""

    folder: Path
    jupyter: Jupyter

    def ask(self, path: str) -> dict[str, Any]:
        """What the server answers for the notebook at `path`."""
        found: dict[str, Any] = self.jupyter.ask("beowulf/check", "POST", path=path)
        return found

    def address(self, path: str) -> str:
        """Where a browser opens the notebook at `path`."""
        return f"{self.jupyter.url}/lab/tree/{path}?token={self.jupyter.token}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    own = tmp_path_factory.mktemp("button")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEOWULF_WORK", str(own / "work"))
        jupyter.lay_out(SLUG)
    settings = jupyter.settings(own / "runtime")
    with serve(own, settings, **{variant.VARIABLE: ""}) as server:
        yield Served(own / "work", server)


def test_the_server_answers_with_the_checklist_of_a_notebook(served: Served) -> None:
    found = served.ask(f"{SLUG}/{NAME}")
    assert found["lab"] == SLUG
    assert {line["state"] for line in found["lines"]} >= {"Record missing", "empty"}
    assert "<table>" in found["html"]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (f"{SLUG}/other.ipynb", "other.ipynb is no lab's notebook."),
        ("", "is no lab's notebook."),
        (f"../{NAME}", "This notebook is not below the server's folder."),
        (f"/../../{NAME}", "This notebook is not below the server's folder."),
        (NAME, f"There is no notebook {NAME} in"),
    ],
)
def test_what_cannot_be_checked_is_answered_with_a_sentence(
    served: Served, path: str, problem: str
) -> None:
    assert problem in served.ask(path)["problem"]


def test_without_the_token_nothing_is_checked(served: Served) -> None:
    with pytest.raises(urllib.error.HTTPError, match="403"):
        Jupyter(served.jupyter.url, "wrong").ask("beowulf/check", "POST", path=f"{SLUG}/{NAME}")


@pytest.mark.browser
@pytest.mark.nightly
def test_in_a_browser_the_button_saves_the_notebook_and_shows_what_is_open(
    served: Served, page: Any, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    file = served.folder / SLUG / NAME
    page.goto(served.address(f"{SLUG}/{NAME}"))
    button = page.locator(".jp-NotebookPanel-toolbar").get_by_text("Check", exact=True)
    expect(button).to_be_visible()
    expect(page.get_by_text("Validate", exact=True)).to_have_count(0)
    # What is typed is in the file by the time of the check.
    cell = page.locator(".jp-CodeCell").first
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("# typed and not saved\n")
    assert "typed and not saved" not in file.read_text()
    button.click()
    dialog = page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("Before you hand it in")
    expect(dialog.locator("table")).to_contain_text("a2-record")
    expect(dialog.locator("table")).to_contain_text("Record missing")
    assert "typed and not saved" in file.read_text()
    page.screenshot(path=str(tmp_path / "check.png"))
    table = dialog.get_by_role("region", name="Before you hand it in")
    expect(table).to_be_visible()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("End")
    expect(table.locator("tr").last).to_be_in_viewport()
    dialog.get_by_text("Close").click()
    expect(dialog).to_have_count(0)
    assert faults == []


@pytest.mark.browser
@pytest.mark.nightly
def test_in_a_browser_a_cell_that_checks_finds_the_notebook_saved(
    served: Served, page: Any
) -> None:
    from playwright.sync_api import expect

    file = served.folder / SLUG / NAME
    page.goto(served.address(f"{SLUG}/{NAME}"))
    idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first
    expect(idle).to_be_visible()
    cell = page.locator(".jp-CodeCell").first
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.type('from beowulf import check\ncheck("01")')
    page.keyboard.press("Control+Enter")
    output = cell.locator(".jp-OutputArea-output").first
    expect(output).to_contain_text("before you hand it in")
    expect(output).to_contain_text("a2-record")
    deadline = time.monotonic() + PATIENCE_S
    while 'check(\\"01\\")' not in file.read_text():
        assert time.monotonic() < deadline, "the cell was not saved"
        time.sleep(0.05)
