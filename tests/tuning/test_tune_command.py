"""Does `beowulf tune` put back what it changed, whatever happens in between, and does it say so in sentences?"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import typer
from running import PATIENCE_S, Beowulf, first
from tune_in_process import rules, set_, tune

from beowulf.cli import tune_trial
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point
from beowulf.tuning import log, trial
from beowulf.tuning.ab_comparison import compared
from beowulf.tuning.knobs import find

pytestmark = pytest.mark.cluster

# Puts a firewall on both nodes and is killed: before anything is changed, between the nodes, or after.
KILLED = """
import os, signal, sys, threading
from beowulf.cluster import running
from beowulf.tuning import change, knob_places
from beowulf.tuning.knobs import find

turn, first = knob_places.turn, threading.Lock()

def killed(cluster, knob, lines):
    first.acquire()  # nodes are put back beside each other
    some = {"before": 0, "between": 1, "after": 2}[sys.argv[1]]
    turn(cluster, knob, dict(list(lines.items())[:some]))
    os.kill(os.getpid(), signal.SIGKILL)

knob_places.turn = killed
with change.changing(running(), [(find("firewall"), "100")]) as changes:
    changes(True)
"""


def killed(learner: Beowulf, when: str, script: str = KILLED) -> None:
    learner.python(script.replace("sys.argv[1]", repr(when)), code=-9)


@pytest.mark.parametrize(
    ("when", "left"),
    first(1, [("between", ["100", "none"]), ("before", ["none", "none"])]),
)
def test_what_a_killed_trial_left_is_put_back(learner: Beowulf, when: str, left: list[str]) -> None:
    killed(learner, when)
    assert rules(learner) == left
    assert tune(learner, "revert") == "Undone: firewall 100.\n"
    assert rules(learner) == ["none", "none"]
    assert tune(learner, "revert") == "There was nothing to undo.\n"


def test_the_next_change_begins_where_a_killed_one_began_and_one_killed_while_put_back_is_put_back(
    learner: Beowulf,
) -> None:
    killed(learner, "between")
    tune(learner, "apply", "firewall", "10", "--unmeasured")
    assert rules(learner) == ["10", "10"]
    entry = log.of_cluster(learner.cluster).open()[-1]
    assert [was.value for was in entry.before.values()] == ["none", "none"]
    set_(learner, "firewall", "100")
    script = KILLED.partition("with change")[0] + (
        "cluster = running()\nits = change.log.of_cluster(cluster)\n"
        "change.put_all_back(cluster, its, its.open())\n"
    )
    killed(learner, "between", script)
    assert sorted(rules(learner)) == ["10", "100"]
    tune(learner, "revert")
    assert rules(learner) == ["none", "none"]


def test_a_line_of_the_log_that_was_cut_off_loses_no_other(learner: Beowulf) -> None:
    set_(learner, "firewall", "10")
    its_log = log.of_cluster(learner.cluster)
    known = its_log.entries()
    with its_log.file.open("a") as file:
        file.write('{"what": "change", "number": 99, "kno')
    assert its_log.entries() == known
    set_(learner, "firewall", "100")
    assert [entry.value for entry in its_log.open()] == ["10", "100"]
    tune(learner, "revert")
    assert rules(learner) == ["none", "none"]
    assert its_log.open() == []


def test_nothing_is_changed_that_cannot_be_written_down(learner: Beowulf, tmp_path: Path) -> None:
    file = log.of_cluster(learner.cluster).file
    aside = file.rename(tmp_path / file.name)
    file.mkdir()
    try:
        said = learner("tune", "apply", "firewall", "10", "--unmeasured", code=1)
        assert "tuned.jsonl: Is a directory." in said
        assert rules(learner) == ["none", "none"]
    finally:
        file.rmdir()
        aside.rename(file)


@pytest.mark.nightly
def test_a_trial_is_measured_and_put_back_where_nobody_can_be_asked(learner: Beowulf) -> None:
    words = ("tune", "apply", "firewall", "1000", "--quick", "--json")
    with learner.start(*words) as trial_:
        # A hundred and sixty samples on a machine that may have other things to do.
        printed, _ = trial_.communicate(timeout=240)
    assert trial_.returncode == 0, printed
    said = json.loads(printed[printed.index("{") :])  # A busy machine is reported above it.
    assert said["knobs"] == {"firewall": "1000"}
    assert said["fate"] == "put back"
    assert said["ratio"]["low"] <= said["ratio"]["median"] <= said["ratio"]["high"]
    assert rules(learner) == ["none", "none"]
    assert list((learner.here / "records").glob("E7-tune-firewall-*.json"))


@pytest.mark.parametrize(
    ("words", "fate", "left"),
    [(("--keep",), "kept", "100"), ((), "put back", "none")],
    ids=["keep", "nobody to ask"],
)
def test_what_is_kept_after_a_trial_is_on_every_node_and_else_it_is_put_back(
    learner: Beowulf, monkeypatch: pytest.MonkeyPatch, words: tuple[str], fate: str, left: str
) -> None:
    """The measurement is replaced: that a change is measured, the test above shows."""
    points = [Point({}, HALF, [4.0, 4.1] * 4, {"visit": v}) for v in ([0, 3] * 4, [1, 2] * 4)]
    monkeypatch.setattr(trial, "measure", lambda *_, **__: compared(*points))
    where = ("--records", str(learner.here))
    said = json.loads(tune(learner, "apply", "firewall", "100", "--json", *where, *words))
    assert said["fate"] == fate
    assert rules(learner) == [left, left]
    tune(learner, "revert")
    assert rules(learner) == ["none", "none"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("apply", "firewal"), 2, "There is no knob 'firewal'. The knobs are: moderation"),
        (("apply", "moderation", "99999"), 2, "from 0 to 10,000 microseconds, not '99999'"),
        (("apply", "tcp-low-latency", "1"), 2, "/proc/sys/net/ipv4/tcp_low_latency"),
        (("apply", "firewall", "10", "--keep", "--revert"), 2, "cannot be combined"),
        (("apply", "firewall"), 0, "firewall is none already; nothing was changed."),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_changes_nothing(
    learner: Beowulf, words: tuple[str, ...], code: int, sentence: str
) -> None:
    before = log.of_cluster(learner.cluster).entries()
    assert sentence in " ".join(tune(learner, *words, code=code).split())
    assert log.of_cluster(learner.cluster).entries() == before
    assert not (learner.here / "state-tuned.jsonl").exists()


def test_a_person_who_says_no_has_changed_nothing(
    learner: Beowulf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal, what belongs to the machine is shown first and asked about."""
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(tune_trial, "at_terminal", lambda: True)
    monkeypatch.setattr(typer, "confirm", no)
    with pytest.raises(typer.Exit):
        tune_trial.allow(find("tcp-low-latency"), "1", True)
    assert asked == ["Run them?"]
    assert not (learner.here / "state-tuned.jsonl").exists()


