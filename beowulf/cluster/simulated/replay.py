"""What would a simulated run cost on another network? SimGrid keeps what each rank does, and replays it on a platform.

Each rank does the same in the same order: between its calls it computes as long as it did, and each message and
collective call takes what the platform says. Collective calls are made of the messages that MPICH makes them of.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated.platform import Platform
from beowulf.errors import LabError

# SimGrid 3.32 knows MPICH's choices, but those for these three end a replay by a crash.
ALGORITHMS = (
    "--cfg=smpi/coll-selector:mpich",
    "--cfg=smpi/bcast:binomial_tree",
    "--cfg=smpi/reduce:binomial",
    "--cfg=smpi/allreduce:rdb",
)
COMPUTING = "--cfg=smpi/simulate-computation:yes"
TO_NOBODY = re.compile(r"\d+ i?(send|recv) -")
HOSTS = "places"
TIME = re.compile(r"Simulation time ([0-9.]+)")


def written_to(trace: Path, platform: Platform) -> list[str]:
    """The options by which SimGrid keeps what each rank of a run does, in the words of its replay.

    Computing takes as long as on this machine's core, on which one rank after the other has its turn.
    """
    return [
        *("-trace-ti", "-trace-file", str(trace), "--cfg=tracing/smpi/sleeping:yes"),
        *(COMPUTING, f"--cfg=smpi/host-speed:{platform.gflops!r}Gf", *ALGORITHMS),
    ]


def replayed_ms(
    trace: Path, platforms: Sequence[Platform], options: Sequence[str] = ()
) -> list[float]:
    """The ms of a run that was kept as `written_to` asks, on each of several platforms; LabError where one fails."""
    _leave_out_nobody(trace)
    ranks = len(trace.read_text().splitlines())

    def ms(platform: Platform) -> float:
        with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
            return _simulated_ms(platform, ranks, Path(scratch), trace, options)

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(ms, platforms))


def _leave_out_nobody(trace: Path) -> None:
    """Take out messages to and from MPI_PROC_NULL, by which a replay crashes."""
    sent = received = 0
    for file in map(Path, trace.read_text().splitlines()):
        lines = file.read_text().splitlines(keepends=True)
        kept = [line for line in lines if not TO_NOBODY.match(line)]
        words = [line.split(maxsplit=2)[1] for line in kept]
        sent += words.count("send") + words.count("isend")
        received += words.count("recv") + words.count("irecv")
        if len(kept) < len(lines):
            file.write_text("".join(kept))
    if sent != received:
        raise LabError(
            f"The run has {sent} sends and {received} receives that name their partner: it cannot be replayed.",
            "Does it receive from MPI_ANY_SOURCE?",
        )


def _simulated_ms(
    platform: Platform, ranks: int, folder: Path, trace: Path, options: Sequence[str]
) -> float:
    simulated.beside(platform, folder)
    places = (platform.names[rank % platform.nodes] for rank in range(ranks))
    (folder / HOSTS).write_text("".join(f"{name}\n" for name in places))
    words = [simulated.SMPIRUN, "-np", str(ranks), "-no-privatize"]
    words += ["-platform", simulated.PLATFORM_XML, "-hostfile", HOSTS, "-replay", str(trace)]
    words += [*simulated.OPTIONS, "--log=smpi_replay.thresh:info", *platform.factors(), *ALGORITHMS]
    if ranks & (ranks - 1):  # one of MPICH's ways is for powers of two alone in SimGrid
        words.append("--cfg=smpi/alltoall:ring")
    for name in ("send-is-detached-thresh", "async-small-thresh"):
        words.append(f"--cfg=smpi/{name}:{platform.eager_bytes}")
    done = subprocess.run(
        [*words, COMPUTING, *options],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    time = TIME.search(done.stdout)
    if done.returncode or not time:
        said = " ".join(done.stdout.split())[:300]
        raise LabError(f"SimGrid could not replay the run (exit code {done.returncode}): {said}")
    return float(time[1]) * 1e3
