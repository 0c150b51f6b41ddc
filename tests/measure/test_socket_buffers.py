"""Socket buffers: are they what was asked for, and is everything put back, however the measurement ends?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ordinary import ada
from running import PATIENCE_S, wait_until

from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.cluster.recorded import RecordedCluster
from beowulf.errors import LabError, UsageError
from beowulf.measure.socket_buffers import socket_buffers

SMALL = 8192

# What another process does that is to be ended in the middle.
HOLDS = """
import sys
from pathlib import Path
from beowulf.cluster.namespaces import running
from beowulf.measure.socket_buffers import socket_buffers
with socket_buffers(running(Path(sys.argv[1])), 8192):
    print("changed", flush=True)
    sys.stdin.read()
"""
ROOTLESS = """
from beowulf.cluster.namespaces import running
from beowulf.measure.socket_buffers import socket_buffers

cluster = running()
def seen():
    return [cluster.administer(n, "cat /proc/sys/net/ipv4/tcp_?mem").stdout for n in cluster.nodes]
before = seen()
with socket_buffers(cluster, 8192):
    assert all(text.split().count("8192") == 4 for text in seen()), seen()
assert seen() == before
"""


def settings(cluster: NamespaceCluster) -> list[list[str]]:
    """The least, first and most bytes to receive and to send, and what is remembered, of each node."""
    ask = "cd /proc/sys/net/ipv4; cat tcp_rmem tcp_wmem tcp_no_metrics_save"
    return [cluster.administer(node, ask).stdout.split() for node in cluster.nodes]


@pytest.mark.cluster
def test_every_node_has_the_buffers_that_were_asked_for_and_then_its_own(
    cluster: NamespaceCluster,
) -> None:
    before = settings(cluster)
    with socket_buffers(cluster, SMALL):
        three = ["4096", str(SMALL), str(SMALL)]
        assert settings(cluster) == [[*three, *three, "1"]] * len(cluster.nodes)
    assert settings(cluster) == before


@pytest.mark.cluster
def test_the_nodes_own_buffers_stay_when_none_are_asked_for(cluster: NamespaceCluster) -> None:
    before = settings(cluster)
    with socket_buffers(cluster, 0):
        assert [each[:6] for each in settings(cluster)] == [each[:6] for each in before]
    assert settings(cluster) == before


@pytest.mark.cluster
def test_what_somebody_had_set_is_what_is_put_back(cluster: NamespaceCluster) -> None:
    before = settings(cluster)[1][:3]
    cluster.administer("node01", "echo 4096 50000 60000 > /proc/sys/net/ipv4/tcp_rmem")
    try:
        with socket_buffers(cluster, SMALL):
            pass
        assert settings(cluster)[1][:3] == ["4096", "50000", "60000"]
    finally:
        cluster.administer("node01", f"echo {' '.join(before)} > /proc/sys/net/ipv4/tcp_rmem")


@pytest.mark.cluster
@pytest.mark.parametrize("error", [KeyboardInterrupt, LabError, RuntimeError])
def test_a_measurement_that_fails_leaves_the_buffers_as_they_were(
    cluster: NamespaceCluster, error: type[BaseException]
) -> None:
    before = settings(cluster)
    with pytest.raises(error, match="in the middle"), socket_buffers(cluster, SMALL):
        raise error("in the middle")
    assert settings(cluster) == before


@pytest.mark.cluster
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_measurement_that_is_ended_by_a_signal_leaves_them_too(
    cluster: NamespaceCluster, number: signal.Signals
) -> None:
    before = settings(cluster)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(cluster.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == "changed\n"
        assert settings(cluster) != before
        os.killpg(process.pid, number)
        process.wait(PATIENCE_S)
        wait_until(lambda: settings(cluster) == before, "the buffers are back")


@pytest.mark.cluster
def test_an_ordinary_user_may_change_the_buffers_of_their_cluster(namespaces_work: None) -> None:
    with ada() as learner:
        learner("up")
        learner.python(ROOTLESS)


@pytest.mark.cluster
def test_a_size_that_no_socket_takes_is_refused(cluster: NamespaceCluster) -> None:
    before = settings(cluster)
    with pytest.raises(UsageError, match=r"4,096 to 1,073,741,824 bytes, not 100"):
        socket_buffers(cluster, 100).__enter__()
    assert settings(cluster) == before


def test_a_cluster_whose_nodes_cannot_be_changed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="cannot be changed"):
        socket_buffers(RecordedCluster(tmp_path), SMALL).__enter__()
    with socket_buffers(RecordedCluster(tmp_path), 0):
        pass  # what is to stay as it is can stay so anywhere
