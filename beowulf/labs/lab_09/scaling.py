"""Lab 09: the step of the heated plate, measured on the nodes that are there, and simulated on those that are not.

It is a Record S9 with the variant `plate`: how long a row of real computing takes on one node, a step with delays of
that length on the cluster's own nodes, and the same step simulated on a network calibrated from the learner's own E1.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING

from beowulf import figures, mpi, paths
from beowulf.cluster import Cluster
from beowulf.cluster.common.config import SIMULATED as SIMULATED_MPI
from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated.platform import read
from beowulf.errors import LabError, UsageError
from beowulf.exercises.exercise import Exercise
from beowulf.measure import calibration
from beowulf.measure.calibration import Calibration
from beowulf.measure.measurement import Measurement
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT, PROGRAM = "S9", "plate", "plate.c"
EXERCISE = Exercise(STUDY, VARIANT, "Your plate on more nodes")
ROWS, COLUMNS, STEPS, PASSES = 4096, 4096, 10, 5
NODES, LARGEST = (1, 2, 4, 16, 64, 256), 1024
OWN, GIGABIT = "your network", "1 Gbit/s"
GIGABIT_MBIT = 1000
CABLE_SHARE = 1448 / 1538  # of a cable's rate that is left for data
MEASURED, SIMULATED = "measured", "simulated"
DRAGGED = {
    "mbit_per_s": (10, 20, 50, 100, 200, 500, 1000, 2500, 10_000, 40_000, 100_000),
    "latency_us": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    "columns": [2**power for power in range(9, 15)],
}


def measure(cluster: Cluster, times: Record, *, large: bool = False) -> Record:
    """Measure a row and the steps of a few nodes, simulate the others.

    `times` is the Record E1 from which the simulated networks are made. `large`: 1,024 nodes as well, for a minute.
    """
    made = calibration.of(times)
    nodes = (*NODES, LARGEST) if large else NODES
    here = [n for n in NODES if 1 < n <= len(cluster.nodes)]
    networks = {OWN: made, GIGABIT: made.on_cable(GIGABIT_MBIT)}
    sweep = {"rows": ROWS, "columns": COLUMNS, "calibration": made.record, "nodes": list(nodes)}
    launches = 1 + len(here) + len(networks) * len(nodes)

    def steps(session: Measurement) -> None:
        program = paths.lab("09") / PROGRAM
        rows = session.launch(program, 1, ["--lines", "--time-row", "--columns", COLUMNS])
        row_us = next(1e6 * float(row["seconds"]) for row in rows if row.get("kind") == "sample")
        words: list[str | int] = ["--lines", "--rows", ROWS, "--columns", COLUMNS, "--steps", STEPS]
        words += ["--row-us", f"{row_us:.4f}"]
        for count in here:
            at = {"network": OWN, "way": MEASURED}
            session.launch(program, count, [*words, "--passes", PASSES], at=at)
        for name, each in networks.items():
            _simulate(session, each, name, nodes, words)

    return EXERCISE.measure(cluster, steps, of="The plate", hint="", launches=launches, sweep=sweep)


def _simulate(
    session: Measurement,
    made: Calibration,
    name: str,
    nodes: tuple[int, ...],
    words: list[str | int],
) -> None:
    """Run the program on simulated clusters of so many nodes, as Points of the same measurement."""
    at = {"network": name, "way": SIMULATED}
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        cluster = simulated.beside(made.platform(max(nodes)), Path(scratch) / "cluster")
        with Measurement(STUDY, cluster, Path(scratch), timed=False, launches=len(nodes)) as inner:
            for count in nodes:
                inner.launch(paths.lab("09") / PROGRAM, count, words, at=at, timeout_s=300)
                session.done += 1
    session.points += inner.points


def on_network(file: Path | str, row_us: float, nodes: int = 64) -> float:
    """The ms of a step on the network of a TOML file, by an exact simulation; nothing is kept."""
    network = replace(read(_file(file)), nodes=nodes)
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        place = Path(scratch)
        cluster = simulated.beside(network, place / "cluster")
        program = mpi.build(
            paths.lab("09") / PROGRAM, library=SIMULATED_MPI, output=place / "plate"
        )
        words = ["--rows", str(ROWS), "--columns", str(COLUMNS), "--steps", str(STEPS)]
        words += ["--row-us", f"{row_us:.4f}", "--lines"]
        done = mpi.launch(cluster, [str(program)], nodes, words, timeout_s=300)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if row.get("kind") == "sample":
            return 1e3 * float(row["seconds"]) / int(row["repetitions"])
    raise LabError(f"{PROGRAM} gave no time: {done.stderr.strip()}")


def _file(name: Path | str) -> Path:
    """The file, or the lab's own network of that name."""
    ours = paths.lab("09") / "networks" / f"{name}.toml"
    if ours.is_file() or Path(name).is_file():
        return ours if ours.is_file() else Path(name)
    known = ", ".join(sorted(each.stem for each in ours.parent.glob("*.toml")))
    raise UsageError(f"There is no network {name}.", f"Name one of {known}, or a TOML file.")


