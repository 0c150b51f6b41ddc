"""What the studies of lab 05 share: the two MPICHs of paper D, ways to make progress, and how they judge.

An MPI message up to the eager limit is sent at once, and the receiver's library keeps it until it is
asked for. A longer one waits for a rendezvous: the sender announces it, the receiver answers, and
only then it is sent. With MPICH over sockets this answer is read only while the sender is inside of
some MPI call, so a sender that works does not send. Paper D saw this on two clusters with two limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.measure.measurement import Measurement
from beowulf.measure.table import table
from beowulf.record import Record
from beowulf.studies.study import Plan

if TYPE_CHECKING:
    import pandas as pd

KB = 1024  # in paper D: 10,000 ints are 39.06 KB

EAGER_LIMIT = "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE"
PROGRESS_THREAD = "MPIR_CVAR_ASYNC_PROGRESS"
# A rank is done at once or when the other's work is: so small a share of that work tells nothing.
SHARE_OF_WORK = 0.1
QUIETER = {"advice": "Take more samples on a quieter machine."}
TESTS = 50  # MPI_Test calls during the work, where a way has them


@dataclass(frozen=True)
class Way:
    """An MPICH with its eager limit, and who moves messages on while a rank works.

    progress: "calls" (nobody: only MPI calls do), "tests" (the rank calls MPI_Test now and then) or
    "thread" (MPICH's own progress thread, which needs MPI_THREAD_MULTIPLE inside and spins).
    """

    mpich: str
    limit_bytes: int
    progress: str = "calls"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make MPICH so."""
        limit = {} if self.mpich == "default" else {EAGER_LIMIT: str(self.limit_bytes)}
        return {**limit, PROGRESS_THREAD: "1"} if self.progress == "thread" else limit

    @property
    def at(self) -> dict[str, Any]:
        """The coordinates of its Points."""
        return {"mpich": self.mpich, "limit_bytes": self.limit_bytes, "progress": self.progress}

    @property
    def says(self) -> str:
        """Its name in a figure or a sentence."""
        how = {"calls": "", "tests": ", MPI_Test", "thread": ", progress thread"}[self.progress]
        return f"{self.mpich}{how}"


# Paper D, table 5: P1's time jumps between 10 and 20 KB with MPICH2 on the one-user cluster, and between
# 60 and 70 KB with MPICH1 on the Solaris cluster. These two limits make one library behave as both.
ONE_USER = Way("one-user", 16_384)
SOLARIS = Way("solaris", 65_536)
DEFAULT = Way("default", 131_072)
TESTED = Way("one-user", 16_384, "tests")
THREADED = Way("one-user", 16_384, "thread")
WAYS = (ONE_USER, SOLARIS, DEFAULT, TESTED, THREADED)


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
) -> None:
    """Launch one of the programs on two ranks in this way; its Points get the way's coordinates."""
    tests = ["--tests", str(TESTS)] if way.progress == "tests" else []
    measurement.launch(
        program(name),
        2,
        [*arguments, *tests],
        environment=way.environment,
        launch=number,
        at={**way.at, **(at or {})},
    )


@dataclass(frozen=True)
class Amount:
    """How often a study launches its program, and how many passes over all sizes each launch makes."""

    launches: int
    passes: int


def swept(amount: Amount, seconds: float, sizes: Sequence[int], **more: Any) -> dict[str, Any]:
    """What a Record says of a sweep over sizes, beside a work of so many seconds."""
    about = {"sizes": list(sizes), "seconds": seconds, **more}
    return {**about, "launches": amount.launches, "passes": amount.passes}


def sweep_arguments(
    seconds: float, sizes: Sequence[int], passes: int, number: int
) -> list[str | int]:
    """The arguments of the programs that sweep over sizes; each launch has an order of its own."""
    listed = ",".join(map(str, sizes))
    words: list[str | int] = ["--seconds", str(seconds), "--sizes", listed]
    return [*words, "--passes", passes, "--seed", number + 1]


def sweep(name: str, ways: Sequence[Way], about: Mapping[str, Any]) -> Plan:
    """Launch one of the programs in each way, as often and over the sizes that `about` says (swept() made it)."""
    launches = int(about["launches"])

    def steps(measurement: Measurement) -> None:
        for number in range(launches):
            words = sweep_arguments(about["seconds"], about["sizes"], about["passes"], number)
            for way in ways:
                launch(measurement, way, name, words, number=number)

    return Plan(launches * len(ways), about, steps)


def chosen(record: Record, quantity: str, **at: object) -> pd.DataFrame:
    """The samples of `quantity` at the points with all these coordinates, a row each; LabError for none."""
    return table(replace(record, points=record.select(**at)), quantity)


def other_library(record: Record) -> dict[str, str]:
    """Why the eager limits of paper D mean nothing on this cluster, as a Judgement says it; empty when they do."""
    if record.cluster.get("mpi", "classic") == "classic":
        return {}
    return {
        "but": f"{EAGER_LIMIT} is a setting of MPICH's CH3 device, which this cluster's library does not have",
        "advice": "`beowulf up --mpi classic` boots a cluster with it.",
    }


def kb(size_bytes: float) -> str:
    """A size as paper D writes it: 10 KB, 39.06 KB."""
    return f"{size_bytes / KB:.4g} KB"
