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
    names = [Path(each["file"]).name for each in of.captures]
    if not names or not (folder / names[0]).is_file():
        what = names[0] if names else f"of {of.file_name}"
        raise LabError(
            f"The capture {what} does not lie in {folder}.",
            "It lies beside its Record where it was taken. Run the cell that takes it once more.",
        )
    return folder / names[0]
