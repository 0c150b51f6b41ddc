"""What does patient polling do for four ranks on fewer cores? An 8-byte Allreduce with it and without."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import mpi
from beowulf.cluster import Cluster, namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.errors import LabError
from beowulf.progress import Progress

TITLE = "An 8-byte Allreduce on four ranks, with patient polling and without"
ROUNDS = 10
FILLS_THE_CORES = True

SOURCE = Path(__file__).with_name("allreduce.c")
RANKS = 4
CHUNKS = 100
LONGEST_LAUNCH_S = 300.0

WITH, WITHOUT = "with patient polling", "without"
SETTINGS = {WITH: "auto", WITHOUT: "never"}
# Both the median and the mean: without patience a few calls are quick and most wait for a time slice.
MEDIAN, MEAN, LEAST = "median", "mean", "least"

NOTES = [
    "A launch gives 100 samples, each the mean of as many calls as take 0.2 ms with patient polling, the maximum over "
    "ranks, which a barrier sets off together. The number of calls is the same on both sides. The table has each "
    "launch's median, mean and least; the interval is over launches.",
    "The cluster runs once for all launches: 100 Mbit/s links, the classic MPICH, BEOWULF_PATIENT=auto against never.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Alternating launches on one cluster; the first, which does not count, shows how many calls make a sample."""
    cores = os.sysconf("SC_NPROCESSORS_ONLN")
    if cores >= RANKS:
        return Findings(
            questions(
                f"with {cores} cores for {RANKS} ranks there is nothing to measure: each rank has a core to itself, "
                "where spinning is the fastest way to wait, so patient polling stays off"
            )
        )
    raw: dict[str, list[list[float]]] = {name: [] for name in SETTINGS}
    with scratch_folder() as folder:
        progress(0, 1, "booting the cluster")
        cluster = namespaces.up(ClusterConfig(), folder=folder / STATE)
        program = mpi.build(SOURCE, output=folder / "allreduce")
        facts, _ = launch(cluster, program, SETTINGS[WITH], 0)

        def side(name: str) -> Side:
            def run() -> Mapping[str, float]:
                raw[name].append(launch(cluster, program, SETTINGS[name], facts["repetitions"])[1])
                return {sample(name, word): s for word, s in summary(raw[name][-1]).items()}

            return run

        taken = interleave(
            {name: side(name) for name in SETTINGS}, rounds, seed, progress, warm_up=0
        )
        facts |= {"chunks_a_launch": CHUNKS, "rate": cluster.config.rate, "mpi": cluster.config.mpi}
    return Findings(
        questions(""), taken.samples, taken.busy_percent, taken.order, raw, facts, list(NOTES)
    )


def questions(missing: str) -> list[Question]:
    """The rows: the bar is on the mean, which is what a program that calls it often pays."""
    bars = {MEAN: Bar(1.0, "ratio", "faster"), MEDIAN: None, LEAST: None}
    return [
        Question(
            f"8-byte Allreduce, {RANKS} ranks, {word}",
            sample(WITH, word),
            sample(WITHOUT, word),
            bar,
            missing,
        )
        for word, bar in bars.items()
    ]


def sample(side: str, word: str) -> str:
    """The name of a side's samples."""
    return f"{side}, {word}"


def summary(samples: Sequence[float]) -> dict[str, float]:
    """What the table has of one launch."""
    return {
        MEDIAN: statistics.median(samples),
        MEAN: statistics.fmean(samples),
        LEAST: min(samples),
    }


def launch(
    cluster: Cluster, program: Path, patient: str, repetitions: int
) -> tuple[dict[str, Any], list[float]]:
    """One launch with BEOWULF_PATIENT=`patient`: the facts that the program prints, and its samples in seconds."""
    done = mpi.launch(
        cluster,
        program,
        RANKS,
        [str(CHUNKS), str(repetitions)],
        environment={"BEOWULF_PATIENT": patient},
        timeout_s=LONGEST_LAUNCH_S,
        folder=program.parent,
    )
    if sentence := mpi.failure(done, program.name):
        raise LabError(sentence, done.stderr.strip())
    facts, *samples, end = [json.loads(line) for line in done.stdout.splitlines()]
    if not end["right"]:
        raise LabError("An Allreduce gave a wrong sum, so its time counts for nothing.")
    if facts["patient"] != patient:
        raise LabError(f"The ranks ran with BEOWULF_PATIENT={facts['patient']}, not {patient}.")
    return facts, [line["allreduce_s"] for line in samples]
