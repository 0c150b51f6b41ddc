"""What does patient polling cost two ranks on nodes with one core each? Decided by each node's ranks, against never.

Nodes on this machine, each bound to a core of its own. BEOWULF_SHARED_CORES is set as for nodes that share no core,
such as PCs and VMs: then the ranks of a node count, and one rank on one core has no other rank to be patient for.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping
from typing import Any

from benchmarks import commands, pingpong
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError
from beowulf.progress import Progress
from beowulf.tuning.knobs.pinning import Pinning

TITLE = "Half a round trip of 8 bytes between nodes with one core each, by what decides on patience"
ROUNDS = 20
FILLS_THE_CORES = True

SIZE = 8
PASSES = 100
LOCAL, NEVER, ALL = "ranks of a node", "never patient", "ranks of all nodes"
SETTINGS = {
    LOCAL: {"BEOWULF_PATIENT": "auto", "BEOWULF_SHARED_CORES": ""},
    NEVER: {"BEOWULF_PATIENT": "never", "BEOWULF_SHARED_CORES": ""},
    ALL: {"BEOWULF_PATIENT": "auto", "BEOWULF_SHARED_CORES": "1"},
}
WITHIN = Bar(1.03, "ratio", "within 3 %", least=0.97)
NOTES = [
    f"A sample is the median of a launch's {PASSES} chunks. `{ALL}` is how it was decided before: two ranks, one core.",
    "Nodes are namespaces of this machine at 100 Mbit/s, node00 on its first core and node01 on the next; there all "
    "processes of a node stay, its sshd and MPICH's proxy too.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Alternating launches on one cluster; each launch has to print whether its ranks were patient."""
    if len(os.sched_getaffinity(0)) < pingpong.RANKS:
        return Findings(questions("this machine has not a core for each node"))
    with scratch_folder() as folder:
        progress(0, 1, "booting the cluster")
        cluster = namespaces.up(ClusterConfig(nodes=pingpong.RANKS), folder=folder / STATE)
        _one_core_each(cluster)
        program = pingpong.build(folder)
        launch = pingpong.on_nodes(cluster, folder)
        command = [program, *pingpong.arguments([SIZE], "--passes", PASSES)]
        facts: dict[str, Any] = {"rate": cluster.config.rate, "mpi": cluster.config.mpi}

        def side(name: str) -> Side:
            def run() -> Mapping[str, float]:
                printed = launch(command, SETTINGS[name])
                [about] = [line for line in commands.lines(printed) if line["kind"] == "about"]
                if about["patient_ranks"] != (pingpong.RANKS if name == ALL else 0):
                    raise LabError(f"{name}: {about['patient_ranks']} ranks were patient.")
                return {name: statistics.median(pingpong.half_round_trips(printed)[SIZE])}

            return run

        taken = interleave({name: side(name) for name in SETTINGS}, rounds, seed, progress)
    return Findings(
        questions(""), taken.samples, taken.busy_percent, taken.order, facts=facts, notes=NOTES
    )


def questions(missing: str) -> list[Question]:
    """The rows: the bar is on what decides now, and what decided before is there for comparison."""
    return [
        Question("patience decided by the ranks of a node", LOCAL, NEVER, WITHIN, missing),
        Question("patience decided by the ranks of all nodes", ALL, NEVER, None, missing),
    ]


def _one_core_each(cluster: NamespaceCluster) -> None:
    for node in cluster.nodes:
        done = cluster.administer(node, Pinning().set("one", node))
        if done.returncode:
            raise LabError(f"{node} cannot be bound to one core: {done.stderr.strip()}.", "", node)
