"""Are our NAS Parallel Benchmarks as fast as the official Fortran on one rank, and what do four nodes make of them?"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from beowulf.suites.npb import BENCHMARKS
from beowulf.tuning.knobs.offloads import Offloads

TITLE = "NAS Parallel Benchmarks: one rank against the official Fortran, four nodes against one"
ROUNDS = 6
FILLS_THE_CORES = True

RANKS = 4
MOST_TIMES = 3.0
LONGEST_RUN_S = 600.0
SHAPED, BITS_PER_S = "100mbit", 100e6
# User CPU seconds of the whole program: NPB 3.4 in Fortran at -O3, class A, one rank, a core of about 2.6 GHz.
UNKNOWN = "unknown"
OFFICIAL_MHZ, NEAR = 2600.0, 0.05
OFFICIAL_S = {
    "EP": 3.2,
    "IS": 1.5,
    "CG": 0.6,
    "MG": 1.3,
    "FT": 2.2,
    "LU": 19.4,
    "SP": 20.0,
    "BT": 41.0,
}


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

NOTES = [
    "Class A: user CPU seconds of the whole program on one rank without mpiexec, with start, warm-up and verification, "
    "as the official figures count. These were measured once, on another core of about 2.6 GHz; they are no samples of "
    "this run, and a core that is a tenth faster makes ratios a tenth smaller. The facts name the core; the "
    "bar is for one within 5 % of 2.6 GHz, and on any other core there is no bar.",
    "Mop/s of the facts are those of the timed part, by the published formula: nominal operations over wall time.",
    "Four nodes: the timed part of class W (wall time of the slowest rank) on four nodes of a local cluster, over the "
    "same on one node, with patient polling as it is set for every learner. Four nodes share the cores of one machine.",
    "At 100 Mbit/s the bar of three times depends mostly on the cable. `X on the cable` are the seconds that the "
    "busiest link needs for the bytes of a whole run, as the nodes' interfaces counted them (headers and the untimed "
    "first iteration are in it, at most a fifth: MG's). Where that is more than three times the one node's time, no "
    "program that sends these bytes can keep the bar. What a program and its polling add is in the rows that hold "
    "four nodes against the slower of the two, one node's processor and the cable.",
    "LU's bytes need less, but its wave runs one way at a time: a node at a corner sends 62 rows of 640 bytes and more "
    "in one sweep and receives as many in the other, about 4 ms of its cable each, and the faces are some 7 ms both "
    "ways. That is 15 ms in each of 300 iterations, 4.5 s, and the arithmetic, 0.8 s with two cores at work, waits "
    "for it.",
    "The unshaped links show what is left without the cable's limit. On them every frame of 1500 bytes still crosses "
    "the stacks of both nodes, on the processors that the ranks need: that is most of what IS does. With the knob "
    "`offloads` on, as cards of PCs have it, 64 KB cross in one piece.",
    "Every run is verified against the published constants, S as well; a run with wrong results ends the benchmark.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """A round: class A on one rank, class W on one node, and on four with each kind of link."""
    facts: dict[str, Any] = {"core": _cpuinfo("model name"), "mhz": _cpuinfo("cpu MHz")}
    mops: dict[str, list[float]] = {}
    with scratch_folder() as folder:
        progress(0, 1, "compiling, and booting the cluster")
        programs = {
            name: mpi.build(benchmark.source, output=folder / name)
            for name, benchmark in BENCHMARKS.items()
        }
        cluster = namespaces.up(ClusterConfig(), folder=folder / STATE)
        for name, program in programs.items():
            for ranks in (1, RANKS):
                on_nodes(cluster, program, name, "S", ranks)
        facts["verified"] = "S and W on 1 and 4 ranks, A on 1"

        def class_a() -> Mapping[str, float]:
            times: dict[str, float] = {}
            for name, program in programs.items():
                seconds, rate = alone(program, name, "A")
                mops.setdefault(f"Mop/s, {name} class A", []).append(rate)
                times |= {ours(name): seconds, official(name): OFFICIAL_S[name]}
            return times

        def class_w(ranks: int, links: Links) -> Side:
            def run() -> Mapping[str, float]:
                rebuilt = links.laid(folder)
                seconds = {}
                for name, program in programs.items():
                    before = carried(rebuilt)
                    seconds[on(name, ranks, links)] = on_nodes(rebuilt, program, name, "W", ranks)
                    if ranks > 1 and links.rate == SHAPED:
                        seconds[on_cable(name)] = cable_s(before, carried(rebuilt))
                return seconds

            return run

        sides: dict[str, Side] = {
            "class A, one rank": class_a,
            "class W, one node": class_w(1, LINKS[0]),
            **{f"class W, four nodes, {links.label}": class_w(RANKS, links) for links in LINKS},
        }
        taken = interleave(sides, rounds, seed, progress, warm_up=0)
    facts |= {name: statistics.median(values) for name, values in mops.items()}
    return Findings(
        questions(facts["mhz"]),
        {**taken.samples, **slower_of_two(taken.samples)},
        taken.busy_percent,
        taken.order,
        facts=facts,
        notes=list(NOTES),
    )


def questions(mhz: str) -> list[Question]:
    """Class A against the official program, then four nodes against one, on each kind of link."""
    not_slower = Bar(1.0, "ratio", "not slower") if like(mhz) else None
    at_most = Bar(MOST_TIMES, "ratio")
    return [
        *(
            Question(f"{name} class A, one rank, user CPU", ours(name), official(name), not_slower)
            for name in BENCHMARKS
        ),
        *(
            Question(
                f"{name} class W, {RANKS} nodes, {links.label}",
                on(name, RANKS, links),
                on(name, 1, LINKS[0]),
                at_most,
            )
            for links in LINKS
            for name in BENCHMARKS
        ),
        *(
            Question(
                f"{name} class W, {RANKS} nodes, {LINKS[0].label}, over the slower of one node and the cable",
                on(name, RANKS, LINKS[0]),
                slower(name),
                at_most,
            )
            for name in BENCHMARKS
        ),
    ]


def ours(name: str) -> str:
    """The name of our samples of class A."""
    return f"{name} A"


def official(name: str) -> str:
    """The name of the official figure of class A, which holds for the machine that it was measured on."""
    return f"official {name} A, once on another core of 2.6 GHz"


def on(name: str, ranks: int, links: Links) -> str:
    """The name of the samples of class W; on one node the links do not matter."""
    return f"{name} W on one" if ranks == 1 else f"{name} W on {ranks}, {links.label}"


def on_cable(name: str) -> str:
    """The name of the busiest cable's seconds for the bytes of a run of class W."""
    return f"{name} W on the cable"