def model_ms(
    nodes: int, rate_mbit: float, latency_us: float, row_us: float, columns: int = COLUMNS
) -> float:
    """The same by a formula, fast enough for a slider: the rows of a rank, and its messages, which share its link.

    A rank between two others sends two; of two ranks, each sends one.
    """
    messages = min(nodes - 1, 2)
    messages_us = (
        latency_us + messages * 8 * columns * 8 / rate_mbit / CABLE_SHARE if messages else 0.0
    )
    return (ROWS / nodes * row_us + messages_us) / 1e3


@figures.draggable(lambda row_us, _: row_us, "", **DRAGGED)
def sliders(
    row_us: float, mbit_per_s: float = 100, latency_us: float = 50, columns: int = COLUMNS
) -> figures.Figure:
    """The speed-up of a step over the nodes by the formula: drag rate, latency and the numbers of a row."""
    row, counts = row_us * columns / COLUMNS, [2**n for n in range(11)]
    ms = {n: model_ms(n, mbit_per_s, latency_us, row, columns) for n in counts}
    return figures.plot(
        {
            "by the formula": {n: ms[1] / each for n, each in ms.items()},
            "nothing lost": {n: n for n in counts},
        },
        *("nodes", "speed_up"),
        title=f"{mbit_per_s:,} Mbit/s, {latency_us:g} µs, rows of {columns:,}",
        x_log=True,
        y_log=True,
    )


def row_us(record: Record) -> float:
    """The µs that a row of real computing takes on one node."""
    for point in record.points:
        if point.quantity == "row_s" and point.samples:
            return 1e6 * min(point.samples)
    raise LabError(f"{record.file_name} has no times for a row.", "Measure it again.")


def table(record: Record) -> pd.DataFrame:
    """A row for each network and number of nodes: the simulated step, its speed-up and efficiency, the measured step.

    The speed-up is the simulated time on one node over that on so many.
    """
    import pandas as pd

    found: dict[tuple[str, int], dict[str, float]] = {}
    for point in record.points:
        if point.quantity == "step_s" and point.samples:
            key = (str(point.at["network"]), int(point.at["ranks"]))
            found.setdefault(key, {})[str(point.at["way"])] = 1e3 * median_high(point.samples)
    rows = []
    for (network, count), each in sorted(
        found.items(), key=lambda item: (item[0][0] != OWN, item[0])
    ):
        if SIMULATED not in each or SIMULATED not in (one := found.get((network, 1), {})):
            raise LabError(f"The Record has no simulated step for {network}.", "Measure it again.")
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
    """By number of nodes, how far the simulated step is from the measured one."""
    both = table(record).dropna(subset=["measured_ms"])
    both = both[both["network"] == OWN]
    off = 100 * (both["simulated_ms"] / both["measured_ms"] - 1)
    return dict(
        zip((int(n) for n in both["nodes"]), (round(float(each), 1) for each in off), strict=True)
    )
