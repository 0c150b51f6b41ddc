"""Does `beowulf demo` show on one page what it measured, wherever it runs, and leave nothing but that page?"""

from __future__ import annotations

import re
import signal
import webbrowser
from pathlib import Path
from typing import NamedTuple

import pytest
from bs4 import BeautifulSoup
from other_user import ada
from running import PATIENCE_S, Beowulf, nothing_runs, traces

from beowulf.desk import demo, doctor
from beowulf.errors import UsageError

MOST_BYTES = 150_000  # of a picture
NAMES = ("curve", "ladder", "timeline")
LEAST_PACKETS = 7  # of 10,000 bytes, where one carries at most 1,460


def read(page: Path, images: int) -> str:
    """What a page says; it has so many pictures with a text each, no script, and needs no other file."""
    shown = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    found = shown.find_all("img")
    assert len(found) == images
    assert all(str(each["src"]).startswith("data:image/png;base64,") for each in found)
    assert all(len(str(each["alt"])) > 50 for each in found)
    assert not shown.find_all(["script", "link", "iframe", "object"])
    return " ".join(shown.text.split())


def left_by(learner: Beowulf) -> bool:
    return learner.state.with_name(f"{learner.state.name}-demo").exists()


@pytest.mark.cluster
def test_two_at_once_come_one_after_the_other_and_leave_the_users_own_cluster_as_it_is(
    at_cluster: Beowulf,
) -> None:
    own = at_cluster.cluster.supervisor.process.pid
    first = at_cluster.start("demo", "--output", "first.html", "--pictures", "drawn")
    assert first.stdout
    lines = iter(first.stdout.readline, "")
    assert "You already have a cluster running. It stays as it is" in next(lines)
    assert next(lines) == "4 nodes are up.\n"
    said = at_cluster("demo", "--output", "second.html")
    assert "You already have a cluster running" in said
    assert "Another demo of yours is running" in said
    rest, _ = first.communicate(timeout=PATIENCE_S)
    assert first.returncode == 0, rest
    for name, all_said in (("first.html", rest), ("second.html", said)):
        page = at_cluster.here / name
        assert f"The cluster is down.\nThe page is {page}." in all_said
        text = read(page, len(NAMES))
        assert re.search(r"latency alpha, here [\d.]+ µs", text)
        assert re.search(r"1 / beta is the bandwidth, here [\d.,]+ Mbit/s", text)
        packets = re.search(r"left node00 in (\d+) packets", text)
        assert packets
        assert int(packets[1]) >= LEAST_PACKETS
        assert "rank 0 waited for" in text
        assert "100mbit" in text
    drawn = {path.name: path.stat().st_size for path in (at_cluster.here / "drawn").iterdir()}
    assert drawn.keys() == {f"demo-{name}.svg" for name in NAMES}
    assert max(drawn.values()) < MOST_BYTES
    assert at_cluster.cluster.supervisor.process.pid == own
    assert not at_cluster.cluster.dead_nodes()
    assert not left_by(at_cluster)


@pytest.mark.cluster
def test_ctrl_c_takes_its_cluster_down_and_writes_no_page(beowulf: Beowulf) -> None:
    before = traces(beowulf)
    command = beowulf.start("demo")
    assert command.stdout
    while "play ping-pong" not in (line := command.stdout.readline()):
        assert line
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 1
    assert "The cluster is down." in said
    assert "Traceback" not in said
    assert not list(beowulf.here.glob("*.html"))
    nothing_runs(beowulf)
    assert not left_by(beowulf)
    assert traces(beowulf) == before


@pytest.mark.cluster
@pytest.mark.rootless
def test_a_second_user_has_a_cluster_and_a_page_of_their_own(namespaces_work: None) -> None:
    with ada() as learner:
        said = learner("demo")
        page = learner.here / demo.PAGE
        assert f"The page is {page}." in said
        assert page.stat().st_uid == learner.uid
        read(page, len(NAMES))
        assert not left_by(learner)


class Run(NamedTuple):
    """What a demo printed, its page, and what it asked for a browser."""

    said: str
    page: Path
    opened: list[str]


@pytest.fixture
def without_namespaces_and_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    opened: list[str] = []
    monkeypatch.setenv("BEOWULF_STATE", str(tmp_path / "state"))
    forbidden = doctor.Check("namespaces", False, "unshare: Operation not permitted")
    monkeypatch.setattr(doctor, "namespaces", lambda: forbidden)
    monkeypatch.setattr(webbrowser, "open", opened.append)  # None is no browser
    page = tmp_path / "seen.html"
    demo.show(page, None, open_browser=True)
    return Run(capsys.readouterr().out, page, opened)


def test_what_cannot_be_shown_without_namespaces_is_named_and_a_page_without_a_browser_too(
    without_namespaces_and_browser: Run,
) -> None:
    said, page, opened = without_namespaces_and_browser
    assert "Namespaces cannot be made here (unshare: Operation not permitted)" in said
    text = read(page, len(NAMES) - 1)
    assert "This machine forbids namespaces" in text
    assert "messages cross no cable" in text
    assert "No packets can be captured on this kind of cluster." in text
    assert "latency alpha" in text
    assert opened == [page.as_uri()]
    assert said.endswith(
        f"The page is {page}.\nNo browser was found here; open the page yourself.\n"
    )
    assert not (page.parent / "state-demo").exists()


def test_a_page_that_cannot_be_written_is_refused_before_anything_boots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEOWULF_STATE", str(tmp_path / "state"))
    with pytest.raises(UsageError, match="The page cannot be written to"):
        demo.show(tmp_path / "missing" / "demo.html", None, open_browser=False)
    assert not list(tmp_path.iterdir())
