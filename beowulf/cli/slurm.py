"""`up`, `status` and `down` where Slurm gives the nodes to one learner at a time."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import typer

from beowulf.cli import running_measurement
from beowulf.cli.nodes import print_nodes

if TYPE_CHECKING:
    from beowulf.cluster.slurm.cluster import SlurmCluster

MINUTE_S = 60


def up(nodes: int | None, minutes: int | None) -> None:
    """Wait in Slurm's queue until nodes are this learner's alone, and print until when."""
    from beowulf.cluster.slurm import cluster as slurm

    cluster, troubles = slurm.up(nodes, minutes, report)
    for trouble in troubles.values():
        running_measurement.report(str(trouble))
    held = cluster.allocation
    print(
        f"{len(cluster.nodes)} {'node is' if len(cluster.nodes) == 1 else 'nodes are'} yours alone:"
        f" {', '.join(cluster.nodes)}."
    )
    print(
        f"The time limit of {slurm.time_of(held)} is reached at {slurm.clock(held.ends)} (job {held.job})."
    )
    print(
        f"Next: `beowulf ssh {cluster.nodes[0]}` opens a shell on the master; `beowulf down` gives the nodes back."
    )
    if troubles:
        raise typer.Exit(1)


def report(sentence: str) -> None:
    """Print the state of the request at once, also into a pipe."""
    print(f"{sentence} Ctrl-C gives the place up.", flush=True)


def status(cluster: SlurmCluster, as_json: bool) -> None:
    """Print which nodes are held, by which job, and how long yet."""
    job = cluster.job()
    held, waits = cluster.allocation, bool(job and job.waits)
    dead = cluster.dead_nodes() if not waits else []
    states = {node: "down" if node in dead else "up" for node in cluster.nodes}
    left_s = max(held.ends - time.time(), 0.0)
    facts = {
        "running": not waits,
        "kind": cluster.kind,
        "job": held.job,
        "queue": held.queue,
        "ends": held.ends,
        "left_s": left_s,
        "folder": str(cluster.folder),
    }
    if job and waits:
        if as_json:
            print(json.dumps({**facts, "nodes": []}, indent=1))
        else:
            from beowulf.cluster.slurm import cluster as slurm

            print(slurm.waiting(job) or f"Job {held.job} is about to get its nodes.")
        raise typer.Exit(1)
    line = (
        f"job {held.job} in the queue {held.queue} of Slurm, {left_s / MINUTE_S:.0f} of {held.minutes} minutes"
        f" left; files in {cluster.folder}"
    )
    print_nodes(cluster, states, facts, [line], as_json)


def down() -> None:
    """Give the nodes, or the place in the queue, back."""
    from beowulf.cluster.slurm import cluster as slurm

    given = slurm.down()
    print(
        "The nodes are given back to Slurm." if given else "Slurm had ended the allocation before."
    )
