"""What the tests of single labs share: Records and engines of the cluster that all tests use, and few draws.

Claims are judged thousands of times there, on Records far from any limit.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import PATIENCE_S

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.cluster.simulated import cluster as simulated
from beowulf.engines import Engines
from beowulf.measure import statistics

DRAWS = 200


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the draws of which an interval is made."""
    monkeypatch.setattr(statistics, "RESAMPLES", DRAWS)


@pytest.fixture(scope="session")
def simgrid() -> None:
    """Skip what SimGrid compiles and simulates where it is not installed."""
    if not shutil.which(simulated.SMPIRUN):
        pytest.skip("SimGrid is not installed")


@pytest.fixture(scope="module")
def shared_engines(cluster: NamespaceCluster) -> Iterator[Engines]:
    """Engines that the tests of one file start again where a test has ended them."""
    made = Engines(cluster)
    yield made
    made.stop()


@pytest.fixture
def records(cluster: NamespaceCluster, tmp_path: Path) -> Iterator[Path]:
    """Where the shared cluster keeps Records while a test runs."""
    cluster.records = tmp_path / "records"
    yield cluster.records
    cluster.records = None


@pytest.fixture
def engines(shared_engines: Engines, records: Path) -> Engines:
    """The shared engines, started, with Records in a folder of the test's own.

    A cell that ends may take as long as a busy machine needs; one that never ends is waited for in vain, so its test
    sets `timeout_s` itself.
    """
    shared_engines.timeout_s = PATIENCE_S
    return shared_engines.start()
