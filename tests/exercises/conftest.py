"""What the tests of the exercises share: engines on the cluster that all tests use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.engines import Engines


@pytest.fixture(scope="module")
def shared_engines(cluster: NamespaceCluster) -> Iterator[Engines]:
    """Engines that the tests of one file start again where a test has ended them."""
    made = Engines(cluster)
    yield made
    made.stop()


@pytest.fixture
def engines(
    shared_engines: Engines, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Engines]:
    """The shared engines, started, with Records in a folder of the test's own; they wait for TIMEOUT_S of the file."""
    shared_engines.cluster.records = tmp_path / "records"
    shared_engines.timeout_s = getattr(request.module, "TIMEOUT_S", 3)
    yield shared_engines.start()
    shared_engines.cluster.records = None
