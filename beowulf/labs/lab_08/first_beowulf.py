"""Lab 08: the machine of 1995, simulated: its Ethernets, its processors, its gas on 1 to 16 of them.

It is a Record of S8 with the variant `first-beowulf`: tokens on the paper's one network and on two, and steps of the
gas with the time that a processor of 1995 would take for one of our zones (beowulf/labs/lab_08/machine_1995.py).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf import figures
from beowulf.cluster import Cluster
from beowulf.cluster.simulated import cluster as simulated
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.exercises.gas import beside_headers
from beowulf.labs.lab_08 import c6_overhead, machine_1995
from beowulf.labs.lab_08.codes import FIXED, printed
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
DRAGGED = {"zone_flops": (849, 1000, 1500, 2000, 3000, 4000, 6000, 8000), "networks": (1, 2)}


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
    for name in CABLES.values():
        seconds[f"{name}_mb_per_s"] = seconds["size_bytes"] / seconds.pop(name) / 1e6
    return seconds.assign(times=seconds["two_mb_per_s"] / seconds["one_mb_per_s"])


def gas(record: Record) -> pd.DataFrame:
    """A row for each number of nodes: the ms of a step and the speed-up, on one network and on two."""
    seconds = _by_cables(record, "step_s", ["ranks"]).rename_axis("nodes")
    if 1 not in seconds.index:
        raise LabError(f"{record.file_name} has no step on one node.", "Simulate again.")
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


@figures.draggable(EXERCISE.own, "lab.first_beowulf.measure", **DRAGGED)
def speed_up_1995(record: Record, zone_flops: int = 849, networks: int = 1) -> figures.Figure:
    """Your gas on 1 to 16 processors of 1995 with so many operations a zone, and the paper's points: drag the number.

    Only computing takes longer with more operations; messages and waits stay as they were simulated.
    """
    steps = c6_overhead.table(record)  # sorted by nodes
    yours = steps[(steps["code"] == FIXED) & (steps["networks"] == networks)].set_index("nodes")
    more = yours["computing_percent"] / 100 * (zone_flops / yours["zone_flops"] - 1)
    ms, paper = yours["step_ms"] * (1 + more), printed(FIXED) / printed(FIXED, 1)
    return figures.plot(
        {
            "your gas": (ms.iloc[0] / ms).to_dict(),
            # On 8 processors it prints that 16 make about 10 % more.
            "paper C": {NODES[-2]: paper / 1.1, NODES[-1]: paper},
            "nothing lost": {n: n for n in NODES},
        },
        *("nodes", "times_as_fast_as_one"),
        title=f"{zone_flops:,} operations a zone, networks: {CABLES[networks]}",
        x_title="processors of 1995",
        x_log=True,
        y_log=True,
        marks=("paper C",),
    )
