"""A tap on the wire: one launch of a learner's program under a capture, kept as a Record with the capture beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from beowulf import mpi
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.measure.watched import Watched
from beowulf.record import Point, Record, reserve

LONGEST_S = 60.0
# What a capture tells, as Points.
Look = Callable[[Path], list[Point]]


def record(
    cluster: Cluster,
    study: str,
    variant: str,
    program: Path,
    arguments: Sequence[str | int],
    *,
    ranks: int,
    look: Look,
    snap_bytes: int = 128,
) -> Record:
    """Run `program` once under a capture of the wire, let `look` read it, and keep both beside the notebook.

    LabError when the program does not compile, fails, or does not end; then nothing is kept.
    """
    with Watched(cluster, study) as watched:
        return _record(
            watched,
            study,
            variant,
            program,
            arguments,
            ranks=ranks,
            look=look,
            snap_bytes=snap_bytes,
        )


def _record(
    watched: Watched,
    study: str,
    variant: str,
    program: Path,
    arguments: Sequence[str | int],
    *,
    ranks: int,
    look: Look,
    snap_bytes: int,
) -> Record:
    cluster = watched.cluster
    folder = cluster.records or Path("records")
    words = mpi.prepare(program, library=str(cluster.describe().get("mpi", "classic")))
    said = [str(word) for word in arguments]
    what = {
        "name": program.name,
        "arguments": said,
        "sha256": hashlib.sha256(program.read_bytes()).hexdigest(),
    }
    file: Path | None = None
    try:
        with Exercise(study, variant).record(cluster, program=what, watched=watched) as made:
            file = reserve((folder / made.file_name).with_suffix(".pcapng"))
            with cluster.capture(file, snap_bytes=snap_bytes) as wire:
                done = mpi.launch(cluster, words, ranks, said, timeout_s=LONGEST_S)
            if failed := mpi.failure(done, program.name):
                raise LabError(failed, done.stderr.strip() or "In a terminal it says more.")
            made.points = look(file)
            made.captures, made.warnings = [wire.facts()], list(wire.warnings)
    except BaseException:
        if file:
            file.unlink(missing_ok=True)  # without its Record it says nothing
        raise
    return made


def capture(cluster: Cluster, of: Record) -> Path:
    """Where the capture of a Record lies; LabError when it does not lie beside the Records."""
    folder = cluster.records or Path("records")
    names = [Path(each["file"]).name for each in of.captures]
    if not names or not (folder / names[0]).is_file():
        what = names[0] if names else f"of {of.file_name}"
        raise LabError(
            f"The capture {what} does not lie in {folder}.",
            "It lies beside its Record where it was taken. Run the cell that takes it once more.",
        )
    return folder / names[0]
