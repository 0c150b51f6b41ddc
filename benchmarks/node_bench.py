"""What a node does: our rows of lab 02 against `perf bench` and LMBench, each measured directly after ours."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import commands
from benchmarks.failures import Failures
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import mpi, paths
from beowulf.progress import Progress
from beowulf.studies.lab_02 import node_neighbours
from beowulf.studies.lab_02.node_neighbours import ABSENT, LMBENCH, NEIGHBOURS, PERF, Neighbour

TITLE = "The rows of a node, against the tools of others"
ROUNDS = 12
FILLS_THE_CORES = False

WITHIN = Bar(1.05, "ratio", "within 5 %", least=1 / 1.05)
MIB = 1 << 20
LONGEST_S = 120.0
# Ours and theirs alternate, so that drift affects both equally.
TURNS = 2
# As long as the neighbour's run: its mean is one of everything that happened in half a second.
SAMPLES = ["--passes", "1", "--chunks", "8", "--chunk-us", "50000"]

NOTES = [
    "A pair is ours, theirs, theirs, ours (or the other way round), one directly after the other: the mean of ours over"
    " the mean of theirs.",
    "perf bench prints the mean of all repetitions of a run, so it is compared with our mean over a run of the same"
    " length, not the median that the lab's tables have.",
    "One core: both programs are bound to the same core by taskset, with all their processes. A pipe between two"
    " processes is the same thing in both programs only there: where the kernel is free it puts the processes on one"
    " core or on two, changes its mind within a run, and takes two to four times as long. That row has no bar.",
    "memcpy() of 1 MiB is what perf bench does by default, and stays within the caches. The other size is"
    " that of the row in paper A's table 3 here: twice the last cache, so that it has to come from main memory.",
    "LMBench gives the median of eleven tries; it is compared with our median. It is run where it is"
    " installed, and is no part of this project.",
]


@dataclass(frozen=True)
class Compared:
    """A row of a program of lab 02 and a neighbour's: the arguments of ours, and whether one core is enough for all."""

    what: str
    program: str
    row: str
    label: str  # of the row in node_neighbours
    one_core: bool = True
    size: int = 0
    bar: Bar | None = WITHIN

    def arguments(self) -> list[str]:
        """The arguments of our program."""
        size = ["--megabytes", str(self.size // MIB)] if self.size else []
        return ["--rows", self.row, *SAMPLES, *size]


def rows_of_perf(large: int) -> list[Compared]:
    """What `perf bench` has too; `large` is the size of the arrays of paper A's row."""
    copies = ("bandwidths", "Bcopy (libc)", "Bcopy (libc)")
    return [
        Compared("null call, one core", "processes", "null call", "null call"),
        Compared("pipe, full round trip, one core", "latencies", "pipe", "pipe"),
        Compared(
            "pipe, full round trip, any cores",
            "latencies",
            "pipe",
            "pipe",
            one_core=False,
            bar=None,
        ),
        Compared("memcpy of 1 MiB, one core", *copies, size=MIB),
        Compared(f"memcpy of {large // MIB} MiB, one core", *copies, size=large),
    ]


def rows_of_lmbench(large: int) -> list[Compared]:
    """What LMBench has, for which there is no bar."""
    rows = []
    for program, names in {
        "processes": ("null call", "null I/O", "stat", "open/close", "select", "signal install"),
        "latencies": ("pipe", "AF UNIX", "UDP", "TCP"),
        "bandwidths": ("Bcopy (libc)", "Bcopy (hand)", "mem read", "mem write"),
    }.items():
        size = large if program == "bandwidths" else 0
        rows += [
            Compared(f"{name}, one core", program, name, name, size=size, bar=None)
            for name in names
        ]
    return rows


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Pairs of each row with each tool that is here."""
    core = max(os.sched_getaffinity(0))
    with scratch_folder() as folder:
        progress(0, 1, "compiling")
        programs = {name: build(folder, name) for name in ("processes", "latencies", "bandwidths")}
        large = usual_size(programs["bandwidths"])
        tools = {tool: here(search) for tool, search in node_neighbours.SEARCH.items()}
        rows = {PERF: rows_of_perf(large), LMBENCH: rows_of_lmbench(large)}
        sides: dict[str, Side] = {}
        failed = Failures()
        draw = random.Random(seed)
        for tool, where in tools.items():
            for each in rows[tool] if where else []:
                name = f"{each.what}, {tool}"
                one = pair(
                    programs[each.program], each, neighbour_of(tool, each.label), where, core, draw
                )
                sides[name] = failed.spare(name, one)
        taken = interleave(sides, rounds, seed, progress)
    questions = [
        question(each, tool, failed)
        for tool, each_of in rows.items()
        for each in (each_of if tools[tool] else [])
    ]
    questions += [absent(tool, rows[tool]) for tool, where in tools.items() if not where]
    return Findings(
        questions,
        taken.samples,
        taken.busy_percent,
        taken.order,
        facts={
            "core": core,
            **{
                tool: where or f"{ABSENT}: {node_neighbours.HOW_TO_GET[tool]}"
                for tool, where in tools.items()
            },
        },
        notes=NOTES,
    )


def build(folder: Path, name: str) -> str:
    """A program of lab 02, compiled into `folder`."""
    source = paths.root() / "labs" / "02-node-benchmarks" / f"{name}.c"
    return str(mpi.build(source, output=folder / name))


def here(search: str) -> str:
    """What a tool's search prints on this machine; empty when it is not here."""
    return commands.timed(["sh", "-c", search], commands.environment())[1].strip()


def usual_size(program: str) -> int:
    """The size of the arrays that the program takes by itself."""
    quick = ["--rows", "mem read", "--passes", "1", "--chunks", "1"]
    lines = printed([program, *quick])
    return int(next(line["size_bytes"] for line in lines if line["kind"] == "sample"))


def printed(command: list[str]) -> list[dict[str, Any]]:
    """The lines of one run of one of our programs."""
    return commands.lines(commands.timed(command, commands.environment(), timeout_s=LONGEST_S)[1])


def neighbour_of(tool: str, label: str) -> Neighbour:
    """How a tool measures a row."""
    return next(each for each in NEIGHBOURS[label] if each.tool == tool)


def pair(
    program: str, each: Compared, neighbour: Neighbour, where: str, core: int, draw: random.Random
) -> Side:
    """Ours and theirs in turns; the mean seconds of each. One pair begins with ours, another with theirs."""
    bound = ["taskset", "-c", str(core)] if each.one_core else []
    line = node_neighbours.command(neighbour, where, each.size)

    def ours() -> float:
        lines = printed([*bound, program, *each.arguments()])
        samples = [x for x in lines if x["kind"] == "sample" and x["row"] == each.row]
        if neighbour.mean:
            return seconds(node_neighbours.mean_figure(samples), each)
        median = next(x["median"] for x in lines if x["kind"] == "result" and x["row"] == each.row)
        return seconds(median, each)

    def theirs() -> float:
        command = [*bound, "sh", "-c", line]
        text = commands.timed(command, commands.environment(), timeout_s=LONGEST_S)[1]
        return seconds(node_neighbours.read(neighbour, text), each)

    def run() -> Mapping[str, float]:
        names = [our_name(each, neighbour.tool), their_name(each, neighbour.tool)]
        order = draw.sample([0, 1], 2)
        sums = [0.0, 0.0]
        for turn in range(TURNS):
            for side in order if turn % 2 == 0 else reversed(order):
                sums[side] += (ours, theirs)[side]()
        return {name: total / TURNS for name, total in zip(names, sums, strict=True)}

    return run


def seconds(figure: float, each: Compared) -> float:
    """A figure of a row as seconds: microseconds, or the time that so many MB/s need for the arrays."""
    return each.size / figure * 1e-6 if each.size else figure * 1e-6


def our_name(each: Compared, tool: str) -> str:
    """The name of our samples beside a tool."""
    return f"{each.what}, ours beside {tool}"


def their_name(each: Compared, tool: str) -> str:
    """The name of a tool's samples."""
    return f"{each.what}, {tool}"


def question(each: Compared, tool: str, failed: Failures) -> Question:
    """A row of the table; with why it is missing if its tool failed."""
    what = f"{each.what}, beside {tool}"
    if why := failed.get(their_name(each, tool), ""):
        return Question(what, "", "", each.bar, why)
    return Question(what, our_name(each, tool), their_name(each, tool), each.bar)


def absent(tool: str, rows: list[Compared]) -> Question:
    """One row for all that a tool would have measured."""
    missing = f"{tool} is not here: {node_neighbours.HOW_TO_GET[tool]}"
    return Question(f"{len(rows)} rows, beside {tool}", "", "", rows[0].bar, missing)
