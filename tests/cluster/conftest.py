"""PCs of namespaces and a learner at their switch, for the tests of one file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from running import Beowulf

from tests.simulated_pcs import Hall, hall, learner_at


@pytest.fixture(scope="module")
def pcs(request: pytest.FixtureRequest, namespaces_work: None) -> Iterator[Hall]:
    """As many as the file's PCS says, or four; nobody has set anything up on them."""
    with hall(getattr(request.module, "PCS", 4)) as found:
        yield found


@pytest.fixture(scope="module")
def learner(pcs: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beowulf]:
    with learner_at(pcs, tmp_path_factory.mktemp("l")) as found:
        yield found


@pytest.fixture(scope="module")
def connected(pcs: Hall, learner: Beowulf) -> Beowulf:
    """The learner, who has made the PCs a cluster."""
    inventory = pcs.inventory(learner.here / "pcs.yml")
    learner("setup", inventory)
    learner("up", "--target", inventory)
    return learner


@pytest.fixture
def ends() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack
