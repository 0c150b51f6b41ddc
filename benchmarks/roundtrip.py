"""How long is half a round trip? Our program against others that time the same, launch by launch."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks import pingpong
from benchmarks.failures import Failures
from benchmarks.neighbours import (
    AS_IMB,
    LARGEST,
    LEAST_OF_5,
    LEAST_OF_7,
    MEAN,
    NETPIPE_REPETITIONS,
    NETPIPE_TRIALS,
    Neighbour,
    all_of_them,
)
from benchmarks.pingpong import Launcher
from benchmarks.result import Findings
from benchmarks.rows import Question, seconds
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import SETTLE_S, Side, interleave
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.errors import LabError
from beowulf.measure.statistics import ratio
from beowulf.progress import Progress

TITLE = "Half a round trip, against others that time it"
ROUNDS = 40  # equals take many rounds to distinguish
FILLS_THE_CORES = True

HOST, NODES = "one host", "two nodes"
SIZES = [0, *(1 << power for power in range(LARGEST.bit_length()))]
# IMB's own sizes
IMB_SIZES = [0, *(1 << power for power in range(23))]
# Equals take many pairs of launches to distinguish. On one host a launch takes a tenth of a second.
PAIRS_A_ROUND = {HOST: 6, NODES: 2}
CHUNK_US = {HOST: 500, NODES: 20_000}
CHUNKS = {MEAN: 7, LEAST_OF_7: 7, LEAST_OF_5: 5}

NOTES = [
    "One host: both ranks on this machine, through memory. Two nodes: a rank on each of two nodes of a local cluster "
    "whose links have no rate, over TCP. All programs run on the same MPICH, that of this environment, by the same "
    "mpiexec.",
    "A pair is a launch of ours and one of a neighbour, one directly after the other, in an order that is drawn: from "
    "minute to minute the same program differs more than the two do.",
    "Our program gives chunks of 0.5 ms on one host and of 20 ms on two nodes: about a thousand round trips, as many "
    "as the neighbours' figures are means of. A longer chunk meets more of what disturbs, so its least is larger.",
    "A neighbour's figure is compared with the same of as many: the mean of seven chunks for mpi4py.bench, which "
    "prints the mean of 10,000 round trips; the least of seven for NetPIPE, which takes the least of "
    f"{NETPIPE_TRIALS} trials of {NETPIPE_REPETITIONS} (-n); the least of five for mpptest and IMB, which are launched "
    "five times. In IMB's own way, one mean a launch is compared with one mean a launch.",
    "mpi4py.bench looks at the clock at every round trip and is written in Python; ours looks once a chunk.",
    "NetPIPE is Debian's program. A link with the name of its library leads it to ours, which has the same "
    "binary interface.",
    "A row has the size at which the ratio is worst. That is the worst of many, so noise alone lifts it.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Pairs of launches in turns, all sizes in each, on one host and on two nodes."""
    with scratch_folder() as folder:
        progress(0, 1, "booting the cluster")
        cluster = namespaces.up(ClusterConfig(nodes=2, rate="off"), folder=folder / STATE)
        launchers = {
            HOST: pingpong.on_one_host(folder),
            NODES: pingpong.on_nodes(cluster, folder),
        }
        program = pingpong.build(folder)
        neighbours = all_of_them(folder)
        sides: dict[str, Side] = {}
        failed = Failures()
        draw = random.Random(seed)
        for place, launch in launchers.items():
            for each in neighbours:
                if each.missing:
                    continue
                name = f"{each.name}, {place}"
                side = failed.spare(name, a_pair(launch, program, each, place, draw))
                for number in range(PAIRS_A_ROUND[place]):
                    sides[f"{name}, pair {number + 1}"] = side
        taken = interleave(sides, rounds, seed, progress)
    tried = [
        (replace(each, missing=each.missing or failed.get(f"{each.name}, {place}", "")), place)
        for place in launchers
        for each in neighbours
    ]
    rows = [question(each, place, taken.samples, seed) for each, place in tried]
    tables = [table(each, place, taken.samples) for each, place in tried if not each.missing]
    return Findings(
        rows,
        taken.samples,
        taken.busy_percent,
        taken.order,
        facts={f"{each.name}, {place}": each.missing or "measured" for each, place in tried},
        notes=[*NOTES, *tables],
    )


