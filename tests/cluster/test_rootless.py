"""Does everything work for an ordinary user, inside a user namespace of their own?"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest
from other_user import ada
from running import HOSTNAME, Learner, unfulfilled

from beowulf import paths

pytestmark = [pytest.mark.cluster, pytest.mark.rootless]

HELLO = paths.root() / "labs" / "01-validation" / "hello.c"


@pytest.fixture(scope="module")
def learner(namespaces_work: None) -> Iterator[Learner]:
    """Ada, with a cluster of four nodes."""
    with ada() as found:
        shutil.copy(HELLO, found.here)
        found("up")
        yield found


def test_an_ordinary_users_cluster_boots_and_is_whole(learner: Learner) -> None:
    found = json.loads(learner("validate", "--json"))
    assert not unfulfilled(found)


def test_on_a_node_she_is_herself_and_not_root(learner: Learner) -> None:
    assert learner.uid != 0
    assert int(learner("ssh", "node00", "id -u")) == learner.uid
    assert learner("ssh", "node00", "ssh node03 'id -u; pwd'").split() == [
        str(learner.uid),
        str(learner.environment["HOME"]),
    ]
    learner("ssh", "node02", "echo mine > written")
    assert (learner.here / "written").stat().st_uid == learner.uid


def test_mpi_runs_from_a_shell_on_any_node(learner: Learner) -> None:
    said = learner("ssh", "node02", "mpicc hello.c -o hello && mpiexec -n 4 ./hello")
    assert sorted(said.splitlines()) == [f"rank {i} of 4 on node0{i}" for i in range(4)]


def test_a_login_has_a_terminal(learner: Learner) -> None:
    said = learner.typed("tty; hostname; command -v mpiexec; exit 3\n", "ssh", "node01", code=3)
    assert "/dev/pts/" in said
    assert "node01" in said
    assert str(learner.state / "bin" / "mpiexec") in said


@pytest.mark.nightly
def test_she_may_capture_at_a_node_and_at_all_nodes_by_the_switch(learner: Learner) -> None:
    said = learner.python(
        "from pathlib import Path\n"
        "from beowulf import connect\n"
        "c = connect()\n"
        "for where in ('node01', 'nodes'):\n"
        "    with c.capture(Path('wire.pcapng'), where=where, packet_filter='icmp') as wire:\n"
        "        c.run('node00', 'ping -q -c 3 -i 0.2 node01')\n"
        "    print(where, wire.packets)\n"
    )
    assert said.splitlines() == ["node01 6", "nodes 12"]


@pytest.mark.parametrize("fault", ["wrong-hosts", "key-refused", "node-down", "closed-ports"])
@pytest.mark.nightly
def test_a_fault_is_set_up_and_healed(learner: Learner, fault: str) -> None:
    learner("break", fault, "--node", "node02")
    said = learner("status", "--json", code=int(fault == "node-down"))
    assert json.loads(said)["broken"] == fault
    knock = "timeout {} bash -c ': < /dev/tcp/node02/9' 2>/dev/null; echo $?"
    if fault == "closed-ports":
        assert learner("ssh", "node00", knock.format(1)).split() == ["124"]
    learner("up")
    assert learner("ssh", "node00", knock.format(120)).split() == ["1"], "nobody listens there"
    assert json.loads(learner("status", "--json"))["broken"] == ""
    said = learner("ssh", "node02", "ssh node03 hostname; ssh node00 hostname")
    assert said.split() == ["node03", "node00"]
    assert learner("ssh", "node00", "ssh node02 hostname").strip() == "node02"


@pytest.mark.nightly
def test_a_user_whom_the_machine_has_no_name_for_has_a_cluster_too(namespaces_work: None) -> None:
    with ada(named=False) as nameless:
        nameless("up", "--nodes", "2")
        assert nameless("ssh", "node00", "ssh node01 hostname").strip() == "node01"
        ranks = nameless("ssh", "node00", f"mpiexec -n 2 {HOSTNAME}")
        assert sorted(ranks.split()) == ["node00", "node01"]
        said = nameless.python("from beowulf.this_machine.user import learner; print(learner())")
        assert said.strip()
