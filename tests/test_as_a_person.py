"""Does lab 01 work as a person does it, in a browser, from the home page to the feedback?

Each step goes on from the last one. What the browser shows is kept in build/pictures.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from person import IDLE, SLUG, Person, accessible, accessible_desk, at_a_browser
from running import COMMAND, wait_until
from whole_lab import ANSWERS, LAST

from autograder.course import release
from beowulf import paths
from beowulf.cluster.holding import lock
from beowulf.course import checklist
from beowulf.record import Record
from slides import build
from tests.gold.hand_in import answered, released

pytestmark = [pytest.mark.cluster, pytest.mark.browser, pytest.mark.nightly]
LONGEST_LAB_S = 3000.0
LEAST_SHARE = 0.8  # of the points that the grader gives; a busy machine may cost some
TYPED = "own-ring-answer"  # the cell with mpi4py that is typed into the browser
MARKERS = re.compile(r" *### (BEGIN|END) SOLUTION\n?")
LONGEST_PAUSE = 30  # between two cells, in seconds


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory, namespaces_work: None) -> Iterator[Person]:
    with at_a_browser(tmp_path_factory.mktemp("a person")) as found:
        yield found


def test_the_home_page_boots_the_cluster_by_keys(person: Person) -> None:
    from playwright.sync_api import expect

    home = person.page
    expect(home.locator("#sentence")).to_have_text("No cluster is running.")
    person.picture("01-home")
    person.by_key("Boot")
    expect(home.locator("#message")).to_contain_text("4 nodes are up")
    expect(home.locator("#sentence")).to_contain_text("4 of 4 nodes are up")
    expect(home.locator("#picture")).to_contain_text("Mbit/s")
    person.picture("02-booted")
    accessible(home)


def test_an_endless_cell_is_interrupted_and_the_next_one_runs(person: Person) -> None:
    from playwright.sync_api import expect

    person.by_key("Lab 01, Validation")
    expect(person.page.frame_locator("#handout").locator("h1")).to_contain_text("Lab 01")
    page, keys = person.notebook, person.page.keyboard
    expect(page.get_by_role("heading", name=re.compile("Lab 01")).first).to_be_visible()
    person.rests()
    person.run(page.locator(".jp-CodeCell").first)
    expect(page.locator(".jp-CodeCell").first).to_contain_text("node00 node01 node02 node03")
    keys.press("Escape")
    keys.press("b")
    cell = page.locator(".jp-CodeCell").nth(1)
    person.type(cell, 'print(cluster.ask("node03", "sleep 86400"))')
    person.run(cell)
    expect(cell.locator(".jp-InputPrompt")).to_contain_text("[*]")
    wait_until(lambda: "sleep 86400" in str(person.learner.processes()), "node03 sleeps")
    page.locator("[data-command='notebook:interrupt-kernel']").first.click()
    output = cell.locator(".jp-OutputArea-output")
    expect(output).to_contain_text("when you stopped it")
    expect(output).not_to_contain_text("Traceback")
    person.picture("04-interrupted")
    wait_until(lambda: "sleep 86400" not in str(person.learner.processes()), "node03 is free")
    person.type(cell, 'print(cluster.ask("node03", "hostname"))')
    person.run(cell)
    expect(output).to_have_text(re.compile("node03"))
    person.rests()
    assert "hostname" in str(person.saved())


def test_a_measurement_goes_on_when_its_tab_is_closed(person: Person) -> None:
    cell, state = person.notebook.locator(".jp-CodeCell").nth(1), person.learner.state
    person.type(cell, 'from beowulf import study\nstudy("A2", cluster)')
    person.saved()
    person.run(cell)
    wait_until(lambda: "A2" in str(lock.holder(state) or ""), "A2 is measured")
    person.page.close()
    wait_until(lambda: list((person.folder / "records").glob("A2-*.json")), "its Record is kept")
    wait_until(lambda: lock.holder(state) is None, "nobody measures any more")
    (kept,) = (person.folder / "records").glob("A2-*.json")
    assert Record.load(kept).complete
    person.page = person.open("beowulf/lab/01")
    person.rests()
    person.saved()


@pytest.mark.timeout(LONGEST_LAB_S + 600)
def test_all_cells_run_with_a_ring_that_is_typed_into_the_browser(person: Person) -> None:
    answers = _answers()
    ring, notebook = answers.pop(TYPED), person.saved()
    for cell in notebook.cells:
        cell.source = answers.get(_name(cell), cell.source)
    names = re.findall(
        r"^(\w+) = None", "\n".join(each.source for each in released(SLUG).cells), re.M
    )
    notebook.cells.append(nbformat.v4.new_code_cell(LAST.format(file=ANSWERS, names=names)))
    person.write(notebook)
    cell = person.notebook.locator(".jp-CodeCell", has_text="def pass_token").first
    cell.scroll_into_view_if_needed()
    person.type(cell, ring)
    person.picture("05-typed")
    person.notebook.locator(".lm-MenuBar-item").get_by_text("Run", exact=True).click()
    person.notebook.locator(".lm-Menu-item").get_by_text("Run All Cells", exact=True).click()
    kept = person.folder / ANSWERS
    quiet = 0

    def ended() -> bool:
        """Has the last cell written its file? A kernel that rests for long has stopped at an error."""
        nonlocal quiet
        person.page.wait_for_timeout(1000)
        quiet = quiet + 1 if person.notebook.locator(IDLE).count() else 0
        assert quiet < LONGEST_PAUSE, person.notebook.locator(".jp-OutputArea").all_inner_texts()
        return kept.exists()

    wait_until(ended, "the last cell has run", LONGEST_LAB_S)
    person.rests()
    code = [cell for cell in person.saved().cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code if cell.source.strip("# \n"))
    outputs = [each for cell in code for each in cell.outputs]
    assert [each for each in outputs if each.output_type == "error"] == []
    person.picture("06-all-cells")
    accessible_desk(person.page)
    assert list((person.folder / "records").glob("A5-*.json"))


def test_the_check_finds_nothing_open(person: Person) -> None:
    from playwright.sync_api import expect

    found = json.loads((person.folder / ANSWERS).read_text())
    (person.folder / ANSWERS).unlink()
    before, after = released(SLUG), answered(released(SLUG), found)
    figures = {
        _name(new): new.source
        for old, new in zip(before.cells, after.cells, strict=True)
        if new.source != old.source
    }
    notebook = person.saved()
    del notebook.cells[-1]
    for cell in notebook.cells:
        cell.source = figures.get(_name(cell), cell.source)
    person.write(notebook)
    person.by_key("Check")
    answers = person.page.locator("#answers")
    expect(answers).to_contain_text("before you hand it in")
    person.picture("07-check")
    accessible_desk(person.page)
    rows = answers.locator("tbody tr").all_inner_texts()
    assert [row for row in rows if checklist.DONE not in row] == []
    person.page.get_by_role("link", name="All labs").click()
    expect(person.page.locator(f'[data-lab="{SLUG}"] .done')).to_contain_text("✓ done")


def test_the_home_page_opens_timeline_and_report_and_the_slides_are_drawn(person: Person) -> None:
    from playwright.sync_api import expect

    page = person.page
    person.by_key("Timeline")
    expect(page.locator("h1")).to_contain_text("imeline")
    page.go_back()
    person.by_key("Report")
    expect(page.locator("article").first).to_be_visible()
    accessible(page)
    person.picture("08-report")
    record = f"{COMMAND} run --trace --capture -n 4 01-validation/ring.c"
    draw = f"{COMMAND} timeline ring.trace -o ring.html"
    assert "code=0" in person.jupyter.type(f"{record} && {draw}; echo code=$?", r"code=\d")
    timeline = person.open("files/ring.html")
    timeline.wait_for_selector("html[data-ready=yes]")
    person.picture("09-timeline", timeline)
    timeline.close()
    deck = build.build(build.HERE / f"{SLUG}.md", person.learner.here / "slides")
    slides = person.open(deck.as_uri())
    accessible(slides)
    slides.keyboard.press("ArrowRight")
    person.picture("10-slides", slides)
    slides.close()


def test_what_is_handed_in_is_graded_and_its_feedback_opens(person: Person) -> None:
    hand_ins, here = person.learner.here / "hand-ins", person.learner.here
    shutil.copytree(person.folder, hand_ins / "ab12")
    person.learner.here = person.course
    try:
        person.learner("class", "release", "01")
        assert "ab12: new" in person.learner("class", "collect", "01", hand_ins)
        person.learner("class", "grade", "01")
        printed = person.learner("class", "grade", "01", "--student", "ab12", "--json")
        (graded,) = json.loads(printed[printed.index("{") :])[SLUG]
        assert graded["points"] >= LEAST_SHARE * (graded["of"] - graded["by_hand"]), graded
        assert graded["questions"]["own-ring"] == 5
        person.learner("class", "feedback", "01")
        person.learner("class", "report", "01")
    finally:
        person.learner.here = here
    file = person.course / "feedback" / "ab12" / SLUG / "validation.html"
    page = person.open(file.as_uri())
    assert "Your points" in page.inner_text("body")
    person.picture("11-feedback", page)
    accessible(page)
    page.close()
    file = person.course / "reports" / SLUG / "index.html"
    page = person.open(file.as_uri())
    person.picture("12-class-report", page)
    assert "100 % on average" not in page.inner_text("body")  # the hardest question is none
    accessible(page)
    page.close()


@pytest.mark.parametrize("slug", [slug for slug in paths.labs() if slug != SLUG])
def test_the_page_of_every_other_lab_is_for_everybody(person: Person, slug: str) -> None:
    from playwright.sync_api import expect

    number = slug[:2]
    page = person.open(f"beowulf/lab/{number}")
    expect(page.frame_locator("#handout").locator("h1")).to_contain_text(f"Lab {number}")
    notebook = page.frame_locator("#notebook")
    heading = notebook.get_by_role("heading", name=re.compile(f"Lab {number}"))
    expect(heading.first).to_be_visible()
    expect(notebook.locator(IDLE).first).to_be_visible()
    accessible_desk(page)
    person.picture(f"13-lab-{number}", page)
    page.close()


def _name(cell: Any) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _answers() -> dict[str, str]:
    """What the author writes into each cell that is asked for."""
    author = release.instructor_version(release.sources()[SLUG])
    marked = [each for each in author.cells if each.metadata.get("nbgrader", {}).get("solution")]
    return {_name(cell): MARKERS.sub("", cell.source) for cell in marked}
