"""What do four nodes make of the NAS Parallel Benchmarks, on three kinds of cables?

The timed part of class W (wall time of the slowest rank) on four nodes of a local cluster, over the same on one node.
Four nodes share the cores of one machine. `X W on the cable` are the seconds that the busiest link of 100 Mbit/s needs
for the bytes of a whole run, as the nodes' interfaces counted them (headers and the untimed first iteration are in
it, at most a fifth: MG's): where that is more than three times the one node's time, no program that sends these bytes
can stay within three times. Every run is verified against the published constants.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.result import Findings, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import mpi
from beowulf.cluster import Cluster
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.errors import LabError
from beowulf.suites.npb import BENCHMARKS
from beowulf.this_machine.progress import Progress
from beowulf.tuning.knobs.offloads import Offloads

TITLE = "NAS Parallel Benchmarks: four nodes against one"
ROUNDS = 6

RANKS = 4
LONGEST_RUN_S = 600.0
SHAPED, BITS_PER_S = "100mbit", 100e6


@dataclass(frozen=True)
class Links:
    """One kind of cables between the nodes: their rate, and whether the nodes cut their own frames."""

    label: str
    rate: str
    offloads: str = "off"

    def laid(self, folder: Path) -> Cluster:
        """The cluster with these cables; what was switched on for others is off again."""
        cluster = namespaces.up(ClusterConfig(rate=self.rate), folder=folder / STATE)
        if self.offloads == "on":
            for node in cluster.nodes:
                done = cluster.administer(node, Offloads().set("on", node))
                if done.returncode:
                    raise LabError(
                        f"The offloads of {node} were not switched on: {done.stderr.strip()}",
                        node=node,
                    )
        return cluster


LINKS = (
    Links("100 Mbit/s links", SHAPED),
    Links("unshaped links", "off"),
    Links("unshaped links, offloads on", "off", "on"),
)


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """A round: class W on one node, and on four with each kind of link."""
    with scratch_folder() as folder:
        progress(0, 1, "compiling, and booting the cluster")
        programs = {
            name: mpi.build(benchmark.source, output=folder / name)
            for name, benchmark in BENCHMARKS.items()
        }

        def class_w(ranks: int, links: Links) -> Side:
            def run() -> Mapping[str, float]:
                cluster = links.laid(folder)
                seconds = {}
                for name, program in programs.items():
                    before = carried(cluster)
                    seconds[on(name, ranks, links)] = on_nodes(cluster, program, name, ranks)
                    if ranks > 1 and links.rate == SHAPED:
                        seconds[on_cable(name)] = cable_s(before, carried(cluster))
                return seconds

            return run

        sides: dict[str, Side] = {
            "one node": class_w(1, LINKS[0]),
            **{f"four nodes, {links.label}": class_w(RANKS, links) for links in LINKS},
        }
        findings = interleave(sides, rounds, seed, progress, warm_up=0)
    samples = findings.samples
    for name in BENCHMARKS:
        both = zip(samples[on(name, 1, LINKS[0])], samples[on_cable(name)], strict=True)
        samples[slower(name)] = [max(pair) for pair in both]
    findings.questions = questions()
    return findings


def questions() -> list[Question]:
    """Four nodes against one on each kind of link, and against the slower of one node and the cable."""
    first, nodes = LINKS[0], f"{RANKS} nodes"
    found = [
        Question(f"{name}, {nodes}, {links.label}", on(name, RANKS, links), on(name, 1, first))
        for links in LINKS
        for name in BENCHMARKS
    ]
    over = f"{nodes}, {first.label}, over the slower of one node and the cable"
    return found + [
        Question(f"{name}, {over}", on(name, RANKS, first), slower(name)) for name in BENCHMARKS
    ]


def on(name: str, ranks: int, links: Links) -> str:
    """The name of the samples of class W; on one node the links do not matter."""
    return f"{name} W on one" if ranks == 1 else f"{name} W on {ranks}, {links.label}"


def on_cable(name: str) -> str:
    """The name of the busiest cable's seconds for the bytes of a run of class W."""
    return f"{name} W on the cable"


def slower(name: str) -> str:
    """The name of what class W on four nodes can hardly be faster than."""
    return f"{name} W, one node or the cable"


def on_nodes(cluster: Cluster, program: Path, name: str, ranks: int) -> float:
    """The seconds of the timed part of class W on so many nodes; LabError unless its result is verified."""
    done = mpi.launch(
        cluster, program, ranks, ["W"], timeout_s=LONGEST_RUN_S, folder=program.parent
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    results: list[dict[str, Any]] = [line for line in lines if line["kind"] == "result"]
    if done.returncode or len(results) != 1 or not results[0]["verified"]:
        raise LabError(f"{name} gave no verified result, so its time counts for nothing.")
    return float(results[0]["seconds"])


def carried(cluster: Cluster) -> list[int]:
    """The bytes that each node has sent and received so far, headers included."""
    counters = " ".join(f"/sys/class/net/eth0/statistics/{way}_bytes" for way in ("tx", "rx"))
    outputs = [cluster.administer(node, f"cat {counters}").stdout for node in cluster.nodes]
    return [int(count) for output in outputs for count in output.split()]


def cable_s(before: Sequence[int], after: Sequence[int]) -> float:
    """The least seconds in which the busiest link carries what it carried, at 100 Mbit/s."""
    return 8 * max(b - a for a, b in zip(before, after, strict=True)) / BITS_PER_S
