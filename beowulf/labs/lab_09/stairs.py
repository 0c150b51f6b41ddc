"""Lab 09's staircase: a learner's functions in C, compiled, simulated on the lab's own network, and held to a target.

It is a Record of its own, S9, with the variant `stairs`; it keeps the source. A simulation gives the same time on every
machine, so that the grader simulates what was handed in once more (autograder/sandbox.py) instead of
believing a Record.
"""

from __future__ import annotations

import json
import math
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import figures, mpi, paths
from beowulf.cluster import Cluster
from beowulf.cluster.common.config import SIMULATED
from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated.platform import Platform, read
from beowulf.course import lab_file
from beowulf.errors import LabError, UsageError
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_09 import plain_c, tokens
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.measure.measurement import Measurement
    from beowulf.timeline.timeline_page import Page

STUDY, VARIANT = "S9", "stairs"
EXERCISE = Exercise(STUDY, VARIANT)
LAB, SOURCE, HARNESS, NETWORK = "09", "stairs.c", "climb.c", "network.toml"
HEADERS = ("stairs.h", "steps.h")
# With these each simulated rank calls its function in a process of its own.
RANK = ("rank.c", "rank.h", "relay.h")
LONGEST_SOURCE = 60_000  # characters
LONGEST_RUN_S, MANY = (
    8.0,
    64,
)  # twice as long with more ranks; all six steps fit into the sandbox's time
# SimGrid's own clock at the end of a run, and how far it is from climb.c's time: ranks agree on a start, and end.
CLOCK = re.compile(r"Simulated time: ([0-9.e+-]+) seconds")
CLOCK_OPTIONS = ("--cfg=smpi/display-timing:yes", "--log=smpi_utils.thresh:info")
START_MS, AROUND_MS = 10.0, 3.0
PIECES_BYTES = [2**power for power in range(8, 19)]


@dataclass(frozen=True)
class Step:
    """One function: how many ranks call it, with so many bytes, and the least time that any version takes."""

    name: str
    function: str
    ranks: int
    size_bytes: int
    says: str

    def bound_ms(self, platform: Platform) -> float:
        """The least time where a message of n bytes takes alpha + beta n, and a rank sends one at a time."""
        (_, alpha), *_, (most, last) = platform.times_us
        whole = (last - alpha) / most * self.size_bytes
        rounds = math.ceil(math.log2(self.ranks))
        if self.name == "reduce":  # each sum leaves a rank's part, and comes back
            return (rounds * alpha + 2 * whole * (self.ranks - 1) / self.ranks) / 1e3
        if self.name == "halo":  # two rows leave by one link
            return (max(INNER_US, alpha + 2 * whole) + BORDER_US) / 1e3
        return (rounds * alpha + whole) / 1e3


INNER_US, BORDER_US = 10_000, 500
STEPS = (
    Step("naive", "broadcast_naive", 64, 1024, "1 KiB to 64 ranks, one after the other"),
    Step("ring", "broadcast_ring", 64, 262_144, "256 KiB to 64 ranks, in pieces along a ring"),
    Step("tree", "broadcast_tree", 64, 1024, "1 KiB to 64 ranks, by a tree"),
    Step("pipelined", "broadcast_pipelined", 256, 262_144, "256 KiB to 256 ranks, in pieces by a tree"),
    Step("reduce", "all_reduce", 64, 262_144, "the sums of 32,768 numbers on 64 ranks"),
    Step("halo", "halo_step", 16, 65_536, "rows of 64 KiB on 16 ranks, beside 10 ms of work"),
)  # fmt: skip
BY_NAME = {step.name: step for step in STEPS}


@dataclass(frozen=True)
class Outcome:
    """How long a step takes in simulated time, or why it has none."""

    ms: float = math.nan
    why: str = ""


def platform() -> Platform:
    """The network that every learner's staircase is simulated on."""
    return read(paths.lab(LAB) / NETWORK)


def outcomes(
    source: str, names: Iterable[str] = tuple(BY_NAME), *, quiet: bool = False
) -> dict[str, Outcome]:
    """Compile a text of C and simulate these steps; LabError when it does not compile or calls what it may not."""
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        folder = Path(scratch)
        program = _built(source, folder, quiet=quiet)
        cluster = simulated.beside(platform(), folder / "cluster")
        return {name: _simulated(cluster, program, BY_NAME[name]) for name in names}


