"""The capture of a Record."""

from __future__ import annotations

from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.exercise import records
from beowulf.record import Record


def capture(cluster: Cluster, of: Record) -> Path:
    """The file with the capture of a Record; LabError if it is not next to the Records."""
    folder = records(cluster)
    what = Path(of.captures[0]["file"]).name if of.captures else f"of {of.file_name}"
    if not of.captures or not (folder / what).is_file():
        raise LabError(
            f"The capture {what} is not in {folder}.",
            "Run the capturing cell again.",
        )
    return folder / what