def slower(name: str) -> str:
    """The name of what class W on four nodes can hardly be faster than."""
    return f"{name} W, one node or the cable"


def slower_of_two(samples: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """In each round the longer of the two: one node's seconds, and the cable's for the bytes of four."""
    return {
        slower(name): [
            max(pair)
            for pair in zip(samples[on(name, 1, LINKS[0])], samples[on_cable(name)], strict=True)
        ]
        for name in BENCHMARKS
    }


def alone(program: Path, name: str, letter: str) -> tuple[float, float]:
    """The user CPU seconds of a program on one rank without a launcher, and its Mop/s."""
    with subprocess.Popen([str(program), letter], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    report = result(text, process.returncode, name, letter)
    return used.ru_utime, float(report["mops"])


def on_nodes(cluster: Cluster, program: Path, name: str, letter: str, ranks: int) -> float:
    """The seconds of the timed part on so many nodes."""
    done = mpi.launch(
        cluster, program, ranks, [letter], timeout_s=LONGEST_RUN_S, folder=program.parent
    )
    return float(result(done.stdout, done.returncode, name, letter)["seconds"])


def carried(cluster: Cluster) -> list[int]:
    """The bytes that each node has sent and received so far, headers included."""
    counters = " ".join(f"/sys/class/net/eth0/statistics/{way}_bytes" for way in ("tx", "rx"))
    outputs = [cluster.administer(node, f"cat {counters}").stdout for node in cluster.nodes]
    return [int(count) for output in outputs for count in output.split()]


def cable_s(before: Sequence[int], after: Sequence[int]) -> float:
    """The least seconds in which the busiest link carries what it carried, at 100 Mbit/s."""
    return 8 * max(b - a for a, b in zip(before, after, strict=True)) / BITS_PER_S


def result(text: str, code: int, name: str, letter: str) -> dict[str, Any]:
    """The result in what a program printed; LabError unless it is verified."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    results: list[dict[str, Any]] = [line for line in lines if line["kind"] == "result"]
    if code or len(results) != 1 or not results[0]["verified"]:
        raise LabError(
            f"{name} class {letter} gave no verified result, so its time counts for nothing.",
            f"`beowulf suite {name} --class {letter}` shows the figures.",
        )
    return results[0]


def like(mhz: str) -> bool:
    """Whether a core of this clock can be held against the official figures."""
    return mhz != UNKNOWN and abs(float(mhz) / OFFICIAL_MHZ - 1) <= NEAR


def _cpuinfo(name: str) -> str:
    """What the kernel reports of the first core."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    values = [line.partition(":")[2].strip() for line in lines if line.startswith(name)]
    return values[0] if values else UNKNOWN
