"""A cluster for what asks no node: it keeps Records in a folder, and nothing runs on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beowulf.cluster import Abilities, Cluster
from beowulf.errors import LabError


def _nothing(*_: Any, **__: Any) -> Any:
    raise LabError("Nothing runs on these nodes.")


class Nodeless(Cluster):
    """It could measure, if it had nodes."""

    kind, can = "nodeless", Abilities()
    nodes = ("node00", "node01")
    address = dead_nodes = run = shell = capture = break_it = heal = _nothing

    def __init__(self, records: Path) -> None:
        self.records = records

    def describe(self) -> Mapping[str, Any]:
        """As little as a Record needs."""
        return {"kind": "namespaces", "nodes": ["node00", "node01"]}
