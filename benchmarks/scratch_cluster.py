"""The folder in which a benchmark works: its own clusters are there, and nothing of it stays."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beowulf.cluster.namespaces import cluster as namespaces

# The state folder of the one cluster that a benchmark has at a time; no other cluster of this user is used.
STATE = "state"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder. Afterwards it is gone, and the cluster whose state was in it is down."""
    with tempfile.TemporaryDirectory(prefix="beowulf-bench-") as name:
        folder = Path(name)
        try:
            yield folder
        finally:
            namespaces.down(folder=folder / STATE)
