"""Where programs run. One small protocol, one file a kind of cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from beowulf.errors import LabError


@dataclass(frozen=True)
class Completed:
    """What a command on a node printed, how it ended, and how long it took."""

    returncode: int
    stdout: str
    stderr: str
    elapsed_s: float


class Cluster(Protocol):
    """What every kind of cluster can do."""

    kind: str

    @property
    def nodes(self) -> tuple[str, ...]: ...  # names, node00 first

    def dead_nodes(self) -> list[str]: ...  # those that do not run or do not answer

    def run(
        self, node: str, command: str | list[str], *, timeout_s: float = 60, stdin: str = ""
    ) -> Completed: ...  # in a shell on that node, as the learner

    def shell(self, node: str, command: str, *, terminal: bool = False) -> Sequence[str]: ...

    def describe(self) -> dict[str, Any]: ...  # for a Record


def connect() -> Cluster:
    """The cluster of this user that runs; where BEOWULF_RECORDED names a folder of Records, one that answers from them."""
    if folder := os.environ.get("BEOWULF_RECORDED"):
        from beowulf.cluster.recorded import RecordedCluster

        return RecordedCluster(Path(folder))
    from beowulf.cluster import namespaces

    if found := namespaces.running():
        return found
    raise LabError("No cluster runs.", "`beowulf up` boots one.")
