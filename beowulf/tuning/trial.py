"""A trial: one change, measured before and after in turns, and kept as a Record."""

from __future__ import annotations

from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.measure.measurement import Measurement
from beowulf.this_machine.progress import Progress, no_progress
from beowulf.this_machine.user import learner
from beowulf.tuning.ab_comparison import Comparison, compare
from beowulf.tuning.change import Change

STUDY = "E7"  # paper E's procedure; the variant tells one trial from the whole of it


def measure(
    cluster: Cluster,
    change: Change,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> Comparison:
    """A whole cycle of measurement round this change; it is out when it ends. The Record goes into `folder`."""
    at = {"knob": change.knob.name, "value": f"{change.knob.name} {change.value}"}
    comparison: Comparison | None = None
    with Measurement(STUDY, cluster, folder, quick=quick, progress=progress) as session:
        comparison = compare(session, change, at=at, relaunch=change.knob.relaunch)
    record = session.record()
    record.learner = learner()
    record.variant = f"tune-{change.knob.name}"
    record.save_in(folder)
    if comparison is None:
        raise LabError(
            record.warnings[-1],
            "What was changed has been put back. Measure again when the machine is quiet.",
        )
    return comparison
