"""A learner at a browser, with a JupyterLab as we start it, who is also on the roster of a course."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from jupyter import Jupyter
from jupyter import served as serve
from running import PATIENCE_S, Beowulf
from test_home import _tab_to

from beowulf import paths
from beowulf.desk import jupyter

SLUG, NAME = "01-validation", "validation.ipynb"
IDLE = ".jp-Notebook-ExecutionIndicator[data-status='idle']"  # a kernel that has nothing to do
PICTURES = paths.root() / "build" / "pictures"
# What is ours in a page of JupyterLab: texts and what cells give.
OURS = ".jp-RenderedHTMLCommon, .jp-OutputArea-output"
# What axe finds in JupyterLab's own frame, which is not ours to fix.
JUPYTERLABS_OWN = {
    "aria-allowed-attr": "the debugger's button is said to be pressed or not",
    "aria-input-field-name": "the editor of a cell has no name",
    "aria-required-children": "the list of cells is a feed that has more than articles",
    "button-name": "the button that folds a heading has no text",
    "label-title-only": "the field with a notebook's name has a tip and no label",
    "image-alt": "a plot that a cell draws with matplotlib gets no text from it",
    "scrollable-region-focusable": "the editor of a long cell scrolls, and the keyboard is in what it holds",
    "region": "the links to skip to a part are in no part",
}


@dataclass
class Person:
    """A learner at a browser, who is also on the roster of a course."""

    learner: Beowulf
    jupyter: Jupyter
    browser: Any  # its tabs share what they know of the server
    page: Any  # the tab in front
    course: Path
    faults: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.learner.here / "work" / SLUG

    @property
    def file(self) -> Path:
        return self.folder / NAME

    @property
    def notebook(self) -> Any:
        """JupyterLab's frame on the page of a lab."""
        return self.page.frame_locator("#notebook")

    def open(self, place: str) -> Any:
        """Another tab, with a page of the server or of a file."""
        page = self.browser.new_page()
        page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        server = f"{self.jupyter.url}/{place}?token={self.jupyter.token}"
        page.goto(place if place.startswith("file:") else server)
        return page

    def picture(self, name: str, page: Any = None) -> None:
        """Keep what the browser shows; no dialog of an error is in the way."""
        shown = page or self.page
        shown.screenshot(path=str(PICTURES / f"{name}.png"))
        assert shown.locator(".jp-Dialog", has_text=re.compile("error", re.I)).count() == 0
        assert self.faults == []

    def write(self, notebook: Any) -> None:
        """Put a notebook into the learner's folder by JupyterLab, and open it."""
        content = json.loads(nbformat.writes(notebook))
        self.jupyter.ask(
            f"api/contents/{SLUG}/{NAME}", "PUT", type="notebook", format="json", content=content
        )
        self.page.goto(f"{self.jupyter.url}/beowulf/lab/01")
        self.rests()

    def saved(self) -> Any:
        """Save the notebook in the browser, if anything is to be saved; what its file has then."""
        save = (
            "[...jupyterapp.shell.widgets('main')].find(each => each.context?.path).context.save()"
        )
        next(each for each in self.page.frames if "/doc/tree/" in each.url).evaluate(save)
        return nbformat.read(self.file, as_version=4)

    def rests(self) -> None:
        """Wait until the kernel has nothing to do."""
        from playwright.sync_api import expect

        expect(self.notebook.locator(IDLE).first).to_be_visible()

    def type(self, cell: Any, text: str) -> None:
        """Replace what is in a cell by this text."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def run(self, cell: Any) -> None:
        """Run a cell by keys; where a page that still settles takes them for nothing, press again, as a person does."""
        from playwright.sync_api import expect

        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        for _ in range(20):
            cell.locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")
            with suppress(AssertionError):
                expect(prompt).not_to_have_text(before, timeout=5000)
                return
        raise AssertionError("The cell does not begin.")

    def by_key(self, name: str) -> None:
        """Go to a link or button of a page with Tab, and press Enter."""
        _tab_to(self.page, name)
        self.page.keyboard.press("Enter")


def accessible(page: Any) -> None:
    """Fail where axe finds something on a page, or a picture is not there."""
    missing = "[...document.images].filter(each => each.complete && !each.naturalWidth).length"
    assert page.evaluate(missing) == 0
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def accessible_desk(page: Any) -> None:
    """Fail where axe finds something in a page of ours, or in the notebook's frame what we do not know yet."""
    for frame in page.frames:
        if "/doc/" in frame.url:  # a second window has a workspace in its address
            _accessible_notebook(frame)
        else:
            accessible(frame)


def _accessible_notebook(frame: Any) -> None:
    its = ".jp-RenderedImage, .cm-editor"  # within a part of ours
    is_ours = "([place, ours, its]) => (at => at?.closest(ours) && !at.closest(its))(document.querySelector(place))"
    results = Axe().run(frame)
    for found in results.response["violations"]:
        for node in found["nodes"]:
            place = node["target"][0]
            place = (
                place[0] if isinstance(place, list) else place
            )  # within a part with a tree of its own
            assert not frame.evaluate(is_ours, [place, OURS, its]), results.generate_report()
            assert found["id"] in JUPYTERLABS_OWN, results.generate_report()


@contextmanager
def at_a_browser(own: Path) -> Iterator[Person]:
    """A learner with the code of a course and a JupyterLab, until the end of the block; all files are in `own`."""
    if not (chromium := shutil.which("chromium")):
        pytest.skip("there is no Chromium on this machine: `make test` installs it on Debian.")
    from playwright.sync_api import expect, sync_playwright

    PICTURES.mkdir(parents=True, exist_ok=True)
    learner, course = Beowulf(own / "state", own), own / "spring"
    (own / "roster.csv").write_text("id\nab12\ncd34\n")
    learner("class", "init", course, "--roster", own / "roster.csv")
    word = re.search(r"^ab12,([^,]+)", (course / "words.csv").read_text(), re.MULTILINE)
    assert word
    (own / "work").mkdir()
    (own / "work" / "course-word.txt").write_text(word[1])
    path = f"{paths.python_bin()}:{os.environ['PATH']}"
    state = str(own / "state")
    try:
        with (
            serve(own, jupyter.settings(own / "runtime"), BEOWULF_STATE=state, PATH=path) as server,
            sync_playwright() as playwright,
        ):
            expect.set_options(timeout=PATIENCE_S * 1000)
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox"], timeout=PATIENCE_S * 1000
            )
            context = browser.new_context(viewport={"width": 1400, "height": 1000})
            context.set_default_timeout(PATIENCE_S * 1000)
            person = Person(learner, server, context, None, course)
            person.page = person.open("beowulf/home")
            yield person
            browser.close()
    finally:
        learner.end()
