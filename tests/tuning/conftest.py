"""A learner with a cluster of two nodes for the tests of one file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from running import Beowulf


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory, namespaces_work: None) -> Iterator[Beowulf]:
    here = tmp_path_factory.mktemp("tune")
    found = Beowulf(here / "state", here)
    try:
        found("up", "--nodes", "2")
        yield found
    finally:
        found.end()
