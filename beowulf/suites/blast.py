"""A search in a database of DNA by lab 03's program, on one node or in parts on several."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beowulf import mpi, paths
from beowulf.measure.measurement import Measurement
from beowulf.suites.sequences import Collection

PROGRAM = "search.py"
LAB = "03-parallel-benchmarks"
# By the names that search.py gives them: what each step is.
STEPS = {
    "scatter": "the database goes to the nodes",
    "format": "each node makes a database of its part",
    "search": "each node searches its part",
    "merge": "one list is made of all parts'",
    "total": "all of them",
}


@dataclass(frozen=True)
class Search:
    """What one search took, step by step, and what it found."""

    parts: int
    seconds: dict[str, float]
    hits: int
    digest: str


@contextmanager
def files(made: Collection) -> Iterator[tuple[Path, Path]]:
    """The FASTA files of a database and of its queries, for as long as they are needed."""
    # Below /tmp, which the nodes of a local cluster share with this machine.
    with tempfile.TemporaryDirectory(prefix="beowulf-search-") as place:
        database, looked_for = Path(place) / "database.fa", Path(place) / "queries.fa"
        made.write(database, looked_for)
        yield database, looked_for


def run(
    session: Measurement,
    database: Path,
    looked_for: Path,
    parts: int,
    *,
    launch: int = 0,
    at: Mapping[str, Any] | None = None,
    timeout_s: float = mpi.DEFAULT_TIMEOUT_S,
) -> Search:
    """Search in as many parts, a node for each; the samples are kept in the session with hits and digest."""
    program = paths.root() / "labs" / LAB / PROGRAM
    words, where = [str(database), str(looked_for)], dict(at or {})
    lines = session.launch(program, parts, words, launch=launch, at=where, timeout_s=timeout_s)
    result = next(line for line in lines if line["kind"] == "result")
    seconds = {
        str(line["quantity"]).removesuffix("_s"): float(line["seconds"])
        for line in lines
        if line["kind"] == "sample"
    }
    where = where | {"parts": parts, "ranks": parts, "launch": launch}
    session.add(where, "total_s", (), hits=result["hits"], digest=result["digest"])
    return Search(parts, seconds, int(result["hits"]), str(result["digest"]))
