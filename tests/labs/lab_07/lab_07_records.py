"""Records of lab 07's studies as they would be, made of figures to choose."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from made import CLUSTER, QUIET

from beowulf.record import Point, Record


def record(study: str, points: Iterable[Point], **sweep: Any) -> Record:
    """A Record of a study with these points, from a quiet machine."""
    return Record(
        study,
        points=list(points),
        cluster=dict(CLUSTER),
        sweep={"quick": False, **sweep},
        circumstances={"before": dict(QUIET), "after": dict(QUIET)},
    )
