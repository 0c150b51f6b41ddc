"""What studies and exercises change on nodes: is it as asked for, and as before afterwards, however it ends?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from other_user import ada
from running import first

from beowulf.cluster import Cluster
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_01 import a2_validation
from beowulf.labs.lab_02 import odd_node
from beowulf.labs.lab_04 import b5_unlike_nodes
from beowulf.labs.lab_05 import overlap
from beowulf.labs.lab_06 import buffer_sizes
from beowulf.measure.cpu import watched
from beowulf.tuning import change, log
from beowulf.tuning.change import changing
from beowulf.tuning.knob import NODES
from beowulf.tuning.knobs import ALL
from beowulf.tuning.knobs.cpu_share import CpuShare
from beowulf.tuning.knobs.delayed_ack import DelayedAck
from beowulf.tuning.knobs.small_segments import SmallSegments
from beowulf.tuning.knobs.socket_buffers import SocketBuffers
from beowulf.tuning.knobs.unwanted_senders import UnwantedSenders

SMALL = 8192
Changing = Callable[[Cluster], AbstractContextManager[None]]


def small_buffers(cluster: Cluster) -> AbstractContextManager[None]:
    """Study A13's."""
    return buffer_sizes.buffers(cluster, SMALL)


def paper_d(cluster: Cluster) -> AbstractContextManager[None]:
    """Studies D1's and D2's."""
    return overlap.set_nodes(cluster, overlap.ONE_USER_SOCKET)


def slow_nodes(cluster: Cluster) -> AbstractContextManager[None]:
    """Study B5's."""
    return b5_unlike_nodes.shared(cluster, [0.4, 0.2])


def odd(cluster: Cluster) -> AbstractContextManager[None]:
    """Lab 02's."""
    return odd_node.made_odd(cluster, "node01")


WAYS: tuple[Changing, ...] = (small_buffers, slow_nodes, odd, paper_d)

ROOTLESS = """
from beowulf.cluster.namespaces.cluster import running
from beowulf.errors import LabError
from beowulf.labs.lab_04.b5_unlike_nodes import shared
from beowulf.labs.lab_05.overlap import ONE_USER_SOCKET, set_nodes
from beowulf.labs.lab_06.buffer_sizes import buffers

cluster = running()
def seen():
    return [cluster.administer(n, "cat /proc/sys/net/ipv4/tcp_?mem").stdout for n in cluster.nodes]
before = seen()
with buffers(cluster, 8192):
    assert all(text.split().count("8192") == 4 for text in seen()), seen()
assert seen() == before
with set_nodes(cluster, ONE_USER_SOCKET):
    cards = [cluster.administer(n, "ip -d link show eth0").stdout for n in cluster.nodes]
    assert all("gso_max_size 3000 gso_max_segs 2 " in card for card in cards), cards
    assert all(text.split().count("24576") == 2 for text in seen()), seen()
assert seen() == before
try:
    with shared(cluster, [0.4]):
        raise AssertionError("an ordinary user made a control group")
except LabError as refused:
    assert "may not make control groups" in str(refused), refused
"""


def settings(cluster: NamespaceCluster) -> list[list[str]]:
    """The least, first and most bytes to receive and to send, and what is remembered, of each node."""
    ask = "cd /proc/sys/net/ipv4; cat tcp_rmem tcp_wmem tcp_no_metrics_save"
    return [cluster.administer(node, ask).stdout.split() for node in cluster.nodes]


def state(cluster: NamespaceCluster) -> dict[str, list[str]]:
    """All that these changes touch, of each node."""
    lines = "nft list ruleset; ip -d link show eth0; cd /proc/sys/net/ipv4; cat tcp_?mem tcp_no_metrics_save"
    share = CpuShare()
    return {
        node: [
            cluster.administer(node, lines).stdout,
            cluster.administer(node, share.look(NODES)).stdout,
        ]
        for node in cluster.nodes
    }


def needs_control_groups(cluster: NamespaceCluster, way: Changing = slow_nodes) -> None:
    done = cluster.administer("node01", CpuShare().look(NODES))
    if way is slow_nodes and done.returncode:
        pytest.skip(done.stdout)


@pytest.mark.cluster
def test_every_node_has_the_buffers_that_were_asked_for_and_then_what_somebody_had_set(
    cluster: NamespaceCluster,
) -> None:
    before = settings(cluster)
    cluster.administer("node01", "echo 4096 50000 60000 > /proc/sys/net/ipv4/tcp_rmem")
    try:
        found = settings(cluster)
        assert found[1][:3] == ["4096", "50000", "60000"]
        with small_buffers(cluster):
            three = ["4096", str(SMALL), str(SMALL)]
            assert settings(cluster) == [[*three, *three, "1"]] * len(cluster.nodes)
        assert settings(cluster) == found
        with buffer_sizes.buffers(cluster, 0):  # the nodes' own
            assert settings(cluster) == [[*each[:6], "1"] for each in found]
        assert settings(cluster) == found
    finally:
        own = " ".join(before[1][:3])
        cluster.administer("node01", f"echo {own} > /proc/sys/net/ipv4/tcp_rmem")


