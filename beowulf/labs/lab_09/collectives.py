"""Lab 09: collective calls against loops of single messages on 4 to 1,024 simulated nodes, and which algorithm wins.

It is a Record S9 with the variant `collectives`. The program is A13's, of lab 06; the network is a learner's
calibration, on which each message waits for its receiver. In SimGrid, messages that a rank has sent ahead share its
link, and all of them arrive late; on a connection of TCP the first one arrives first.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.cluster.common.config import RATE_BITS_PER_S
from beowulf.cluster.simulated import cluster as simulated
from beowulf.errors import LabError, UsageError
from beowulf.exercises.exercise import Exercise
from beowulf.measure.calibration import Calibration
from beowulf.measure.measurement import Measurement
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "S9", "collectives"
EXERCISE = Exercise(STUDY, VARIANT, "Collectives")
SOURCE = ("06", "collectives.c")
NODES, LARGE = (4, 16, 64), (256, 1024)
SIZES = (64, 1024, 16_384, 262_144)
BROADCAST, ALL_REDUCE = "broadcast", "allreduce"
LOOP, RING = "a loop of messages", "ring"
CHOICES = {
    "MPICH's choice": "--cfg=smpi/coll-selector:mpich",
    "Open MPI's choice": "--cfg=smpi/coll-selector:ompi",
}
# For each operation, by how a table calls it: what SimGrid is asked for. Its rules for MPICH (version 3.32) take the
# tree and recursive doubling for each of these sizes; MPICH itself cuts long data into parts.
WAYS = {
    BROADCAST: {
        **CHOICES,
        "binomial tree": "--cfg=smpi/bcast:binomial_tree",
        "scatter and all-gather": "--cfg=smpi/bcast:scatter_LR_allgather",
    },
    ALL_REDUCE: {
        **CHOICES,
        "recursive doubling": "--cfg=smpi/allreduce:rdb",
        RING: "--cfg=smpi/allreduce:lr",
        "Rabenseifner": "--cfg=smpi/allreduce:rab_rdb",
    },
}


def measure(cluster: Cluster, made: Calibration, *, large: bool = False) -> Record:
    """Simulate a broadcast and an all-reduce in each way.

    `large`: on 256 and 1,024 nodes as well, for some minutes. The ring of 1,024 is left out: two million messages.
    """
    nodes = (*NODES, *LARGE) if large else NODES
    lab, file = SOURCE
    words = ["--sizes", ",".join(map(str, SIZES)), "--passes", "1", "--repetitions", "1"]
    words += ["--warm-up", "0", "--operations"]
    runs = [
        (count, operation, name, option)
        for count in nodes
        for operation, ways in WAYS.items()
        for name, option in ways.items()
        if (count, name) != (max(LARGE), RING)
    ]

    def steps(session: Measurement) -> None:
        for count, operation, name, option in runs:
            words_of_it, at = [*words, operation], {"algorithm": name}
            session.launch(
                paths.lab(lab) / file, count, words_of_it, at=at, prefix=[option], timeout_s=900
            )

    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        # A link's bucket is empty where messages follow each other: then it is a cable of its rate.
        cable = made.on_cable(made.link_mbit) if made.rate in RATE_BITS_PER_S else made
        network = replace(cable.platform(max(nodes)), eager_bytes=0)
        place = simulated.beside(network, Path(scratch) / "cluster")
        return EXERCISE.measure(
            cluster,
            steps,
            half=True,
            place=place,
            timed=False,
            launches=len(runs),
            sweep={"calibration": made.record, "nodes": list(nodes), "sizes": list(SIZES)},
        )


def table(record: Record, operation: str = BROADCAST) -> pd.DataFrame:
    """A row for each size and number of nodes: the ms of each way, and which of the named algorithms is shortest."""
    import pandas as pd

    if operation not in WAYS:
        raise UsageError(f"There is no {operation!r} here.", f"There are {', '.join(WAYS)}.")
    rows: dict[tuple[int, int], dict[str, float]] = {}
    for point in record.points:
        timed = point.quantity.endswith("_us") and point.samples
        if not timed or point.at.get("operation") != operation:
            continue
        way = LOOP if point.at["way"] == "loop" else str(point.at["algorithm"])
        key = (int(point.at["size_bytes"]), int(point.at["ranks"]))
        rows.setdefault(key, {})[way] = 1e-3 * point.samples[0]
    if not rows:
        raise LabError(f"{record.file_name} has no {operation}.", "Simulate it again.")
    found = pd.DataFrame(rows).T.rename_axis(index=["size_bytes", "nodes"]).sort_index()
    found = found[[LOOP, *WAYS[operation]]]
    named = [name for name in WAYS[operation] if name not in CHOICES]
    return found.assign(shortest=found[named].idxmin(axis="columns"))
