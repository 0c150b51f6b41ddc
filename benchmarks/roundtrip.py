"""How long is half a round trip? Our program against others that time the same, launch by launch."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks import pingpong
from benchmarks.failures import Failures
from benchmarks.neighbours import (
    AS_IMB,
    LARGEST,
    LAUNCHES_ITS_WAY,
    LEAST_OF_5,
    LEAST_OF_7,
    MEAN,
    NETPIPE_REPETITIONS,
    NETPIPE_TRIALS,
    Neighbour,
    all_of_them,
)
from benchmarks.pingpong import Launcher
from benchmarks.ratio import Side, Told, compare, interleave
from benchmarks.result import Findings
from benchmarks.rows import Question, seconds
from benchmarks.workshop import STATE, workshop
from beowulf.cluster import namespaces
from beowulf.cluster.plan import Plan
from beowulf.errors import LabError

TITLE = "Half a round trip, against others that time it"
ROUNDS = 40  # equals take many rounds to tell apart
FILLS_THE_CORES = True

HOST, NODES = "one host", "two nodes"
SIZES = [0, *(1 << power for power in range(LARGEST.bit_length()))]
# IMB's own sizes
IMB_SIZES = [0, *(1 << power for power in range(23))]
PASSES = 20
# Chunks a pass, and how long each: a thousand round trips, as the neighbours take them.
CHUNKS = {HOST: 3, NODES: 1}
CHUNK_US = {HOST: 500, NODES: 20_000}

NOTES = [
    "One host: both ranks on this machine, through memory. Two nodes: a rank on each of two nodes of a local cluster "
    "whose links have no rate, over TCP. All programs run on the same MPICH, that of this environment, by the same "
    "mpiexec.",
    f"Our program gives {PASSES * CHUNKS[HOST]} chunks of 0.5 ms a launch and a size on one host, {PASSES} of 20 ms "
    "on two nodes: about a thousand round trips, as many as the neighbours' figures are means of. A longer chunk meets "
    "more of what disturbs, so its least is larger.",
    "Beside a neighbour's figure stands the same of as many: the mean for mpi4py.bench, which prints the mean of "
    f"10,000 round trips; the least of seven chunks for NetPIPE, which takes the least of {NETPIPE_TRIALS} trials of "
    f"{NETPIPE_REPETITIONS} (-n); the least of five for mpptest and IMB, which are launched five times. In IMB's own "
    f"way, with one mean a launch, both are launched {LAUNCHES_ITS_WAY} times.",
    "mpi4py.bench looks at the clock at every round trip and is written in Python; ours looks once a chunk.",
    "NetPIPE is Debian's program. A link named as the library that it asks for leads it to ours, which has the same "
    "binary interface.",
    "A row has the size at which the ratio is worst. That is the worst of many, so noise alone lifts it.",
]


def measure(rounds: int, seed: int, told: Told) -> Findings:
    """Launches by turns, all sizes in each, on one host and on two nodes."""
    with workshop() as folder:
        told(0, 1, "booting the cluster")
        cluster = namespaces.up(Plan(nodes=2, rate="off"), folder=folder / STATE)
        launchers = {
            HOST: pingpong.on_one_host(folder),
            NODES: pingpong.on_nodes(cluster, folder),
        }
        program = pingpong.build(folder)
        known = all_of_them(folder)
        here = [each for each in known if not each.missing]
        sides: dict[str, Side] = {}
        failed = Failures()
        for place, launch in launchers.items():
            sides[f"ours, {place}"] = our_side(launch, program, place)
            if any(each.ours == AS_IMB for each in here):
                sides[f"ours as IMB, {place}"] = our_imb_side(launch, program, place)
            for each in here:
                name = f"{each.name}, {place}"
                sides[name] = failed.spare(name, their_side(launch, each, place))
        taken = interleave(sides, rounds, seed, told)
    tried = [
        (replace(each, missing=each.missing or failed.get(f"{each.name}, {place}", "")), place)
        for place in launchers
        for each in known
    ]
    asked = [question(each, place, taken.samples, seed) for each, place in tried]
    tables = [table(each, place, taken.samples) for each, place in tried if not each.missing]
    return Findings(
        asked,
        taken.samples,
        taken.busy_percent,
        taken.order,
        facts={f"{each.name}, {place}": each.missing or "measured" for each, place in tried},
        notes=[*NOTES, *tables],
    )


def our_side(launch: Launcher, program: str, place: str) -> Side:
    """One launch of ours: of each size what stands beside the neighbours' figures."""
    chunks_a_pass = CHUNKS[place]
    options = ["--passes", PASSES, "--chunks", chunks_a_pass, "--chunk-us", CHUNK_US[place]]
    words = [program, *pingpong.arguments(SIZES, *options)]

    def run() -> Mapping[str, float]:
        found: dict[str, float] = {}
        for size, chunks in pingpong.half_round_trips(launch(words, {})).items():
            found[sample(MEAN, size, place)] = statistics.fmean(chunks)
            # One chunk of each pass: neighbours in time are alike.
            found[sample(LEAST_OF_7, size, place)] = min(chunks[::chunks_a_pass][:7])
            found[sample(LEAST_OF_5, size, place)] = min(chunks[::chunks_a_pass][:5])
        return found

    return run


def our_imb_side(launch: Launcher, program: str, place: str) -> Side:
    """The least of some launches of ours in IMB's way, at IMB's sizes."""
    words = [program, *pingpong.arguments(IMB_SIZES, "--mode", "imb")]

    def run() -> Mapping[str, float]:
        launches = [pingpong.half_round_trips(launch(words, {})) for _ in range(LAUNCHES_ITS_WAY)]
        return {
            sample(AS_IMB, size, place): min(each[size][0] for each in launches)
            for size in launches[0]
        }

    return run


def their_side(launch: Launcher, neighbour: Neighbour, place: str) -> Side:
    """The least of a neighbour's launches, by size."""

    def run() -> Mapping[str, float]:
        launches = [
            neighbour.taken(launch(neighbour.words, neighbour.settings))
            for _ in range(neighbour.launches)
        ]
        return {
            sample(neighbour.name, size, place): min(each[size] for each in launches)
            for size in launches[0]
        }

    return run


def sample(who: str, size: int, place: str) -> str:
    """The name of samples: a neighbour's, or what was taken of ours."""
    ours = who in (MEAN, LEAST_OF_7, LEAST_OF_5, AS_IMB)
    return f"{'ours, ' if ours else ''}{who}, {size} B, {place}"


def shared_sizes(
    neighbour: Neighbour, place: str, samples: Mapping[str, Sequence[float]]
) -> list[int]:
    """The sizes at which both were measured."""
    return [
        size
        for size in IMB_SIZES
        if sample(neighbour.name, size, place) in samples
        and sample(neighbour.ours, size, place) in samples
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
        ours = samples[sample(neighbour.ours, size, place)]
        other = samples[sample(neighbour.name, size, place)]
        found = math.log(compare(ours, other, seed).median)
        return abs(found) if neighbour.bar.least else found

    worst = max(sizes, key=badness)
    return Question(
        f"{what}, worst of {len(sizes)} sizes: {worst} B",
        sample(neighbour.ours, worst, place),
        sample(neighbour.name, worst, place),
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
        ours = samples[sample(neighbour.ours, size, place)]
        other = samples[sample(neighbour.name, size, place)]
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
