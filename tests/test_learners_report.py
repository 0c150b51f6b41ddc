"""Is a learner's report what their Records say, safe to open, readable for all, and a sentence where there is none?"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from PIL import Image
from running import app
from typer.testing import CliRunner

from beowulf import papers, predictions
from beowulf.errors import LabError
from beowulf.record import Point, Record
from beowulf.report import built, content, found
from beowulf.report.report_page import Report, make
from beowulf.studies import given as with_labs
from beowulf.studies import judge
from beowulf.verdict import SYMBOLS, heading
from tests.gold import lab_01, lab_08
from tests.gold.labs import LABS

MOST_BYTES = 5_000_000
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> & {{ 7 * 7 }}"


def read(html: str) -> BeautifulSoup:
    """The elements of a page, each with its attributes, and its text."""
    return BeautifulSoup(html, "html.parser")


def idle(**other: Any) -> Record:
    """A Record of study A5, which is small; on a kind of cluster that is known."""
    whole = next(each for each in LABS[0].records() if each.study == "A5")
    cluster = {"kind": "namespaces", "nodes": ["node00", "node01"], "rate": "100mbit"}
    return replace(whole, **{"cluster": cluster, **other})


def seal(folder: Path, name: str, measured: float | None, *, late: bool = False) -> None:
    """Keep a prediction of lab 04 from 10 to 30, and what it was held against."""
    facts = {"value": 20, "low": 10, "high": 30, "unit": "bytes", "study": "E2-own", "late": late}
    Record("P4", points=[Point({"prediction": name}, facts=facts)], variant=name).save_in(folder)
    if measured is not None:
        points = [Point({"prediction": name}, facts={"measured": measured})]
        variant = name + predictions.MEASURED
        Record("P4", points=points, variant=variant).save(folder / f"P4-{variant}.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of two labs, none of which anyone measured, and predictions in a lab of their own."""
    whole = tmp_path_factory.mktemp("whole")
    for lab in (LABS[0], LABS[4]):
        for record in lab.records():
            if record.study[0] != predictions.LETTER:
                record.save_in(whole / "measured" / "records")
    for name, measured in (("saturation", 15.0), ("deadlock", 50.0), ("own", None)):
        seal(whole / "sealed" / "records", name, measured)
    seal(whole / "sealed" / "records", "late", 15.0, late=True)
    return whole


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    return make([folder])


@pytest.fixture(scope="module")
def html(report: Report) -> str:
    return report.html()


def studies(report: Report) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = report.content["studies"]
    return made


def test_the_page_and_its_data_have_every_claim_and_what_it_came_to(
    report: Report, html: str
) -> None:
    shown = read(html)
    said = " ".join(shown.text.split())
    assert len(studies(report)) > 5
    assert {"D1", "D2"} <= {each["study"] for each in studies(report) if each["as_printed"]}
    rows = 0
    for each in studies(report):
        for verdict in each["verdicts"]:
            rows += 1
            for text in (verdict["says"], verdict["evidence"], verdict["advice"]):
                assert " ".join(text.replace("`", "").split()) in said.replace("`", "")
        for reason in each["why"].values():
            assert reason in said
    assert html.count('<td class="outcome">') == rows > 20
    # Commands are shown as such.
    assert re.search(r"<br><code>beowulf [a-z]+", html)
    outcomes = [verdict["outcome"] for each in studies(report) for verdict in each["verdicts"]]
    for word, symbol in SYMBOLS.items():
        marked = f'<td class="outcome"><span class="{word}"><span aria-hidden="true">{symbol}</span> {word}<'
        assert html.count(marked) == outcomes.count(word), word