def _built(source: str, folder: Path, *, quiet: bool = False) -> Path:
    if len(source) > LONGEST_SOURCE:
        raise LabError(f"{SOURCE} has more than {LONGEST_SOURCE:,} characters.")
    for name in (HARNESS, *HEADERS):
        shutil.copy(paths.lab(LAB) / name, folder)
    for name in RANK:
        shutil.copy(Path(__file__).with_name(name), folder)
    (folder / SOURCE).write_text(source, encoding="utf-8")
    # Before the compiler, and the preprocessor, read anything that the source names.
    tokens.check(source, SOURCE)
    # Without the last one, a printf may be called puts.
    flags = ["-w" if quiet else "-Wall", "-fno-builtin-printf"]
    build = partial(mpi.build, folder / SOURCE, library=SIMULATED)
    try:
        expanded = build(output=folder / "stairs.i", flags=["-E", *flags])
        tokens.check_preprocessed(expanded.read_text(encoding="utf-8", errors="replace"), SOURCE)
        text = build(output=folder / "stairs.s", flags=["-S", *plain_c.FLAGS, *flags])
        part = plain_c.assembled(text, folder / "stairs.o", [step.function for step in STEPS])
        rank = plain_c.linked(folder / "rank.c", part, simulated.headers())
        return mpi.build(
            folder / HARNESS,
            library=SIMULATED,
            output=folder / "climb",
            flags=[f'-DSEPARATE="{rank}"'],
        )
    except LabError as problem:
        # The compiler names our copy; the learner knows their own.
        raise LabError(problem.message.replace(f"{folder}/", ""), problem.hint) from None


def _simulated(cluster: Cluster, program: Path, step: Step) -> Outcome:
    # A line with another key is none of climb.c's.
    key = secrets.token_hex(8)
    words = ["--lines", "--step", step.name, "--bytes", str(step.size_bytes), "--key", key]
    words += ["--inner-us", str(INNER_US), "--border-us", str(BORDER_US)]
    words += ["--seed", str(secrets.randbelow(1 << 60))]
    try:
        done = mpi.launch(
            cluster,
            [*CLOCK_OPTIONS, str(program)],
            step.ranks,
            words,
            timeout_s=LONGEST_RUN_S * (2 if step.ranks > MANY else 1),
        )
    except LabError as problem:
        return Outcome(why=problem.message)
    lines = [line for line in done.stdout.splitlines() if key in line]
    complaint = _complaint(done.stderr)
    try:
        (row,) = map(json.loads, lines)
        ms = 1e3 * float(row["seconds"])
    except (ValueError, KeyError, TypeError):
        return Outcome(why=complaint or "it ended before all ranks had returned")
    if done.returncode:
        return Outcome(why=complaint or f"it ended with exit code {done.returncode}")
    if not ms >= 0.999 * step.bound_ms(cluster.platform):  # type: ignore[attr-defined]
        return Outcome(why=f"{ms:.3f} ms are less than the data need to arrive")
    clock = CLOCK.search(done.stderr)
    if not clock or abs(1e3 * float(clock[1]) - ms - START_MS) > AROUND_MS:
        return Outcome(why="its reported time differs from the simulator's clock")
    return Outcome(ms)


def _complaint(stderr: str) -> str:
    """The most informative line of what a run prints on stderr."""
    said = [line for line in stderr.splitlines() if line.strip() and "smpi_utils" not in line]
    wrong = [line for line in said if line.startswith("wrong")]
    returned = [match[0] for line in said if (match := re.search(r"MPI_\w+ - returned \w+", line))]
    return next(iter([*wrong, *returned, *said]), "")


def measure(cluster: Cluster, source: Path | str = SOURCE) -> Record:
    """Simulate each step of `source` and save its Record.

    `cluster` says where Records are kept. LabError when it does not compile.
    """
    file = Path(source)
    if not file.is_file():
        raise UsageError(
            f"There is no file {file}.", "Work in the folder with your copies of the lab."
        )
    text = file.read_text(encoding="utf-8", errors="replace")

    def steps(session: Measurement) -> None:
        for name, outcome in outcomes(text).items():
            step = BY_NAME[name]
            at = {"step": name, "ranks": step.ranks, "size_bytes": step.size_bytes}
            timed = [] if outcome.why else [outcome.ms / 1e3]
            facts = {"why": outcome.why} if outcome.why else {}
            session.points.append(Point(at, "duration_s" if timed else "", timed, facts))
        session.points.append(Point({"source": file.name}, facts={"text": text}))

    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        place, sweep = simulated.beside(platform(), Path(scratch)), {"exercise": file.name}
        return EXERCISE.measure(cluster, steps, half=True, place=place, timed=False, sweep=sweep)


