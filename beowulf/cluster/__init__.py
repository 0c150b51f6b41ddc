"""Where programs run: one protocol (`base.py`), one file a kind of cluster, and here the way to the one that runs."""

from __future__ import annotations

import os
from pathlib import Path

from beowulf import paths
from beowulf.cluster.base import (
    HOST,
    NODES,
    SWITCH,
    WIRE,
    Abilities,
    Cluster,
    Completed,
    Hardware,
)
from beowulf.errors import LabError

__all__ = [
    "HOST",
    "NODES",
    "SWITCH",
    "WIRE",
    "Abilities",
    "Cluster",
    "Completed",
    "Hardware",
    "connect",
    "here",
    "running",
]


def connect() -> Cluster:
    """The running cluster of this user; where BEOWULF_RECORDED names a folder, one that answers from it."""
    if folder := os.environ.get("BEOWULF_RECORDED"):
        from beowulf.cluster.recorded import RecordedCluster

        return RecordedCluster(Path(folder))
    return running()


def running() -> Cluster:
    """The running cluster of this user, as commands want it: Records have no shell and cannot be measured."""
    if cluster := here():
        return cluster
    raise LabError("No cluster runs.", "`beowulf up` boots one.")


def here() -> Cluster | None:
    """The running cluster of this user, if there is one."""
    from beowulf.cluster import namespaces, state

    if (paths.state() / state.TARGET).exists():
        from beowulf.cluster import ssh

        if machines := ssh.running():
            machines.still_there()
        return machines
    return namespaces.running()
