"""Lab 09: what a program that ran on the learner's nodes would cost on another network, by a replay of its calls.

Paper E leaves it open what a trace could say of a run on another network (study E8). This is a Record S9 with the
variant `replay`: each program is recorded once on the learner's own nodes, and its calls are replayed on the learner's
own calibration, which is held against what was recorded, and on paper E's networks before and after its tuning.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.cluster.platform import read
from beowulf.errors import LabError
from beowulf.exercises.lab_09.scaling import PROGRAM
from beowulf.measure.calibration import Calibration
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.suites import npb
from beowulf.user import learner

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "S9", "replay"
MOST_RANKS = 4
KERNELS = ("CG", "MG", "IS")
OWN, BEFORE, AFTER = "own network", "paper E, before", "paper E, after"
FILES = {BEFORE: "paper-e-before", AFTER: "paper-e-after"}


def measure(cluster: Cluster, made: Calibration) -> Record:
    """Record each program once and replay it on each network; a recorded cluster gives what was kept."""
    if recorded := cluster.replay(STUDY, VARIANT):
        return recorded
    from beowulf.progress import bar
    from beowulf.timeline import analysis
    from beowulf.timeline.replay import replay as replayed

    ranks = min(MOST_RANKS, len(cluster.nodes))
    folder = cluster.records or Path("records")
    networks = {OWN: made.platform(ranks)}
    for name, file in FILES.items():
        network = read(paths.lab("09") / "networks" / f"{file}.toml")
        networks[name] = replace(network, nodes=ranks)
    plate = paths.lab("09") / PROGRAM
    programs: dict[str, tuple[Path, list[str | int]]] = {
        "plate": (plate, ["--lines", "--steps", 20, "--row-us", 3]),
        **{name: (npb.FOLDER / f"{name.lower()}.c", ["S"]) for name in KERNELS},
    }
    with (
        tempfile.TemporaryDirectory(prefix="beowulf-") as scratch,
        bar("Programs on other networks") as progress,
        Measurement(
            STUDY,
            cluster,
            folder,
            progress=progress,
            launches=len(programs),
            traces=Path(scratch),
            sweep={"calibration": made.record, "ranks": ranks},
        ) as session,
    ):
        for name, (source, words) in programs.items():
            session.launch(source, ranks, words, at={"program": name})
            assert session.last_trace
            found = analysis.read(session.last_trace)
            facts: dict[str, Any] = {}
            for label, platform in networks.items():
                there = replayed(found, platform)
                facts |= {"recorded_ms": there.recorded_ms, f"{label} ms": there.ms}
            session.points.append(Point({"replayed": name}, facts=facts))
        record = session.record()
    record.learner, record.variant = learner(), VARIANT
    record.save_in(folder)
    return record


def table(record: Record) -> pd.DataFrame:
    """A row for each program: as recorded, replayed on each network, and what paper E's tuning saves, in per cent."""
    import pandas as pd

    rows = []
    for point in record.points:
        if "replayed" not in point.at:
            continue
        ms = {name: float(point.facts[f"{name} ms"]) for name in (OWN, BEFORE, AFTER)}
        recorded = float(point.facts["recorded_ms"])
        rows.append(
            {
                "program": point.at["replayed"],
                "recorded_ms": recorded,
                **{f"{name} (ms)": each for name, each in ms.items()},
                "off_percent": 100 * (ms[OWN] / recorded - 1),
                "tuning_saves_percent": 100 * (1 - ms[AFTER] / ms[BEFORE]),
            }
        )
    if not rows:
        raise LabError(f"{record.file_name} has no replay.", "Measure it again.")
    return pd.DataFrame(rows).set_index("program")
