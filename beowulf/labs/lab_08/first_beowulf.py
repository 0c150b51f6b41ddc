"""Lab 08: the machine of 1995, simulated: its Ethernets, its processors, its gas on 1 to 16 of them.

It is a Record of S8 with the variant `first-beowulf`: tokens on the paper's one network and on two, and steps of the
gas with the time that a processor of 1995 took for a zone (beowulf/labs/lab_08/machine_1995.py).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.cluster.simulated import cluster as simulated
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.exercises.gas import beside_headers
from beowulf.labs.lab_08 import machine_1995
from beowulf.labs.lab_08.tokens import PROGRAM, sweep
from beowulf.measure.measurement import Measurement
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "S8", "first-beowulf"
EXERCISE = Exercise(STUDY, VARIANT, "The machine of 1995")
NODES = machine_1995.NODES
SIZES, DEMANDS = (4, 64, 256, 1024, 4096, 8192), (1, 2, 4, 8)
GAS = "gas.c"
CABLES = {1: "one", 2: "two"}


def measure(cluster: Cluster, source: Path | str = GAS) -> Record:
    """Simulate tokens, and the gas with the learner's own exchange."""
    with (
        tempfile.TemporaryDirectory(prefix="beowulf-") as place,
        beside_headers(Path(source)) as own,
    ):

        def steps(session: Measurement) -> None:
            for cables, network in machine_1995.networks().items():
                with machine_1995.launching_on(session, network):
                    words, at = sweep(DEMANDS, 400, SIZES), {"cables": cables}
                    session.launch(PROGRAM, max(NODES), words, at=at)
                    machine_1995.gas_steps(session, own, cables)

        return EXERCISE.measure(
            cluster,
            steps,
            half=True,
            place=simulated.beside(machine_1995.ethernet(), Path(place)),
            timed=False,
            launches=2 * (1 + len(NODES)),
            sweep={"nodes": list(NODES), "sizes": list(SIZES)},
        )


def tokens(record: Record) -> pd.DataFrame:
    """A row for each size and demand: MB/s of all pairs on one network and on two, and how many times that is more."""
    seconds = _by_cables(record, "token_s", ["demand", "size_bytes"]).reset_index()
    found = seconds.assign(
        **{name: seconds["size_bytes"] / seconds[name] / 1e6 for name in CABLES.values()}
    )
    return found.assign(times=found["two"] / found["one"])


def gas(record: Record) -> pd.DataFrame:
    """A row for each number of nodes: the ms of a step and the speed-up, on one network and on two."""
    seconds = _by_cables(record, "step_s", ["ranks"]).rename_axis("nodes")
    if 1 not in seconds.index:
        raise LabError(f"{record.file_name} has no step of one node.", "Simulate again.")
    found = (1e3 * seconds).add_suffix("_ms")
    for name in CABLES.values():
        found[f"{name}_speed_up"] = found[f"{name}_ms"].loc[1] / found[f"{name}_ms"]
    return found


def _by_cables(record: Record, quantity: str, by: list[str]) -> pd.DataFrame:
    """The seconds of a quantity in a column for each number of networks; LabError without."""
    import pandas as pd

    points = [p for p in record.points if p.quantity == quantity and p.samples]
    if not points:
        raise LabError(f"{record.file_name} has no {quantity}.", "Simulate again.")
    rows = [{**p.at, "cables": CABLES[p.at["cables"]], "seconds": p.samples[0]} for p in points]
    table = pd.DataFrame(rows).pivot_table("seconds", by, "cables", aggfunc="last")
    return table.rename_axis(columns=None)
