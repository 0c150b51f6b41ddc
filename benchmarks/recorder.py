"""What does it cost that an MPI call is recorded (beowulf/timeline/recorder.c)?

A call: the median of 200 chunks of 500 calls of MPI_Iprobe on one rank, recorded, minus the same not recorded.
"""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchmarks.result import Findings, Question
from benchmarks.scratch_cluster import scratch_folder
from benchmarks.turns import interleave
from beowulf import mpi
from beowulf.this_machine.progress import Progress
from beowulf.timeline import recording

TITLE = "The cost of recording MPI calls"
ROUNDS = 12

CHUNKS, REPETITIONS = 200, 500
CALL = "what recording adds to a call"


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """The same program with the recorder and without it, in each round."""
    with scratch_folder() as folder:
        calls = str(mpi.build(Path(__file__).with_name("calls.c"), output=folder / "calls"))
        program = [calls, str(CHUNKS), str(REPETITIONS)]
        library, trace = str(recording.recorder()), str(folder / "trace")
        recorded = ["sh", "-c", recording.LOAD, "trace", library, trace, "1000000", "0", *program]

        def a_call() -> Mapping[str, float]:
            return {CALL: seconds(recorded) - seconds(program)}

        findings = interleave({CALL: a_call}, rounds, seed, progress)
    findings.questions = [Question(CALL, CALL)]
    return findings


def seconds(command: list[str]) -> float:
    """The median of what the program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return statistics.median(map(float, done.stdout.split()))
