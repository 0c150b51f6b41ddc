"""Do the home page and the pages of labs show labs and cluster as they are, and do their buttons and Check work?"""

from __future__ import annotations

import os
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from jupyter import Jupyter
from jupyter import served as serve
from running import PATIENCE_S, Beowulf, first, wait_until

from beowulf import papers, paths
from beowulf.cluster import state
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.course import lab_file, personal_code
from beowulf.desk import jupyter
from beowulf.errors import LabError
from beowulf.home import documents
from beowulf.home import page as pages

SLUG, NAME = "01-validation", "validation.ipynb"
LINK = re.compile(r'(?:href|src)="([^"]+)"')
# In JupyterLab's frame: a save ends three seconds after the file is written.
SAVE_SLOWLY = """() => {
  const contents = jupyterapp.serviceManager.contents, save = contents.save.bind(contents);
  contents.save = async (...given) => {
    const saved = await save(...given);
    await new Promise(done => setTimeout(done, 3000));
    return saved;
  };
}"""


@dataclass(frozen=True)
class Served:
    """A JupyterLab with the home page, and the learner whose folders it uses."""

    learner: Beowulf
    jupyter: Jupyter
    work: Path

    def page(self, path: str, *, token: str | None = None) -> str:
        """A page or a picture as text; a code that is no success is an error."""
        request = urllib.request.Request(
            urljoin(f"{self.jupyter.url}/", path),
            headers={"Authorization": f"token {token or self.jupyter.token}"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return str(answer.read().decode(errors="replace"))

    def cluster(self) -> Any:
        """What the page gets of the cluster."""
        return self.jupyter.ask("beowulf/home/cluster")

    def check(self, path: str) -> Any:
        """The answer to the button Check of the notebook at `path`."""
        return self.jupyter.ask("beowulf/check", "POST", path=path)

    def address(self, place: str) -> str:
        """Where a browser opens a page."""
        return f"{self.jupyter.url}/{place}?token={self.jupyter.token}"

    def post(self, place: str, **fields: object) -> Any:
        """The answer to a button or link of the page."""
        return self.jupyter.ask(f"beowulf/home/{place}", "POST", **fields)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    own = tmp_path_factory.mktemp("a home")
    learner = Beowulf(own / "state", own)
    learner.environment["BEOWULF_WORK"] = str(own / "work")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEOWULF_WORK", str(own / "work"))
        jupyter.lay_out(SLUG)
    settings = jupyter.settings(own / "runtime")
    surroundings = {"BEOWULF_STATE": str(own / "state"), personal_code.VARIABLE: ""}
    with serve(own, settings, **surroundings) as server:
        yield Served(learner, server, own / "work")
    learner.end()


def test_the_page_has_every_lab_with_its_question_and_minutes_and_every_paper(
    served: Served,
) -> None:
    page = served.page("beowulf/home")
    assert len(paths.labs()) == 9
    for slug in paths.labs():
        lab = lab_file.read(slug)
        assert lab.question in page
        more = re.search(rf'data-lab="{slug}".*?<td>(\d+) \+ (\d+)</td>', page, re.DOTALL)
        assert more, slug
        assert float(more[1]) == lab.minutes
        assert int(more[2]) > 0
    for letter in papers.letters():
        assert papers.place(letter).replace("&", "&amp;").partition("://")[2] in page


def test_a_lab_whose_file_is_wrong_says_so_in_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(slug: str) -> Any:
        raise LabError(f"labs/{slug}/lab.toml is not valid TOML.")

    monkeypatch.setattr(lab_file, "read", read)
    assert f'<th scope="row">{SLUG}</th><td colspan="2">labs/{SLUG}/lab.toml is' in pages.home(
        "/", ""
    )
    with pytest.raises(LabError, match="is not valid TOML"):
        pages.desk(SLUG, NAME, "/", "")


def test_every_page_that_the_home_page_links_to_is_there_with_its_pictures(served: Served) -> None:
    home = served.page("beowulf")  # the address without a page leads to it
    links = [link for link in LINK.findall(home) if "/beowulf/" in link]
    links.remove("/beowulf/report")  # written when it is asked for
    pictures = {link for link in links if "/figures/" in link}
    assert len(pictures) == 9
    texts = [f"/beowulf/text/labs/{slug}/README.md" for slug in paths.labs()]
    for link in [*links, *texts]:
        text = served.page(link)
        assert "<svg" in text if link in pictures else "<h1" in text or "JupyterLab" in text, link
        for picture in re.findall(r'<img src="([^"]+)"', text):
            shown = served.page(urljoin(link, picture))
            assert "<svg" in shown or shown[1:4] == "PNG", (link, picture)


def test_what_texts_link_to_is_shown() -> None:
    root = paths.root()
    for text in [*root.glob("docs/*.md"), *root.glob("labs/*/README.md")]:
        for link in documents.LINK.findall(text.read_text()):
            place = (text.parent / link).resolve()
            if "://" not in link and not place.is_dir():
                assert documents.find(str(place.relative_to(root))), (text.name, link)


def test_nothing_but_texts_and_what_they_show_is_served(served: Served) -> None:
    hidden = "labs/01-validation/lab.toml notebooks/source/01-validation/validation.py"
    climbing = "labs/../beowulf/user.py labs/%2e%2e/%2e%2e/etc/passwd"
    for name in f"{hidden} {climbing} docs/none.md docs".split():
        assert served.jupyter.code(f"beowulf/text/{name}") == 404, name


def test_without_the_token_a_page_asks_for_it_and_nothing_is_read_or_done(served: Served) -> None:
    for place in (
        "home",
        "lab/01",
        "text/labs/01-validation/README.md",
        "text/docs/glossary.md",
        "report",
    ):
        with urllib.request.urlopen(f"{served.jupyter.url}/beowulf/{place}") as answer:
            assert "/login?next=" in answer.url, place
    stranger = Jupyter(served.jupyter.url, "wrong")
    for place in ("home/cluster", "home/progress", "home/report", "check", "hint"):
        assert stranger.code(f"beowulf/{place}") in (403, 405), place
        with pytest.raises(urllib.error.HTTPError, match=r"403|405"):
            stranger.ask(
                f"beowulf/{place}", "POST", command="down", lab="01", path=f"{SLUG}/{NAME}"
            )


def test_a_page_of_another_site_cannot_stop_the_cluster(served: Served) -> None:
    """It can send the cookie of a browser that is logged in, but does not know the second token."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(f"{served.jupyter.url}/beowulf/home?token={served.jupyter.token}").read()
    assert opener.open(f"{served.jupyter.url}/beowulf/home/cluster").status == 200
    with pytest.raises(urllib.error.HTTPError, match="403"):
        opener.open(f"{served.jupyter.url}/beowulf/home/cluster", b'{"command": "down"}')


def test_without_a_cluster_and_records_it_says_so_and_knows_no_other_command(
    served: Served,
) -> None:
    seen = served.cluster()
    assert (seen["sentence"], seen["nodes"], seen["held"]) == ("No cluster is running.", [], "")
    rows = served.jupyter.ask("beowulf/home/progress")["rows"]
    assert [row["lab"] for row in rows] == list(paths.labs())
    assert "no Records yet" in served.post("report")["problem"]
    assert served.jupyter.code("beowulf/report") == 404
    assert served.post("cluster", command="down") == {"done": "No cluster was running."}
    with pytest.raises(urllib.error.HTTPError, match="400"):
        served.post("cluster", command="run")
    said = served.post("cluster", command="rate", rate="5mbit; reboot")["problem"]
    assert "The rate is one of 10mbit, 100mbit, 1gbit, off, not '5mbit; reboot'." in said
    assert served.cluster()["nodes"] == []


def test_a_lab_is_laid_out_before_it_is_shown(served: Served) -> None:
    slug = "05-overlap"
    for each in ("05-overlap", "06-protocol-analysis"):
        shutil.rmtree(served.work / each, ignore_errors=True)
    assert f"doc/tree/{slug}/overlap.ipynb" in served.page("beowulf/lab/05")
    assert (served.work / slug / "overlap.ipynb").exists()
    assert served.jupyter.code("beowulf/lab/77") == 409
    folder = served.work / "06-protocol-analysis"
    folder.write_text("")
    with pytest.raises(urllib.error.HTTPError) as refused:
        served.page("beowulf/lab/06")
    assert f"The lab cannot be copied to {folder}" in refused.value.read().decode()
    folder.unlink()


@pytest.mark.nightly
def test_on_a_hub_labs_are_fetched_and_a_shared_cluster_is_asked_for(
    tmp_path: Path,
) -> None:
    (tmp_path / "work").mkdir()
    learner = Beowulf(tmp_path / "state", tmp_path)
    settings = jupyter.settings(tmp_path / "runtime")
    surroundings = {jupyter.FETCHED: "1", jupyter.SHARED: "1", "BEOWULF_STATE": str(learner.state)}
    with serve(tmp_path, settings, **surroundings) as server:
        served = Served(learner, server, tmp_path / "work")
        with pytest.raises(urllib.error.HTTPError) as refused:
            served.page("beowulf/lab/01")
        assert "Assignment List" in refused.value.read().decode()
        assert not (served.work / SLUG).exists()
        assert "beowulf up --target slurm" in served.post("cluster", command="up")["problem"]
        assert namespaces.running(learner.state) is None


@pytest.mark.cluster
def test_it_boots_heals_changes_the_rate_and_stops(served: Served, namespaces_work: None) -> None:
    """A boot goes on when the browser is closed, and two pages do not change the cluster at once."""
    browser = HTTPConnection(urlsplit(served.jupyter.url).netloc)
    try:
        # As long as another command changes the cluster, the boot waits.
        with state.locked(served.learner.state):
            browser.request(
                *("POST", "/beowulf/home/cluster", b'{"command": "up"}'),
                {"Authorization": f"token {served.jupyter.token}"},
            )
            wait_until(lambda: served.cluster()["under_way"], "the boot is seen")
            second = served.post("cluster", command="down")
            browser.close()
        assert second == {"problem": "`beowulf up` is under way: wait until it is done."}
        wait_until(lambda: len(served.cluster()["nodes"]) == 4, "the cluster is there")
        wait_until(lambda: not served.cluster()["under_way"], "the boot is at its end")
        seen = served.cluster()
        assert seen["rate"] == "100mbit"
        assert {node["node"]: node["state"] for node in seen["nodes"]} == dict.fromkeys(
            ("node00", "node01", "node02", "node03"), "up"
        )
        served.learner.cluster.kill("node02")
        wait_until(
            lambda: served.cluster()["nodes"][2]["state"] == "down", "the page sees a dead node"
        )
        assert "3 of 4 nodes are up" in served.cluster()["sentence"]
        assert "Started again: node02." in served.post("cluster", command="up")["done"]
        assert served.cluster()["sentence"].startswith("4 of 4 nodes are up")
        assert "10mbit" in served.post("cluster", command="rate", rate="10mbit")["done"]
        assert served.cluster()["rate"] == "10mbit"
        assert served.learner.cluster.config.rate == "10mbit"
        assert served.post("cluster", command="down") == {"done": "The cluster is down."}
        assert served.cluster()["nodes"] == []
    finally:
        served.learner.down()


@pytest.mark.cluster
def test_cores_and_bytes_are_counted_and_beside_a_measurement_nothing_is_changed(
    served: Served, namespaces_work: None
) -> None:
    running = namespaces.up(ClusterConfig(), folder=served.learner.state)
    try:
        _counted(served, running)
        _left_alone(served, running)
    finally:
        served.learner.down()


def _left_alone(served: Served, running: NamespaceCluster) -> None:
    with running.holding("study A6"):
        sentence = served.cluster()["held"]
        assert re.search(r"in use by .* since .*, for study A6", sentence)
        for fields in ({"command": "down"}, {"command": "rate", "rate": "10mbit"}):
            refused = served.post("cluster", **fields)["problem"]
            assert refused.startswith(sentence)
            assert "--force` ends it" in refused
        assert "Progress is counted when" in served.jupyter.ask("beowulf/home/progress")["problem"]
        assert "The report is written when" in served.post("report")["problem"]
    assert served.cluster()["held"] == ""
    assert served.cluster()["rate"] == "100mbit"


def _counted(served: Served, running: NamespaceCluster) -> None:
    """Cores in use and bytes, where they are."""

    def counters() -> dict[str, tuple[float, int, int]]:
        nodes = served.cluster()["nodes"]
        return {
            each["node"]: (each["cpu_s"], each["links"][0]["sent"], each["links"][0]["received"])
            for each in nodes
        }

    before = counters()
    size = 2_000_000
    done = running.run("node01", f"head -c {size} /dev/zero | ssh node02 'cat >/dev/null'")
    assert done.returncode == 0, done.stderr
    after = counters()
    assert size < after["node01"][1] - before["node01"][1] < 2 * size
    assert size < after["node02"][2] - before["node02"][2] < 2 * size
    assert after["node03"][1] - before["node03"][1] < size
    assert after["node01"][0] > before["node01"][0]


def _open(browser: Any, address: str, faults: list[str], **size: int) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 800} | size)
    page.set_default_timeout(PATIENCE_S * 1000)
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.goto(address)
    return page


def _tab_to(page: Any, name: str) -> None:
    """Press Tab until what has this name has the keyboard."""
    focused = "document.activeElement.textContent.trim()"
    for _ in range(80):
        if page.evaluate(focused) == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name}: {page.evaluate(focused)}")


PLACES = ["home", "text/labs/06-protocol-analysis/README.md", "text/docs/results.md"]


@pytest.mark.browser
@pytest.mark.parametrize("place", first(1, PLACES))
def test_a_page_fits_a_small_window_and_axe_finds_nothing_in_light_and_dark(
    served: Served, browser: Any, place: str
) -> None:
    address = served.address(f"beowulf/{place}")
    faults: list[str] = []
    page = _open(browser, address, faults, width=400 if place == "home" else 1280)
    fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert fits or place != "home"
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()
    assert faults == []


def test_the_server_answers_with_the_checklist_of_a_notebook(served: Served) -> None:
    found = served.check(f"{SLUG}/{NAME}")
    assert found["lab"] == SLUG
    assert {line["state"] for line in found["lines"]} >= {"Record missing", "empty"}
    assert "<table>" in found["html"]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (f"{SLUG}/other.ipynb", "other.ipynb is no lab's notebook."),
        (f"../{NAME}", "This notebook is not below the server's folder."),
        (NAME, f"There is no notebook {NAME} in"),
    ],
)
def test_what_cannot_be_checked_is_answered_with_a_sentence(
    served: Served, path: str, problem: str
) -> None:
    assert problem in served.check(path)["problem"]


@pytest.fixture
def desk(served: Served, browser: Any) -> Iterator[Any]:
    """The page of lab 01 in a browser, with its notebook."""
    from playwright.sync_api import expect

    faults: list[str] = []
    page = _open(browser, served.address("beowulf/lab/01"), faults, width=1400)
    expect(page.frame_locator("#notebook").locator(".jp-CodeCell").first).to_be_visible()
    yield page
    assert faults == []
    page.close()


@pytest.mark.browser
def test_check_saves_the_notebook_and_opens_hints_one_by_one(served: Served, desk: Any) -> None:
    from playwright.sync_api import expect

    file = served.work / SLUG / NAME
    notebook = desk.frame_locator("#notebook")
    notebook.locator(".jp-CodeCell .cm-content").first.click()
    desk.keyboard.press("Control+Home")
    # JupyterLab's own save takes long, and is not to find that Check has changed the file meanwhile.
    next(each for each in desk.frames if "/doc/tree/" in each.url).evaluate(SAVE_SLOWLY)
    desk.keyboard.type("# typed and being saved\n")
    desk.keyboard.press("Control+S")
    wait_until(lambda: "being saved" in file.read_text(), "the file is written")
    desk.keyboard.insert_text("# typed and not saved\n")
    assert "typed and not saved" not in file.read_text()
    desk.locator("#check").press("Enter")
    answers = desk.locator("#answers")
    expect(answers.locator("table")).to_contain_text("a2-record")
    expect(notebook.locator(".jp-Dialog")).to_have_count(0)
    assert "typed and not saved" in file.read_text()
    button = answers.get_by_role("button", name=re.compile("Hint for own-ring"))
    button.click()
    expect(answers.locator("tr.hint")).to_contain_text("Hint 1 of")
    first_hint = answers.locator("tr.hint").inner_text()
    button.click()
    expect(answers.locator("tr.hint")).not_to_have_text(first_hint)
    for theme in ("light", "dark"):
        desk.emulate_media(color_scheme=theme)
        results = Axe().run(desk, options={"iframes": False})
        assert results.violations_count == 0, results.generate_report()


@pytest.mark.browser
@pytest.mark.nightly
def test_handout_and_notebook_lead_to_each_other_and_a_terminal_is_in_the_labs_folder(
    served: Served, desk: Any
) -> None:
    from playwright.sync_api import expect

    handout, notebook = desk.frame_locator("#handout"), desk.frame_locator("#notebook")
    desk.reload()  # The handout is there before the notebook.
    handout.get_by_role("button", name="Section 3 in the notebook").click()
    heading = notebook.locator("h2", has_text=re.compile("^3 ")).first
    expect(heading).to_be_in_viewport()
    expect(desk.locator("#to-handout")).to_have_text("Section 3 in the handout")
    # What is dragged by keys stays.
    desk.locator("#divider").focus()
    desk.keyboard.press("ArrowRight")
    assert desk.evaluate("localStorage.getItem('beowulf-handout')") == "45"
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    session = handout.locator("pre", has_text="$ beowulf status")
    session.get_by_role("button", name="Copy").click()
    expect(session.get_by_role("button", name="Copied")).to_be_visible()
    shown = next(each for each in desk.frames if "/beowulf/text/" in each.url)
    assert shown.evaluate("navigator.clipboard.readText()") == "beowulf up\nbeowulf status"
    desk.get_by_role("button", name="Handout", exact=True).click()
    expect(desk.locator("#handout")).to_be_hidden()
    desk.locator("#to-handout").click()
    expect(handout.locator("h2", has_text=re.compile("^3 ")).first).to_be_in_viewport()
    desk.locator("#terminal").click()
    terminal = notebook.locator(".jp-Terminal")
    expect(terminal).to_be_visible()

    def shells() -> Iterator[Path]:
        """The folders that shells are in."""
        for path in Path("/proc").glob("[0-9]*/comm"):
            with suppress(OSError):  # it has just ended
                if path.read_text() in ("bash\n", "sh\n"):
                    yield Path(os.readlink(path.with_name("cwd")))

    wait_until(lambda: served.work / SLUG in shells(), "a shell is in the lab's folder")
    desk.locator("#to-notebook").click()
    expect(heading).to_be_visible()


@pytest.mark.browser
@pytest.mark.nightly
def test_a_cell_that_runs_finds_the_notebook_saved(served: Served, desk: Any) -> None:
    from playwright.sync_api import expect

    cell = desk.frame_locator("#notebook").locator(".jp-CodeCell").first
    cell.locator(".cm-content").click()
    desk.keyboard.press("Control+A")
    desk.keyboard.type('from beowulf import check\ncheck("01")')
    desk.keyboard.press("Control+Enter")
    expect(cell.locator(".jp-OutputArea-output").first).to_contain_text("a2-record")
    file = served.work / SLUG / NAME
    wait_until(lambda: 'check(\\"01\\")' in file.read_text(), "the cell is saved")


@pytest.mark.browser
@pytest.mark.nightly
def test_a_phone_has_the_handout_and_without_scripts_links_lead_to_both(
    served: Served, browser: Any
) -> None:
    from playwright.sync_api import expect

    page = _open(browser, served.address("beowulf/lab/02"), [], width=390)
    expect(page.locator("#handout")).to_be_visible()
    expect(page.locator("#notebook")).to_be_hidden()
    page.locator("[data-pane=notebook]").click()
    expect(page.locator("#notebook")).to_be_visible()
    expect(page.locator("#handout")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(page.locator("#handout")).to_be_visible()
    expect(page.locator("#notebook")).to_be_visible()
    page.close()
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(served.address("beowulf/lab/02"))
    expect(page.frame_locator("#handout").locator("h1")).to_contain_text("Lab 02")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="handout", exact=True).click()
    expect(opened.value.locator("h1")).to_contain_text("Lab 02")
    context.close()


@pytest.mark.cluster
def test_the_cluster_that_a_lab_asks_for_is_set_up_by_its_button(
    served: Served, namespaces_work: None
) -> None:
    assert '<meta name="networks" content="2"><meta name="rate" content="10mbit">' in served.page(
        "beowulf/lab/08"
    )
    assert '<meta name="networks" content="1"><meta name="rate" content="100mbit">' in served.page(
        "beowulf/lab/01"
    )
    try:
        served.post("cluster", command="lab", lab="08")
        seen = served.cluster()
        assert (seen["networks"], seen["rate"]) == (2, "10mbit")
    finally:
        served.learner.down()
