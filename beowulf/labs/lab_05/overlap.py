"""What the studies of lab 05 share: the clusters of paper D, ways to make progress, and how they judge.

MPI_Isend passes the kernel as much of a message as the connection's send buffer takes; the rest waits until the rank
makes an MPI call again. A message above the library's eager limit is only announced: the receiver answers, and that
answer is also read only inside a call (a rendezvous). Either way, a sender that works does not send. Paper D saw this
on two clusters with two limits, which it calls their socket buffers. MPICH2's eager limit was far above that of the
one-user cluster; LAM, on the Solaris cluster, has a limit of its own. Both causes are measured here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.cluster.common.hydra import EAGER_LIMIT
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.table import table
from beowulf.record import Point, Record
from beowulf.studies.quantity import Judge
from beowulf.studies.study import Judgement, Plan, other_library, undecided
from beowulf.tuning.change import changed
from beowulf.tuning.knob import Knob
from beowulf.tuning.knobs.small_segments import SmallSegments
from beowulf.tuning.knobs.socket_buffers import SEND, SocketBuffers

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

K = TypeVar("K")
V = TypeVar("V")
KB = 1024  # in paper D: 10,000 ints are 39.06 KB

SHIPPED_LIMIT = (
    131_072  # of MPICH 3.4.3; in the paper's time MPICH2's was as large, and never 16 KB
)
PROGRESS_THREAD = "MPIR_CVAR_ASYNC_PROGRESS"
# A rank is done at once or when the other's work is, so such a small share of that work shows nothing.
SHARE_OF_WORK = 0.1
NOT_FIXED = "Measure on a cluster of this machine: `beowulf up --mpi classic`."
LONGER = "Make the work longer, and leave the machine alone."
TAG = 7  # of the programs' messages (overlap.h)
TESTS = 50  # MPI_Test calls during the work, where a way has them


@dataclass(frozen=True)
class Way:
    """How MPICH and the nodes are set, and what makes progress while a rank works.

    progress: "calls" (only the program's own MPI calls), "tests" (the rank calls MPI_Test now and then) or
    "thread" (MPICH's own progress thread, which needs MPI_THREAD_MULTIPLE inside and spins).
    """

    mpich: str
    limit_bytes: int = SHIPPED_LIMIT  # of eager messages
    progress: str = "calls"
    buffer_bytes: int = 0  # the fixed send buffer of each connection; 0: the nodes' default
    segments: int = 0  # the most that TCP joins; 0: the nodes' default

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that set MPICH in this way."""
        limit = {} if self.limit_bytes == SHIPPED_LIMIT else {EAGER_LIMIT: str(self.limit_bytes)}
        return {**limit, PROGRESS_THREAD: "1"} if self.progress == "thread" else limit

    @property
    def knobs(self) -> list[tuple[Knob, str]]:
        """What is set at the nodes."""
        turns: list[tuple[Knob, str]] = []
        if self.buffer_bytes:
            turns.append((SocketBuffers(), f"{SEND}{self.buffer_bytes}"))
        if self.segments:
            turns.append((SmallSegments(), str(self.segments)))
        return turns

    @property
    def at(self) -> dict[str, Any]:
        """The coordinates of its Points."""
        return {"mpich": self.mpich, "limit_bytes": self.limit_bytes, "progress": self.progress}

    @property
    def says(self) -> str:
        """What is set, as a figure or a sentence names it: `limit 16 KB, MPI_Test`."""
        how = {"calls": "", "tests": ", MPI_Test", "thread": ", progress thread"}[self.progress]
        if self.buffer_bytes:
            return f"send buffer {kb(self.buffer_bytes)}{how}"
        return f"limit {kb(self.limit_bytes)}{how}"


# Paper D, table 5: P1's time jumps between 10 and 20 KB with MPICH2 on the one-user cluster, and between
# 60 and 70 KB with MPICH1 on the Solaris cluster. Two eager limits make one library behave as both.
ONE_USER = Way("one-user", 16_384)
SOLARIS = Way("solaris", 65_536)
# So do two send buffers, with the library's default eager limit. Kernels of the one-user cluster's age passed small
# pieces down; the paper names neither size.
ONE_USER_SOCKET = Way("one-user-socket", buffer_bytes=24 * KB, segments=2)
SOLARIS_SOCKET = Way("solaris-socket", buffer_bytes=96 * KB, segments=2)
DEFAULT = Way("default")
TESTED = Way("one-user", 16_384, "tests")
THREADED = Way("one-user", 16_384, "thread")


def program(name: str) -> Path:
    """The source of one of lab 05's programs."""
    return paths.root() / "labs" / "05-overlap" / name


def launch(
    measurement: Measurement,
    way: Way,
    name: str,
    arguments: Sequence[str | int],
    *,
    number: int,
    at: Mapping[str, Any] | None = None,
    ranks: int = 2,
) -> None:
    """Launch one of the programs in this way; its Points get the way's coordinates.

    Nodes that cannot be set in this way are left as they are, and the Record states why the way was left out.
    """
    tests = ["--tests", str(TESTS)] if way.progress == "tests" else []
    with ExitStack() as state:
        try:
            state.enter_context(set_nodes(measurement.cluster, way))
        except LabError as why:
            measurement.points.append(Point(way.at, facts={"absent": why.message}))
            warning = f"{way.says} was left out: {why}"
            if warning not in measurement.warnings:
                measurement.warnings.append(warning)
            return
        measurement.launch(
            program(name),
            ranks,
            [*arguments, *tests],
            environment=way.environment,
            launch=number,
            at={**way.at, **(at or {})},
        )


def set_nodes(cluster: Cluster, way: Way) -> AbstractContextManager[object]:
    """Within this context the nodes have this way's settings; LabError if they cannot be set."""
    return changed(cluster, way.knobs) if way.knobs else nullcontext()


@dataclass(frozen=True)
class Amount:
    """How often a study launches its program, and how many passes over all sizes a launch makes."""

    launches: int
    passes: int


PAPER_WORK_S = 377e-6  # the minimum of the work of tables 7 and 8
FULL, QUICK = Amount(4, 250), Amount(2, 50)  # in full, together the paper's 1000 samples


def swept(amount: Amount, seconds: float, sizes: Sequence[int], **more: Any) -> dict[str, Any]:
    """What a Record states about a sweep over sizes, with work of so many seconds."""
    about = {"sizes": list(sizes), "seconds": seconds, **more}
    return {**about, "launches": amount.launches, "passes": amount.passes}


def sweep_arguments(
    seconds: float, sizes: Sequence[int], passes: int, number: int
) -> list[str | int]:
    """The arguments of the programs that sweep over sizes; each launch has its own order."""
    listed = ",".join(map(str, sizes))
    words: list[str | int] = ["--seconds", str(seconds), "--sizes", listed]
    return [*words, "--passes", passes, "--seed", personal_code.seed(number)]


@dataclass(frozen=True)
class Run:
    """What each launch of a sweep runs once: a program in a way, with more coordinates of its Points."""

    way: Way
    program: str
    at: Mapping[str, Any] = field(default_factory=dict)


def sweep(runs: Sequence[Run], amount: Amount, seconds: float, sizes: Sequence[int]) -> Plan:
    """Every run over all sizes, alternating."""

    def steps(measurement: Measurement) -> None:
        for number in range(amount.launches):
            words = sweep_arguments(seconds, sizes, amount.passes, number)
            for run in runs:
                launch(measurement, run.way, run.program, words, number=number, at=run.at)

    return Plan(amount.launches * len(runs), swept(amount, seconds, sizes), steps)


def late_by(quantity: str) -> Callable[[Record], list[str]]:
    """A study's troubles; launches that differ by a small share of the work count as equal."""

    def troubles(record: Record) -> list[str]:
        return trouble(record, quantity, SHARE_OF_WORK * record.sweep.get("seconds", 0.0))

    return troubles


def chosen(record: Record, quantity: str, **at: object) -> pd.DataFrame:
    """The samples of `quantity` at the points with all these coordinates, a row each; LabError if there are none."""
    return table(replace(record, points=record.select(**at)), quantity)


def first_measured(record: Record, ways: Sequence[Way]) -> Way:
    """The first of these ways that was measured: not all nodes allow each way, and older Records have other ways."""
    for way in ways:
        if any(p.quantity == "duration_s" and p.samples for p in record.select(**way.at)):
            return way
    return ways[0]


def send_buffers(record: Record, way: Way) -> set[int]:
    """The bytes of the sender's buffer by getsockopt, once connected; empty where the program did not ask."""
    first = [p for p in record.select(**way.at) if p.quantity == "first_message_s"]
    return {int(p.at["send_buffer_bytes"]) for p in first if "send_buffer_bytes" in p.at}


def absent(record: Record, way: Way) -> str:
    """Why this way could not be measured; empty where it was."""
    return next((p.facts["absent"] for p in record.select(**way.at) if "absent" in p.facts), "")


def in_way(way: Way, judge: Judge, advice: str = "") -> Judge:
    """`judge`, which decides nothing where nodes or library were not set in this way."""

    def judged(record: Record) -> Judgement:
        if why := absent(record, way):
            return undecided(why, NOT_FIXED)
        seen = judge(record)
        why_not: dict[str, Any] = {"advice": advice or seen.advice, **_not_so(record, way)}
        return replace(seen, **why_not)

    return judged


def _not_so(record: Record, way: Way) -> dict[str, str]:
    """Why the samples were not taken in this way, for a Judgement; empty when they were."""
    other, buffers = other_library(record), send_buffers(record, way)
    if other or not way.buffer_bytes or buffers == {way.buffer_bytes}:
        return other
    seen = " and ".join(f"{each:,}" for each in sorted(buffers) if each)
    says = (
        f"the sender's buffer has {seen} bytes" if seen else "the sender has no TCP socket to ask"
    )
    return {
        "undecidable": f"{says} by getsockopt, where the nodes set {way.buffer_bytes:,}:"
        " this MPI library decides itself",
        "advice": NOT_FIXED,
    }


def of_cases(study: str, cases: Mapping[K, Callable[[], V]]) -> dict[K, V]:
    """The result of each case in the Record; LabError if there is none."""
    found = {}
    for case, of in cases.items():
        with suppress(LabError):
            found[case] = of()
    if not found:
        raise LabError(f"The Record of study {study} has no samples.", "Measure again.")
    return found


def with_printed(figure: Figure, points: Sequence[tuple[float, float]], says: str) -> Figure:
    """The figure with the paper's printed values, if any: marks at (x, y) that no line joins."""
    from beowulf.figures import style

    if not points:
        return figure
    drawing = figure.drawing
    axes = drawing.axes[0]
    across, up = zip(*points, strict=True)
    with style():
        # Hollow, so that what is below them can be read.
        axes.plot(across, up, "*", ms=11, mfc="none", color="#404040", label=says)
        axes.set_xlim(right=max(axes.get_xlim()[1], 1.05 * max(across)))
        if below := list(drawing.legends):
            for legend in below:
                legend.remove()
            drawing.legend(loc="outside lower center", ncols=2)
        else:
            axes.legend(loc="best")
    marks = ", ".join(f"{x:.4g} and {y:.4g}" for x, y in points)
    figure.alt = f"{figure.alt} Marks of {says}, across and up: {marks}."
    return figure


def kb(size_bytes: float) -> str:
    """A size as paper D writes it: 10 KB, 39.06 KB."""
    return f"{size_bytes / KB:.4g} KB"
