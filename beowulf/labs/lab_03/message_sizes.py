"""Lab 03's exercise in C: a learner's own count of MG's messages by length, compared with ours.

A Record of A4 with the variant `sizes`. Our count comes from the handed-out program with its `TODO` done.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from beowulf import mpi, paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises import file_functions
from beowulf.exercises.exercise import Exercise
from beowulf.measure.watched import Watched
from beowulf.record import Point, Record

STUDY, VARIANT = "A4", "sizes"
EXERCISE = Exercise(STUDY, VARIANT)
LAB, PROGRAM = "03-parallel-benchmarks", "sizes.c"
COUNTS = ("one_packet", "several_packets", "bytes")
# Each run draws from these, so that numbers of an earlier run do not fit.
CLASSES, RANKS = ("S", "W"), (2, 4)
LONGEST_S = 120.0

TO_DO = "    return PMPI_Send("
DONE = """\
    int size;
    PMPI_Type_size(type, &size);
    double bytes = (double)count * size;
    sent.bytes += bytes;
    if (bytes <= ONE_PACKET)
        sent.one_packet++;
    else
        sent.several_packets++;
"""


def measure(
    cluster: Cluster, source: Path | str = PROGRAM, chance: random.Random | None = None
) -> Record:
    """Run `source` and our own count in a class and on ranks picked by `chance`, and save the Record.

    LabError if `source` does not compile, fails, or prints no counts; then nothing is saved.
    """
    with Watched(cluster, STUDY) as watched:
        chance = chance or random.Random()
        size, ranks = chance.choice(CLASSES), chance.choice(RANKS)
        program = file_functions.about(Path(source), [size])
        sweep = {"exercise": Path(source).name}
        # Below /tmp, which the nodes of a local cluster share with this machine.
        with (
            EXERCISE.record(cluster, sweep=sweep, program=program, watched=watched) as made,
            tempfile.TemporaryDirectory(prefix="beowulf-") as scratch,
        ):
            yours = counted(cluster, Path(source), size, ranks, Path(scratch))
            ours = counted(cluster, _done(Path(scratch)), size, ranks, Path(scratch))
            at = {"class": size, "ranks": ranks}
            made.points = [
                Point({"count": name, **at}, facts={"yours": yours[name], "ours": ours[name]})
                for name in COUNTS
            ]
    return made


def counted(
    cluster: Cluster, source: Path, size: str, ranks: int, scratch: Path
) -> dict[str, float]:
    """A program's counts of MG's messages in a class; LabError if it fails or prints none."""
    library = str(cluster.describe().get("mpi", "classic"))
    built = mpi.build(source, library=library, output=scratch / "counted")
    done = mpi.launch(cluster, built, ranks, [size], timeout_s=LONGEST_S, folder=scratch)
    if failed := mpi.failure(done, source.name):
        raise LabError(failed, done.stderr.strip() or "Run it in a terminal to see more.")
    for line in reversed(done.stdout.splitlines()):
        try:
            found = json.loads(line)
            if found["kind"] == "sizes":
                return {name: float(found[name]) for name in COUNTS}
        except (ValueError, TypeError, LookupError):
            continue
    raise LabError(f"{source.name} printed no counts.", "Restore its original MPI_Finalize.")


def _done(scratch: Path) -> Path:
    """The handed-out program with its TODO done."""
    lab = paths.root() / "labs" / LAB
    shutil.copytree(lab / "npb", scratch / "npb")
    text = (lab / PROGRAM).read_text(encoding="utf-8")
    done = scratch / PROGRAM
    done.write_text(text.replace(TO_DO, DONE + TO_DO), encoding="utf-8")
    return done


def lines(points: Sequence[Point]) -> list[str]:
    """Each count, and whether it is right, without our own number."""
    said = []
    for point in points:
        yours, ours = point.facts["yours"], point.facts["ours"]
        verdict = "right" if yours == ours else "too small" if yours < ours else "too large"
        said.append(f"{point.at['count']:<16} {yours:>12,.0f}  {verdict}")
    return said
