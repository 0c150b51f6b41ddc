"""What does it cost a program that its MPI calls are recorded (beowulf/timeline/recorder.c)?"""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.npb import result
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import mpi, paths
from beowulf.progress import Progress
from beowulf.suites.npb import BENCHMARKS
from beowulf.timeline import recording

TITLE = "The cost of recording MPI calls"
ROUNDS = 6
FILLS_THE_CORES = False

CHUNKS, REPETITIONS = 200, 500
MOST_A_CALL_S = 300e-9
CLASS = "W"
NOTES = [
    f"A call: the median of {CHUNKS} chunks of {REPETITIONS} calls of MPI_Iprobe on one rank, recorded, minus the same"
    " not recorded, both in each round.",
    f"The codes of NPB: the timed part of class {CLASS} on one rank, as the program prints it.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Each program with the recorder and without it, in turns."""
    with scratch_folder() as folder:
        calls = mpi.build(Path(__file__).with_name("calls.c"), output=folder / "calls")
        arguments = [str(CHUNKS), str(REPETITIONS)]

        def a_call() -> Mapping[str, float]:
            plain, recorded = (
                statistics.median(map(float, _run(folder, [calls, *arguments], traced).split()))
                for traced in (False, True)
            )
            return {"a call": recorded - plain}

        sides: dict[str, Side] = {"a call": a_call}
        for name in BENCHMARKS:
            program = _npb(folder, name)
            for traced in (False, True):
                sides[_of(name, traced)] = _side(folder, program, name, traced)
        taken = interleave(sides, rounds, seed, progress)
    return Findings(questions(), taken.samples, taken.busy_percent, taken.order, notes=NOTES)


def _of(name: str, traced: bool) -> str:
    return f"{name}, recorded" if traced else name


def _side(folder: Path, program: Path, name: str, traced: bool) -> Side:
    def run() -> Mapping[str, float]:
        printed = _run(folder, [program, CLASS], traced)
        return {_of(name, traced): float(result(printed, 0, name, CLASS)["seconds"])}

    return run


def _run(folder: Path, words: Sequence[object], traced: bool) -> str:
    layer: list[str] = []
    if traced:
        library = str(recording.recorder())
        layer = [
            "sh",
            "-c",
            recording.LOAD,
            "trace",
            library,
            str(folder / "trace"),
            "1000000",
            "0",
        ]
    done = subprocess.run(
        [*layer, *map(str, words)], capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout


def questions() -> list[Question]:
    """The bars: nanoseconds a call, and two in a hundred of each code."""
    return [
        Question("what recording adds to a call", "a call", "", Bar(MOST_A_CALL_S)),
        *(
            Question(
                f"{name} class {CLASS} on one rank, recorded against not",
                _of(name, True),
                name,
                Bar(1.02, "ratio", "at most 2 % more"),
            )
            for name in BENCHMARKS
        ),
    ]


def _npb(folder: Path, name: str) -> Path:
    source = paths.lab("03") / "npb" / f"{name.lower()}.c"
    return mpi.build(source, output=folder / name.lower())
