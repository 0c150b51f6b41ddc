"""A trial: one change, or several together, measured before and after in turns, and kept as a Record."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.measure.measurement import Measurement
from beowulf.progress import Progress, no_progress
from beowulf.tuning import machines
from beowulf.tuning.ab_comparison import Comparison, compare
from beowulf.tuning.change import Changes
from beowulf.tuning.knob import Knob
from beowulf.tuning.knobs import ALL, EACH
from beowulf.user import learner

STUDY = "E7"  # paper E's procedure; the variant tells one trial from the whole of it


def untuned(cluster: Cluster, *, host: bool = False) -> list[tuple[Knob, str]]:
    """The knobs that are here and not at their low-latency setting, each with that setting."""
    knobs = [
        knob for knob in EACH if knob.values and (host or not machines.belongs_here(cluster, knob))
    ]
    changes = []
    for name, readings in machines.read(cluster, knobs).items():
        present = [each for each in readings.values() if not each.absent]
        # Some values only the log can put back.
        with suppress(UsageError):
            if any(each.value != ALL[name].tuned for each in present):
                changes.append((ALL[name], ALL[name].accepted(ALL[name].tuned)))
    return changes


def measure(
    cluster: Cluster,
    changes: Changes,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> Comparison:
    """A whole cycle of measurement round these changes; they are out when it ends. The Record goes into `folder`."""
    names = [each.knob.name for each in changes.each]
    at = {
        "knob": names[0] if len(names) == 1 else "together",
        "value": ", ".join(f"{each.knob.name} {each.value}" for each in changes.each),
    }
    relaunch = any(each.knob.relaunch for each in changes.each)
    comparison: Comparison | None = None
    with Measurement(STUDY, cluster, folder, quick=quick, progress=progress) as session:
        comparison = compare(session, changes, at=at, relaunch=relaunch)
    record = session.record()
    record.learner = learner()
    record.variant = f"tune-{at['knob']}"
    record.save_in(folder)
    if comparison is None:
        raise LabError(
            record.warnings[-1], "What was changed is put back. Measure once more when it is quiet."
        )
    return comparison
