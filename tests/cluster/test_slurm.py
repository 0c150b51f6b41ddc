"""Does Slurm give nodes to one learner at a time, say who waits where, and take them back, whatever happens?

Slurm's daemons run on four PCs made of namespaces (tests/simulated_pcs.py), where the playbook has set them up. The
learners sit at a login machine of the cluster: one is root, the other is Ada, an ordinary user whom no node lets in
with a key.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from running import Beowulf, wait_until
from school import KEY, School, opened

from beowulf import paths
from beowulf.cluster.slurm import cluster as slurm
from beowulf.cluster.slurm import queue as slurm_queue
from beowulf.cluster.slurm.cluster import Allocation
from beowulf.cluster.slurm.queue import Job
from beowulf.errors import LabError, UsageError

pytestmark = pytest.mark.cluster
LABS = paths.root() / "labs"
HELLO, RING = (LABS / "01-validation" / name for name in ("hello.c", "ring.c"))


# --------------------------------------------------------------- what is said

JOB = Job("7", "RUNNING", "None", "labs", "node[00-03]", 0, 0)
HELD = Allocation("7", 4, 30, "labs", 1)


@pytest.mark.parametrize(
    ("state", "reason", "said"),
    [
        ("idle", "none", ""),
        ("mixed", "", ""),
        ("idle*", "none", "does not answer"),
        ("down", "Not responding", "is down (Not responding)"),
        ("unknown*", "none", "does not answer"),
        ("drained", "bad cable", "is drained (bad cable)"),
        ("draining", "none", "is draining"),
    ],
)
def test_a_node_that_gets_no_job_is_refused_with_the_reason(
    state: str, reason: str, said: str
) -> None:
    assert slurm_queue.unusable(state, reason) == said


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "Unable to contact slurm controller (connect failure)",
            "Slurm's controller does not",
        ),
        ("Required partition not available (inactive or drain)", "The Slurm queue is closed"),
        (
            "Requested time limit is invalid (missing or ...)",
            "Slurm queue allows no job that long.",
        ),
        (
            "Munge encode failed: ...\nsbatch: error: Protocol authentication error",
            "authenticate you",
        ),
        ("something new", "`sbatch` failed: something new"),
    ],
)
def test_what_slurm_says_becomes_a_sentence(said: str, sentence: str) -> None:
    said = f"sbatch: error: {said}"
    assert sentence in slurm_queue.trouble("sbatch", said).message


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (replace(JOB, state="TIMEOUT"), "has reached its time limit of 30 minutes"),
        (
            replace(JOB, state="COMPLETING", reason="TimeLimit"),
            "has reached its time limit of 30 minutes",
        ),
        (None, "has reached its time limit of 30 minutes"),  # its end is long ago
        (replace(JOB, state="CANCELLED"), "was cancelled"),
        (replace(JOB, state="NODE_FAIL"), "A node failed"),
        (replace(JOB, state="COMPLETED"), "has ended"),
        (replace(JOB, state="PENDING"), "is still waiting"),
    ],
)
def test_how_an_allocation_ended_is_reported_in_a_sentence(job: Job | None, said: str) -> None:
    found = slurm.ended(HELD, job)
    assert said in found.message
    assert "job 7" in found.message
    assert "`beowulf up" in found.hint


@pytest.mark.parametrize(
    ("longest", "minutes"),
    [("30:00", 30), ("2:00:00", 120), ("2-12:30:00", 3630), ("infinite", float("inf"))],
)
def test_the_longest_time_of_a_queue_is_read_in_minutes(longest: str, minutes: float) -> None:
    assert slurm_queue.Queue("labs", "up", longest).minutes == minutes


def test_without_slurm_a_sentence_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm_queue, "surroundings", lambda: {"PATH": str(tmp_path)})
    monkeypatch.setattr(os, "environ", {**os.environ, "PATH": str(tmp_path)})
    with pytest.raises(LabError, match="Slurm is not installed here: there is no sinfo"):
        slurm.up(None, None, print, tmp_path / "s")
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(("nodes", "minutes"), [(0, None), (65, None), (None, 0), (None, 10**6)])
def test_no_nodes_and_no_time_are_refused_before_anybody_is_asked(
    nodes: int | None, minutes: int | None, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="1 to 64 nodes"):
        slurm.up(nodes, minutes, print, tmp_path / "s")


PLUGIN = paths.root() / "cluster_setup" / "filter_plugins" / "slurm.py"
FILTERS = SimpleNamespace(**runpy.run_path(str(PLUGIN)))
ADDRESSES = {"node00": "10.0.0.1", "node01": "10.0.0.2", "node02": "10.0.0.3"}


def test_a_node_that_is_off_stays_in_slurms_settings_as_it_was() -> None:
    kept = "NodeName=node01 NodeAddr=10.0.0.2 CPUs=8\nNodeName=gone NodeAddr=10.0.0.9 CPUs=1\n"
    machines = [
        {"inventory_hostname": "node00", "slurm_here": {"cores": 4, "settings": kept}},
        {"inventory_hostname": "node02"},
    ]
    assert FILTERS.beowulf_slurm_nodes(machines, list(ADDRESSES), ADDRESSES).splitlines() == [
        "NodeName=node00 NodeAddr=10.0.0.1 CPUs=4",
        "NodeName=node01 NodeAddr=10.0.0.2 CPUs=8",
    ]


def test_a_machine_of_another_slurm_and_one_without_its_master_are_reported() -> None:
    ours, other = f"{FILTERS.MARK}: whole nodes\n", "ClusterName=big\n"
    assert not FILTERS.beowulf_no_slurm({"settings": ours}, "node00", ["node00", "node01"])
    assert not FILTERS.beowulf_no_slurm({"settings": ""}, "node00", ["node00"])
    assert "another Slurm" in FILTERS.beowulf_no_slurm({"settings": other}, "node00", ["node00"])
    assert "node00, which holds" in FILTERS.beowulf_no_slurm({"settings": ""}, "node00", ["node01"])


def test_a_class_has_the_same_numbers_everywhere() -> None:
    master = {"class": {"ab12": 1001, "cd34": 1002}}
    assert FILTERS.beowulf_accounts({"accounts": {"cd34": 1002}}, master) == {"ab12": 1001}


def test_a_capture_leaves_out_sruns_ports_and_none_that_a_program_may_get() -> None:
    """Where both overlap, now and then a connection of MPI is missing in a capture."""
    settings = paths.root() / "cluster_setup" / "roles" / "slurm" / "templates" / "slurm.conf.j2"
    first = re.search(r"SrunPortRange=(\d+)-(\d+)", settings.read_text())
    assert first
    assert f"not tcp portrange {first[1]}-{first[2]}" in slurm.SlurmCluster.own_packets
    last = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[1]
    assert int(last) < int(first[1])


# --------------------------------------------------------------- with its daemons


@pytest.fixture(scope="module")
def school(namespaces_work: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    with opened(tmp_path_factory.mktemp("l")) as found:
        yield found


@pytest.fixture
def queue(school: School) -> Iterator[School]:
    """The school with nobody in the queue, before and after."""
    wait_until(school.rested, "all nodes are free")
    yield school
    for learner in (school.root, school.ada):
        learner("down", code=None)
    school.manage("scontrol update PartitionName=labs State=UP")
    school.manage("scancel --quiet --user=root; scancel --quiet --user=ada")


def _line(process: subprocess.Popen[str], word: str) -> str:
    """The next line that a process prints with a word in it."""
    assert process.stdout
    said = ""
    for line in process.stdout:
        said += line
        if word in line:
            return line
    raise AssertionError(f"no {word!r} in:\n{said}")


def _ended(process: subprocess.Popen[str]) -> str:
    said = process.communicate(timeout=240)[0]
    assert "Traceback" not in said, said
    return said


@pytest.mark.nightly
def test_the_queue_is_set_up_once(queue: School) -> None:
    assert queue.first.count("start Slurm") >= len(queue.pcs.names)
    keys = {queue.pcs.at(name, KEY) for name in queue.pcs.names}
    assert len(keys) == 1
    assert keys != {queue.image_key}  # what came with an image is no secret
    assert queue.pcs.at("node01", "stat -c %a:%U /etc/munge/munge.key").strip() == "600:munge"
    assert queue.pcs.at("node01", "pgrep -x slurmctld", code=1) == ""
    said = queue.root("setup", queue.inventory)
    assert [f"{name}: nothing to do" for name in queue.pcs.names] == said.splitlines()[:4]


@pytest.mark.nightly
def test_an_ordinary_user_without_a_key_has_the_nodes_alone_and_mpi_on_them(queue: School) -> None:
    said = queue.ada("up", "--target", "slurm", "--minutes", "20")
    assert "4 nodes are yours alone: node00, node01, node02, node03." in said
    assert "The time limit of 20 minutes is reached at" in said
    facts = json.loads(queue.ada("status", "--json"))
    assert [row["state"] for row in facts["nodes"]] == ["up"] * 4
    assert 0 < facts["left_s"] <= 20 * 60
    assert "of 20 minutes left" in queue.ada("status")
    said = queue.ada("ssh", "node02", "hostname; id -un; pwd; echo trouble >&2; exit 3", code=3)
    assert said.split() == ["node02", "ada", "/home/ada", "trouble"]
    shutil.copy(HELLO, queue.ada.here)
    shutil.copy(RING, queue.ada.here)
    shutil.copytree(LABS / "include", queue.ada.here.parent / "include", dirs_exist_ok=True)
    said = queue.ada("run", "-n", "4", queue.ada.here / "hello.c")
    assert sorted(said.splitlines()) == [f"rank {n} of 4 on node0{n}" for n in range(4)]
    assert "the token came home after 4 hops" in queue.ada(
        "run", "-n", "4", queue.ada.here / "ring.c"
    )
    # Asked again, it is the same allocation, and no other while it lasts.
    job = facts["job"]
    queue.ada("up")
    assert json.loads(queue.ada("status", "--json"))["job"] == job
    assert "already" in queue.ada("up", "--nodes", "2", code=2)
    assert "given back" in queue.ada("down")
    assert not queue.ada.state.exists()
    wait_until(queue.rested, "the nodes are free again")


@pytest.mark.nightly
def test_one_waits_for_the_other_and_hears_at_which_place(queue: School, tmp_path: Path) -> None:
    queue.root("up", "--target", "slurm")
    third = Beowulf(tmp_path / "s", tmp_path, queue.pcs.enter)
    third.environment["SLURM_CONF"] = queue.root.environment["SLURM_CONF"]
    waiting = queue.ada.start("up", "--target", "slurm", "--nodes", "3")
    try:
        assert "number 1 of 1 in the queue labs" in _line(waiting, "number")
        behind = third.start("up", "--target", "slurm")
        try:
            assert "number 2 of 2" in _line(behind, "number")
            # A command meanwhile says so too, and how to get out of it.
            assert "number 1 of 2" in queue.ada("status", code=1)
            assert "is still waiting" in queue.ada("run", "-n", "2", HELLO, code=1)
            behind.send_signal(signal.SIGINT)
            assert "stopped" in _ended(behind)
            assert queue.jobs().count("PENDING") == 1
            assert not third.state.exists()
        finally:
            behind.kill()
        assert "given back" in queue.root("down")
        said = _ended(waiting)
        assert "3 nodes are yours alone" in said
        assert waiting.returncode == 0
    finally:
        waiting.kill()
        third("down", code=None)
        third.end()


@pytest.mark.nightly
def test_a_closed_queue_a_node_that_is_kept_back_and_too_long_a_time_are_named(
    queue: School,
) -> None:
    said = queue.root("up", "--target", "slurm", "--minutes", "500", code=1)
    assert "The Slurm queue labs gives at most 120 minutes." in said
    assert not queue.root.state.exists()
    queue.manage("scontrol update PartitionName=labs State=DOWN")
    said = queue.root("up", "--target", "slurm", code=1)
    assert "The Slurm queue labs is closed (down)." in said
    queue.manage("scontrol update PartitionName=labs State=UP")
    queue.manage("scontrol update NodeName=node03 State=DRAIN Reason=cable")
    try:
        said = queue.root("up", "--target", "slurm", code=1)
        assert (
            "has 3 nodes that can be used, but you asked for 4: node03 is drained (cable)" in said
        )
        assert not queue.root.state.exists()
        assert "3 nodes are yours alone" in queue.root("up", "--target", "slurm", "--nodes", "3")
    finally:
        queue.manage("scontrol update NodeName=node03 State=RESUME")
    assert not queue.manage("squeue --noheader --states=PENDING")


@pytest.mark.nightly
def test_the_next_command_says_that_the_allocation_has_ended(queue: School) -> None:
    queue.root("up", "--target", "slurm", "--nodes", "2")
    queue.manage("scancel --user=root")
    wait_until(queue.rested, "the job is gone")
    for words in (("ssh", "node00", "true"), ("run", "-n", "2", str(HELLO)), ("status",)):
        said = queue.root(*words, code=1)
        assert "was cancelled" in said
        assert "`beowulf up --target slurm` asks for nodes again" in said
    assert "2 nodes are yours" in queue.root("up", "--target", "slurm", "--nodes", "2")
    queue.manage("scancel --user=root")
    wait_until(queue.rested, "the job is gone")
    assert "had ended the allocation before" in queue.root("down")


@pytest.mark.nightly
def test_what_runs_on_the_nodes_ends_with_the_allocation(queue: School) -> None:
    queue.root("up", "--target", "slurm", "--nodes", "2")
    sleeping = queue.root.start("ssh", "node01", "exec sleep 3456")
    try:
        look = "pgrep -x -f 'sleep 3456'"
        wait_until(lambda: queue.pcs.at("node01", look, code=None), "the command runs")
        assert "given back" in queue.root("down")
        wait_until(lambda: not queue.pcs.at("node01", look, code=None), "it was ended")
        sleeping.communicate(timeout=240)
    finally:
        sleeping.kill()


@pytest.mark.nightly
def test_packets_are_captured_without_slurms_own(queue: School) -> None:
    queue.root("up", "--target", "slurm")
    words = ("capture", "-o", "ring.pcapng", "--where", "nodes", "-n", "4", "--", RING)
    assert "(0 dropped" in queue.root(*words)
    rows = json.loads(
        queue.root("packets", "ring.pcapng", "--messages", "--json", "--at", "node01")
    )
    assert rows
    ask = ["tshark", "-r", queue.root.here / "ring.pcapng"]
    ask += ["-Y", "tcp.port in {6817, 6818, 61001..63000}"]
    assert not subprocess.run(ask, capture_output=True, text=True, check=True).stdout


@pytest.mark.nightly  # Slurm looks for jobs over their time every half minute, and no limit is below a minute
def test_the_time_limit_ends_the_allocation_and_is_named(queue: School) -> None:
    queue.root("up", "--target", "slurm", "--nodes", "2", "--minutes", "1")
    waiting = queue.ada.start("up", "--target", "slurm")
    try:
        assert "expects its turn at" in _line(waiting, "turn")
        assert "4 nodes are yours alone" in _ended(waiting)
    finally:
        waiting.kill()
    assert "has reached its time limit of 1 minute" in queue.root("status", code=1)


@pytest.mark.nightly
def test_undo_leaves_no_slurm(school: School) -> None:
    """The last test of this file: it takes the queue away."""
    school.root("setup", school.inventory, "--undo")
    for name in school.pcs.names:
        left = school.pcs.at(
            name, "ls -A /etc/slurm /var/lib/slurm; pgrep -l 'slurm|munge'", code=None
        )
        assert "slurm" not in left.replace("/etc/slurm:", "").replace("/var/lib/slurm:", "")
        assert school.pcs.at(name, KEY, code=None) in (school.image_key, "")
