"""Are knobs of machines that are really apart shown before they are turned, written down, and put back on every one?

The PCs are namespaces, each with a root file system, a card and an sshd of its own (tests/simulated_pcs.py).
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Iterator

import pytest
from running import PATIENCE_S, Beowulf, first, wait_until

from beowulf.cluster.machines import cluster as ssh
from beowulf.tuning import log
from beowulf.tuning.knobs import find
from beowulf.tuning.log import Log
from tests.simulated_pcs import Hall, hall, learner_at

pytestmark = pytest.mark.cluster
FILTERED = ("tune", "apply", "firewall", "10", "--unmeasured")
NFT_OWN = "nft list ruleset"


@pytest.fixture(scope="module")
def pcs(namespaces_work: None) -> Iterator[Hall]:
    with hall() as found:
        yield found


@pytest.fixture(scope="module")
def learner(pcs: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beowulf]:
    here = tmp_path_factory.mktemp("l")
    with learner_at(pcs, here) as found:
        # Nobody has set the PCs up, which their knobs do not need.
        found("up", "--target", pcs.inventory(here / "pcs.yml"), code=1)
        yield found
        found("tune", "revert", code=None)


def rules(pcs: Hall) -> list[int]:
    """How many rules each PC has."""
    return [pcs.at(name, NFT_OWN).count(" drop\n") for name in pcs.names]


def its_log(learner: Beowulf) -> Log:
    cluster = ssh.running(learner.state)
    assert cluster
    return log.of_cluster(cluster)


def test_every_change_on_every_node_is_shown_once_and_put_back_and_what_a_script_reads_stays_plain(
    pcs: Hall, learner: Beowulf
) -> None:
    done = subprocess.run(
        learner.words(*FILTERED, "--json"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=learner.environment,
        timeout=PATIENCE_S,
    )
    assert json.loads(done.stdout)["fate"] == "kept"
    where = ", ".join(pcs.names)
    shown = f"{where}: firewall from none to 10\n    nft -f - <<'RULES'\n"
    assert done.stderr.count(shown) == 1
    assert rules(pcs) == [10] * 4
    assert f"{where}: firewall none\n" in learner("tune", "revert")
    assert rules(pcs) == [0] * 4
    # What differs from node to node is shown separately.
    for name, value in (("node02", "10"), ("node03", "100")):
        pcs.at(name, find("firewall").set(value, name))
    said = learner(*FILTERED)
    assert "node00, node01: firewall from none to 10" in said
    assert "node03: firewall from 100 to 10" in said
    assert "node02" not in said
    learner("tune", "revert")
    assert rules(pcs) == [0, 0, 10, 100]
    for name in ("node02", "node03"):
        pcs.at(name, "nft flush ruleset")


# Ends where the changes are shown, or as soon as a machine is about to be changed.
ENDED = """
import os, signal
from beowulf.cluster import running
from beowulf.tuning import change, knob_places
from beowulf.tuning.knobs import find

def end(*_):
    os.kill(os.getpid(), signal.SIGKILL)

{replaced}
with change.changing(running(), [(find("firewall"), "10")], agree={agree}) as changes:
    changes(True)
"""


# Some of the machines are turned, then beowulf is killed.
KILLED = """
turn = knob_places.turn

def some(cluster, knob, lines):
    turn(cluster, knob, dict(list(lines.items())[:2]))
    end()