def test_the_data_are_what_the_files_hold(report: Report, folder: Path) -> None:
    for each in studies(report):
        file = folder / "measured" / "records" / Path(each["record"]["file"]).name
        assert each["record"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        record = Record.load(file)
        assert each["record"]["digest"] == record.digest
        if each["problems"]:
            continue
        verdicts = judge(record)
        assert [v["claim"] for v in each["verdicts"]] == [v.claim for v in verdicts]
        measured = [v.outcome for v in verdicts if not heading(v.as_plain())]
        assert each["outcomes"] == {word: measured.count(word) for word in SYMBOLS}


def test_the_published_tables_are_beside_the_records(report: Report, html: str) -> None:
    seen = set()
    for place, each in enumerate(studies(report)):
        part = html.partition(f'<h3 id="study-{place}">')[2].partition("</article>")[0]
        for name in each["published"]:
            seen.add(name)
            table = papers.table(name)
            assert table.attrs["title"] in unescape(part)
            assert table.attrs["source"] in unescape(part)
            assert len(report.content["published"][name]["rows"]) == len(table)
        assert each["picture"] is None or f'alt="{each["picture"]["alt"][:20]}' in unescape(part)
    assert len(seen) >= 3


def test_the_page_is_small_and_needs_nothing_else(html: str) -> None:
    assert len(html.encode()) < MOST_BYTES
    shown = read(html)
    sources = [str(each["src"]) for each in shown.find_all("img")]
    assert len(sources) > 5
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert not shown.find_all(["script", "link", "iframe", "object"])
    policy = str(shown.find("meta", {"http-equiv": True})["content"])
    assert "default-src 'none'" in policy
    assert "script" not in policy


def test_predictions_are_shown_with_their_calibration_in_which_late_ones_do_not_count(
    report: Report, html: str
) -> None:
    rows = {each["name"]: each for each in report.content["predictions"]}
    assert rows["saturation"]["inside"] is True
    assert rows["deadlock"]["inside"] is False
    assert rows["own"]["inside"] is None
    assert "above which size" in rows["saturation"]["asks"]
    calibration = report.content["calibration"]
    assert (calibration["inside"], calibration["of"]) == (1, 2)
    assert calibration["says"] in html.partition('<h2 id="predictions">')[0], "on the first screen"
    part = html.partition('<h2 id="predictions">')[2].partition("</section>")[0]
    says = ("✓ inside", "✗ outside", "not measured yet", "<td>late</td>")
    for words in says:
        assert words in part


def test_each_program_of_ones_own_is_shown_with_what_proves_it_as_soon_as_it_is_right(
    tmp_path: Path,
) -> None:
    """A newer Record that is wrong, or was cut short, takes nothing from it."""
    for record in (record for lab in LABS for record in lab.records()):
        if f"{record.study} {record.variant}".strip() in built.PROGRAMS:
            record.save_in(tmp_path)
    later = "2026-01-01T00:00:00Z"
    replace(lab_01.ring(why="It hangs."), started=later).save_in(tmp_path)
    replace(lab_08.own_galaxy(1.5), started=later, complete=False).save_in(tmp_path)
    lab_08.own_gas(bits=("12ab", "34cd")).save_in(tmp_path / "wrong")
    made = make([tmp_path])
    programs = made.content["programs"]
    assert [each["name"] for each in programs] == list(built.PROGRAMS)
    numbers = [each["number"] for each in programs]
    assert {"3", "900 MFLOPS", "1.003×"} <= set(numbers)
    html = made.html()
    shown = read(html)
    for each in programs:
        assert {each["number"], each["title"], *each["says"]} <= set(shown.stripped_strings)
        assert each["record"]["sha256"] in html
    assert lab_01.RING.strip() in [each.text for each in shown.select(".programs pre")]
    [picture] = [file for file in made.save(tmp_path / "made" / "me.html") if file.suffix == ".png"]
    assert Image.open(picture).size == (1200, 630)
    assert not make([tmp_path / "wrong"]).content["programs"]


def test_no_text_of_a_record_is_markup(tmp_path: Path) -> None:
    cluster = {"kind": HOSTILE, "nodes": [HOSTILE], "rate": HOSTILE, "given_by": HOSTILE}
    hostile = idle(
        learner=HOSTILE,
        warnings=[HOSTILE, "x" * 100_000, "\x1b[31mred", *["again"] * 1000],
        cluster={**cluster, "mpi": HOSTILE, "cores": {HOSTILE: [HOSTILE]}},
        versions={"kernel": HOSTILE},
    )
    hostile.save_in(tmp_path)
    facts = {"value": 1, "low": 0, "high": 2, "unit": HOSTILE, "study": HOSTILE, "late": False}
    Record("P4", points=[Point({}, facts=facts)], variant="x").save_in(tmp_path)
    (tmp_path / f"A1-{HOSTILE.replace('/', '')}.json").write_text("{")
    made = make([tmp_path])
    html = made.html()
    shown = read(html)
    assert HOSTILE in shown.text, "it is shown as it was typed"
    assert not shown.find_all("script")
    assert not [name for each in shown.find_all() for name in each.attrs if name.startswith("on")]
    assert all(str(each["src"]).startswith("data:") for each in shown.find_all("img"))
    assert "\x1b" not in html
    assert len(html) < 200_000
    assert [each["kind"] for each in made.content["studies"]] == [found.UNKNOWN]
    assert "\x1b" not in json.dumps(made.content, ensure_ascii=False)


def test_what_cannot_be_judged_or_drawn_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And of a study of which there is only a Record of a broken cluster, that one is shown."""
    idle(
        variant="broken-a", points=[Point({"where": "switch"}, facts={"elapsed_s": "soon"})]
    ).save_in(tmp_path)
    made = make([tmp_path])
    (each,) = studies(made)
    assert each["problems"]
    assert each["picture"] is None
    assert each["variant"] == "broken-a"
    shown = read(made.html())
    for problem in each["problems"]:
        assert problem in shown.text
        assert "Traceback" not in problem
    monkeypatch.setattr(content, "_seen", lambda figure: 1 / 0)
    idle().save_in(tmp_path / "undrawn")
    (each,) = studies(make([tmp_path / "undrawn"]))
    assert "A5 caused an error: ZeroDivisionError" in str(each["problems"])
    assert each["verdicts"]


def test_of_each_study_and_kind_the_newest_whole_one_is_shown_and_says_how_it_was_made(
    tmp_path: Path,
) -> None:
    before = {"load_1min": 9.0, "cores": 2, "waiting_for_a_core_percent_10s": 90.0}
    simulated = {"kind": "simulated", "nodes": ["node00"], "rate": "10mbit"}
    given = with_labs.record("A2")
    assert given is not None
    for record in (
        idle(started="2026-01-01T00:00:00Z"),
        idle(started="2026-01-02T00:00:00Z", circumstances={"before": before, "after": {}}),
        idle(started="2026-02-01T00:00:00Z", sweep={"quick": True}),
        idle(started="2026-02-02T00:00:00Z", complete=False),
        idle(variant="broken-a", started="2026-03-01T00:00:00Z"),
        idle(started="2025-01-01T00:00:00Z", cluster=simulated, sweep={"quick": True}),
        Record("H4", points=[Point({}, facts={"a": 1})]),
        idle(variant="own", sweep={"exercise": "mine"}),
        given,
    ):
        record.save_in(tmp_path / "work" / "01-validation" / "records")
    made = make([tmp_path / "work"])
    those = [(each["study"], each["kind"], each["started"][:10]) for each in studies(made)]
    assert those[1:] == [("A5", "namespaces", "2026-01-02"), ("A5", "simulated", "2025-01-01")]
    assert made.content["others"] == 6
    html = made.html()
    assert "the load before the start was 9.0 on 2 cores" in html
    rows = [row.text for row in read(html).select("[aria-labelledby=studies] tbody tr")]
    of_given, measured, of_simulated = rows
    assert "given with the labs, not measured by you" in of_given
    assert "busy" in measured
    assert "not measured" not in measured
    assert "simulated, not measured, quick" in of_simulated
    said = " ".join(read(html).text.split())
    assert "On simulated at 10mbit, 2025-01-01 00:00 UTC (simulated, not measured, quick)." in said
    assert "simulated by SimGrid, not measured" in said, "and in its claims"
    assert "Figures of different clusters cannot be compared" in said


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """`beowulf report` of a learner whose folder for work is `work`; its exit code, and all that it prints."""
    monkeypatch.setenv("BEOWULF_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.chdir(tmp_path)

    def called(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["report", *words])
        if isinstance(done.exception, LabError):
            return done.exception.exit_code, str(done.exception)
        return done.exit_code, done.output

    return called


def test_without_a_folder_all_of_a_learners_own_are_read(
    call: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    idle().save_in(tmp_path / "work" / "01-validation" / "records")
    idle(cluster={"kind": "ssh"}).save_in(tmp_path / "records")
    code, said = call()
    assert code == 0, said
    assert "2 studies" not in said.partition("Written")[2]
    data = json.loads((tmp_path / "report.json").read_text())
    files = [Path(each["record"]["file"]).parent for each in data["studies"]]
    assert files == [Path("work/01-validation/records"), Path("records")]
    assert "a picture to share: report.png" in said
    for folder in ("work", "records"):
        shutil.rmtree(tmp_path / folder)
    Record("H4", points=[Point({}, facts={"a": 1})]).save_in(tmp_path / "records")
    code, said = call()
    assert code == 0, f"a report is written again: {said}"
    assert "There is no Record of a study yet" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 1, "There are no Records yet"),
        (("nowhere",), 2, "There is no folder nowhere"),
        (("--output", "report.pdf"), 2, "saved as .html"),
        (("--output", "kept.html"), 2, "is not a report, and would be overwritten"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    call: Callable[..., tuple[int, str]],
    tmp_path: Path,
    words: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    (tmp_path / "kept.json").write_text('{"mine": 1}')
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "A1-broken.json").write_text("")
    ended, message = call(*words)
    assert (ended, said in message) == (code, True), message
    assert not (tmp_path / "report.html").exists()
    assert (tmp_path / "kept.json").read_text() == '{"mine": 1}'


def test_files_that_are_no_records_are_named_and_the_others_shown(
    call: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    kept = tmp_path / "records"
    good = json.loads(idle().save_in(kept).read_text())
    (kept / "A1-broken.json").write_text('{"kind": "record", "schema": 1, ')
    (kept / "A2-newer.json").write_text(json.dumps({**good, "schema": 2}))
    (kept / "Z9-unknown.json").write_text(json.dumps({**good, "study": "Z9"}))
    (kept / "Answers.json").write_text('{"kind": "something else"}')
    (kept / "A3-folder.json").mkdir()
    code, said = call()
    assert code == 0, said
    data = json.loads((tmp_path / "report.json").read_text())
    assert [each["study"] for each in data["studies"]] == ["A5"]
    passed = " ".join(data["passed_over"])
    for words in ("truncated", "a newer version", "study Z9, which this version", "is not a file"):
        assert words in passed, words
    assert "Answers.json" not in passed
    for sentence in data["passed_over"]:
        assert f"passed over: {sentence}" in said
        assert sentence in read((tmp_path / "report.html").read_text()).text


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_its_window_is_used_by_keys_and_axe_finds_nothing(
    report: Report, browser: Any, tmp_path: Path, theme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    wrong: list[str] = []
    file, *_ = report.save(tmp_path / "report.html")
    view = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=theme)
    view.on("console", lambda message: wrong.append(message.text))
    view.on(
        "request",
        lambda asked: None if asked.url.startswith(("file:", "data:")) else wrong.append(asked.url),
    )
    view.goto(file.as_uri())
    assert view.evaluate("document.documentElement.scrollWidth <= innerWidth")
    broken = "[...document.images].filter(each => !each.naturalWidth).length"
    assert view.evaluate(broken) == 0
    view.keyboard.press("Tab")
    assert view.evaluate("document.activeElement.textContent") == "Skip to the report"
    view.keyboard.press("Enter")
    assert view.evaluate("location.hash") == "#main"
    view.locator("summary").first.focus()
    view.keyboard.press("Enter")
    assert view.evaluate("document.querySelector('details').open")
    view.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    results = Axe().run(view)
    assert results.violations_count == 0, results.generate_report()
    view.close()
    assert not wrong
