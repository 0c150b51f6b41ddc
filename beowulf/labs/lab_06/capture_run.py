"""The capture that lies beside a Record."""

from __future__ import annotations

from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.exercise import records
from beowulf.record import Record


def capture(cluster: Cluster, of: Record) -> Path:
    """Where the capture of a Record lies; LabError when it does not lie beside the Records."""
    folder = records(cluster)
    what = Path(of.captures[0]["file"]).name if of.captures else f"of {of.file_name}"
    if not of.captures or not (folder / what).is_file():
        raise LabError(
            f"The capture {what} does not lie in {folder}.",
            "It lies beside its Record where it was taken. Run the cell that takes it once more.",
        )
    return folder / what
