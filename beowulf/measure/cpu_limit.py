"""Nodes of different speed: each node of a local cluster gets its own share of a core, by control groups.

A node's processes may compute so many milliseconds of every 10, together. That is how the kernel
slows a whole node down without knowing what runs on it: control groups, version 1 or 2, where this
user may make them. Elsewhere it is refused, because a node that only pretends to be slow teaches
nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError

PERIOD_US = 10_000
LEAST, MOST = 0.1, 1.0  # the kernel takes no less than a millisecond of a period
LONGEST_S = 20.0  # until a group is dissolved
ROOT = Path("/sys/fs/cgroup")
HINT = "Measure as root on this machine, or on PCs that really differ."


@dataclass(frozen=True)
class Groups:
    """The control groups of this machine: where they are, and which version."""

    folder: Path
    version: int

    def make(self, name: str) -> Path:
        """A group without processes; one that a killed measurement has left is taken again."""
        group = self.folder / name
        group.mkdir(exist_ok=True)
        return group

    def limit(self, group: Path, share: float) -> None:
        """From now on the group's processes get that share of a core together."""
        quota = round(share * PERIOD_US)
        if self.version == 2:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}\n")
        else:
            (group / "cpu.cfs_period_us").write_text(f"{PERIOD_US}\n")
            (group / "cpu.cfs_quota_us").write_text(f"{quota}\n")


def find(root: Path = ROOT) -> Groups:
    """The control groups that this user may write to; LabError when there are none."""
    controllers = root / "cgroup.controllers"
    if controllers.is_file() and "cpu" in controllers.read_text().split():
        control = root / "cgroup.subtree_control"
        with suppress(OSError):
            if "cpu" not in control.read_text().split():
                control.write_text("+cpu")
            if os.access(root, os.W_OK):
                return Groups(root, 2)
    old = root / "cpu"
    if (old / "cpu.cfs_quota_us").exists() and os.access(old, os.W_OK):
        return Groups(old, 1)
    raise LabError("This user may not make control groups, so nodes cannot be slowed down.", HINT)


@contextmanager
def limited_cores(
    cluster: Cluster, shares: Mapping[str, float], root: Path = ROOT
) -> Iterator[None]:
    """Within this context each node has its share of a core (1.0 is a whole one); afterwards, all as before."""
    for node, share in shares.items():
        if not LEAST <= share <= MOST:
            raise UsageError(
                f"{node}'s share of a core is from {LEAST:g} to {MOST:g}, not {share:g}."
            )
        if node not in cluster.nodes:
            raise UsageError(f"There is no {node!r}; the nodes are {', '.join(cluster.nodes)}.")
    if not cluster.can.faults:
        raise LabError(f"Nodes of the kind {cluster.kind} have no shares that could be set.", HINT)
    groups = find(root)
    with ExitStack() as made:
        try:
            for node, share in shares.items():
                inside = cluster.processes(node)
                group = groups.make(f"beowulf-{inside[0]}-{node}")
                made.callback(_dissolve, group, groups.folder)
                groups.limit(group, share)
                for process in inside:
                    _move(process, group)
        except OSError as error:
            raise LabError(f"A control group cannot be set up: {error.strerror}.", HINT) from error
        yield


def _dissolve(group: Path, into: Path) -> None:
    """Move all processes of a group, and those that they start meanwhile, into another one; then it is gone."""
    ends = time.monotonic() + LONGEST_S
    while time.monotonic() < ends:
        for line in (group / "cgroup.procs").read_text().split():
            _move(int(line), into)
        try:
            group.rmdir()
        except OSError:
            time.sleep(0.01)  # a process that ends is in its group until it is gone
        else:
            return
    raise LabError(
        f"The control group {group.name} is not empty after {LONGEST_S:g} s, so its node stays slow.",
        "`beowulf down`, then `beowulf up`.",
    )


def _move(process: int, group: Path) -> None:
    with suppress(ProcessLookupError):  # it ended meanwhile
        (group / "cgroup.procs").write_text(f"{process}\n")
