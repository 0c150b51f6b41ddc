"""Does each of many learners who measure on one machine have it alone, in the order of their coming, and see it?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from IPython import display
from nodeless_cluster import Nodeless
from other_user import ada
from running import PATIENCE_S, first, wait_until

from beowulf import mpi, paths
from beowulf.cluster import Abilities
from beowulf.cluster.holding import queue
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.measure import machine_queue
from beowulf.measure.machine_queue import THEN
from beowulf.measure.measurement import Measurement
from beowulf.record import Record
from beowulf.this_machine import host_state, progress
from beowulf.this_machine.progress import aside

TWENTY = 20
# Prints its place whenever that changes; with the turn it notes begin and end in the file of the first argument.
MEASURES = """
import os, sys, time
from beowulf.measure import machine_queue
name, log = sys.argv[1:]
def show(sentence):
    print(sentence, flush=True)
def note(word):
    with open(log, "a") as file:
        file.write(f"{word} {name}\\n")
with machine_queue.entered(show):
    note("begins")
    show("measures")
    until = time.monotonic() + 0.05
    while time.monotonic() < until:
        pass
    note("ends")
"""
# Has the turn until its input ends.
STAYS = """
import sys
from beowulf.measure import machine_queue
with machine_queue.entered(lambda sentence: print(sentence, flush=True)):
    print("measures", flush=True)
    sys.stdin.read()
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A line that nobody else knows."""
    own = tmp_path / "line"
    own.mkdir()
    monkeypatch.setenv(machine_queue.VARIABLE, str(own))
    return own


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts learners, each a process; none outlives the test."""
    with ExitStack() as ends:

        def start(script: str, *words: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-c", script, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            ends.enter_context(process)
            ends.callback(process.kill)
            return process

        yield start


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def in_line(folder: Path, number: int) -> None:
    wait_until(lambda: len(queue.places(folder)) == number, f"{number} are in the line")


@pytest.mark.parametrize("many", first(1, [5, TWENTY]))
def test_learners_have_the_machine_alone_one_after_the_other_and_see_their_place(
    folder: Path, start: Start, tmp_path: Path, many: int
) -> None:
    begun = start(STAYS)
    assert said(begun) == "measures"
    log = tmp_path / "log"
    learners = []
    for number in range(1, many + 1):
        learners.append(start(MEASURES, str(number), str(log)))
        in_line(folder, number + 1)
    for number, learner in enumerate(learners, start=1):
        assert said(learner).startswith(f"You are number {number} in line for this machine")
    begun.communicate("", timeout=PATIENCE_S)
    sentences = [learner.communicate(timeout=PATIENCE_S)[0] for learner in learners]
    assert log.read_text().split("\n")[:-1] == [
        f"{word} {number}" for number in range(1, many + 1) for word in ("begins", "ends")
    ]
    for number, text in enumerate(sentences, start=1):
        places = [int(each.split()[3]) for each in text.splitlines()[:-1]]
        assert places == sorted(set(places), reverse=True), text
        assert all(place < number for place in places), text
        assert text.splitlines()[-1] == "measures"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", first(1, [signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
def test_who_is_killed_or_interrupted_is_no_longer_in_the_line(
    folder: Path, start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    one = start(STAYS)
    said(one)
    gone = start(STAYS)
    assert said(gone).startswith("You are number 1 ")
    last = start(MEASURES, "last", str(tmp_path / "log"))
    assert said(last).startswith("You are number 2 ")
    gone.send_signal(number)
    gone.communicate(timeout=PATIENCE_S)
    assert said(last).startswith("You are number 1 ")
    one.kill()
    assert said(last) == "measures"
    last.communicate(timeout=PATIENCE_S)
    with machine_queue.entered(print):
        pass  # who joins clears away what killed processes of the same user left
    assert list(folder.iterdir()) == []


def test_a_process_has_one_place_however_often_it_measures_within(folder: Path) -> None:
    shown: list[str] = []
    with machine_queue.entered(shown.append), machine_queue.entered(shown.append):
        assert len(queue.places(folder)) == 1
    assert queue.places(folder) == []
    assert shown == []


def test_a_link_or_another_file_in_the_folder_is_no_place_and_is_not_touched(
    folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    (folder / queue.NAME.format(1)).symlink_to(target)
    (folder / queue.NAME.format(2)).mkdir()
    os.mkfifo(folder / queue.NAME.format(3))
    (folder / "beowulf-line-first").touch()
    with machine_queue.entered(print) as waited:
        assert not waited
    assert not target.exists()


@pytest.mark.rootless
@pytest.mark.skipif(os.geteuid() != 0, reason="another user is one whom root can be")
def test_another_users_place_counts_and_what_they_left_cannot_block(
    start: Start, namespaces_work: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ada() as other:
        open_folder = other.here.parent / "line"
        open_folder.mkdir()
        open_folder.chmod(0o1777)
        monkeypatch.setenv(machine_queue.VARIABLE, str(open_folder))
        other.environment[machine_queue.VARIABLE] = str(open_folder)
        hers = subprocess.Popen(
            [*other.prefix, str(paths.python_bin() / "python"), "-c", STAYS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=other.here,
            env=other.environment,
        )
        with hers:
            try:
                assert said(hers) == "measures"
                [place] = queue.places(open_folder)
                mine = start(STAYS)
                assert place.user in said(mine)
            finally:
                for pid, _ in _of_user(other.uid):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        assert said(mine) == "measures"
        assert [each.user for each in queue.places(open_folder)] == ["root"]


def _of_user(uid: int) -> list[tuple[int, str]]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if entry.stat().st_uid == uid:
                found.append((int(entry.name), (entry / "cmdline").read_text()))
    return found


def test_without_a_usable_folder_it_is_measured_and_the_record_says_so(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(machine_queue.VARIABLE, str(tmp_path / "none"))
    with machine_queue.joined(cluster, print) as [warning]:
        assert "did not wait in the line" in warning
        assert "No such file or directory" in warning


def test_a_folder_that_somebody_has_locked_holds_nobody_up_for_long(
    cluster: NamespaceCluster, folder: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "LONGEST_JOINING_S", 0.1)
    other = subprocess.Popen(["flock", str(folder), "cat"], stdin=subprocess.PIPE)
    with other:
        try:
            busy = ["flock", "--nonblock", str(folder), "true"]
            wait_until(lambda: subprocess.run(busy).returncode, "the folder is locked")
            with machine_queue.joined(cluster, print) as [warning]:
                assert f"another process has {folder} locked" in warning
        finally:
            other.kill()


def test_a_measurement_shows_its_place_in_its_progress_and_leaves_when_interrupted(
    cluster: NamespaceCluster, folder: Path, start: Start, tmp_path: Path
) -> None:
    one = start(STAYS)
    said(one)
    shown: list[str] = []

    def show(_done: float, _of: float, what: str) -> None:
        shown.append(what)
        raise KeyboardInterrupt

    waiting = Measurement("A7", cluster, tmp_path, progress=show)
    with pytest.raises(KeyboardInterrupt), waiting:
        pytest.fail("both measure")
    assert shown[0].startswith("You are number 1 in line for this machine")
    assert len(queue.places(folder)) == 1
    with Measurement("A7", cluster, tmp_path, timed=False):
        pass  # it does not wait: nothing is timed
    with cluster.holding("a test"):
        pass  # nor is the cluster held any more


def test_a_busy_machine_is_reported_before_anything_is_measured_and_waited_for_if_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(host_state, "running", lambda: {"firefox": 0.91})
    monkeypatch.setattr(machine_queue, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(Nodeless, "can", Abilities(one_machine=True))
    looks: list[list[str]] = []
    monkeypatch.setattr(host_state, "busy", lambda _: looks.pop() if looks else [])
    for when, left in (("now", 2), ("quiet", 0)):
        looks[:], shown = [["the load is 3.0"]] * 3, list[str]()
        with machine_queue.joined(Nodeless(folder), shown.append, when):
            assert len(looks) == left
        said = capsys.readouterr().err
        assert f"busy: the load is 3.0. Cores in use now: firefox 0.9. {THEN[when]}" in said
        assert shown == [THEN[when]] * (when == "quiet")


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook's cell shows, one after the other; the browser needs no time for it."""
    shown: list[str] = []
    output = SimpleNamespace(update=lambda page, raw=False: shown.append(page))
    monkeypatch.setattr(display, "HTML", lambda text: text)
    monkeypatch.setattr(display, "display", lambda *_, **__: output)
    for pause_s in ("EVERY_S", "REST_S", "TIMES"):
        monkeypatch.setattr(progress, pause_s, 0.0)
    return shown


def test_a_cell_draws_between_launches_and_keeps_its_figure_where_the_next_one_fails(
    cell: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launch(*_: object, output: Callable[[str], None], **__: object) -> object:
        cell.append("a launch begins")
        output('{"kind": "sample", "quantity": "a_s", "seconds": 1, "repetitions": 1}\n')
        output('{"kind": "end"}\n')
        cell.append("and ends")
        return subprocess.CompletedProcess([], 0)

    def draw(record: Record) -> Any:
        launches = len(record.points)
        if launches == 2:
            raise ValueError("Its samples are too few.")
        if launches == 3:  # the next drawing would come too soon
            monkeypatch.setattr(progress, "EVERY_S", 1e9)
        axes = SimpleNamespace(has_data=lambda: True)
        drawing = SimpleNamespace(axes=[axes])
        return SimpleNamespace(drawing=drawing, _repr_mimebundle_=lambda: f"figure {launches}")

    monkeypatch.setattr(mpi, "launch", launch)
    shows = progress.InCell("a study", draw)
    with Measurement("A7", Nodeless(tmp_path), tmp_path, progress=shows) as measurement:
        for number in range(4):
            measurement.launch(Path(__file__), 2, launch=number)
    run = ["a launch begins", "and ends"]
    expected = [*run, "figure 1", *run, *run, "figure 3", *run, ""]
    assert [each for each in cell if "<progress" not in each] == expected


def test_what_was_waited_for_does_not_count_in_the_time_that_is_left(
    cell: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1000.0, 1010.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock, 1010.0))
    report = progress.InCell("a study")
    report(0, 2, "You are number 1 in line")
    report(1, 2, "a study")
    assert "10 s left" in cell[1]


def test_a_sentence_beside_a_result_does_not_look_like_a_failure_in_a_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert aside() is sys.stderr
    monkeypatch.setattr("IPython.core.getipython.get_ipython", type("ZMQInteractiveShell", (), {}))
    assert aside() is sys.stdout
