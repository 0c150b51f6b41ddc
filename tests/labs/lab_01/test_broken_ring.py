"""Lab 01's ring on a broken cluster: does it report who waits where, and keep for the grader which node is to blame?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from nodeless_cluster import Nodeless
from running import PATIENCE_S

from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.cluster.namespaces.faults import CLOSED_PORTS
from beowulf.errors import LabError
from beowulf.labs.lab_01 import broken_ring, own_ring
from beowulf.record import newest
from tests.gold import lab_01

WAITING = {"sender_rank": 2, "receiving_ranks": 2, "node_d": "node03"}  # for node03


@pytest.fixture(scope="module")
def victim(
    tmp_path_factory: pytest.TempPathFactory, namespaces_work: None
) -> Iterator[NamespaceCluster]:
    folder = tmp_path_factory.mktemp("broken") / "state"
    yield namespaces.up(ClusterConfig(), folder=folder)
    namespaces.down(folder=folder)


def test_what_waits_is_read_from_the_ranks_and_the_doors() -> None:
    assert broken_ring.waiting(lab_01.stuck("node03")) == WAITING


@pytest.mark.nightly
@pytest.mark.cluster
def test_the_rank_before_the_closed_node_waits_in_its_send_and_others_in_a_receive(
    victim: NamespaceCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    victim.records = tmp_path
    lab_01.ring().save_in(tmp_path)
    victim.break_it(CLOSED_PORTS, "node03")
    record = broken_ring.measure(victim)
    assert broken_ring.waiting(record) == WAITING
    said = capsys.readouterr().out
    assert "node02 (rank 2) waits in line" in said
    assert said.count("world.send(token, dest=after)") == 1
    assert said.count("world.recv(source=before)") == 2
    # The question comes before anything that names the fault.
    assert CLOSED_PORTS not in said
    assert newest(tmp_path, "A2", "broken-d") == record


def test_without_a_ring_of_ones_own_nothing_is_measured(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="There is no ring of your own yet"):
        broken_ring.measure(Nodeless(tmp_path))


@pytest.mark.nightly
@pytest.mark.cluster
def test_on_a_whole_cluster_nobody_waits(
    cluster: NamespaceCluster, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may be long about it.
    for limit in ("LIMIT_S", "LIMIT_OF_A_DOOR_S"):
        monkeypatch.setattr(broken_ring, limit, PATIENCE_S)
    lab_01.ring().save_in(records)
    record = broken_ring.measure(cluster)
    assert own_ring.lines(record) == ["Call 1: right"]
    with pytest.raises(LabError, match="0 nodes are closed to connections"):
        broken_ring.waiting(record)
