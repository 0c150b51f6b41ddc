"""A cluster for the tests that capture what MPI programs really send."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from running import first
from runs import Run, run

from beowulf import mpi
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceCluster]:
    """Four nodes with cables of 1 Gbit/s."""
    folder = tmp_path_factory.mktemp("state")
    yield namespaces.up(ClusterConfig(rate="1gbit"), folder=folder)
    namespaces.down(folder=folder)


@pytest.fixture(scope="session")
def sends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that prints what it sends."""
    return mpi.build(HERE / "sends.c", output=tmp_path_factory.mktemp("programs") / "sends")


@pytest.fixture(scope="session", params=first(1, [131072, 16384]))
def whole(
    cluster: NamespaceCluster,
    sends: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Run:
    """Whole packets, with the eager limit of MPICH and with that of paper D's cluster."""
    return run(cluster, sends, tmp_path_factory.mktemp("whole"), request.param, 1 << 18)


@pytest.fixture(scope="session")
def heads(cluster: NamespaceCluster, sends: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Only the first 128 bytes of each packet, as captures are by default."""
    return run(cluster, sends, tmp_path_factory.mktemp("heads"), 131072, 128)