def test_without_a_cluster_that_is_reported(tmp_path: Path) -> None:
    nobody = Beowulf(tmp_path / "none", tmp_path)
    assert "No cluster is running." in tune(nobody, "apply", "firewall", "10", code=1)
    assert tune(nobody, "revert") == "There was nothing to undo.\n"
    assert "Paper E" in tune(nobody, "show", "moderation")


# A machine with a switch of its own, as mounts hide the real one.
SWITCH = """
cd /proc/sys/net/ipv4
mount -t tmpfs tmpfs .
cd /proc/sys/net/ipv4
echo 0 >tcp_low_latency
"$@" tune apply tcp-low-latency 1 --host --unmeasured </dev/null
cat tcp_low_latency
"$@" tune revert
cat tcp_low_latency
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may turn what belongs to the machine")
def test_a_knob_of_this_machine_is_turned_with_host_and_put_back(learner: Beowulf) -> None:
    words = ["unshare", "--mount", "bash", "--norc", "-ec", SWITCH, "switch"]
    done = subprocess.run(
        [*words, *learner.command],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=learner.environment,
        cwd=learner.here,
    )
    assert done.returncode == 0, done.stderr
    assert (
        "These lines are run on this machine:\nfor file in /proc/sys/net/ipv4/tcp_low_latency"
        in done.stderr
    )
    lines = done.stdout.splitlines()
    assert lines[1:] == ["1", "Undone: tcp-low-latency 1.", "0"]
