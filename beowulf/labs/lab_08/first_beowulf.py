"""Lab 08: the machine of 1995, simulated: its Ethernets, its processors, its gas on 1 to 16 of them.

It is a Record of S8 with the variant `first-beowulf`: tokens on the paper's one network and on two, and steps of the
gas with the time that a processor of 1995 took for a zone (beowulf/labs/lab_08/machine_1995.py).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf import paths
from beowulf.cluster import Cluster, simulated
from beowulf.errors import LabError, UsageError
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_08 import machine_1995
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "S8", "first-beowulf"
EXERCISE = Exercise(STUDY, VARIANT)
NODES = machine_1995.NODES
SIZES, DEMANDS = (4, 64, 256, 1024, 4096, 8192), (1, 2, 4, 8)
# Paper C: 16 processors make 31 MFLOPS on a grid of the same size.
PAPER_SPEED_UP = 31 / machine_1995.GAS_MFLOPS
GAS, TOKENS = "gas.c", "tokens.c"


def measure(cluster: Cluster, source: Path | str = GAS) -> Record:
    """Simulate tokens, and the gas with the learner's own exchange."""
    from beowulf.progress import bar

    folder = cluster.records or Path("records")
    if not Path(source).is_file():
        raise UsageError(
            f"There is no file {source}.", "Work in the folder of your copies of the lab."
        )
    with (
        tempfile.TemporaryDirectory(prefix="beowulf-") as scratch,
        bar("The machine of 1995") as progress,
    ):
        points: list[Point] = []
        for number, network in machine_1995.networks().items():
            place = Path(scratch) / str(number)
            machine = simulated.beside(network, place / "cluster")
            for file in (paths.lab("08") / TOKENS, *paths.lab("08").glob("*.h")):
                shutil.copy(file, place)
            own = Path(shutil.copy(source, place / GAS))
            with Measurement(
                STUDY, machine, folder, timed=False, progress=progress, launches=1 + len(NODES),
                sweep={"nodes": list(NODES), "sizes": list(SIZES)},
            ) as session:  # fmt: skip
                words = [
                    "--sizes",
                    ",".join(map(str, SIZES)),
                    "--demand",
                    ",".join(map(str, DEMANDS)),
                ]
                session.launch(
                    place / TOKENS, max(NODES), [*words, "--ms", 400], at={"cables": number}
                )
                machine_1995.gas_steps(session, own, number)
            points += session.points
        record = session.record()
        record.points = points
    return EXERCISE.keep(record, folder, half=True)


def tokens(record: Record) -> pd.DataFrame:
    """A row for each size and demand: MB/s of all pairs on one network and on two, and how many times that is more."""
    import pandas as pd

    rows: dict[tuple[int, int], dict[str, float]] = {}
    for point in record.points:
        if point.quantity == "token_s" and point.samples:
            key = int(point.at["demand"]), int(point.at["size_bytes"])
            name = "one" if point.at["cables"] == 1 else "two"
            rows.setdefault(key, {})[name] = key[1] / point.samples[0] / 1e6
    if not rows:
        raise LabError(f"{record.file_name} has no tokens.", "Simulate again.")
    found = pd.DataFrame(
        [{"demand": d, "size_bytes": s, **each} for (d, s), each in sorted(rows.items())]
    )
    return found.assign(times=found["two"] / found["one"])


def gas(record: Record) -> pd.DataFrame:
    """A row for each number of nodes: the ms of a step and the speed-up, on one network and on two."""
    import pandas as pd

    ms: dict[int, dict[str, float]] = {}
    for point in record.points:
        if point.quantity == "step_s" and point.samples:
            name = "one" if point.at["cables"] == 1 else "two"
            ms.setdefault(int(point.at["ranks"]), {})[name] = 1e3 * point.samples[0]
    if 1 not in ms:
        raise LabError(f"{record.file_name} has no step of the gas.", "Simulate again.")
    rows = [
        {
            "nodes": nodes,
            **{f"{name}_ms": each[name] for name in ("one", "two")},
            **{f"{name}_speed_up": ms[1][name] / each[name] for name in ("one", "two")},
        }
        for nodes, each in sorted(ms.items())
    ]
    return pd.DataFrame(rows).set_index("nodes")
