"""Where programs run: one protocol (`base.py`), a room for each kind of cluster, and the way to the running one."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from beowulf import paths
from beowulf.cluster.base import HOST as HOST
from beowulf.cluster.base import NODES as NODES
from beowulf.cluster.base import SWITCH as SWITCH
from beowulf.cluster.base import WIRE as WIRE
from beowulf.cluster.base import Abilities as Abilities
from beowulf.cluster.base import Cluster as Cluster
from beowulf.cluster.base import Hardware as Hardware
from beowulf.cluster.common.shells import Completed as Completed
from beowulf.errors import LabError

# The rooms of those kinds that have not the room of their name.
ROOMS = {"ssh": "machines"}


def running() -> Cluster:
    """The running cluster of this user; LabError when none runs."""
    if cluster := here():
        return cluster
    raise LabError("No cluster is running.", "`beowulf up` boots one.")


def here() -> Cluster | None:
    """The running cluster of this user, if there is one."""
    cluster: Cluster | None = module(kind_here()).running()
    if cluster:
        cluster.still_there()
    return cluster


def targeted() -> Cluster | None:
    """The cluster that `beowulf up --target` made, or None: the one that `beowulf up` boots does not count."""
    from beowulf.cluster import state

    kind = kind_here()
    cluster: Cluster | None = module(kind).running() if state.KINDS[kind] else None
    return cluster


def kind_here() -> str:
    """The kind of this user's cluster by the file in its folder; without one, it is the kind that `up` boots."""
    from beowulf.cluster import state

    return state.kind_in(paths.state()) or state.USUAL


def module(kind: str) -> ModuleType:
    """The file of a kind of cluster: `cluster.py` in its room."""
    return import_module(f"beowulf.cluster.{ROOMS.get(kind, kind)}.cluster")
