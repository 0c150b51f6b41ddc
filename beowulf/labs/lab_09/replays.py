"""Lab 09: what programs would cost on another network, by a replay of what their ranks did.

Paper E leaves open what a trace could say of a run on another network (study E8). Two Records S9 answer that by replays
on the learner's own calibration, which are compared with the recorded run, and on paper E's networks before and after
its tuning. For the variant `replay` each program is recorded on the learner's own nodes. For `replay-64` it is
simulated on 64 nodes of the learner's network, where computing takes as long as on a core of this machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import mpi, paths
from beowulf.cluster import Cluster
from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated.platform import Platform, read
from beowulf.errors import LabError
from beowulf.exercises import gas as lab_08_gas
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_09.scaling import PROGRAM
from beowulf.labs.lab_09.stairs import CLOCK, CLOCK_OPTIONS
from beowulf.measure.calibration import Calibration
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.suites import npb

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT, VARIANT_64 = "S9", "replay", "replay-64"
EXERCISE = Exercise(STUDY, VARIANT, "Programs on other networks")
EXERCISE_64 = Exercise(STUDY, VARIANT_64, "64 nodes")
MOST_RANKS, MANY = 4, 64
OWN, BEFORE, AFTER = "own network", "paper E, before", "paper E, after"
FILES = {BEFORE: "paper-e-before", AFTER: "paper-e-after"}
GAS = (
    Path("..") / "08-first-beowulf" / lab_08_gas.SOURCE
)  # beside the folder in which lab 09's notebook is
LONGEST_RUN_S = 600.0


@dataclass(frozen=True)
class Program:
    """A program with its arguments; `options` are the simulator's."""

    source: Path
    words: tuple[str, ...]
    ranks: int
    options: tuple[str, ...] = ()


def kernel(name: str, letter: str, ranks: int, *options: str) -> Program:
    """An NPB kernel of a class."""
    return Program(npb.BENCHMARKS[name].source, (letter,), ranks, options)


KERNELS = {name: kernel(name, "S", MOST_RANKS) for name in ("CG", "MG", "IS")}
# MG takes at most 8 ranks, and FT's class W at most 32. MPICH's algorithm for the short all-to-all of IS ends a replay
# by a crash in SimGrid 3.32; this one has as many messages one after the other.
KERNELS_64 = {
    "CG": kernel("CG", "W", MANY),
    "MG": kernel("MG", "W", 8),
    "IS": kernel("IS", "W", MANY, "--cfg=smpi/alltoall:rdb"),
    "FT": kernel("FT", "S", MANY),
}


def measure(cluster: Cluster, made: Calibration, source: Path | str = GAS) -> Record:
    """Record each program once on the cluster and replay it on each network.

    `source` is the learner's gas.c of lab 08. Where it is missing or wrong, the gas is left out, with a message.
    """
    from beowulf.timeline import analysis
    from beowulf.timeline.replay import replay as replayed

    ranks = min(MOST_RANKS, len(cluster.nodes))
    networks = _networks(made, ranks)

    def steps(session: Measurement) -> None:
        with _programs(session, Path(source), KERNELS, ranks, lab_08_gas.TILES) as programs:
            for name, each in programs.items():
                session.launch(each.source, ranks, each.words, at={"program": name})
                assert session.last_trace
                found = analysis.read(session.last_trace)
                facts: dict[str, Any] = {}
                for label, platform in networks.items():
                    there = replayed(found, platform)
                    facts |= {"recorded_ms": there.recorded_ms, f"{label} ms": there.ms}
                session.points.append(Point({"replayed": name, "ranks": ranks}, facts=facts))

    with tempfile.TemporaryDirectory(prefix="beowulf-") as traces:
        return EXERCISE.measure(
            cluster,
            steps,
            half=True,
            launches=len(KERNELS) + 3,
            traces=Path(traces),
            sweep={"calibration": made.record, "ranks": ranks},
        )


