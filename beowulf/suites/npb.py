"""The NAS Parallel Benchmarks of lab 03, run on a cluster: what each may be asked for is refused before it starts.

Sizes and process counts are those of NPB 3.4; the programs verify their results themselves, and one that is wrong
ends the run with its figures.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.measure import profile
from beowulf.measure.measurement import Measurement, need_a_node_each
from beowulf.measure.profile import Profile

FOLDER = paths.root() / "labs" / "03-parallel-benchmarks" / "npb"
CLASSES = ("S", "W", "A", "B", "C")
LONGEST_RUN_S = 3600.0
MB, GB = 1e6, 1e9
# What each rank of an MPI program takes before it has any data: 11 to 12 MB with MPICH 3.4.3.
LIBRARY_BYTES = 12 * MB
# The rest is for what else runs on the machine.
MOST_OF_MEMORY = 0.9
RULES = {"any": "any number", "power": "a power of two", "square": "a square number"}


@dataclass(frozen=True)
class Benchmark:
    """One of the eight: what it is about, which numbers of ranks it takes, and how much memory its data take.

    `data_bytes` is for all ranks together, of a class (its place in CLASSES) and a number of ranks: the arrays that
    its C program allocates, with the layers that neighbours share.
    """

    name: str
    about: str
    rule: str
    data_bytes: Callable[[int, int], float]
    most_ranks: int = 0  # 0: as many as the rule allows

    @property
    def source(self) -> Path:
        """Its C program."""
        return FOLDER / f"{self.name.lower()}.c"

    def takes(self, ranks: int) -> bool:
        """Whether it runs with that many ranks."""
        power, square = ranks & (ranks - 1) == 0, math.isqrt(max(ranks, 0)) ** 2 == ranks
        fits = {"any": True, "power": power, "square": square}[self.rule]
        return ranks > 0 and fits and not 0 < self.most_ranks < ranks

    def counts(self, most: int) -> list[int]:
        """All numbers of ranks that it takes, up to `most`."""
        return [ranks for ranks in range(1, most + 1) if self.takes(ranks)]

    def memory_bytes(self, letter: str, ranks: int) -> float:
        """About how much memory a run takes on all nodes together."""
        return ranks * LIBRARY_BYTES + self.data_bytes(CLASSES.index(letter), ranks)


def _is(place: int, _ranks: int) -> float:
    """Four-byte keys: drawn, in buckets, received, sorted; and counters for each possible key."""
    return 4.0 * (5 * 2 ** (16, 20, 23, 25, 27)[place] + 2 * 2 ** (11, 16, 19, 21, 23)[place])


def _cg(place: int, ranks: int) -> float:
    """A value, a column and what leads to them, 12 bytes, for each element of the matrix; and each rank's vectors."""
    rows = (1400, 7000, 14000, 75000, 150000)[place]
    return 12.0 * rows * ((7, 8, 11, 13, 15)[place] + 1) ** 2 + ranks * 320.0 * rows


def _mg(place: int, _ranks: int) -> float:
    """Three cubes of 8-byte numbers, and the coarser ones, which are an eighth each time."""
    return 8.0 * 3.5 * (32, 128, 256, 256, 512)[place] ** 3


def _ft(place: int, _ranks: int) -> float:
    """Three cubes of complex numbers, and one of factors."""
    return 56.0 * 2 ** (18, 19, 23, 25, 27)[place]


def _lu(place: int, ranks: int) -> float:
    """State, change and right-hand side, five numbers a point, with two layers around each rank's part."""
    side = (12, 33, 64, 102, 162)[place]
    return 3 * 40.0 * (side + 4) ** 2 * (side + 4 * ranks)


def _sp(place: int, ranks: int) -> float:
    """As LU, and what the elimination leaves at each point; the layers are around each of the cells."""
    return 9 * 40.0 * ((12, 36, 64, 102, 162)[place] + 4.0 * math.sqrt(ranks)) ** 3


def _bt(place: int, ranks: int) -> float:
    """The same, with a matrix at each point of a layer."""
    return 9 * 40.0 * ((12, 24, 64, 102, 162)[place] + 4.0 * math.sqrt(ranks)) ** 3


BENCHMARKS = {
    each.name: each
    for each in (
        Benchmark("EP", "random pairs, nothing to send", "any", lambda place, ranks: MB),
        Benchmark("IS", "integer sort, all to all", "power", _is),
        Benchmark("CG", "sparse matrix, messages that wait for each other", "power", _cg),
        Benchmark("MG", "multigrid, messages of all lengths", "power", _mg, most_ranks=8),
        Benchmark("FT", "Fourier transform, all to all", "power", _ft),
        Benchmark("LU", "a wave front of short messages", "power", _lu),
        Benchmark("SP", "flow, single numbers along lines", "square", _sp),
        Benchmark("BT", "flow, blocks along lines", "square", _bt),
    )
}


@dataclass(frozen=True)
class Run:
    """One run that ended well: `seconds` of the slowest rank, nominal `mops`, and the profile if one was asked for."""

    name: str
    letter: str
    ranks: int
    seconds: float
    mops: float
    verified: bool
    # Each with quantity, value, published (or expected, and its source), relative_error, tolerance.
    checks: tuple[dict[str, Any], ...]
    profile: Profile | None = None


