"""Is a capture at all nodes what each of them sees, and does nothing in it count twice unsaid?"""

from __future__ import annotations

from pathlib import Path

import pytest
from running import PATIENCE_S, Beowulf, at_switch, wait_until

from beowulf import mpi
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.packets.analysis import analyse
from beowulf.packets.mpi_messages import messages
from beowulf.packets.protocols import summary
from beowulf.packets.table import read

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def files(
    cluster: NamespaceCluster, sends: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The same run at the switch, at one node and at all nodes."""
    folder = tmp_path_factory.mktemp("nodes")
    found = {where: folder / f"{where}.pcapng" for where in ("switch", "node02", "nodes")}
    wires = {where: cluster.capture(path, where=where) for where, path in found.items()}
    with wires["switch"], wires["node02"], wires["nodes"] as wire:
        done = mpi.launch(cluster, sends, 4, [str(folder), "131040"], timeout_s=PATIENCE_S)
        # The last words of a connection are to be in all captures, or in none.
        wait_until(lambda: not any(talks(cluster, node) for node in cluster.nodes), "all closed")
    assert done.returncode == 0, done.stderr
    assert wire.dropped_by_interface == dict.fromkeys(cluster.nodes, 0)
    assert wire.facts()["interfaces"] == list(cluster.nodes)
    return found


def talks(cluster: NamespaceCluster, node: str) -> list[str]:
    """The node's TCP connections that may still send something, apart from those of ssh."""
    ask = "ss --no-header --numeric --tcp state connected exclude time-wait"
    lines = cluster.administer(node, ask).stdout.splitlines()
    return [line for line in lines if not any(word.endswith(":22") for word in line.split())]


def frames(path: Path, at: str = "") -> list[tuple[int, ...]]:
    """What tells the frames of the run's own connections from each other, in their order."""
    table = read(path, at)
    # ssh stays connected, and speaks also while one capture has begun or ended and the other has not.
    ssh = (table["src_port"] == 22) | (table["dst_port"] == 22)
    table = table[(table["ip_protocol"] == 6) & ~ssh]
    names = ["src_port", "dst_port", "seq", "ack", "flags", "wire_bytes"]
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def test_what_is_captured_at_the_nodes_is_what_each_sees_in_the_order_of_time(
    files: dict[str, Path], cluster: NamespaceCluster
) -> None:
    table = read(files["nodes"])
    assert tuple(sorted(set(table["interface"]))) == cluster.nodes
    # Only what two cores took at once may be in another order.
    places = {node: read(files["nodes"], node)["time_ns"] for node in cluster.nodes}
    disorder = sum((times.diff() < 0).sum() for times in places.values())
    assert (table["time_ns"].diff() < 0).sum() <= disorder
    here, there = frames(files["nodes"], "node02"), frames(files["node02"])
    assert len(here) > 100
    assert sorted(here) == sorted(there)
    once = frames(files["switch"])
    assert sorted(frames(files["nodes"])) == sorted(once * 2), "a packet is seen at both its ends"


def test_the_messages_at_a_node_are_those_that_it_sent_and_got(files: dict[str, Path]) -> None:
    table = messages(files["switch"])
    mine = table[(table["from_rank"] == 2) | (table["to_rank"] == 2)]
    found = messages(files["nodes"], "node02")
    names = ["from_rank", "to_rank", "tag", "bytes", "protocol"]
    assert sorted(found[names].itertuples(index=False)) == sorted(
        mine[names].itertuples(index=False)
    )
    # Wireshark's numbers are those in the whole file.
    first = read(files["nodes"])["interface"].loc[found["first_packet"].iloc[0]]
    assert first == "node02"


def test_what_counts_twice_is_reported_and_a_place_can_be_chosen(
    files: dict[str, Path], at_cluster: Beowulf
) -> None:
    whole, one = analyse(files["nodes"]), analyse(files["nodes"], at="node01")
    assert "taken at 4 places" in whole["warnings"][0]
    assert "places" not in " ".join(one["warnings"])
    assert one["packets"] == summary(files["nodes"], at="node01")["packets"] < whole["packets"]
    assert "taken at 4 places" in at_cluster("packets", str(files["nodes"]), "--messages")
    said = at_cluster("packets", str(files["nodes"]), "--at", "node07", code=1)
    assert "was taken at 'node07'. Its interfaces: node00, node01, node02, node03." in said


def test_the_command_captures_at_all_nodes_and_keeps_to_a_size(at_cluster: Beowulf) -> None:
    words = ["capture", "-o", "w.pcapng", "--where", "nodes", "--most"]
    said = at_cluster(*words, "5", "--seconds", "0.5")
    assert "in w.pcapng (" in said  # an idle wire carries few packets, or one
    assert "--at node00" in said
    assert "holds nothing" in at_cluster(*words, "0", code=2)


def test_what_the_other_nodes_saw_is_kept_when_one_dies(beowulf: Beowulf, tmp_path: Path) -> None:
    beowulf("up", "--nodes", "3")
    file = tmp_path / "w.pcapng"
    wire = beowulf.cluster.capture(file, where="nodes", packet_filter="icmp")

    def while_one_dies() -> None:
        with wire:
            beowulf("ssh", "node00", "ping -q -c 1 node01 && ping -q -c 1 node02")
            beowulf.cluster.kill("node02")
            # The kernel takes a cable away when it has the time for it.
            wait_until(lambda: "node02" not in at_switch(beowulf.cluster, "ip link"), "no cable")
            beowulf("ssh", "node00", "ping -q -c 1 node01")

    with pytest.raises(LabError, match="port node02 ended early"):
        while_one_dies()
    with pytest.raises(LabError, match="node02 is down"):
        beowulf.cluster.capture(tmp_path / "late.pcapng", where="nodes")
    assert len(read(file, "node00")) == 6
    assert len(read(file, "node01")) == 4
    assert len(list(tmp_path.glob("*.parts-*"))) == 0
