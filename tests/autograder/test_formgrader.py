"""Does nbgrader's formgrader, in a real JupyterLab, show a course of ours, and do points that are given there stay?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from jupyter import served
from running import wait_until
from small_class import gradebook_of
from typer.testing import CliRunner

from autograder.commands import app
from autograder.course.course import Course
from autograder.grading import driver
from autograder.intake import collection
from tests.gold import hand_in as hands
from tests.gold import lab_01

SLUG = "01-validation"


@pytest.fixture(scope="module")
def graded(own_course: Course, released: Any) -> Course:
    """Two learners handed in lab 01 and were graded; what they explain waits for a person."""
    hand_ins = own_course.folder.parent / "in"
    notebook = hands.answered(released, lab_01.RIGHT)
    for student in ("ada", "grace"):
        hands.hand_in(hand_ins / student, notebook, lab_01.records(), student=student)
    collection.collect(own_course, "01", hand_ins)
    found = list(driver.grade(own_course, SLUG, jobs=2))
    assert [each.awaiting for each in found] == [["explain"], ["explain"]]
    return own_course


def in_a_course(own: Path) -> Path:
    """The settings of an instructor's JupyterLab, but for a question about news that lies over the menu."""
    settings = own / "settings"
    (settings / "labconfig").mkdir(parents=True)
    (settings / "labconfig" / "page_config.json").write_text(
        '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}'
    )
    return settings


@pytest.fixture
def lab(graded: Course, tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab that was started in the course's folder."""
    with served(tmp_path, in_a_course(tmp_path), graded.folder) as server:
        yield f"{server.url}/lab?token={server.token}"


def explained(course: Course, student: str) -> tuple[float | None, bool, str | None]:
    """What nbgrader's database has of the answer that a person grades: points, whether it waits, comment."""
    with course.gradebook() as book:
        grade = book.find_grade("explain", "validation", SLUG, student)
        comment = book.find_comment("explain", "validation", SLUG, student)
        return grade.manual_score, grade.needs_manual_grade, comment.manual_comment


@pytest.mark.browser
@pytest.mark.nightly
def test_a_person_grades_in_formgrader_and_it_stays_when_the_class_is_graded_again(
    graded: Course, lab: str, page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playwright.sync_api import expect

    monkeypatch.chdir(graded.folder)

    def open_formgrader() -> None:
        page.get_by_role("menuitem", name="Nbgrader").click()
        page.get_by_role("menuitem", name="Formgrader").click()

    def open_answer() -> None:
        shown.get_by_role("link", name="Manual Grading").click()
        shown.get_by_role("link", name=SLUG).click()
        shown.get_by_role("link", name="validation", exact=True).click()
        shown.locator(f"a.name-hidden[href$='{quote(submission)}']").click()

    with graded.gradebook() as book:
        submission = book.find_submission_notebook("validation", SLUG, "ada").id
    page.goto(lab)
    open_formgrader()
    shown = page.frame_locator("#jp-main-dock-panel iframe")

    # Every lab of the course, and how many handed it in.
    for slug in graded.labs:
        expect(shown.locator("td.name", has_text=slug)).to_be_visible()
    line = shown.locator("tr", has=shown.locator("td.name", has_text=SLUG))
    expect(line.locator("td.num-submissions")).to_have_text("2")
    line.locator("td.num-submissions a").click()
    expect(shown.locator("td.student-id", has_text="grace")).to_be_visible()

    # Its own button grades by our rubric, in our sandbox.
    line = shown.locator("tr", has=shown.locator("td.student-id", has_text="grace"))
    expect(line.locator("td.score")).to_have_text(re.compile(r"26\s*/\s*30"))
    line.locator("td.autograde a").click()
    said = shown.locator(".modal-title")
    expect(said).to_have_text("Success")
    shown.locator(".modal-footer button").click()
    expect(line.locator("td.score")).to_have_text(re.compile(r"26\s*/\s*30"))

    # A person reads an answer, and gives points and a comment.
    open_answer()
    score = shown.locator("input.score#explain")
    expect(shown.get_by_text(hands.EXPLANATION)).to_be_visible()
    expect(shown.get_by_text("all checks of 4 nodes are well")).to_be_visible()
    score.fill("2.5")
    score.press("Tab")
    wait_until(lambda: explained(graded, "ada")[0] == 2.5, "the points are kept")
    comment = shown.locator("textarea#explain-comment")
    comment.fill("Say why, too.")
    comment.press("Tab")
    wait_until(lambda: explained(graded, "ada") == (2.5, False, "Say why, too."), "all is kept")

    # The class is graded while the page is open.
    for command in (["grade", SLUG], ["regrade", SLUG, "--student", "ada"]):
        result = CliRunner().invoke(app, command, catch_exceptions=False)
        assert result.exit_code == 0, result.output
    assert explained(graded, "ada") == (2.5, False, "Say why, too.")
    assert gradebook_of(graded, "ada").points == 26 + 2.5
    page.reload()
    open_formgrader()
    open_answer()
    expect(score).to_have_value("2.5")
    expect(comment).to_have_value("Say why, too.")
