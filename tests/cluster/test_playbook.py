"""Does the playbook make a cluster of PCs, change nothing the second time, and do the labs' programs run on it?

The PCs are namespaces, each with a root file system, a card, a hostname and an sshd of its own
(tests/simulated_pcs.py).
"""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from running import Beowulf, unfulfilled

from beowulf import paths
from beowulf.cluster.machines import cluster as ssh
from beowulf.cluster.machines import setup
from beowulf.cluster.machines.cluster import SshCluster
from beowulf.cluster.machines.inventory import Machine
from beowulf.course import personal_code
from beowulf.packets.mpi_messages import messages
from beowulf.packets.table import read
from tests.simulated_pcs import CARD, Hall

pytestmark = pytest.mark.cluster
LABS = paths.root() / "labs"


PLUGIN = paths.root() / "cluster_setup" / "filter_plugins" / "cluster.py"
FILTERS = SimpleNamespace(**runpy.run_path(str(PLUGIN)))
ADDRESSES = {"node00": "10.0.0.1", "node01": "10.0.0.2", "node02": "10.0.0.3"}
HOSTS = "127.0.0.1\tlocalhost\n127.0.1.1\tnode01.lab node01\n# mine\n10.0.0.9 printer\n"


def test_a_node_names_itself_first_and_no_line_gives_it_another_address() -> None:
    made = FILTERS.beowulf_hosts(HOSTS, "node01", ADDRESSES).splitlines()
    assert made[0] == "10.0.0.2 node01"
    plain = [line for line in made if not line.startswith("#")]
    assert [line for line in plain if "node01" in line] == ["10.0.0.2 node01"]
    assert "10.0.0.1 node00" in plain
    assert "10.0.0.9 printer" in plain


def test_hosts_made_twice_are_the_same_and_undone_are_what_they_were() -> None:
    once = FILTERS.beowulf_hosts(HOSTS, "node01", ADDRESSES)
    assert FILTERS.beowulf_hosts(once, "node01", ADDRESSES) == once
    fewer = {name: ADDRESSES[name] for name in ("node00", "node01")}
    assert "node02" not in FILTERS.beowulf_hosts(once, "node01", fewer)
    assert FILTERS.beowulf_hosts_before(once, "node01") == HOSTS
    assert FILTERS.beowulf_hosts_before(HOSTS, "node01") == HOSTS


def _said(name: str, mark: str = "", key: str = "", keys: object = None) -> dict[str, object]:
    here = {"card": {"cluster": mark} if mark else {}, "keys": keys or {}, "host_key": f"h-{name}"}
    return {"inventory_hostname": name, "here": {**here, "user_key": key}}


def test_the_clusters_mark_is_that_of_its_first_node_that_has_one() -> None:
    machines = [_said("node00"), _said("node01", "old"), _said("node02", "other")]
    assert FILTERS.beowulf_cluster(machines, list(ADDRESSES), "new") == "old"
    assert FILTERS.beowulf_cluster(machines[:1], list(ADDRESSES), "new") == "new"


def test_nodes_share_cores_where_one_kernel_runs_them() -> None:
    boots = {"node00": "a", "node01": "b", "node02": "a"}
    machines = [
        {"inventory_hostname": name, "here": {"boot": boot, "cores": 4}}
        for name, boot in boots.items()
    ]
    shared = {name: FILTERS.beowulf_shared_cores(machines, name) for name in boots}
    assert shared == {"node00": 4, "node01": 0, "node02": 4}