def fitting(names: Sequence[str], ranks: int) -> tuple[list[str], list[str]]:
    """Those of several benchmarks that take this number of ranks, and sentences about the others.

    Where none takes it, or only one was asked for, nothing is left out: refuse() has the sentence.
    """
    fit = [name for name in names if BENCHMARKS[name].takes(ranks)]
    if len(names) == 1 or not fit:
        return list(names), []
    others: dict[str, list[str]] = {}
    for name in names:
        if name not in fit:
            others.setdefault(_rule(BENCHMARKS[name]), []).append(name)
    return fit, [
        f"{_listed(left, 'and')} {'is' if len(left) == 1 else 'are'} skipped:"
        f" {'it takes' if len(left) == 1 else 'they take'} {rule}, not {ranks}."
        for rule, left in others.items()
    ]


def _listed(names: Sequence[str], word: str) -> str:
    *others, last = names
    return f"{', '.join(others)} {word} {last}" if others else last


def _rule(benchmark: Benchmark) -> str:
    most = f", at most {benchmark.most_ranks}" if benchmark.most_ranks else ""
    return f"{RULES[benchmark.rule]} of ranks{most}"


def refuse(cluster: Cluster, names: Sequence[str], letter: str, ranks: int) -> None:
    """End with a sentence, before anything is compiled, when one of the benchmarks cannot run so on this cluster."""
    if letter not in CLASSES:
        raise UsageError(
            f"There is no class {letter!r}.", f"The classes are: {', '.join(CLASSES)}."
        )
    for name in names:
        _refuse_ranks(BENCHMARKS[name], ranks, len(cluster.nodes))
    need_a_node_each(cluster, ranks)
    free = {node: _memory(cluster, node) for node in cluster.nodes[:ranks]}
    for name in names:
        _refuse_memory(free, BENCHMARKS[name], letter, ranks)


def _refuse_ranks(benchmark: Benchmark, ranks: int, nodes: int) -> None:
    if benchmark.takes(ranks):
        return
    here = _listed([*map(str, benchmark.counts(nodes))], "or")
    only = f"This cluster has only {nodes} node{'s' * (nodes != 1)}, and there"
    if ranks <= nodes:
        only = f"On {nodes} nodes"
    raise UsageError(
        f"{benchmark.name} takes {_rule(benchmark)}, not {ranks}.", f"{only} that is {here}."
    )


def _refuse_memory(
    asked: Mapping[str, tuple[str, float]], benchmark: Benchmark, letter: str, ranks: int
) -> None:
    """The nodes of a local cluster are one machine, and share its memory; others have their own.

    `asked` has what _memory() found on each node.
    """
    each = benchmark.memory_bytes(letter, ranks) / ranks
    machines = defaultdict(list)
    free: dict[str, float] = {}
    for node, (machine, available) in asked.items():
        machines[machine].append(node)
        free[machine] = available
    for machine, nodes in machines.items():
        need = each * len(nodes)
        if need > MOST_OF_MEMORY * free[machine]:
            where = nodes[0] if len(nodes) == 1 else f"the machine of {', '.join(nodes)}"
            raise LabError(
                f"{benchmark.name} class {letter} needs about {need / GB:.2g} GB on {where},"
                f" which has {free[machine] / GB:.2g} GB free.",
                "Take a smaller class, or end whatever else needs memory.",
                nodes[0],
            )


def _memory(cluster: Cluster, node: str) -> tuple[str, float]:
    """Which machine a node is on (its kernel's boot), and how many bytes of memory are free there."""
    said = cluster.run(
        node, "cat /proc/sys/kernel/random/boot_id; grep MemAvailable /proc/meminfo"
    ).stdout
    found = re.search(r"^(\S+)\s+MemAvailable:\s+(\d+) kB", said)
    assert found, said
    return found[1], float(found[2]) * 1024


def run(
    session: Measurement,
    name: str,
    letter: str,
    ranks: int,
    *,
    launch: int = 0,
    profiled: bool = False,
    timeout_s: float = LONGEST_RUN_S,
) -> Run:
    """Run one benchmark once, compiled in this session; LabError with the figures when a result is wrong."""
    benchmark = BENCHMARKS[name]
    built = session.prepare(benchmark.source)
    library = str(session.description.get("mpi", "classic"))
    layer = built.with_name("profile.so")
    if profiled and not layer.exists():
        profile.build(built.parent, library=library)
    lines = session.launch(
        benchmark.source,
        ranks,
        [letter],
        launch=launch,
        at={"benchmark": name, "class": letter, "profiled": profiled},
        prefix=profile.prefix(layer) if profiled else (),
        timeout_s=timeout_s,
    )
    found = result(lines)
    seconds, mops = float(found["seconds"]), float(found["mops"])
    checks = [dict(line) for line in lines if line["kind"] == "check"]
    for check in checks:
        del check["kind"]
    seen = profile.profile(lines) if profiled else None
    return Run(name, letter, ranks, seconds, mops, True, tuple(checks), seen)


def result(lines: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The line with the verified result among the lines of a run."""
    return next(line for line in lines if line["kind"] == "result")
