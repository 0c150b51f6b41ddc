"""A class at work: is it shown as it is, to whom it may be shown, from what learners share and what they hand in?"""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from autograder.commands import app
from autograder.course.course import Course
from autograder.evidence import record_files
from autograder.intake import exchange
from autograder.results import live, live_page
from autograder.results.live import Learner, Room
from autograder.rubrics.pooled import POOLS
from beowulf.desk import jupyter, sharing
from beowulf.errors import LabError
from tests.gold import lab_04
from tests.gold.hand_in import answered, hand_in, released
from tests.gold.labs import LABS, Gold

SLUG = lab_04.SLUG
ME = exchange.user(os.getuid())
NOW = 2_000_000_000.0


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    folder = tmp_path / "live"
    folder.mkdir()
    return folder


@pytest.fixture
def at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's folder of lab 04, where the kernel is."""
    monkeypatch.setenv("BEOWULF_WORK", str(tmp_path / "work"))
    folder = jupyter.lay_out(SLUG).parent
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def class_of_anybody(own_course: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course that takes a folder for that of the learner in its name, as where a hub writes all of them."""
    monkeypatch.setattr(exchange, "checks_owners", lambda _: False)
    return own_course


def ran(cell: str, error: Exception | None = None) -> Any:
    """What IPython gives after a cell."""
    return SimpleNamespace(
        info=SimpleNamespace(cell_id=cell), error_before_exec=None, error_in_exec=error
    )


def works(shared: Path, code: str, ago_min: float, **now: Any) -> Path:
    """A learner who shares, and ran a cell some minutes ago."""
    folder = shared / code
    (folder / SLUG / "records").mkdir(parents=True)
    file = folder / sharing.NOW
    file.write_text(json.dumps({"lab": SLUG, "section": "Patience", "minutes": 5, **now}))
    os.utime(file, (NOW, NOW - 60 * ago_min))
    return folder / SLUG


def pages(room: Room) -> dict[str, str]:
    return {title: page.read_text() for title, page in live_page.write(room, NOW).items()}


def test_nothing_is_shared_before_a_learner_asks_and_nothing_is_left_afterwards(
    shared: Path, at_work: Path
) -> None:
    lab_04.own().save_in(at_work / "records")
    runs, where = sharing.Runs(), {"explain", "own-blocking"}
    runs.after(ran("explain"))
    assert sharing.place() is None
    assert list(shared.iterdir()) == []

    cells = json.loads(next(at_work.glob("*.ipynb")).read_text())["cells"]
    ids = {c["metadata"].get("nbgrader", {}).get("grade_id"): c["id"] for c in cells}
    assert where <= ids.keys()
    own = sharing.start(shared)
    for _ in range(3):
        runs.after(ran(ids["own-blocking"], NameError("name 'secret' is not defined")))
    sharing.checked(SLUG, at_work, {"own-blocking": "✗"})
    now = json.loads((own / sharing.NOW).read_text())
    assert (now["lab"], now["section"]) == (SLUG, "Your own ping-pong")
    assert (now["error"], now["times"]) == ("NameError", 3)
    files = sorted(path for path in own.rglob("*") if path.is_file())
    kept = next((at_work / "records").iterdir())
    assert {path.name for path in files} == {sharing.NOW, sharing.CHECKED, kept.name}
    assert not [path for path in files if b"secret" in path.read_bytes()]
    # Its owner, and the group of the class's folder; nobody else.
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o640}
    assert stat.S_IMODE(own.stat().st_mode) & 0o777 == 0o750

    runs.after(ran(ids["explain"], NameError("another")))
    runs.after(ran(ids["explain"]))
    now = json.loads((own / sharing.NOW).read_text())
    assert (now["section"], now["error"], now["times"]) == ("Explain", "", 0)
    sharing.stop()
    runs.after(ran(ids["explain"]))
    assert list(shared.iterdir()) == []
    with pytest.raises(LabError, match="There is no folder"):
        sharing.start(shared / "nowhere")


def test_who_may_need_help_is_counted_for_all_and_named_on_the_instructors_page_alone(
    class_of_anybody: Course, shared: Path
) -> None:
    works(shared, "ab12", 1, error="TypeError", times=3)
    works(shared, "cd34", 2, section="Explain", minutes=25)
    works(shared, "ef56", 90, minutes=200)
    works(shared, "gh78", 1, lab="05-overlap", times=9, error="TypeError")
    kept = works(shared, "ij90", 1, minutes=60) / "records" / "A7-20300101T000000.000Z.json"
    kept.touch()
    os.utime(kept, (NOW, NOW - 60))
    checked = shared / "ab12" / SLUG / sharing.CHECKED
    checked.write_text(json.dumps({"eager-limit": "✓", "fit": "✗", "<script>": "✓", "explain": 3}))

    room = Room(class_of_anybody, SLUG, shared)
    shown = pages(room)
    for code in ("ab12", "cd34", "ef56", "gh78", "ij90"):
        assert [title for title, page in shown.items() if code in page] == [live_page.CODES]
    assert "live-codes" not in shown[live_page.ROOM] + shown[live_page.DATA]
    codes = shown[live_page.CODES].split("<tr>")
    reasons = {code: next(row for row in codes if code in row) for code in ("ab12", "cd34", "ef56")}
    assert "the same TypeError 3 times" in reasons["ab12"]
    assert "no Record for 27 minutes" in reasons["cd34"]
    assert '<td class="stuck"></td>' in reasons["ef56"]
    assert "2 may need help" in shown[live_page.ROOM]
    assert "1 stuck" in shown[live_page.ROOM]
    assert live_page.ELSEWHERE in shown[live_page.ROOM]
    for page in shown.values():
        assert "<script" not in page
        assert 'http-equiv="refresh"' in page
        assert "//" not in page.replace("/*", "")


@pytest.mark.browser
def test_the_pages_of_a_class_of_thirty_fit_a_projector_of_1024_px(
    class_of_anybody: Course, shared: Path, page: Any
) -> None:
    for number in range(30):
        where = works(shared, f"learner-{number:02}", 1, error="ModuleNotFoundError", times=3)
        for record in lab_04.records():
            record.save_in(where / "records")
    page.set_viewport_size({"width": 1024, "height": 768})
    for title, file in live_page.write(Room(class_of_anybody, SLUG, shared), NOW).items():
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 1024, title


def test_predictions_and_figures_of_hand_ins_are_a_poll_and_a_pool(
    class_of_anybody: Course, shared: Path
) -> None:
    place = class_of_anybody.folder / "submitted" / "ab12" / SLUG
    notebook = answered(released(SLUG), lab_04.RIGHT)
    hand_in(place, notebook, lab_04.records(), "sending", student="ab12")
    try:
        room = Room(class_of_anybody, SLUG, None)
        (learner,) = room.look()
        assert set(learner.sealed) == set(room.lab.predictions)
        assert learner.done
        assert learner.stuck(NOW) == ""
        shown = pages(room)
        assert "1 sealed it, median 8,000." in shown[live_page.ROOM]
        alpha = next(pool for pool in room.pools if pool.title.startswith("alpha"))
        assert learner.pooled[alpha.title] == pytest.approx(lab_04.fit(weighted=True)[0], rel=0.01)
        assert "Dashed: 50 µs, paper E" in shown[live_page.DATA]
        assert '<polyline class="curve"' in shown[live_page.DATA]
    finally:
        shutil.rmtree(place.parent)


def test_a_file_is_opened_once_for_each_state_of_it(
    class_of_anybody: Course, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = works(shared, "ab12", 1) / "records"
    kept = lab_04.own().save_in(folder)
    opened: list[Path] = []
    read = record_files.read

    def counting(path: Path) -> Any:
        opened.append(path)
        return read(path)

    monkeypatch.setattr(record_files, "read", counting)
    room = Room(class_of_anybody, SLUG, shared)
    before = room.look()
    assert room.look() == before
    assert opened == [kept]
    os.utime(kept, (NOW, NOW))
    room.look()
    assert opened == [kept, kept]


def test_what_is_anothers_or_nonsense_counts_for_nothing(own_course: Course, shared: Path) -> None:
    works(shared, "ada-who-is-not-here", 1)
    records = (
        works(shared, ME, 1, section="<script>", error="a b", times="many", minutes=[]) / "records"
    )
    os.mkfifo(records / "A7-20300101T000000.000Z.json")
    (records / "P4-saturation.json").write_text("[" * 100_000)
    (records.parent / sharing.CHECKED).write_text("3")
    room = Room(own_course, SLUG, shared)
    (learner,) = room.look()
    assert room.passed_over == [f"ada-who-is-not-here belongs to {ME}"]
    assert (learner.code, learner.section, learner.error, learner.times) == (ME, "", "", 0)
    assert (learner.symbols, learner.sealed, learner.pooled) == ({}, {}, {})
    room.roster = {"ab12"}
    assert room.look() == []


def test_a_class_shares_where_only_its_instructor_reads(
    own_course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An exchange within the course's own folder is closed to learners.
    assert live.open_folder(own_course, None) is None
    folder = live.open_folder(own_course, tmp_path / "room")
    assert folder
    assert stat.S_IMODE(folder.stat().st_mode) == live.OPEN_TO_ALL
    monkeypatch.chdir(own_course.folder)
    said = CliRunner().invoke(
        app, ["live", "04", "--once", "--folder", str(folder)], catch_exceptions=False
    )
    assert f"beowulf share {folder}" in said.stdout
    with own_course.gradebook() as book:
        book.add_student(ME)
    try:
        with pytest.raises(LabError, match="could read what others share"):
            live.open_folder(own_course, folder)
    finally:
        with own_course.gradebook() as book:
            book.remove_student(ME)


@pytest.mark.parametrize("gold", LABS, ids=lambda gold: gold.slug)
def test_each_figure_of_a_lab_is_found_in_records_of_that_lab(gold: Gold) -> None:
    kept = gold.records()
    for pool in POOLS[gold.slug[:2]]:
        values = [value for record in kept if (value := pool.of(record)) is not None]
        assert values, pool.title


def test_who_has_done_all_or_has_left_needs_no_help() -> None:
    waits = Learner("ab12", at=NOW, began=NOW - 3000, symbols={"fit": "·"})
    assert waits.stuck(NOW) == "no Record for 50 minutes"
    assert not waits.stuck(NOW + 60 * live.GONE_MIN + 1)
    waits.symbols["fit"] = "✓"
    assert not waits.stuck(NOW)