@pytest.mark.cluster
def test_a_node_sends_with_a_small_buffer_and_in_small_pieces_and_then_as_before(
    cluster: NamespaceCluster,
) -> None:
    before, whole = settings(cluster), state(cluster)
    with paper_d(cluster):
        size = str(overlap.ONE_USER_SOCKET.buffer_bytes)
        assert settings(cluster) == [[*each[:3], "4096", size, size, "1"] for each in before]
        cards = [said for said, _ in state(cluster).values()]
        assert all("gso_max_size 3000 gso_max_segs 2 " in card for card in cards)
    assert state(cluster) == whole


@pytest.mark.cluster
@pytest.mark.parametrize("way", first(2, WAYS))
def test_a_measurement_that_is_stopped_leaves_everything_as_it_was(
    cluster: NamespaceCluster, way: Changing
) -> None:
    needs_control_groups(cluster, way)
    before = state(cluster)

    def measure() -> None:
        with way(cluster):
            assert state(cluster) != before
            raise KeyboardInterrupt("in the middle")

    with pytest.raises(KeyboardInterrupt, match="in the middle"):
        measure()
    assert state(cluster) == before


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_study_within_a_change_leaves_the_change(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    """As `beowulf tune compare` measures studies before and after."""
    with small_buffers(cluster):
        during = settings(cluster)
        change.clear(cluster)
        a2_validation.STUDY.measure(cluster, tmp_path, quick=True)
        assert settings(cluster) == during


@pytest.mark.nightly
def test_an_ordinary_user_may_change_the_buffers_but_not_the_shares(namespaces_work: None) -> None:
    with ada() as learner:
        learner("up", "--nodes", "2")
        learner.python(ROOTLESS)


@pytest.mark.cluster
def test_values_that_no_node_can_have_are_refused(cluster: NamespaceCluster) -> None:
    before = state(cluster)
    with pytest.raises(UsageError, match=r"4,096 to 1,073,741,824 bytes, not '100'"):
        buffer_sizes.buffers(cluster, 100).__enter__()
    for share in (0.05, 1.5):
        with pytest.raises(UsageError, match="10 to 100 per cent"):
            b5_unlike_nodes.shared(cluster, [share]).__enter__()
    with pytest.raises(UsageError, match="1 to 20,000 rules"):
        UnwantedSenders().accepted("0")
    with pytest.raises(UsageError, match="1 to 40 segments"):
        SmallSegments().accepted("0")
    with pytest.raises(UsageError, match="4,096 to 1,073,741,824 bytes, not 'much'"):
        SocketBuffers().accepted("send-much")
    assert state(cluster) == before


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_node_gets_its_share_and_no_more_and_afterwards_all_is_as_before(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    needs_control_groups(cluster)
    before = state(cluster)
    program = shutil.copy(shutil.which("bash") or "bash", tmp_path / "computes")
    line = f"timeout 3 {program} -c 'while :; do :; done' || true"
    with (
        b5_unlike_nodes.shared(cluster, [1.0, 0.2]),
        watched(cluster, ["node01"], "computes") as use,
    ):
        assert state(cluster)["node01"][1] == "20\n"
        cluster.run("node01", line)
    percent = sorted(use["node01"])
    # A tenth of a second has ten periods, and may see one of them more.
    assert percent[len(percent) // 2] < 30
    assert state(cluster) == before
    assert cluster.processes("node01")


class FailsOnOne(DelayedAck):
    """A knob that one node does not let be put back."""

    def back(self, state: str, place: str) -> str:
        return (
            "echo the disk is full >&2\nfalse" if place == "node01" else super().back(state, place)
        )


@pytest.mark.cluster
def test_a_knob_that_is_put_back_half_way_is_put_back_by_the_next_study(
    cluster: NamespaceCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(ALL, "delayed-ack", FailsOnOne())
        turns = [(ALL["delayed-ack"], "quick")]
        with pytest.raises(LabError) as failed, changing(cluster, turns) as change_:
            change_(True)
    assert failed.value.node == "node01"
    assert "the disk is full" in failed.value.message
    (left,) = log.of_cluster(cluster).open()
    assert list(left.open) == ["node01"]  # the others are as they were
    change.clear(cluster)
    assert not log.of_cluster(cluster).open()
