"""The labs' programs in C and in Python: by how much do their times differ?"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks import commands, pingpong
from benchmarks.pingpong import Launcher
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import mpi, paths
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.progress import Progress

TITLE = "The labs' programs in Python against those in C"
ROUNDS = 10
FILLS_THE_CORES = True

RATE = "100mbit"
SIZES = [0, 1, 1024, 16_384, 65_536, 262_144, 1_048_576]
# From here on a cable of 100 Mbit/s needs so long that what Python adds to each call is lost in it.
LONG = 65_536
PASSES, CHUNKS = 5, 3
# Paper D's sizes and work, as in study D3.
OVERLAP_SIZES = [10_240, 66_560]
OVERLAP_PASSES = 50
PARTS = ("message", "work", "both")

C, PYTHON = "C", "Python"
WITHIN_10_PERCENT = Bar(1.1, "ratio", "within 10 %", least=0.9)
LAB_04, LAB_05 = "04-blocking-nonblocking", "05-overlap"

NOTES = [
    "Both run on two nodes of a local cluster of 100 Mbit/s, launch by launch in turns. A sample is the median of a "
    "launch: of chunks for the ping-pong, of single operations of rank 0 for the message with work.",
    f"There is a bar where the cable takes longer than what Python adds to a call: from {LONG} B on, and where "
    "message and work come together. The other rows show by how much the Python program is slower.",
    "The work is a loop of C in the one and of Python in the other; both are calibrated to 377 µs.",
]

# What a launch printed, to seconds by what was timed.
Reader = Callable[[str], Mapping[str, float]]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Launches of the four programs in turns."""
    with scratch_folder() as folder:
        progress(0, 1, "booting the cluster")
        cluster = namespaces.up(ClusterConfig(nodes=2, rate=RATE), folder=folder / STATE)
        launch = pingpong.on_nodes(cluster, folder)
        trips = pingpong.arguments(SIZES, "--passes", PASSES, "--chunks", CHUNKS)
        work = pingpong.arguments(OVERLAP_SIZES, "--passes", OVERLAP_PASSES)
        sides = {
            f"{name}, {language}": side(launch, [*program, *arguments], language, read)
            for name, arguments, read, programs in (
                ("ping-pong", trips, round_trips, pair(folder, LAB_04, "roundtrip", "roundtrip")),
                ("overlap", work, operations, pair(folder, LAB_05, "message_workload", "overlap")),
            )
            for language, program in programs.items()
        }
        taken = interleave(sides, rounds, seed, progress)
    return Findings(
        questions(),
        taken.samples,
        taken.busy_percent,
        taken.order,
        facts={"rate": RATE},
        notes=NOTES,
    )


def pair(folder: Path, lab: str, in_c: str, in_python: str) -> dict[str, list[str]]:
    """The commands of a lab's program in C, compiled into `folder`, and of the same one in Python."""
    sources = paths.root() / "labs" / lab
    built = mpi.build(sources / f"{in_c}.c", output=folder / in_c)
    python = str(paths.python_bin() / "python")
    return {C: [str(built)], PYTHON: [python, str(sources / f"{in_python}.py")]}


def side(launch: Launcher, command: Sequence[str], language: str, read: Reader) -> Side:
    """One launch of a program: the median of each thing that it times."""

    def run() -> Mapping[str, float]:
        return {f"{what}, {language}": s for what, s in read(launch(command, {})).items()}

    return run


def round_trips(printed: str) -> dict[str, float]:
    """The median of each size's half round trips."""
    by_size = pingpong.half_round_trips(printed)
    return {trip(size): statistics.median(chunks) for size, chunks in by_size.items()}


def operations(printed: str) -> dict[str, float]:
    """The median of each size's and part's operations of rank 0."""
    by_operation: dict[str, list[float]] = {}
    for line in commands.lines(printed):
        if line["kind"] == "sample" and line["rank"] == 0:
            what = operation(line["part"], line["size_bytes"])
            by_operation.setdefault(what, []).append(line["seconds"])
    return {what: statistics.median(each) for what, each in by_operation.items()}


def trip(size: int) -> str:
    """The name of a size's round trips."""
    return f"half round trip, {size} B"


def operation(part: str, size: int) -> str:
    """The name of a part's operations at a size."""
    return f"{part}, {size} B"


def questions() -> list[Question]:
    """A row for each size of the ping-pong, and for each part of the message with work."""
    rows = [(trip(size), WITHIN_10_PERCENT if size >= LONG else None) for size in SIZES]
    rows += [
        (operation(part, size), None if part == "message" else WITHIN_10_PERCENT)
        for size in OVERLAP_SIZES
        for part in PARTS
    ]
    return [Question(what, f"{what}, {PYTHON}", f"{what}, {C}", bar) for what, bar in rows]
