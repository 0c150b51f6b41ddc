"""A function that a learner has written in a `%%px` cell, as a Record keeps it."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.engines import Engines
from beowulf.errors import LabError
from beowulf.exercises import calls
from beowulf.exercises.exercise import Exercise
from beowulf.measure.watched import Watched
from beowulf.record import Point, Record

MOST_BYTES = 20_000


@contextmanager
def record(
    exercise: Exercise, cluster: Cluster, about: Mapping[str, Any], watched: Watched
) -> Iterator[Record]:
    """The exercise's Record, with the learner's function as its first Point."""
    program = {"name": about["name"], "arguments": [], "sha256": about["sha256"]}
    with exercise.record(cluster, program=program, watched=watched) as made:
        made.points.append(Point({"own": True}, facts=dict(about)))
        yield made


def about(engines: Engines, name: str) -> dict[str, Any]:
    """The function's name, its text and the digest of that; LabError when an engine has no such function."""
    source = engines.source(name)
    text = source.encode()
    if len(text) > MOST_BYTES:
        raise LabError(
            f"The text of {name} has {len(text):,} bytes; a Record keeps at most {MOST_BYTES:,}.",
            "Leave out what it does not need.",
        )
    return {"name": name, "source": source, "sha256": hashlib.sha256(text).hexdigest()}


def called(engines: Engines, function: Callable[..., Any], *arguments: Any) -> list[str]:
    """The MPI functions that the ranks call while a function of this project is applied; none where none were seen."""
    with suppress(LabError), tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        folder = Path(scratch) / "calls.trace"
        with engines.recorded(folder):
            engines.apply(function, *arguments)
        return calls.names(folder)
    return []