def timeline(name: str, source: Path | str = SOURCE, *, ranks: int = 16) -> Page:
    """Which ranks send and which wait in a step, on a timeline of its simulated run."""
    if name not in BY_NAME:
        raise UsageError(f"There is no step {name!r}.", f"There are {', '.join(BY_NAME)}.")
    from beowulf.timeline import analysis, simgrid
    from beowulf.timeline.timeline_page import Page

    step = BY_NAME[name]
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        folder = Path(scratch)
        program = _built(Path(source).read_text(encoding="utf-8", errors="replace"), folder)
        place, trace = simulated.beside(platform(), folder / "cluster"), folder / "run.trace"
        *tracing, file = simgrid.OPTIONS
        words = ["--step", name, "--bytes", str(step.size_bytes)]
        simulated_program = [*tracing, f"{file}{trace}", str(program)]
        done = mpi.launch(place, simulated_program, ranks, words, timeout_s=LONGEST_RUN_S)
        if done.returncode:
            print(f"{step.function} did not end normally: {_complaint(done.stderr)}")
        found = analysis.between_messages(analysis.Analysis(simgrid.read(trace), {}))
        named = {**found.details, "program": f"{step.function}, {ranks} simulated ranks"}
        return Page(replace(found, details=named))


def source_of(record: Record) -> str:
    """The text that a Record was simulated from; LabError without one."""
    for point in record.points:
        if "source" in point.at and isinstance(text := point.facts.get("text"), str):
            return text
    raise LabError(f"{record.file_name} holds no source.")


def found(record: Record) -> dict[str, Outcome]:
    """What a Record reports of each step."""
    seen: dict[str, Outcome] = {}
    for point in record.points:
        name = str(point.at.get("step", ""))
        if name in BY_NAME:
            why = str(point.facts.get("why", "")) if point.facts else ""
            seen[name] = Outcome(why=why) if why else Outcome(1e3 * float(point.samples[0]))
    return seen


def says(record: Record | None, name: str) -> str:
    """A step's outcome in a sentence: its time and its target, or its fault."""
    function = BY_NAME[name].function
    outcome = found(record).get(name) if record else None
    if outcome is None:
        return f"{function} was not simulated: run the cell with `stairs.measure`."
    if outcome.why:
        return f"{function}: {outcome.why}"
    if name not in targets():
        return f"{function} is right, and takes {outcome.ms:.3f} ms."
    target, half = (
        targets()[name],
        lab_file.read(paths.lab(LAB).name).questions[name].limits["half_ms"],
    )
    how = "meets" if outcome.ms <= target else "misses"
    half_of = f" (half of the points to {half:g} ms)" if how == "misses" else ""
    return f"{function} is right, takes {outcome.ms:.3f} ms, and {how} its target of {target:g} ms{half_of}."


@cache
def targets() -> Mapping[str, float]:
    """By step, the target in ms of lab.toml; the naive broadcast has none."""
    questions = lab_file.read(paths.lab(LAB).name).questions
    return {
        name: float(table.limits["target_ms"])
        for name, table in questions.items()
        if "target_ms" in table.limits
    }


def table(record: Record) -> pd.DataFrame:
    """A row for each step: what it takes, its target, and what is wrong."""
    import pandas as pd

    seen = found(record)
    rows: list[dict[str, Any]] = [
        {
            "step": name,
            "what": BY_NAME[name].says,
            "simulated_ms": outcome.ms,
            "target_ms": targets().get(name, math.nan),
            "fault": outcome.why,
        }
        for name, outcome in seen.items()
    ]
    return pd.DataFrame(rows).set_index("step").round(3)


def ring_ms(ring: Step, piece_bytes: int) -> float:
    """A ring's time by alpha and beta: the first piece passes all ranks, each further one comes two messages later."""
    messages = ring.ranks - 1 + 2 * (math.ceil(ring.size_bytes / piece_bytes) - 1)
    return messages * replace(ring, ranks=2, size_bytes=piece_bytes).bound_ms(platform())


@figures.draggable(EXERCISE.own, "lab.stairs.measure", piece_bytes=PIECES_BYTES)
def piece_size(record: Record, piece_bytes: int = PIECES_BYTES[-1]) -> figures.Figure:
    """The time of a ring by the size of its pieces, with the bound and your own ring: drag the size."""
    ring, here = BY_NAME["ring"], f"pieces of {piece_bytes:,} bytes"
    bound, ms = ring.bound_ms(platform()), ring_ms(ring, piece_bytes)
    return figures.plot(
        {
            "a ring in pieces": {size: ring_ms(ring, size) for size in PIECES_BYTES},
            "the bound": dict.fromkeys(PIECES_BYTES, bound),
            "your ring": dict.fromkeys(PIECES_BYTES, found(record).get("ring", Outcome()).ms),
            here: {piece_bytes: ms},
        },
        *("size_bytes", "ms"),
        title=f"256 KiB to {ring.ranks} ranks: {ms / bound:.1f} times the bound",
        x_title="size of a piece (bytes)",
        y_title="until all ranks have it (ms)",
        x_log=True,
        y_log=True,
        marks=(here,),
    )
