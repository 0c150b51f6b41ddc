"""What clusters whose nodes are this very machine have in common: its cores, its memory, its files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster, Completed, Hardware, description
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.common.shells import completed


class OneMachine(Cluster):
    """A cluster that follows a plan, on this machine."""

    config: ClusterConfig
    folder: Path

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.config.names

    @property
    def mpi(self) -> str:
        return self.config.mpi

    def hardware(self, node: str) -> Hardware:
        """The cores and the memory of this machine, which all nodes share."""
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return Hardware(os.cpu_count() or 1, memory)

    def _in_shell(self, node: str, line: str, stdin: str, timeout_s: float) -> Completed:
        return completed(self.shell(node, line), stdin, timeout_s, node)

    def describe(self) -> dict[str, Any]:
        """What this cluster is, read from its first living node, as plain data for a Record."""
        dead = self.dead_nodes()
        alive = [node for node in self.nodes if node not in dead]
        return {
            "kind": self.kind,
            **({"cannot_show": self.cannot_show} if self.cannot_show else {}),
            "nodes": list(self.nodes),
            "addresses": {node: self.address(node) for node in self.nodes},
            "dead_nodes": dead,
            "rate": self.config.rate,
            "networks": self.config.networks,
            "mpi": self.mpi,
            "cores": os.cpu_count(),
            **description.hardware(self, self.nodes),
            "rootless": os.geteuid() != 0,
            **description.of_learner(),
            **(description.answers(self, alive[0], self.interface(alive[0])) if alive else {}),
        }
