"""A study measured several times as a job array of Slurm: each task is an allocation, held while it measures.

The measuring itself is `beowulf study`, started here once for each task that has got its nodes, with a folder of its
own for the cluster's files; so no node needs this project, and all Records come to one place.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from beowulf import paths
from beowulf.cluster.slurm import cluster as slurm
from beowulf.cluster.slurm import queue
from beowulf.cluster.slurm.cluster import Allocation, Report
from beowulf.cluster.slurm.queue import Job
from beowulf.errors import LabError

MOST = 100
LONGEST_END_S = 20.0


@dataclass(frozen=True)
class Wish:
    """How often, on how many nodes, for how many minutes at most each time, how, and where the Records go."""

    times: int
    nodes: int
    minutes: int
    quick: bool
    records: Path


def measure(study: str, wish: Wish, report: Report) -> int:
    """Measure a study as an array; how many Records there are in the end. `report` gets what happens to each task."""
    into = queue.queue()
    queue.refuse_closed(into, wish.nodes, wish.minutes)
    number = queue.submit(wish.nodes, wish.minutes, tasks=wish.times)
    report(f"Job {number} is in the queue {into.name}, an array of {wish.times}.")
    under_way: dict[str, subprocess.Popen[str]] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="beowulf-array-") as folder:
            return _follow(number, study, wish, report, Path(folder), under_way)
    finally:
        for process in under_way.values():
            _stop(process)
        with suppress(LabError):
            queue.cancel(number)


def _follow(
    number: str,
    study: str,
    wish: Wish,
    report: Report,
    folder: Path,
    under_way: dict[str, subprocess.Popen[str]],
) -> int:
    """Start each task's measurement when it has its nodes, and give them back when it is done."""
    over: set[str] = set()
    good = 0
    while len(over) < wish.times:
        for job in queue.jobs(number):
            if job.runs and job.task not in over and job.task not in under_way:
                under_way[job.task] = _start(job, study, wish, folder / job.task)
                report(f"Task {job.task} measures on {job.nodes} (job {job.number}).")
            elif not job.lasts and job.task.isdigit() and job.task not in under_way:
                if job.task not in over:
                    report(f"Task {job.task} has ended before it began ({job.state}).")
                over.add(job.task)
        for name, process in list(under_way.items()):
            if process.poll() is None:
                continue
            output = process.communicate()[0].strip()
            queue.cancel(f"{number}_{name}")  # a task's own number is not taken
            del under_way[name]
            over.add(name)
            good += process.returncode == 0
            last = output.rpartition("\n")[2].removeprefix("beowulf: ") or "it printed no reason."
            report(
                f"Task {name} has failed: {last}" if process.returncode else f"Task {name} is done."
            )
        time.sleep(slurm.ASK_EVERY_S)
    return good


def _start(job: Job, study: str, wish: Wish, folder: Path) -> subprocess.Popen[str]:
    """`beowulf study` on the nodes of a task."""
    folder.mkdir(mode=0o700)
    held = Allocation(job.number, wish.nodes, wish.minutes, job.queue, job.ends)
    slurm.attach(held, job, folder)
    words = [str(paths.python_bin() / "beowulf"), "study", study, "--variant", f"run-{job.task}"]
    words += ["--records", str(wish.records), "--json", *(["--quick"] if wish.quick else [])]
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "BEOWULF_STATE": str(folder)},
    )


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(LONGEST_END_S)
    process.kill()
    process.communicate()
