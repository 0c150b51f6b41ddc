"""Pools by the way in which their engines start: by a login on each node, which ssh or Slurm gives, or by MPI."""

from __future__ import annotations

import shlex
import subprocess
from contextlib import suppress
from pathlib import Path

from beowulf import mpi
from beowulf.cluster import Cluster, running
from beowulf.engines import reach
from beowulf.engines.pool import CONNECTION, FOLDER, KEY, EnginePool, Start
from beowulf.errors import LabError, UsageError

HOW = ("ssh", "mpi", "slurm")
LONGEST_END_S = 10.0
# An engine goes on while our end of its stdin is open: however we end, it ends as well.
WATCHED = """\
exec 3<&0
(cat <&3; kill -9 $$; {clear}) >/dev/null 2>&1 &
exec {words} </dev/null 3<&-
"""


class ByLogin(EnginePool):
    """An engine a start, each by a login of its own: a node that dies takes along what it is at, and nothing else.

    It reaches the controller through sockets in a folder that its node sees too, or that ssh brings there, or as a
    step of Slurm's job over the network.
    """

    def __init__(self, cluster: Cluster, each: int = 1) -> None:
        super().__init__(each)
        self.cluster = cluster
        self.networked = cluster.can.queue
        self._sent = 0

    def keys(self) -> list[str]:
        """One for each engine of each node that lives."""
        dead = self.cluster.dead_nodes()
        self.absent |= {node: f"{node} is down. `beowulf up` starts it again." for node in dead}
        alive = [node for node in self.cluster.nodes if node not in dead]
        return [f"{node}/{number}" for number in range(1, self.each + 1) for node in alive]

    def node(self, key: str) -> str:
        """The node that a key begins with."""
        return key.partition("/")[0]

    def _start(self, key: str, engine: list[str]) -> tuple[list[str], int, str]:
        node, _, number = key.partition("/")
        if self.cluster.can.shared_files:
            return self.cluster.shell(node, _line(key, self.folder, engine, ":")), 1, ""
        # Another one each time: what a dead engine's start leaves there it clears by itself, later.
        self._sent += 1
        there = Path("/tmp", f"{self.folder.name}-{number}-{self._sent}")
        sockets = reach.furnish(
            self.cluster, node, self.folder, there, name=CONNECTION, networked=self.networked
        )
        engine = [word.replace(str(self.folder), str(there)) for word in engine]
        clear = f"rm -rf {shlex.quote(str(there))}"
        first, *rest = self.cluster.shell(
            node, _line(key, there, engine, clear, networked=self.networked)
        )
        return [first, *sockets, *rest], 1, ""

    def _stop(self, start: Start) -> None:
        # The end of stdin reaches its node, which has ended the engine before the login ends.
        with suppress(OSError):
            assert start.process.stdin
            start.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            start.process.wait(LONGEST_END_S)
            return
        super()._stop(start)


def _line(key: str, folder: Path, engine: list[str], clear: str, *, networked: bool = False) -> str:
    words = shlex.join(["env", f"{KEY}={key}", f"{FOLDER}={folder}", *engine])
    # From where Slurm's step was started: there the controller is.
    words += ' --location="$SLURM_LAUNCH_NODE_IPADDR"' if networked else ""
    return WATCHED.format(clear=clear, words=words)


class ByMpi(EnginePool):
    """All engines by one mpiexec from node00, which ends them all when a node dies; then the rest start again."""

    def __init__(self, cluster: Cluster, each: int = 1) -> None:
        super().__init__(each)
        if not cluster.can.shared_files:
            raise UsageError(
                "Engines that MPI starts need nodes that share this machine's files.",
                "Take ssh: `--cluster ssh`.",
            )
        self.cluster = cluster
        self._hosts: list[str] = []

    def keys(self) -> list[str]:
        """One for all."""
        return ["mpi"]

    def node(self, key: str) -> str:
        """They are on all nodes."""
        return "all nodes"

    def _start(self, key: str, engine: list[str]) -> tuple[list[str], int, str]:
        dead = self.cluster.dead_nodes()
        self.absent |= {node: f"{node} is down. `beowulf up` starts it again." for node in dead}
        self._hosts = [node for node in self.cluster.nodes if node not in dead]
        if self.cluster.nodes[0] in dead:
            raise LabError(
                f"{self.cluster.nodes[0]} is down, from which MPI starts its programs.",
                "`beowulf up` starts it again; or take `--cluster ssh`.",
            )
        ranks = self.each * len(self._hosts)
        # An engine waits for most of the time; as a patient rank it would look for messages late.
        environment = {**self._engine_environment(key), "BEOWULF_PATIENT": "never"}
        words, job = mpi.command(
            self.cluster, engine, ranks, hosts=self._hosts, environment=environment
        )
        return words, ranks, job

    def ended(self) -> list[Start]:
        """Also when a node has died, which mpiexec may not have noticed."""
        if self.starts and set(self._hosts) & set(self.cluster.dead_nodes()):
            for key in list(self.starts):
                self.end(key)
        return super().ended()

    def _clear(self, start: Start) -> None:
        super()._clear(start)
        mpi.clear(self.cluster, start.job)


def engine_pool(how: str, each: int = 1) -> EnginePool:
    """A pool of engines on the cluster that is up: `how` is ssh, mpi or slurm."""
    if how not in HOW:
        raise UsageError(f"Engines cannot be started by {how!r}.", f"There are: {', '.join(HOW)}.")
    cluster = running()
    if how == "mpi":
        return ByMpi(cluster, each)
    if (how == "slurm") != cluster.can.queue:
        kind = "of Slurm" if how == "ssh" else f"of the kind {cluster.kind}"
        raise UsageError(
            f"The cluster that is up is {kind}, where {how} starts nothing.",
            "`--cluster slurm` is for `beowulf up --target slurm`, `--cluster ssh` for all others.",
        )
    return ByLogin(cluster, each)
