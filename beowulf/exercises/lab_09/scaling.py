"""Lab 09: the step of the heated plate, measured on the nodes that are there, and simulated on those that are not.

It is a Record S9 with the variant `plate`: how long a row of real computing takes on one node, a step with delays of
that length on the cluster's own nodes, and the same step simulated on a network calibrated from the learner's own E1.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf import paths
from beowulf.cluster import Cluster, simulated
from beowulf.errors import LabError
from beowulf.measure import calibration
from beowulf.measure.calibration import Calibration
from beowulf.measure.measurement import Measurement
from beowulf.record import Record
from beowulf.user import learner

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT, PROGRAM = "S9", "plate", "plate.c"
ROWS, COLUMNS, STEPS, PASSES = 4096, 4096, 10, 5
NODES, LARGEST = (1, 2, 4, 16, 64, 256), 1024
OWN, GIGABIT = "your network", "1 Gbit/s"
GIGABIT_MBIT = 1000
MEASURED, SIMULATED = "measured", "simulated"


def measure(cluster: Cluster, times: Record, *, large: bool = False) -> Record:
    """Measure a row and the steps of a few nodes, simulate the others; a recorded cluster gives what was kept.

    `times` is the Record E1 from which the simulated networks are made. `large`: 1,024 nodes as well, for a minute.
    """
    if recorded := cluster.replay(STUDY, VARIANT):
        return recorded
    from beowulf.progress import bar

    made = calibration.of(times)
    nodes = (*NODES, LARGEST) if large else NODES
    folder = cluster.records or Path("records")
    here = [n for n in NODES if 1 < n <= len(cluster.nodes)]
    networks = {OWN: made, GIGABIT: made.on_cable(GIGABIT_MBIT)}
    sweep = {"rows": ROWS, "columns": COLUMNS, "calibration": made.record, "nodes": list(nodes)}
    launches = 1 + len(here) + len(networks) * len(nodes)
    with (
        tempfile.TemporaryDirectory(prefix="beowulf-") as scratch,
        bar("Your plate on more nodes") as progress,
        Measurement(STUDY, cluster, folder, progress=progress, launches=launches, sweep=sweep) as session,
    ):  # fmt: skip
        program = paths.lab("09") / PROGRAM
        rows = session.launch(program, 1, ["--lines", "--time-row", "--columns", COLUMNS])
        row_us = next(1e6 * float(row["seconds"]) for row in rows if row.get("kind") == "sample")
        words: list[str | int] = ["--lines", "--rows", ROWS, "--columns", COLUMNS, "--steps", STEPS]
        words += ["--row-us", f"{row_us:.4f}"]
        for count in here:
            at = {"network": OWN, "way": MEASURED}
            session.launch(program, count, [*words, "--passes", PASSES], at=at)
        for name, each in networks.items():
            _simulate(session, each, name, nodes, words, Path(scratch))
    record = session.record()
    if not record.complete:
        raise LabError(f"The plate was not measured to its end. {' '.join(record.warnings)}")
    record.learner, record.variant = learner(), VARIANT
    record.save_in(folder)
    return record


def _simulate(
    session: Measurement,
    made: Calibration,
    name: str,
    nodes: tuple[int, ...],
    words: list[str | int],
    scratch: Path,
) -> None:
    """Run the program on simulated clusters of so many nodes, as Points of the same measurement."""
    place = scratch / name.replace("/", " ")
    cluster = simulated.beside(made.platform(max(nodes)), place / "cluster")
    source = Path(shutil.copy(paths.lab("09") / PROGRAM, place))
    with Measurement(STUDY, cluster, place, timed=False, launches=len(nodes)) as inner:
        for count in nodes:
            inner.launch(
                source, count, words, at={"network": name, "way": SIMULATED}, timeout_s=300
            )
            session.done += 1
    session.points += inner.points


def row_us(record: Record) -> float:
    """The µs that a row of real computing takes on one node."""
    for point in record.points:
        if point.quantity == "row_s" and point.samples:
            return 1e6 * min(point.samples)
    raise LabError(f"{record.file_name} has no time of a row.", "Measure it again.")


def table(record: Record) -> pd.DataFrame:
    """A row for each network and number of nodes: the simulated step, its speed-up and efficiency, the measured step.

    The speed-up is the simulated time on one node over that on so many.
    """
    import pandas as pd

    found: dict[tuple[str, int], dict[str, float]] = {}
    for point in record.points:
        if point.quantity == "step_s" and point.samples:
            ordered = sorted(1e3 * each for each in point.samples)
            key = (str(point.at["network"]), int(point.at["ranks"]))
            found.setdefault(key, {})[str(point.at["way"])] = ordered[len(ordered) // 2]
    rows = []
    for (network, count), each in sorted(
        found.items(), key=lambda item: (item[0][0] != OWN, item[0])
    ):
        if SIMULATED not in each or SIMULATED not in (one := found.get((network, 1), {})):
            raise LabError(f"The Record has no simulated step of {network}.", "Measure it again.")
        speed_up = one[SIMULATED] / each[SIMULATED]
        rows.append(
            {
                "network": network,
                "nodes": count,
                "simulated_ms": each[SIMULATED],
                "measured_ms": each.get(MEASURED),
                "speed_up": speed_up,
                "efficiency_percent": 100 * speed_up / count,
            }
        )
    return pd.DataFrame(rows)


def errors_percent(record: Record) -> dict[int, float]:
    """By nodes, how far the simulated step is from the measured one."""
    both = table(record).dropna(subset=["measured_ms"])
    both = both[both["network"] == OWN]
    off = 100 * (both["simulated_ms"] / both["measured_ms"] - 1)
    return dict(zip((int(n) for n in both["nodes"]), (float(each) for each in off), strict=True))
