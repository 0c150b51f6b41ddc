"""Is a cluster that is measured left alone, and are others given a sentence that says by whom it is held?"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from running import PATIENCE_S, Beowulf, first, next_line
from tiny_study import paused

from beowulf import paths
from beowulf.cluster import state
from beowulf.cluster.holding import lock, queue
from beowulf.errors import LabError
from beowulf.record import Record, newest
from beowulf.this_machine import user

PYTHON = str(paths.python_bin() / "python")
# Holds the folder of the first argument, says so, and goes on until its input ends; `end` is what ended it.
HOLDS = """
import subprocess, sys, time
from pathlib import Path
from beowulf.cluster.holding import lock
from beowulf.errors import LabError
try:
    with lock.held(Path(sys.argv[1]), "study A6"):
        child = subprocess.Popen(["sleep", "3600"]) if "child" in sys.argv else None
        print("held", child.pid if child else 0, flush=True)
        try:
            time.sleep(3600)
        except lock.Ended as end:
            print(end, flush=True)
except LabError as error:
    print(error, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that remembers a cluster, as far as a lock asks."""
    (tmp_path / state.CLUSTER).write_text("{}")
    return tmp_path


def holds(folder: Path, ends: ExitStack, *words: str) -> subprocess.Popen[str]:
    """Another process that holds the cluster."""
    process = subprocess.Popen(
        [PYTHON, "-c", HOLDS, str(folder), *words], stdout=subprocess.PIPE, text=True
    )
    ends.callback(process.wait, PATIENCE_S)
    ends.callback(process.kill)
    return process


def test_the_second_comer_reads_who_holds_it_since_when_and_for_what(
    folder: Path, ends: ExitStack
) -> None:
    first = holds(folder, ends)
    assert next_line(first) == "held 0"
    with pytest.raises(lock.LockedError) as refused, lock.held(folder, "study E1"):
        pytest.fail("both hold it")
    said = str(refused.value)
    assert f"in use by {user.name()} since " in said
    assert "for study A6, which measures or waits for its turn" in said
    assert "--wait" in said
    with pytest.raises(lock.LockedError, match="--force"), lock.changing(folder, "beowulf up"):
        pytest.fail("it was changed")


@pytest.mark.parametrize("words", [(), ("child",)], ids=["alone", "with a child that lives on"])
def test_a_lock_ends_with_its_process_however_it_ends(
    folder: Path, ends: ExitStack, words: tuple[str, ...]
) -> None:
    first = holds(folder, ends, *words)
    child = int(next_line(first).split()[1])
    if child:
        ends.callback(os.kill, child, signal.SIGKILL)
    assert lock.holder(folder)
    [place] = queue.places(folder / state.HELD)
    assert place.facts["pid"] == first.pid
    first.kill()
    first.wait(PATIENCE_S)
    assert place.file.exists(), "it left its place"
    assert lock.holder(folder) is None
    with lock.held(folder, "study E1"):
        assert queue.places(folder / state.HELD)[0].facts["doing"] == "study E1"


def test_the_one_who_waits_gets_it_when_the_first_is_done(folder: Path, ends: ExitStack) -> None:
    first = holds(folder, ends)
    next_line(first)
    said: list[str] = []

    def report(sentence: str) -> None:
        said.append(sentence)
        first.kill()

    with lock.held(folder, "study E1", wait=True, report=report):
        first.wait(PATIENCE_S)
    assert len(said) == 1
    assert "for study A6" in said[0]
    assert "Waiting until that is done" in said[0]


def test_a_process_may_hold_it_twice_and_change_what_it_measures(folder: Path) -> None:
    with lock.held(folder, "study A6"):
        with lock.held(folder, "study E1"), lock.changing(folder, "beowulf up"):
            assert lock.holder(folder) is None, "nobody else does"
        [place] = queue.places(folder / state.HELD)
        assert place.facts["doing"] == "study A6"
    assert not queue.places(folder / state.HELD)


def test_a_measurement_is_ended_with_the_command_that_ends_it(
    folder: Path, ends: ExitStack
) -> None:
    first = holds(folder, ends)
    next_line(first)
    lock.end(folder, "beowulf down --force")
    assert lock.holder(folder) is None
    assert "ended by `beowulf down --force`" in next_line(first)
    assert first.wait(PATIENCE_S) == 0


def test_a_signal_that_comes_late_does_no_harm(folder: Path) -> None:
    with lock.held(folder, "study A6"):
        pass
    os.kill(os.getpid(), lock.ENDS)
    with lock.held(folder, "study A6"):
        os.kill(os.getpid(), lock.ENDS)  # nobody has asked for it


def interrupted_after(call: int) -> Callable[[FrameType, str, Any], None]:
    """A profile function that is Ctrl-C after the given call, from 1, in what takes and gives back a cluster.

    Python looks for signals when a function begins and when one written in C has returned.
    """
    seen = 0

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal seen
        if frame.f_code.co_filename in (state.__file__, queue.__file__, lock.__file__):
            seen += event in ("call", "c_return")
            if seen == call:
                seen += 1
                raise KeyboardInterrupt

    return profile


def test_ctrl_c_at_any_moment_leaves_no_lock_that_its_own_process_waits_for(folder: Path) -> None:
    for call in range(1, 1000):
        sys.setprofile(interrupted_after(call))
        try:
            with lock.held(folder, "study A6"):
                sys.setprofile(None)
        except KeyboardInterrupt:  # here, where `down` runs, its traceback still has what was torn
            sys.setprofile(None)
            its_queue = folder / state.HELD
            assert not queue.places(its_queue) or its_queue in queue.mine
            handle = os.open(folder, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(handle)
            if lost := queue.mine.pop(its_queue, None):
                lost.file.close()
        else:
            break
    assert call > 30


def test_without_a_cluster_nothing_is_held_and_nothing_left_behind(tmp_path: Path) -> None:
    with pytest.raises(state.GoneError), lock.held(tmp_path, "study A6"):
        pytest.fail("there is no cluster")
    with lock.changing(tmp_path, "beowulf up"):
        pass
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(state.GoneError), lock.held(tmp_path / "none", "study A6"):
        pytest.fail("there is no folder")


def test_a_cluster_whose_change_was_cut_short_is_not_measured(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt), state.unfinished(folder):
        raise KeyboardInterrupt
    with pytest.raises(LabError, match=r"cut short.*`beowulf up`"), lock.held(folder, "study A6"):
        pytest.fail("it was measured")
    with lock.changing(folder, "beowulf up"), state.unfinished(folder):
        pass
    with lock.held(folder, "study A6"):
        pass


# On a cluster


def record(learner: Beowulf) -> Record:
    found = newest(learner.here / "records", "X1")
    assert found
    return found


@pytest.mark.cluster
def test_a_cluster_that_is_measured_is_not_changed_without_force(beowulf: Beowulf) -> None:
    beowulf("up", "--nodes", "2")
    study = paused(beowulf, "between")
    for words in (
        ("up", "--rate", "10mbit"),
        ("down",),
        ("break", "a"),
        ("tune", "apply", "firewall", "100", "--unmeasured"),
        ("validate",),
    ):
        said = beowulf(*words, code=1)
        assert "The cluster has been in use by" in said
        assert "study X1" in said
    assert "nothing was changed" in beowulf("up")
    said = study.communicate("\n", timeout=PATIENCE_S)[0]
    assert study.returncode == 0, said
    assert record(beowulf).complete
    assert not [said for said in record(beowulf).warnings if "changed" in said]
    beowulf("up", "--rate", "10mbit")


@pytest.mark.cluster
def test_force_ends_the_study_which_keeps_what_it_has_and_says_why(beowulf: Beowulf) -> None:
    beowulf("up", "--nodes", "2")
    study = paused(beowulf, "entered")
    beowulf("up", "--rate", "10mbit", "--force")
    said = study.communicate(timeout=PATIENCE_S)[0]
    assert "ended by `beowulf up --force`; nothing had been measured yet" in said
    assert newest(beowulf.here / "records", "X1") is None
    study = paused(beowulf, "between")
    beowulf("down", "--force")
    study.communicate(timeout=PATIENCE_S)
    found = record(beowulf)
    assert not found.complete
    assert {point.at["launch"] for point in found.points} == {0}
    assert any("ended by `beowulf down --force`" in each for each in found.warnings)
    assert not beowulf.state.exists()


@pytest.mark.cluster
@pytest.mark.parametrize("phase", first(1, ["between", "entered", "last"]))
def test_a_cluster_that_is_taken_away_is_named_as_that(beowulf: Beowulf, phase: str) -> None:
    beowulf("up", "--nodes", "2")
    study = paused(beowulf, phase)
    beowulf.cluster.supervisor.process.kill()  # as a machine that is out of memory would
    said = study.communicate("\n", timeout=PATIENCE_S)[0]
    assert "The cluster was taken down while X1 was being measured" in said
    assert "Unknown error class" not in said
    found = newest(beowulf.here / "records", "X1")
    assert (found is None) == (phase == "entered")
    assert not found or not found.complete


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("change", "sentence"),
    first(
        1,
        [
            ("tc qdisc del dev eth0 root", "the queue of eth0 on node01 was tbf rate 100Mbit"),
            ("ip link set eth0 mtu 1400", "the MTU of eth0 on node01 was 1500 and is 1400"),
            ("ethtool -K eth0 gro on", "the offloads of eth0 on node01 was off and is generic"),
        ],
    ),
)
def test_a_record_says_what_somebody_changed_by_hand(
    beowulf: Beowulf, change: str, sentence: str
) -> None:
    beowulf("up", "--nodes", "2")
    study = paused(beowulf, "between")
    assert beowulf.cluster.administer("node01", change).returncode == 0
    said = study.communicate("\n", timeout=PATIENCE_S)[0]
    assert study.returncode == 0, said
    found = record(beowulf)
    assert not found.complete
    assert "The cluster was changed while X1 was being measured" in found.warnings[-1]
    assert sentence in found.warnings[-1]