def a_pair(
    launch: Launcher, program: str, neighbour: Neighbour, place: str, draw: random.Random
) -> Side:
    """Ours and a neighbour, one directly after the other; which is first is drawn."""

    def half_round_trips(is_ours: bool) -> dict[str, float]:
        trips = ours(launch, program, neighbour, place) if is_ours else theirs(launch, neighbour)
        return {sample(neighbour, size, place, ours=is_ours): s for size, s in trips.items()}

    def run() -> Mapping[str, float]:
        ours_first = draw.random() < 0.5
        first = half_round_trips(ours_first)
        time.sleep(SETTLE_S)
        return first | half_round_trips(not ours_first)

    return run


def ours(launch: Launcher, program: str, neighbour: Neighbour, place: str) -> dict[int, float]:
    """One launch of our program: of each size, in seconds, what is compared with this neighbour's figure."""
    if neighbour.ours == AS_IMB:
        command = [program, *pingpong.arguments(IMB_SIZES, "--mode", "imb")]
    else:
        options = ["--passes", CHUNKS[neighbour.ours], "--chunks", 1, "--chunk-us", CHUNK_US[place]]
        command = [program, *pingpong.arguments(SIZES, *options)]
    taken = statistics.fmean if neighbour.ours == MEAN else min
    trips = pingpong.half_round_trips(launch(command, {}))
    return {size: taken(chunks) for size, chunks in trips.items()}


def theirs(launch: Launcher, neighbour: Neighbour) -> dict[int, float]:
    """The least of a neighbour's launches, by size."""
    launches = [
        neighbour.taken(launch(neighbour.command, neighbour.settings))
        for _ in range(neighbour.launches)
    ]
    return {size: min(each[size] for each in launches) for size in launches[0]}


def sample(neighbour: Neighbour, size: int, place: str, *, ours: bool = False) -> str:
    """The name of samples: a neighbour's, or ours compared with it."""
    return f"{'ours beside ' if ours else ''}{neighbour.name}, {size} B, {place}"


def shared_sizes(
    neighbour: Neighbour, place: str, samples: Mapping[str, Sequence[float]]
) -> list[int]:
    """The sizes at which both were measured."""
    return [
        size
        for size in IMB_SIZES
        if sample(neighbour, size, place) in samples
        and sample(neighbour, size, place, ours=True) in samples
    ]


def question(
    neighbour: Neighbour, place: str, samples: Mapping[str, Sequence[float]], seed: int
) -> Question:
    """The row of a neighbour: the size at which the ratio is furthest on the wrong side of its bar."""
    what = f"{place}, {neighbour.name}"
    if neighbour.missing:
        return Question(f"{what}, every size", "", "", neighbour.bar, neighbour.missing)
    sizes = shared_sizes(neighbour, place, samples)
    if not sizes:
        raise LabError(f"{neighbour.name} has measured none of our sizes.")

    def badness(size: int) -> float:
        ours = samples[sample(neighbour, size, place, ours=True)]
        other = samples[sample(neighbour, size, place)]
        log_ratio = math.log(ratio(list(zip(ours, other, strict=True)), seed).median)
        return abs(log_ratio) if neighbour.bar.least else log_ratio

    worst = max(sizes, key=badness)
    return Question(
        f"{what}, worst of {len(sizes)} sizes: {worst} B",
        sample(neighbour, worst, place, ours=True),
        sample(neighbour, worst, place),
        neighbour.bar,
    )


def table(neighbour: Neighbour, place: str, samples: Mapping[str, Sequence[float]]) -> str:
    """All sizes beside a neighbour, as a note: medians and least over the rounds, and the ratio of medians of pairs."""
    lines = [
        [
            "bytes",
            "ours (median)",
            f"{neighbour.name} (median)",
            "ratio",
            "ours (least)",
            "its least",
        ],
        ["---"] * 6,
    ]
    for size in shared_sizes(neighbour, place, samples):
        ours = samples[sample(neighbour, size, place, ours=True)]
        other = samples[sample(neighbour, size, place)]
        lines.append(
            [
                str(size),
                seconds(statistics.median(ours)),
                seconds(statistics.median(other)),
                f"{statistics.median(a / b for a, b in zip(ours, other, strict=True)):.3f}",
                seconds(min(ours)),
                seconds(min(other)),
            ]
        )
    rows = "\n".join("  | " + " | ".join(line) + " |" for line in lines)
    return f"Every size, {place}, ours ({neighbour.ours}) and {neighbour.name}:\n\n{rows}\n"