def on_64_nodes(cluster: Cluster, made: Calibration, source: Path | str = GAS) -> Record:
    """Simulate each program on the own network with its computing, and replay that run on each network.

    Ranks compute one after the other on one core: none disturbs another.
    """
    networks = _networks(made, MANY)
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:

        def steps(session: Measurement) -> None:
            with _programs(session, Path(source), KERNELS_64, MANY, "8,8") as programs:
                for name, each in programs.items():
                    session.progress(session.done, session.planned, name)
                    facts = _replayed(session, each, networks, Path(scratch) / f"{name}.run")
                    at = {"replayed": name, "ranks": each.ranks}
                    session.points.append(Point(at, facts=facts))
                    session.done += 1

        return EXERCISE_64.measure(
            cluster,
            steps,
            half=True,
            place=simulated.beside(networks[OWN], Path(scratch) / "cluster"),
            timed=False,
            launches=len(KERNELS_64) + 3,
            sweep={"calibration": made.record, "ranks": MANY},
        )


def _networks(made: Calibration, ranks: int) -> dict[str, Platform]:
    """By name, the learner's own network and paper E's, with so many nodes."""
    networks = {OWN: made.platform(ranks)}
    for name, file in FILES.items():
        network = read(paths.lab("09") / "networks" / f"{file}.toml")
        networks[name] = replace(network, nodes=ranks)
    return networks


def _replayed(
    session: Measurement, program: Program, networks: Mapping[str, Platform], trace: Path
) -> dict[str, float]:
    """The ms of a run on simulated nodes, and of its replay on each network."""
    from beowulf.timeline import replay

    built = session.prepare(program.source)
    options = [*replay.written_to(trace, networks[OWN]), *program.options, *CLOCK_OPTIONS]
    words = [*options, str(built)]
    done = mpi.launch(session.cluster, words, program.ranks, program.words, timeout_s=LONGEST_RUN_S)
    clock = CLOCK.search(done.stderr)
    if done.returncode or not clock:
        raise LabError(f"{mpi.failure(done, built.name)} {done.stderr.strip()[:300]}")
    ms = replay.simgrids_own(trace, [*networks.values()], program.options)
    replayed = {f"{name} ms": each for name, each in zip(networks, ms, strict=True)}
    return {"recorded_ms": 1e3 * float(clock[1]), **replayed}


@contextmanager
def _programs(
    session: Measurement, source: Path, kernels: Mapping[str, Program], ranks: int, tiles: str
) -> Iterator[dict[str, Program]]:
    """Plate, kernels and the learner's gas; without it where it is missing or wrong, which is said and kept."""
    words = ("--lines", "--steps", "20", "--row-us", "3")
    programs = {"plate": Program(paths.lab("09") / PROGRAM, words, ranks), **kernels}
    if not source.is_file():
        why = f"There is no file {source}."
    else:
        with lab_08_gas.beside_headers(source) as own:
            why = lab_08_gas.fault(session, own)
            if not why:
                words_of_gas = ("--lines", "--problem", "blast", "--steps", "20", "--tiles", tiles)
                yield {**programs, "gas": Program(own, words_of_gas, ranks)}
                return
            why = f"Its {lab_08_gas.FUNCTION} is wrong: {why}."
    session.sweep["without_gas"] = why
    print(f"The gas of lab 08 is left out. {why}")
    yield programs


def table(record: Record) -> pd.DataFrame:
    """A row for each program: as recorded, replayed on each network, and what paper E's tuning saves, in per cent."""
    import pandas as pd

    rows = []
    for point in record.points:
        if "replayed" not in point.at:
            continue
        ms = {name: float(point.facts[f"{name} ms"]) for name in (OWN, BEFORE, AFTER)}
        recorded = float(point.facts["recorded_ms"])
        rows.append(
            {
                "program": point.at["replayed"],
                "nodes": int(point.at.get("ranks", record.sweep.get("ranks", MOST_RANKS))),
                "recorded_ms": recorded,
                **{f"{name} (ms)": each for name, each in ms.items()},
                "off_percent": 100 * (ms[OWN] / recorded - 1),
                "tuning_saves_percent": 100 * (1 - ms[AFTER] / ms[BEFORE]),
            }
        )
    if not rows:
        raise LabError(f"{record.file_name} has no replay.", "Measure it again.")
    return pd.DataFrame(rows).set_index("program")
