"""Lab 09: collective calls against loops of single messages on 4 to 1,024 simulated nodes, and which algorithm wins.

It is a Record S9 with the variant `collectives`. The program is A13's, of lab 06; the network is a learner's
calibration, on which each message waits for its receiver. In SimGrid, messages that a rank has sent ahead share its
link, and all of them arrive late; on a connection of TCP the first one arrives first.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf import paths
from beowulf.cluster import Cluster, simulated
from beowulf.measure.calibration import Calibration
from beowulf.measure.measurement import Measurement
from beowulf.record import Record
from beowulf.user import learner

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "S9", "collectives"
SOURCE = ("06", "collectives.c")
NODES, LARGE = (4, 16, 64), (256, 1024)
SIZES = (1024, 16_384, 262_144)
OPERATION = "broadcast"
# By how a table calls it: what SimGrid is asked for. Its rule for MPICH (version 3.32) takes the tree for each of these
# sizes; MPICH itself scatters long data and lets the ranks gather them from each other.
LOOP = "a loop of messages"
WAYS = {
    "MPICH's choice": "--cfg=smpi/coll-selector:mpich",
    "Open MPI's choice": "--cfg=smpi/coll-selector:ompi",
    "binomial tree": "--cfg=smpi/bcast:binomial_tree",
    "scatter and all-gather": "--cfg=smpi/bcast:scatter_LR_allgather",
}


def measure(cluster: Cluster, made: Calibration, *, large: bool = False) -> Record:
    """Simulate a broadcast in each way; a recorded cluster gives what was kept. `large`: 256 and 1,024 nodes, too."""
    if recorded := cluster.replay(STUDY, VARIANT):
        return recorded
    from beowulf.progress import bar

    nodes = (*NODES, *LARGE) if large else NODES
    folder = cluster.records or Path("records")
    lab, name = SOURCE
    words = ["--operations", OPERATION, "--sizes", ",".join(map(str, SIZES))]
    words += ["--passes", "1", "--repetitions", "1"]
    sweep = {"calibration": made.record, "nodes": list(nodes), "sizes": list(SIZES)}
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch, bar("Collectives") as progress:
        place = simulated.beside(
            replace(made.platform(max(nodes)), eager_bytes=0), Path(scratch) / "cluster"
        )
        program = Path(shutil.copy(paths.lab(lab) / name, scratch))
        with Measurement(
            STUDY,
            place,
            folder,
            timed=False,
            progress=progress,
            launches=len(nodes) * len(WAYS),
            sweep=sweep,
        ) as session:
            for count in nodes:
                for says, option in WAYS.items():
                    at = {"algorithm": says}
                    session.launch(program, count, words, at=at, prefix=[option], timeout_s=300)
        record = session.record()
    record.learner, record.variant = learner(), VARIANT
    record.save_in(folder)
    return record


def table(record: Record) -> pd.DataFrame:
    """A row for each size and number of nodes, a column in ms for each way."""
    import pandas as pd

    rows: dict[tuple[int, int], dict[str, float]] = {}
    for point in record.points:
        if not point.quantity.endswith("_us") or not point.samples:
            continue
        way = LOOP if point.at["way"] == "loop" else str(point.at["algorithm"])
        key = (int(point.at["size_bytes"]), int(point.at["ranks"]))
        rows.setdefault(key, {})[way] = 1e-3 * point.samples[0]
    found = pd.DataFrame(rows).T.rename_axis(index=["size_bytes", "nodes"]).sort_index()
    return found[[LOOP, *WAYS]]
