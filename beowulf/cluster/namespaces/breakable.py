"""A cluster that may be broken on purpose, beside one that others need."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces


@contextmanager
def breakable(cluster: Cluster) -> Iterator[Cluster]:
    """Within this context, a cluster that may be broken on purpose; afterwards it is healed.

    PCs, VMs and the nodes of a queue are left alone: instead, a cluster of namespaces with as many nodes comes up
    on this machine, and is taken down at the end.
    """
    if cluster.can.faults:
        try:
            yield cluster
        finally:
            cluster.heal()
        return
    folder = Path(tempfile.mkdtemp(prefix="beowulf-broken-"))
    try:
        victim = namespaces.up(ClusterConfig(nodes=len(cluster.nodes)), folder=folder)
        victim.records = cluster.records
        yield victim
    finally:
        namespaces.down(folder=folder)
        shutil.rmtree(folder, ignore_errors=True)