def test_the_keys_of_a_node_that_is_off_are_remembered_by_the_others() -> None:
    kept = {"node02": {"user": "u2", "host": "h2"}, "gone": {"user": "x", "host": "y"}}
    machines = [_said("node00", key="u0", keys=kept), _said("node01", key="u1")]
    # A login may print something before the key that was made.
    machines[1]["here"] = {**machines[1]["here"], "user_key": ""}  # type: ignore[dict-item]
    machines[1]["made"] = {"stdout": "Welcome!\na=b \nu1\n"}
    found = FILTERS.beowulf_keys(machines, list(ADDRESSES))
    assert {name: both["user"] for name, both in found.items()} == {
        "node00": "u0",
        "node01": "u1",
        "node02": "u2",
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"os": "fedora"}, "only Debian and Ubuntu"),
        ({"os": "linuxmint", "like": "ubuntu debian"}, ""),
        ({"arch": "aarch64"}, "processor is a aarch64"),
        ({"interface": ""}, "none of its network cards has the address 10.0.0.1"),
        ({"free_mb": 12}, "its disk is full: 12 MB are free"),
        ({"root": False}, "could not become root"),
    ],
)
def test_a_machine_that_cannot_be_a_node_is_refused_with_the_reason(
    change: dict[str, object], said: str
) -> None:
    here = {"os": "debian", "like": "", "arch": "x86_64", "interface": "eth0", "free_mb": 9000}
    here |= {"digest": "", "root": True, "user": "ada"} | change
    found = FILTERS.beowulf_misfit(here, "node00", "10.0.0.1", "x86_64")
    assert (said in found) if said else not found


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("sudo: a password is required\n", "ada may not become root on it"),
        ("/bin/sh: 1: sudo: not found", "ada may not become root on it"),
        ("Failed to connect to the host via ssh: Connection timed out", "it does not answer"),
        ("tar: x: Cannot write: No space left on device", "its disk is full"),
        ("something else\nand more", "something else"),
    ],
)
def test_what_ansible_says_of_a_machine_becomes_a_sentence(said: str, sentence: str) -> None:
    assert sentence in setup._sentence(Machine("node01", "10.0.0.1", user="ada"), said)


# --------------------------------------------------------------- on PCs


@pytest.fixture(scope="module")
def inventory(pcs: Hall, learner: Beowulf) -> Path:
    return pcs.inventory(learner.here / "pcs.yml")


@pytest.fixture(scope="module")
def first(learner: Beowulf, pcs: Hall, inventory: Path) -> str:
    """What the first run says; afterwards the PCs are a cluster, and `up` has found it."""
    said = learner("setup", inventory)
    learner("up", "--target", inventory)
    return said


@pytest.fixture
def cluster(first: str, learner: Beowulf) -> SshCluster:
    found = ssh.running(learner.state)
    assert found
    return found


@pytest.mark.nightly
def test_the_second_run_changes_nothing(
    first: str, learner: Beowulf, pcs: Hall, inventory: Path
) -> None:
    assert all(f"{name}: " in first for name in pcs.names)
    assert "nothing to do" not in first
    said = learner("setup", inventory)
    assert [f"{name}: nothing to do" for name in pcs.names] == said.splitlines()[:4]


@pytest.mark.nightly
def test_the_machines_are_a_cluster_and_every_claim_of_the_validation_holds(
    first: str, learner: Beowulf
) -> None:
    verdicts = json.loads(learner("validate", "--json"))
    assert not unfulfilled(verdicts)


