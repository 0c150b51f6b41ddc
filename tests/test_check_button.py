"""Does the button above a notebook show what `beowulf check` finds, in JupyterLab as we start it?"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from running import PATIENCE_S

from beowulf import jupyter, variant

CHROMIUM = Path("/usr/bin/chromium")
SLUG, NAME = "01-validation", "validation.ipynb"


@dataclass(frozen=True)
class Served:
    """A JupyterLab over a folder with the copies of a lab."""

    folder: Path
    url: str
    token: str

    def ask(self, path: str, token: str | None = None) -> dict[str, Any]:
        """What the server answers for the notebook at `path`."""
        request = urllib.request.Request(
            f"{self.url}beowulf/check",
            json.dumps({"path": path}).encode(),
            {"Authorization": f"token {self.token if token is None else token}"},
            method="POST",
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            found: dict[str, Any] = json.loads(answer.read())
            return found


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    own = tmp_path_factory.mktemp("button")
    runtime = own / "runtime"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEOWULF_WORK", str(own / "work"))
        jupyter.lay_out(SLUG)
    words = ["--no-browser", f"--ServerApp.root_dir={own / 'work'}", "--ServerApp.port=0"]
    words += ["--ServerApp.log_level=ERROR", *(["--allow-root"] if os.geteuid() == 0 else [])]
    environment = {
        **os.environ,
        "BEOWULF_WORK": str(own / "work"),
        variant.VARIABLE: "",
        "HOME": str(own),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_CONFIG_PATH": str(jupyter.settings(runtime)),
        "JUPYTERLAB_WORKSPACES_DIR": str(runtime / "workspaces"),
    }
    command = [sys.executable, "-m", "jupyterlab", *words]
    with (own / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=own, env=environment, stdout=log, stderr=log)
    try:
        file, deadline = runtime / f"jpserver-{server.pid}.json", time.monotonic() + PATIENCE_S
        while not file.exists() or not file.read_text().strip().endswith("}"):
            assert server.poll() is None, (own / "log").read_text()
            assert time.monotonic() < deadline, (own / "log").read_text()
            time.sleep(0.05)
        about = json.loads(file.read_text())
        # The file is there before the server listens.
        while not _listens(about["port"]):
            assert time.monotonic() < deadline, (own / "log").read_text()
            time.sleep(0.05)
        yield Served(own / "work", about["url"], about["token"])
    finally:
        server.terminate()
        server.wait(PATIENCE_S)


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("localhost", port)) == 0


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
        served.ask(f"{SLUG}/{NAME}", token="wrong")


@pytest.mark.browser
@pytest.mark.slow
def test_in_a_browser_the_button_saves_the_notebook_and_shows_what_is_open(
    served: Served, tmp_path: Path
) -> None:
    if not CHROMIUM.exists():
        pytest.skip(f"There is no {CHROMIUM}: `make test` installs it on Debian.")
    from playwright.sync_api import expect, sync_playwright

    file = served.folder / SLUG / NAME
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=PATIENCE_S * 1000
        )
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(PATIENCE_S * 1000)
        expect.set_options(timeout=PATIENCE_S * 1000)
        faults: list[str] = []
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.goto(f"{served.url}lab/tree/{SLUG}/{NAME}?token={served.token}")
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
        dialog.get_by_text("Close").click()
        expect(dialog).to_have_count(0)
        browser.close()
    assert faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_in_a_browser_a_cell_that_checks_finds_the_notebook_saved(served: Served) -> None:
    if not CHROMIUM.exists():
        pytest.skip(f"There is no {CHROMIUM}: `make test` installs it on Debian.")
    from playwright.sync_api import expect, sync_playwright

    file = served.folder / SLUG / NAME
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=PATIENCE_S * 1000
        )
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(PATIENCE_S * 1000)
        expect.set_options(timeout=PATIENCE_S * 1000)
        page.goto(f"{served.url}lab/tree/{SLUG}/{NAME}?token={served.token}")
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
        browser.close()