knob_places.turn = some
"""


def test_what_is_shown_has_not_been_done_and_what_is_begun_is_written_down_and_put_back(
    pcs: Hall, learner: Beowulf
) -> None:
    known = its_log(learner).entries()
    learner.python(ENDED.format(replaced="", agree="end"), code=-9)
    assert its_log(learner).entries() == known
    assert rules(pcs) == [0] * 4
    learner.python(ENDED.format(replaced=KILLED, agree="print"), code=-9)
    (entry,) = its_log(learner).open()
    assert {was.value for was in entry.before.values()} == {"none"}
    assert list(entry.before) == list(pcs.names)
    assert rules(pcs) == [10, 10, 0, 0]
    assert "Put back, left by a trial: firewall." in learner("up", code=1)
    assert rules(pcs) == [0] * 4


@pytest.mark.parametrize(("answer", "left"), first(1, [("n", 0), ("y", 10)]))
def test_at_a_terminal_somebody_is_asked_before_anything_is_changed(
    pcs: Hall, learner: Beowulf, answer: str, left: int
) -> None:
    known = len(its_log(learner).entries())
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            learner.words(*FILTERED),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=learner.environment,
        ) as asked:
            os.close(theirs)
            said = ""
            while "Change that?" not in said:
                said += os.read(ours, 4096).decode()
            assert "firewall from none to 10" in said
            assert rules(pcs) == [0] * 4
            assert len(its_log(learner).entries()) == known
            os.write(ours, f"{answer}\n".encode())
            wait_until(lambda: asked.poll() is not None, "the command has ended")
            assert asked.returncode == (0 if answer == "y" else 1)
    finally:
        os.close(ours)
    assert rules(pcs) == [left] * 4
    assert len(its_log(learner).entries()) == known + (answer == "y")
    learner("tune", "revert")


@pytest.mark.nightly
def test_a_node_that_goes_away_is_put_back_when_it_returns(pcs: Hall, learner: Beowulf) -> None:
    pcs.at("node02", "nft add table ip own")
    learner("tune", "apply", "firewall", "10", "--unmeasured")
    pcs.unplug("node02")
    try:
        said = learner("tune", "revert")
        assert "node02 does not answer: `beowulf up` puts it back as soon as it does." in said
        assert [pcs.at(name, NFT_OWN) for name in ("node00", "node01", "node03")] == [""] * 3
        assert "203.0.113" in pcs.at("node02", NFT_OWN)
        rows = json.loads(learner("status", "--json", code=1))
        assert rows["to_be_put_back"] == {"node02": ["firewall"]}
        said = learner("up", code=1)
        assert "node02 does not answer" in said
        assert "Still to be put back, when it answers: node02." in said
        said = learner("down", code=1)
        assert "node02 still has changed settings (firewall)" in said
    finally:
        pcs.plug("node02")
    assert "Put back, as `beowulf tune revert` was to: firewall." in learner("up", code=1)
    # Exactly what was there before: what was set up there by hand, too.
    assert pcs.at("node02", NFT_OWN).split() == ["table", "ip", "own", "{", "}"]
    pcs.at("node02", "nft delete table ip own")
    assert its_log(learner).open() == []
    assert json.loads(learner("status", "--json"))["to_be_put_back"] == {}


@pytest.mark.nightly
def test_another_target_is_not_taken_while_the_first_ones_machines_are_changed(
    pcs: Hall, learner: Beowulf
) -> None:
    learner(*FILTERED)
    others = pcs.inventory(learner.here / "others.yml")
    said = learner("up", "--target", others, code=1)
    assert "node00, node01, node02, node03 still have changed settings (firewall)" in said
    learner("tune", "revert")
    learner("up", "--target", others, code=1)
    assert json.loads(learner("status", "--json"))["target"] == str(others)
    learner("up", "--target", learner.here / "pcs.yml", code=1)


# A processor as a PC's own has it: with frequencies to choose and states to sleep in.
PROCESSOR = """
cores=/sys/devices/system/cpu
mkdir -p $cores && mount -t tmpfs tmpfs $cores
mkdir -p $cores/cpu0/cpufreq $cores/cpu0/cpuidle/state0 $cores/cpu0/cpuidle/state1
echo GOVERNOR >$cores/cpu0/cpufreq/scaling_governor
echo 0 | tee $cores/cpu0/cpuidle/state0/disable >$cores/cpu0/cpuidle/state1/disable
"""
SET = "cd /sys/devices/system/cpu/cpu0; cat cpufreq/scaling_governor cpuidle/state?/disable"


def test_a_machines_own_knobs_are_each_pcs_and_need_no_leave_for_this_one(
    pcs: Hall, learner: Beowulf
) -> None:
    for name in pcs.names:
        governor = "ondemand" if name == "node03" else "powersave"
        pcs.at(name, PROCESSOR.replace("GOVERNOR", governor))
    try:
        assert "DIFFERS: powersave, but node03 ondemand" in learner("tune", "show", "governor")
        said = learner("tune", "apply", "governor", "--unmeasured")
        assert "node03: governor from ondemand to performance" in said
        learner("tune", "apply", "idle-states", "--unmeasured")
        assert [pcs.at(name, SET).split() for name in pcs.names] == [["performance", "0", "1"]] * 4
        assert not (learner.here / "s-tuned.jsonl").exists()  # the log of this machine itself
        learner("tune", "revert")
        first, last = ["powersave", "0", "0"], ["ondemand", "0", "0"]
        assert [pcs.at(name, SET).split() for name in pcs.names] == [*[first] * 3, last]
    finally:
        for name in pcs.names:
            pcs.at(name, "umount /sys/devices/system/cpu")


def test_what_pcs_do_not_have_is_not_turned_on_them(learner: Beowulf) -> None:
    said = learner("tune", "apply", "cpu-share", "50", "--unmeasured", code=1)
    assert "not observable here: only nodes of this machine have it" in said


@pytest.mark.nightly
def test_who_may_not_become_root_is_named_and_nothing_is_changed(
    pcs: Hall, learner: Beowulf
) -> None:
    refused = f"ansible_host: {pcs.address('node02')}, ansible_user: ada"
    learner("up", "--target", pcs.inventory(learner.here / "ada.yml", node02=refused), code=1)
    try:
        known = its_log(learner).entries()
        said = learner(*FILTERED, code=1)
        assert "ada may not become root on node02 without a password" in said
        assert rules(pcs) == [0] * 4
        assert its_log(learner).entries() == known
    finally:
        learner("up", "--target", learner.here / "pcs.yml", code=1)