@pytest.mark.nightly
def test_a_node_is_called_as_the_inventory_says_and_a_record_has_the_learners_mark(
    cluster: SshCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node in cluster.nodes:
        said = cluster.run(node, "hostname; cat /etc/hostname; getent hosts $(hostname)").stdout
        assert said.split() == [node, node, cluster.address(node), node]
    word = personal_code.of("a key", "ada")
    monkeypatch.setenv(personal_code.VARIABLE, word)
    assert cluster.describe()["mark"] == personal_code.mark(word)


@pytest.mark.nightly
def test_a_lab_program_runs_on_all_nodes_without_a_shared_disk(
    first: str, learner: Beowulf
) -> None:
    said = learner("run", "-n", "4", LABS / "01-validation" / "ring.c")
    assert "the token came home after 4 hops" in said
    assert all(f"on node0{number}" in said for number in range(4))


@pytest.mark.nightly
def test_a_python_program_runs_with_mpi4py_on_all_nodes(
    first: str, learner: Beowulf, tmp_path: Path
) -> None:
    program = tmp_path / "who.py"
    program.write_text(
        "from mpi4py import MPI\nimport numpy, socket\n"
        "print(MPI.COMM_WORLD.rank, socket.gethostname(), MPI.get_vendor()[0])\n"
    )
    said = learner("run", "-n", "4", program)
    assert sorted(said.splitlines()) == [f"{n} node0{n} MPICH" for n in range(4)]


@pytest.mark.nightly
def test_compiling_and_launching_works_on_the_master_as_on_any_cluster(
    first: str, learner: Beowulf, cluster: SshCluster
) -> None:
    source = (LABS / "01-validation" / "hello.c").read_text()
    cluster.run("node00", "cat > /tmp/hello.c", stdin=source)
    copy = "for n in 1 2 3; do scp -q hello node0$n:/tmp; done"
    lines = f"cd /tmp && mpicc hello.c -o hello && {copy} && mpiexec -n 4 ./hello"
    said = learner("ssh", "node00", lines)
    assert sorted(said.splitlines()) == [f"rank {n} of 4 on node0{n}" for n in range(4)]


@pytest.mark.nightly
def test_the_wire_of_machines_has_each_frame_once(
    first: str, learner: Beowulf, cluster: SshCluster
) -> None:
    """Both are taken of the same run: of what every card saw, each frame that a node sent is there once."""
    ring = LABS / "01-validation" / "ring.c"
    files = {where: learner.here / f"{where}.pcapng" for where in ("nodes", "wire")}
    wires = {where: cluster.capture(file, where=where) for where, file in files.items()}
    with wires["nodes"], wires["wire"] as wire:
        learner("run", "-n", "4", ring)
        learner("ssh", "node00", "ping -c 2 -i 0.2 -q node01")
    assert not wire.twice
    assert wire.facts()["where"] == "wire"
    assert "shifted_s" not in wire.facts()  # all PCs of this hall have the clock of this machine
    assert 0 < wire.summary()["packets"] <= wire.packets
    once, twice = read(files["wire"]), read(files["nodes"])
    assert len(once) == wire.packets
    assert set(once["interface"]) == {"wire"}

    def frames(table: pd.DataFrame) -> list[tuple[int, ...]]:
        tcp = table[(table["ip_protocol"] == 6) & (table["payload_bytes"] > 0)]
        ssh = (tcp["src_port"] == 22) | (tcp["dst_port"] == 22)
        names = ["src_port", "dst_port", "seq", "ack", "flags", "wire_bytes"]
        return sorted(zip(*(tcp[~ssh][name].tolist() for name in names), strict=True))

    assert len(frames(once)) > 50
    assert frames(twice) == sorted(frames(once) * 2)
    assert sorted(messages(files["wire"])["from_rank"]) == [0, 1, 2, 3]
    assert (once["ip_protocol"] == 1).sum() == 4  # there and back, twice
    # Nothing is left on the nodes, of dumpcap or of its files.
    for node in cluster.nodes:
        assert not cluster.run(node, "ls -d /tmp/tmp.* 2>/dev/null; pgrep dumpcap").stdout


@pytest.mark.nightly
def test_the_command_captures_at_one_node_and_not_at_a_physical_switch(
    first: str, learner: Beowulf
) -> None:
    words = ("capture", "-o", "x.pcapng", "--seconds", "1", "--where")
    said = learner(*words, "switch", code=1)
    assert "cannot be captured at a physical switch" in said
    assert "--where wire" in said
    assert not (learner.here / "x.pcapng").exists()
    assert "in x.pcapng (" in learner(*words, "node02")  # an idle wire carries few packets, or one


@pytest.mark.nightly
def test_a_knob_is_turned_on_the_machines_own_card_and_put_back(
    first: str, learner: Beowulf, pcs: Hall, cluster: SshCluster
) -> None:
    learner("tune", "apply", "delayed-ack", "quick", "--unmeasured")
    shown = f"ip route show dev {CARD}"
    assert all("quickack 1" in pcs.at(node, shown) for node in pcs.names)
    # Only this cluster's log knows how they were.
    assert "changed settings (delayed-ack)" in learner("down", code=1)
    learner("tune", "revert")
    assert not any("quickack" in pcs.at(node, shown) for node in pcs.names)


@pytest.mark.nightly
def test_two_machines_whose_addresses_are_changed_round_are_noticed(
    first: str, learner: Beowulf, pcs: Hall, inventory: Path
) -> None:
    wrong = pcs.inventory(
        learner.here / "wrong.yml",
        node01=f"ansible_host: {pcs.address('node03')}",
        node03=f"ansible_host: {pcs.address('node01')}",
    )
    said = learner("up", "--target", wrong, code=1)
    assert "The machine at the address of node01 was set up as node03" in said
    learner("up", "--target", inventory)


@pytest.mark.nightly
def test_a_full_disk_on_one_node_is_named_and_nothing_half_is_left(
    first: str, learner: Beowulf, pcs: Hall, cluster: SshCluster
) -> None:
    pcs.at(
        "node03", "mkdir -p /tmp/beowulf-root && mount -t tmpfs -o size=4k tmpfs /tmp/beowulf-root"
    )
    try:
        said = learner("run", "-n", "4", LABS / "01-validation" / "hello.c", code=1)
        assert "The disk of node03 is full" in said
        assert not pcs.at("node03", "find /tmp/beowulf-root -type f")
    finally:
        pcs.at("node03", "umount /tmp/beowulf-root")
    assert "rank 3" in learner("run", "-n", "4", LABS / "01-validation" / "hello.c")


@pytest.mark.nightly
def test_machines_that_are_off_or_of_another_cluster_are_named_and_the_others_are_set_up(
    first: str, learner: Beowulf, pcs: Hall, inventory: Path
) -> None:
    nowhere = f"ansible_host: 192.168.77.99, beowulf_address: {pcs.address('node03')}"
    off = pcs.inventory(learner.here / "off.yml", node03=nowhere)
    card = "/opt/beowulf/etc/node"
    pcs.at("node02", f"sed -i 's/^cluster=.*/cluster=another/' {card}")
    pcs.at("node01", "sed -i '/node02/d' /etc/hosts")
    said = learner("up", "--target", off, code=1)
    assert "node02 belongs to another cluster than node00" in said
    assert "node03 does not answer at 192.168.77.99" in said
    assert "2 of 4 nodes" in said
    said = learner("setup", off, code=1)
    assert "node00: nothing to do" in said
    assert "node01: write /etc/hosts" in said
    assert "node02: it belongs to another cluster, as node02" in said
    assert "node03: it does not answer at 192.168.77.99" in said
    assert "cluster=another" in pcs.at("node02", f"cat {card}")
    # The others go on trusting the one that was off.
    assert all("node03" in pcs.at(name, "cat /opt/beowulf/etc/keys.json") for name in pcs.names)
    assert "node02: write /opt/beowulf/etc/node" in learner("setup", inventory, "--take")
    assert "4 nodes of" in learner("up", "--target", inventory)


@pytest.mark.nightly
def test_undo_leaves_the_machines_as_they_were(
    first: str, learner: Beowulf, pcs: Hall, inventory: Path
) -> None:
    """The last test of this file: it takes the cluster away."""
    learner("setup", inventory, "--undo")
    for name in pcs.names:
        assert pcs.at(name, "cat /etc/hostname; hostname").split() == [f"debian-{name}"] * 2
        hosts = pcs.at(name, "cat /etc/hosts")
        assert hosts == f"127.0.0.1 localhost\n127.0.1.1 debian-{name} {name}\n"
        assert pcs.at(name, "ls -A /root/.ssh").split() == ["authorized_keys"]
        assert "beowulf" not in pcs.at(name, "cat /root/.ssh/authorized_keys")
        left = "ls -d /opt/beowulf /etc/ssh/*beowulf* /etc/ssh/ssh_config.d/*beowulf* 2>/dev/null; true"
        assert pcs.at(name, left) == ""
    assert "has not been set up" in learner("up", "--target", inventory, code=1)
