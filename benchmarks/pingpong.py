"""Launches of the labs' own ping-pong and of others, on one host or on nodes, and the times that ours prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks import commands
from beowulf import mpi, paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError

SOURCE = paths.root() / "labs" / "04-blocking-nonblocking" / "roundtrip.c"
RANKS = 2
LONGEST_LAUNCH_S = 300.0

# Runs two ranks of this command with these settings; returns what they printed.
Launcher = Callable[[Sequence[str], Mapping[str, str]], str]


def build(folder: Path) -> str:
    """The labs' ping-pong, compiled into `folder`."""
    return str(mpi.build(SOURCE, output=folder / "roundtrip"))


def on_one_host(folder: Path) -> Launcher:
    """Both ranks on this machine, where they talk through memory."""
    mpiexec = str(paths.mpi_prefix("classic") / "bin" / "mpiexec")

    def launch(command: Sequence[str], settings: Mapping[str, str]) -> str:
        line = [mpiexec, "-n", str(RANKS), *command]
        env = commands.environment(**settings)
        return commands.timed(line, env, folder=folder, timeout_s=LONGEST_LAUNCH_S)[1]

    return launch


def on_nodes(cluster: Cluster, folder: Path) -> Launcher:
    """A rank on each of two nodes of a cluster, where they talk over TCP."""

    def launch(command: Sequence[str], settings: Mapping[str, str]) -> str:
        done = mpi.launch(
            cluster,
            command,
            RANKS,
            environment=settings,
            timeout_s=LONGEST_LAUNCH_S,
            folder=folder,
        )
        if sentence := mpi.failure(done, Path(command[0]).name):
            raise LabError(sentence, done.stderr.strip())
        return done.stdout

    return launch


def arguments(sizes: Sequence[int], *more: object) -> list[str]:
    """The arguments of the labs' ping-pong: blocking, these sizes, and more."""
    return ["--sizes", ",".join(str(size) for size in sizes), *(str(word) for word in more)]


def half_round_trips(text: str) -> dict[int, list[float]]:
    """Seconds of half a round trip by size, a number for each chunk in the order in which they were taken."""
    by_size: dict[int, list[float]] = {}
    for line in commands.lines(text):
        if line["kind"] == "sample":
            seconds = line["seconds"] / line["repetitions"] / 2
            by_size.setdefault(line["size_bytes"], []).append(seconds)
    return by_size
