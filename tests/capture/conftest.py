"""A cluster for the tests that capture what MPI programs really send."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from beowulf import mpi
from beowulf.cluster import namespaces
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.cluster.plan import Plan

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceCluster]:
    """Four nodes with cables of 1 Gbit/s."""
    folder = tmp_path_factory.mktemp("state")
    yield namespaces.up(Plan(rate="1gbit"), folder=folder)
    namespaces.down(folder=folder)


@pytest.fixture(scope="session")
def sends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that prints what it sends."""
    return mpi.build(HERE / "sends.c", output=tmp_path_factory.mktemp("programs") / "sends")
