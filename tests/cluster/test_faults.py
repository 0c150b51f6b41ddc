"""Is each broken cluster broken in one way, found by study A2, and whole again after `beowulf up`?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from running import Beowulf

from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.machines.cluster import SshCluster
from beowulf.cluster.machines.inventory import Machine
from beowulf.cluster.machines.targets import Target
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces import faults
from beowulf.cluster.namespaces.breakable import breakable
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_01 import a2_validation

PLAN = ClusterConfig(nodes=3)
NODES = ClusterConfig().names


def found(cluster: NamespaceCluster, folder: Path) -> tuple[str, str]:
    diagnosis = a2_validation.diagnose(a2_validation.STUDY.measure(cluster, folder, quick=True))
    return diagnosis.fault, diagnosis.node


@pytest.fixture(scope="module")
def broken(
    tmp_path_factory: pytest.TempPathFactory, namespaces_work: None
) -> Iterator[NamespaceCluster]:
    folder = tmp_path_factory.mktemp("broken") / "state"
    yield namespaces.up(PLAN, folder=folder)
    namespaces.down(folder=folder)


def test_the_puzzles_of_a_learner_are_three_faults_and_one_that_only_messages_show() -> None:
    learners = ["", "ü", *(f"learner{number}" for number in range(40))]
    solved = [[faults.solution(name, NODES, who) for name in faults.PUZZLES] for who in learners]
    for puzzles in solved:
        assert {fault for fault, _ in puzzles[:3]} == set(faults.FAULTS)
        assert [fault for fault, _ in puzzles[3:]] == [faults.CLOSED_PORTS]
        assert all(node in NODES[1:] for _, node in puzzles), "the master stays whole"
    assert len({tuple(puzzles) for puzzles in solved}) > 20, "learners have puzzles of their own"
    assert {puzzles[0][0] for puzzles in solved} == set(faults.FAULTS)
    assert {puzzles[3][1] for puzzles in solved} == set(NODES[1:])


def test_a_puzzle_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="There are: a, b, c, d, wrong-hosts, node-down, key-"):
        faults.solution("e", NODES, "ada")


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.parametrize("puzzle", faults.PUZZLES[:3])
def test_a_puzzle_is_found_by_study_a2_exactly(
    broken: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, puzzle: str
) -> None:
    monkeypatch.setenv("BEOWULF_LEARNER", "ada")
    broken.break_it(puzzle)
    assert found(broken, tmp_path) == faults.solution(puzzle, PLAN.names, "ada")


@pytest.mark.cluster
def test_a_fault_stands_on_the_node_that_was_chosen_until_the_cluster_is_healed(
    broken: NamespaceCluster,
) -> None:
    broken.break_it("node-down", "node02")
    assert broken.dead_nodes() == ["node02"]
    # Each fault takes the place of the one before.
    broken.break_it("wrong-hosts", "node01")
    assert broken.dead_nodes() == []
    assert "192.168.0.99 node02" in broken.run("node01", "cat /etc/hosts").stdout
    assert "192.168.0.99" not in broken.run("node00", "cat /etc/hosts").stdout
    broken.break_it("key-refused", "node01")
    assert "192.168.0.99" not in broken.run("node01", "cat /etc/hosts").stdout
    for node in ("node00", "node02"):
        assert "Permission denied" in broken.ask(node, "ssh node01 true")
    assert broken.ask("node00", "ssh node02 hostname") == "node02\n"
    broken.heal()
    assert broken.broken == ""
    assert broken.ask("node00", "ssh node01 hostname") == "node01\n"


# What the shell gives for a connection to a port behind which there is nobody, and how long it waits: refused as soon
# as it has asked, or no answer.
REFUSED, NO_ANSWER = ("1\n", 120), ("124\n", 1)


@pytest.mark.cluster
def test_closed_ports_are_shown_by_neither_ping_nor_ssh(broken: NamespaceCluster) -> None:
    def knock(node: str, peer: str, expected: tuple[str, int]) -> None:
        code, seconds = expected
        line = f"timeout {seconds} bash -c ': < /dev/tcp/{peer}/9' 2>/dev/null; echo $?"
        assert broken.run(node, line).stdout == code

    broken.break_it("closed-ports", "node01")
    for node in ("node00", "node02"):
        assert broken.run(node, "ping -c 1 -W 20 node01").returncode == 0
        assert broken.run(node, "ssh node01 hostname").stdout == "node01\n"
        knock(node, "node01", NO_ANSWER)
    assert broken.run("node01", "ssh node02 hostname").stdout == "node02\n"
    for peer in ("node02", "node01"):
        knock("node01", peer, REFUSED)
    broken.heal()
    knock("node00", "node01", REFUSED)
    # Another fault takes its place.
    broken.break_it("closed-ports", "node01")
    broken.break_it("wrong-hosts", "node02")
    knock("node00", "node01", REFUSED)


@pytest.mark.cluster
def test_the_command_says_what_it_may_and_no_more(broken: NamespaceCluster, tmp_path: Path) -> None:
    beowulf = Beowulf(broken.folder, tmp_path)
    said = beowulf("break", "a")
    assert "Cluster a is broken." in said
    assert not any(fault in said for fault in faults.EVERY)
    assert "Broken on purpose by `beowulf break a`" in beowulf("status", code=None)
    assert "There is no 'node09'" in beowulf("break", "node-down", "--node", "node09", code=2)
    assert "There is no broken cluster 'z'" in beowulf("break", "z", code=2)
    beowulf("up")
    assert "Broken" not in beowulf("status")


@pytest.mark.cluster
def test_a_cluster_of_ones_own_is_broken_itself_and_healed_whatever_happens(
    broken: NamespaceCluster,
) -> None:
    def fail() -> None:
        with breakable(broken) as victim:
            assert victim is broken
            victim.break_it("node-down", "node01")
            raise LabError("This fails on purpose.")

    with pytest.raises(LabError, match="on purpose"):
        fail()
    assert (broken.broken, broken.dead_nodes()) == ("", [])


@pytest.mark.cluster
def test_machines_that_others_need_are_left_alone_and_a_cluster_beside_them_is_broken(
    namespaces_work: None, tmp_path: Path
) -> None:
    # Nobody is at these addresses: who asked them would wait.
    pcs = tuple(Machine(name, f"192.0.2.{n}") for n, name in enumerate(("node00", "node01")))
    shared = SshCluster(Target("pcs.yml", pcs), tmp_path)
    shared.records = tmp_path / "records"
    with breakable(shared) as victim:
        victim.break_it("key-refused", "node01")
        assert (victim.broken, victim.nodes) == ("key-refused", shared.nodes)
        assert victim.records == shared.records
        folder = victim.folder
        assert folder
    assert not folder.exists()
