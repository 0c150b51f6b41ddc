"""A cluster for what asks no node: it keeps Records in a folder, and is not a recorded one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beowulf.cluster import Abilities
from beowulf.cluster.recorded import RecordedCluster
from beowulf.record import Record


class Lively(RecordedCluster):
    """It could measure, if it had nodes."""

    can = Abilities()

    def describe(self) -> Mapping[str, Any]:
        """As little as a Record needs."""
        return {"kind": "namespaces", "nodes": ["node00", "node01"]}

    def replay(self, study: str, variant: str = "") -> Record | None:
        """Nothing: it measures."""
        return None
