"""Captures of a program that writes down what it sends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from beowulf import mpi
from beowulf.cluster.namespaces.cluster import NamespaceCluster

RANKS = 4


@dataclass(frozen=True)
class Run:
    """A capture of the program, the messages that it says to have sent, and its eager limit."""

    file: Path
    sent: pd.DataFrame
    limit: int


def run(
    cluster: NamespaceCluster, sends: Path, folder: Path, threshold: int, snap_bytes: int
) -> Run:
    file = folder / "wire.pcapng"
    limit = threshold - 32  # the eager header's own fields count as well
    environment = {"MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE": str(threshold)}
    with cluster.capture(file, snap_bytes=snap_bytes) as wire:
        done = mpi.launch(
            cluster,
            sends,
            RANKS,
            [str(folder), str(limit)],
            environment=environment,
            timeout_s=240,
        )
    assert done.returncode == 0, done.stderr
    assert wire.dropped == 0
    names = ["from_rank", "to_rank", "source", "tag", "communicator", "bytes", "call"]
    lists = [folder / str(rank) for rank in range(RANKS)]
    parts = [pd.read_csv(each, sep=" ", names=names) for each in lists]
    return Run(file, pd.concat(parts, ignore_index=True), limit)
