"""Does a hand-in that wants to act in a browser act in any page that an instructor or a learner opens?"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attacks
import pytest
from jupyter import served
from running import PATIENCE_S
from test_formgrader import in_a_course

from autograder.course.course import Course
from autograder.grading import driver
from autograder.results import feedback, report
from tests.gold import hand_in as hands
from tests.gold import lab_01

SLUG = "01-validation"
NAME = "mallory"


@pytest.fixture(scope="module")
def attacked(own_course: Course, released: Any) -> Course:
    """A course in which one hand-in holds every attack and is graded, with feedback and report."""
    notebook = hands.answered(released, lab_01.RIGHT)
    attacks.put_into(notebook)
    place = own_course.folder / "submitted" / NAME / SLUG
    hands.hand_in(place, notebook, lab_01.records(), student=NAME)
    for name, text in attacks.FILES.items():
        (place / name).write_text(text)
    (found,) = driver.grade(own_course, SLUG, jobs=1)
    assert found.awaiting == ["explain"], found
    assert [page.problem for page in feedback.generate(own_course, SLUG)] == [""]
    report.write(own_course, SLUG)
    return own_course


class Watched:
    """A browser that lets nothing out of this machine, and remembers what was asked for."""

    def __init__(self, browser: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1400, "height": 1000})
        self.context.set_default_timeout(PATIENCE_S * 1000)
        self.asked: list[str] = []
        self.opened: list[Any] = []
        self.context.route("**/*", self._let)
        self.context.on("page", lambda page: self.opened.append(page))

    def _let(self, route: Any) -> None:
        url = route.request.url
        self.asked.append(url)
        if urlsplit(url).hostname in (None, "", "127.0.0.1", "localhost") and "/attack/" not in url:
            route.continue_()
        else:
            route.abort()

    def acted(self) -> list[str]:
        """What came of the attacks in all pages that are open: what was asked for, and what ran."""
        ran = [
            f"ran in {frame.url}"
            for page in self.context.pages
            for frame in page.frames
            if frame.evaluate("Boolean(window.attacked)")
        ]
        return [url for url in self.asked if "/attack/" in url] + ran

    def open(self, url: str) -> Any:
        page = self.context.new_page()
        page.goto(url, wait_until="load")
        return page


def settle(page: Any) -> None:
    """Wait for what a page starts by itself: two frames, and a refresh that was asked for at once."""
    page.evaluate("() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
    page.wait_for_load_state("load")


def focus_and_hover(page: Any) -> None:
    """Do what a reader does with the mouse and the keyboard to all that a text can hold."""
    for each in page.query_selector_all("a, img, button, summary")[:400]:
        each.dispatch_event("mouseover")
        each.dispatch_event("focus")


@pytest.mark.nightly
@pytest.mark.browser
def test_nothing_of_a_hand_in_acts_in_feedback_and_report(attacked: Course, browser: Any) -> None:
    watched = Watched(browser)
    pages = [*attacked.folder.glob(f"feedback/{NAME}/{SLUG}/*.html")]
    pages += [*attacked.folder.glob("reports/*/*.html")]
    assert len(pages) == 2
    for file in pages:
        page = watched.open(file.as_uri())
        settle(page)
        focus_and_hover(page)
        assert page.query_selector_all("script, iframe, object, embed, form, base, svg") == []
        assert all(urlsplit(url).scheme in ("file", "data") for url in watched.asked)
    assert watched.acted() == []
    watched.context.close()


@pytest.mark.browser
@pytest.mark.nightly
def test_nothing_of_a_hand_in_acts_in_formgrader_and_jupyterlab(
    attacked: Course, browser: Any, tmp_path: Path
) -> None:
    with attacked.gradebook() as book:
        submission = book.find_submission_notebook("validation", SLUG, NAME).id
    watched = Watched(browser)
    with served(tmp_path, in_a_course(tmp_path), attacked.folder) as server:
        url, token = server.url, server.token
        page = watched.open(f"{url}/formgrader/submissions/{submission}/?token={token}")
        settle(page)
        page.locator("input.score#explain").wait_for()
        focus_and_hover(page)
        text = page.locator(".nbgrader_cell", has=page.locator("#explain")).locator(".panel-body")
        # Nothing lies over the page, and nothing passes for a field of it.
        assert page.locator("#score, #submission_id, #base_url").count() == 0
        assert page.locator("#explain").count() == 1
        assert text.locator("script, iframe, object, form, style, svg, [style], [id]").count() == 0
        assert "attack script" in page.locator("#notebook-container").first.inner_text()
        links = "#notebook-container .text_cell_render a[href]:not(.anchor-link)"  # of headings
        for link in page.locator(links).all():
            assert link.get_attribute("href").startswith(("http", "mailto:"))
            assert link.get_attribute("target") == "_blank"
            assert "noopener" in link.get_attribute("rel")
        for name in attacks.FILES:
            there = page.request.get(f"{url}/formgrader/submissions/{submission}/{name}")
            assert there.status == 404, name
        assert page.request.get(f"{url}/formgrader/submissions/{submission}/records/").status != 200
        place = f"{NAME}/{SLUG}/validation"
        shown = [f"autograded/{place}.ipynb", f"feedback/{place}.html"]
        for path in shown:
            page = watched.open(f"{url}/lab/tree/{path}?token={token}&reset")
            page.locator(
                ".jp-MarkdownOutput, iframe.jp-HTMLViewer, .jp-HTMLViewer"
            ).first.wait_for()
            settle(page)
            page = watched.open(f"{url}/files/{path.replace('.ipynb', '.html')}?token={token}")
            settle(page)
        page = watched.open(f"{url}/nbconvert/html/{shown[0]}?token={token}")
        settle(page)
        assert watched.acted() == []
        assert len(watched.opened) == len(watched.context.pages)
    watched.context.close()
