"""A Record of A2 that an exercise of lab 01 begins: who measures what, on which cluster, with which function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beowulf import host_state
from beowulf.cluster import Cluster
from beowulf.measure.watched import Watched
from beowulf.record import Point, Record, moment
from beowulf.user import learner

STUDY = "A2"


def begun(cluster: Cluster, variant: str, about: Mapping[str, Any]) -> Record:
    """A Record of this variant, with the learner's function (`about`, of own_function) as its first Point."""
    made = Record(
        STUDY,
        variant=variant,
        program={"name": about["name"], "arguments": [], "sha256": about["sha256"]},
        sweep={"exercise": variant},
        cluster=dict(cluster.describe()),
        circumstances={"before": host_state.now(), "after": {}},
        versions=host_state.versions(),
        learner=learner(),
        started=moment(),
    )
    made.points.append(Point({"own": True}, facts=dict(about)))
    return made


def kept(made: Record, watched: Watched) -> Record:
    """The Record with its end, saved among those of the cluster."""
    made.circumstances["after"] = host_state.now()
    made.ended = moment()
    watched.end(made).save_in(watched.cluster.records or Path("records"))
    return made
