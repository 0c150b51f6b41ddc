"""Does `beowulf up` repair whatever has gone wrong with a running cluster?"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import HOSTNAME, Beowulf, at_switch, first, wait_until

from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError

pytestmark = pytest.mark.cluster

PLAN = ClusterConfig(nodes=2)
# A signal is only the beginning of an end.
# From OpenSSH 9.8 on a session is a program of its own.
SSHD = "'sshd|sshd-session|sshd-auth'"
END_SSHD = f"pkill -x {SSHD}; while pgrep -x {SSHD} >/dev/null; do sleep 0.01; done"


@pytest.fixture(scope="module")
def patient(
    tmp_path_factory: pytest.TempPathFactory, namespaces_work: None
) -> Iterator[NamespaceCluster]:
    """A cluster to be damaged; each test leaves it whole, or else it is built again for the next one."""
    folder = tmp_path_factory.mktemp("patient") / "state"
    yield namespaces.up(PLAN, folder=folder)
    namespaces.down(folder=folder)


@pytest.fixture
def sick(patient: NamespaceCluster, tmp_path: Path) -> Iterator[Beowulf]:
    """The patient's learner."""
    learner = Beowulf(patient.folder, tmp_path)
    try:
        healed(learner)
    except (AssertionError, LabError):
        namespaces.down(folder=patient.folder)
        healed(learner)
    return learner


def healed(learner: Beowulf) -> None:
    """After `up`, both nodes answer, and reach each other by name, ping and ssh."""
    cluster = namespaces.up(PLAN, folder=learner.state)
    assert cluster.dead_nodes() == []
    for node, other in (("node00", "node01"), ("node01", "node00")):
        done = cluster.run(node, f"ping -q -c 1 -W 20 {other} >/dev/null && ssh {other} hostname")
        assert done.stdout.split() == [other], done.stderr


def administer(learner: Beowulf, node: str, command: str) -> None:
    done = learner.cluster.administer(node, command)
    assert done.returncode == 0, done.stderr


def supervisors(learner: Beowulf) -> int:
    return sum(
        words.startswith("bash") and "beowulf-supervisor" in words for words in learner.processes()
    )


def settings(learner: Beowulf) -> str:
    """Everything about node01's card and names that a learner's tools may have turned."""
    ask = (
        "cat /etc/hosts /sys/class/net/eth0/mtu; tc qdisc show dev eth0; ip -brief -4 address;"
        " ethtool -k eth0 | grep -E '(tcp-seg|generic-(seg|rec)).*offload:'"
    )
    # Numbers that the kernel gives again to each queue and cable.
    return re.sub(r"tbf \w+:|@if\d+", "", learner.cluster.administer("node01", ask).stdout)


def test_a_dead_node_is_reported_and_started_again_alone(sick: Beowulf) -> None:
    before = sick.cluster.supervisor.nodes()
    sick.cluster.kill("node01")
    assert "node01  192.168.0.9      down" in sick("status", code=1)
    assert "node01 is down. `beowulf up` starts it again." in sick("ssh", "node01", "true", code=1)
    assert "Started again: node01." in sick("up")
    healed(sick)
    after = sick.cluster.supervisor.nodes()
    assert before["node00"] == after["node00"]
    assert before["node01"] != after["node01"]


def test_a_dead_supervisor_is_built_again(sick: Beowulf) -> None:
    sick.cluster.supervisor.process.kill()
    wait_until(lambda: namespaces.running(sick.state) is None, "the supervisor is gone")
    assert "No cluster is running" in sick("status", code=1)
    healed(sick)


@pytest.mark.parametrize(
    "damage",
    first(3, [
        "ip link delete eth0",
        "tc qdisc del dev eth0 root; ethtool -K eth0 tso on gso on gro on; ip link set eth0 mtu 576",
        "ip link set lo down; ip address flush dev eth0; echo 127.0.0.1 localhost > /etc/hosts",
        "rm -rf /run/beowulf /run/sshd /run/sshd.pid || true",  # what is mounted is busy
        f"{END_SSHD}; echo 1 > /run/sshd.pid",
    ]),
)  # fmt: skip
def test_a_damaged_node_is_as_it_was(sick: Beowulf, damage: str) -> None:
    before = settings(sick)
    administer(sick, "node01", damage)
    healed(sick)
    assert settings(sick) == before


@pytest.mark.parametrize(
    "damage",
    first(
        2,
        ["delete br0", "set node01 nomaster", "set br0 down"],
    ),
)
def test_a_damaged_switch_is_whole_again(sick: Beowulf, damage: str) -> None:
    at_switch(sick.cluster, f"ip link {damage}")
    healed(sick)


def test_a_killed_sshd_is_reported_and_started_again(sick: Beowulf) -> None:
    administer(sick, "node01", END_SSHD)
    assert "node01  192.168.0.9      no sshd" in sick("status", code=1)
    said = sick("ssh", "node01", "true", code=1)
    assert "node01 cannot be logged in to" in said
    assert "beowulf up" in said
    healed(sick)


def test_a_lost_second_cable_is_plugged_in_again(beowulf: Beowulf) -> None:
    beowulf("up", "--nodes", "2", "--networks", "2")
    administer(beowulf, "node01", "ip link delete eth1")
    beowulf("up")
    assert beowulf("ssh", "node00", "ssh node01-eth1 hostname").strip() == "node01"


def test_a_spoiled_authorized_keys_is_put_back(sick: Beowulf) -> None:
    (sick.state / "nodes" / "node01" / "authorized_keys").write_text("")
    sick.cluster.run("node00", "ssh -O exit node01")
    refused = sick.cluster.run("node00", "ssh node01 true")
    assert "Permission denied" in refused.stderr
    healed(sick)


FILES = "etc/user_key cluster.json etc/known_hosts nodes/node01/host_key.pub bin/mpiexec"


@pytest.mark.parametrize("file", first(1, FILES.split()))
def test_a_deleted_file_of_the_cluster_is_made_again(sick: Beowulf, file: str) -> None:
    (sick.state / file).unlink()
    namespaces.up(PLAN, folder=sick.state)
    for node, other in (("node00", "node01"), ("node01", "node00")):
        sick.cluster.run(node, f"ssh -O exit {other}")  # an open connection would hide a wrong key
    healed(sick)
    ranks = sick.cluster.run("node01", f"mpiexec -n 2 {HOSTNAME}").stdout
    assert sorted(ranks.split()) == ["node00", "node01"]


@pytest.mark.parametrize(
    "text",
    first(1, ['{"plan": {"nodes": 99}, "supervisor_pid": 1}', "{", "[]", "\0\xff"]),
)
def test_a_spoiled_or_foreign_cluster_json_is_no_cluster_and_hides_none(
    sick: Beowulf, text: str
) -> None:
    (sick.state / "cluster.json").write_text(text, encoding="latin-1")
    assert "No cluster is running" in sick("status", code=1)
    healed(sick)
    assert supervisors(sick) == 1


def test_a_supervisor_is_found_although_its_number_now_belongs_to_another_process(
    sick: Beowulf,
) -> None:
    file = sick.state / "cluster.json"
    kept = json.loads(file.read_text())
    file.write_text(json.dumps({**kept, "supervisor_pid": os.getpid()}))
    assert "node01  192.168.0.9      up" in sick("status")


@pytest.mark.nightly
def test_a_supervisor_whose_files_are_all_gone_is_found_by_up(sick: Beowulf) -> None:
    shutil.rmtree(sick.state)
    assert "No cluster is running" in sick("status", code=1)
    healed(sick)
    assert supervisors(sick) == 1
