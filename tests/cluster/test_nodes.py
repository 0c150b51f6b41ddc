"""Is each node a machine of its own, with the cables that were asked for?"""

from __future__ import annotations

import re

import pytest
from running import at_switch

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.cluster.namespaces.links import OFFLOADS

pytestmark = pytest.mark.cluster


def asked(cluster: NamespaceCluster, node: str, command: str) -> str:
    done = cluster.run(node, command)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_each_node_has_its_own_name_and_knows_all_others(cluster: NamespaceCluster) -> None:
    for node in cluster.nodes:
        assert asked(cluster, node, "hostname; cat /etc/hostname").split() == [node, node]
        hosts = asked(cluster, node, "cat /etc/hosts").splitlines()
        assert hosts[:2] == [f"{cluster.address(node)} {node}", "127.0.0.1 localhost"]
        assert all(f"{cluster.address(other)} {other}" in hosts for other in cluster.nodes)


def test_a_node_has_its_address_and_nothing_else_on_its_wire(cluster: NamespaceCluster) -> None:
    for node in cluster.nodes:
        assert asked(cluster, node, "hostname -I").split() == [cluster.address(node)]
        assert sorted(asked(cluster, node, "ls /sys/class/net").split()) == ["eth0", "lo"]
        assert asked(cluster, node, "cat /sys/class/net/eth0/mtu") == "1500"
        # Whatever this machine does.
        found = asked(cluster, node, "cat /proc/sys/net/ipv4/tcp_congestion_control")
        assert found == "reno"


def test_a_node_sees_only_its_own_processes(cluster: NamespaceCluster) -> None:
    words = asked(cluster, "node01", "ps -A -o args=")
    assert "beowulf-node node01" in words
    assert "beowulf-node node02" not in words
    assert "python" not in words


def test_nodes_share_no_memory_files_and_no_run_folder(cluster: NamespaceCluster) -> None:
    asked(cluster, "node00", "echo mine > /dev/shm/mark")
    assert asked(cluster, "node00", "cat /dev/shm/mark") == "mine"
    for folder in ("/dev/shm", "/run"):
        assert "mark" not in asked(cluster, "node01", f"ls {folder}")
    asked(cluster, "node00", "rm /dev/shm/mark")


def test_a_cable_is_shaped_and_without_segmentation_offloads_at_both_ends(
    cluster: NamespaceCluster,
) -> None:
    assert OFFLOADS.split()[::2] == ["tso", "gso", "gro"]
    ask = "tc qdisc show dev {0}; ethtool -k {0}"
    for node in cluster.nodes:
        for found in (
            cluster.administer(node, ask.format("eth0")).stdout,
            at_switch(cluster, ask.format(node)),
        ):
            assert "tbf" in found
            assert "rate 100Mbit" in found
            for name in ("tcp-segmentation", "generic-segmentation", "generic-receive"):
                assert f"{name}-offload: off" in found


def test_the_switch_is_one_bridge_with_a_port_a_node(cluster: NamespaceCluster) -> None:
    ports = at_switch(cluster, "ip -brief link show master br0")
    assert sorted(re.findall(r"^(\w+)@", ports, re.MULTILINE)) == list(cluster.nodes)


def test_a_rate_bounds_what_a_cable_carries(cluster: NamespaceCluster) -> None:
    # 3 MB in 100 Mbit/s take 240 ms. A bucket lets a little through at once, ssh adds a little: 20 % is generous.
    script = "head -c 3000000 /dev/zero | ssh node01 'cat >/dev/null'"
    timed = f"ssh node01 true; began=$EPOCHREALTIME; {script}; echo $began $EPOCHREALTIME"
    began, ended = map(float, asked(cluster, "node00", timed).split())
    assert 3e6 * 8 / (ended - began) < 1.2 * 100e6


def test_a_node_describes_itself_for_a_record(cluster: NamespaceCluster) -> None:
    found = cluster.describe()
    assert found["nodes"] == list(cluster.nodes)
    assert found["addresses"] == {node: cluster.address(node) for node in cluster.nodes}
    assert found["dead_nodes"] == []
    assert (found["congestion_control"], found["mtu"], found["offloads_on"]) == ("reno", "1500", "")
    assert "tbf" in found["queue"]
