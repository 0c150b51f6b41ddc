"""Does it slow a ping-pong that dumpcap takes all of its packets at the switch?

Two nodes, 128 bytes of each packet. Of three sizes: a latency, on a link that is nearly idle; messages between which
it is idle for a moment; messages that fill it.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from pathlib import Path

from benchmarks.result import Findings, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import interleave
from beowulf import mpi, paths
from beowulf.cluster import Cluster
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.errors import LabError
from beowulf.this_machine.progress import Progress

TITLE = "A ping-pong that is captured against one that is not"
ROUNDS = 12

RATE = "1gbit"
SIZES = (1, 1 << 14, 1 << 20)
WITH, WITHOUT = "captured", "not captured"


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Launches with a capture and without, alternating."""
    dropped: list[int] = []
    with scratch_folder() as folder:
        progress(0, 1, "booting the cluster")
        cluster = namespaces.up(ClusterConfig(nodes=2, rate=RATE), folder=folder / STATE)
        program = mpi.build(paths.lab("04") / "roundtrip.c", output=folder / "roundtrip")

        def captured() -> Mapping[str, float]:
            with cluster.capture(folder / "busy.pcapng") as wire:
                trips = ping_pong(cluster, program, WITH)
            dropped.append(wire.dropped)
            (folder / "busy.pcapng").unlink()
            return trips

        sides = {WITHOUT: lambda: ping_pong(cluster, program, WITHOUT), WITH: captured}
        findings = interleave(sides, rounds, seed, progress)
    findings.facts = {"rate": RATE, "packets_dropped": dropped}
    findings.questions = [
        Question(
            f"{size} B, captured at the switch",
            sample(size, WITH),
            sample(size, WITHOUT),
        )
        for size in SIZES
    ]
    return findings


def ping_pong(cluster: Cluster, program: Path, word: str) -> Mapping[str, float]:
    """Half a round trip, by size: the median of a launch's chunks."""
    arguments = ["--sizes", ",".join(map(str, SIZES)), "--passes", "20", "--chunks", "3"]
    done = mpi.launch(cluster, program, 2, arguments, folder=program.parent)
    if sentence := mpi.failure(done, program.name):
        raise LabError(sentence, done.stderr.strip())
    chunks: dict[str, list[float]] = {}
    for line in map(json.loads, done.stdout.splitlines()):
        if line["kind"] == "sample":
            half_s = line["seconds"] / line["repetitions"] / 2
            chunks.setdefault(sample(line["size_bytes"], word), []).append(half_s)
    return {name: statistics.median(each) for name, each in chunks.items()}


def sample(size: int, word: str) -> str:
    """The name of a ping-pong's samples."""
    return f"half round trip of {size} B, {word}"
