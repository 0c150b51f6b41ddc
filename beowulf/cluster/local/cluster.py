"""Four ranks on this machine, for where namespaces are forbidden: nodes that are only names.

Each node is a name and an address of the loopback device, 127.0.0.2 and so on. Programs are compiled and run as they
are, and their messages go through TCP, but there is no cable, no node has a kernel, a login or files of its own, and
nothing can be limited, broken or captured. No part of it needs root.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path

from beowulf import paths
from beowulf.cluster import Abilities, state
from beowulf.cluster.common import node_environment, processes
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.common.processes import Process
from beowulf.cluster.common.shells import look_for
from beowulf.cluster.holding import lock
from beowulf.cluster.one_machine import OneMachine
from beowulf.errors import LabError

TARGET = "local"
CARD = "lo"
FIRST_HOST = 2
NODE, OF = "BEOWULF_NODE", "BEOWULF_NODES_OF"
NAMES = "node_name.so"
CANNOT_SHOW = (
    "All nodes are this one machine, and their names stand for 127.0.0.2 and so on: messages cross no cable and no"
    " switch, no node has logins, a kernel or settings of its own, and no packets can be captured."
)
# What the network card of a node is called elsewhere, and who starts the ranks there.
ELSEWHERE = ("HYDRA_IFACE", "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE")
# Without -localhost, mpiexec would ask the network where a machine of its own name is.
LAUNCHER = """\
#!/bin/sh
# MPICH's own mpiexec: every rank is a process of this machine, with the name and the address of its node.
exec {mpiexec} -localhost 127.0.0.1 -genv LD_PRELOAD {preloaded} "$@"
"""
# Open MPI starts its daemons by something like ssh.
CONNECTION = """\
#!/bin/sh
# What takes the place of ssh: `connection NODE COMMAND` runs a command on this machine, under the name of a node.
while :; do case $1 in -*) shift ;; *) break ;; esac; done
export BEOWULF_NODE="$1"
shift
exec sh -c "$*"
"""


def up(
    source: str = TARGET, folder: Path | None = None, nodes: int | None = None, mpi: str = ""
) -> tuple[LocalCluster, dict[str, LabError]]:
    """The nodes of this machine, made or made again; what is not asked for stays as it is. No node has errors."""
    folder = folder or paths.state()
    before = running(folder)
    plan = before.config if before else ClusterConfig(rate="off")
    plan = ClusterConfig(nodes or plan.nodes, "off", mpi=mpi or plan.mpi)
    look_for(paths.mpi_prefix(plan.mpi) / "bin/mpiexec", paths.native(NAMES))
    with lock.changing(folder, "beowulf up"), state.locked(folder):
        state.refuse_other_kinds(folder, TARGET)
        state.write(folder, files(plan, folder))
        state.replace(folder, state.LOCAL, plan.as_dict())
    return LocalCluster(plan, folder), {}


def down(folder: Path | None = None) -> bool:
    """End what was started on the nodes, and remove the cluster's files. False when there was none."""
    folder = folder or paths.state()
    if not (folder / state.LOCAL).exists():
        return False
    if node := os.environ.get(NODE):
        raise LabError(
            f"This shell is on {node}, a node of the cluster.",
            "Leave it with `exit`; then run `beowulf down`.",
        )
    with lock.changing(folder, "beowulf down"), state.locked(folder):
        for process in (started := _started(folder)):
            process.kill()
        for process in started:
            process.gone()
        (folder / state.LOCAL).unlink(missing_ok=True)
        state.remove(folder)
    return True


def running(folder: Path | None = None) -> LocalCluster | None:
    """The nodes of this machine, if `up` has made them."""
    folder = folder or paths.state()
    saved = state.kept(folder, state.LOCAL)
    return LocalCluster(ClusterConfig(**saved), folder) if saved else None


class LocalCluster(OneMachine):
    """Names of this machine, on which MPI starts a rank each."""

    kind = "local"
    can = Abilities(shared_files=True, one_machine=True)
    cannot_show = CANNOT_SHOW
    instead = (
        "`beowulf show A5 --given` shows a Record of a full run; docs/clusters.md has the list."
    )

    def __init__(self, config: ClusterConfig, folder: Path) -> None:
        self.config, self.folder = config, folder
        self.shown: set[str] = set()

    @property
    def source(self) -> str:
        return TARGET

    def still_there(self) -> None:
        """GoneError when `down` has removed its files."""
        if not (self.folder / state.LOCAL).exists():
            raise state.GoneError

    def address(self, node: str, network: int = 0) -> str:
        """The address of the loopback device that a node's name stands for."""
        self.refuse_stranger(node)
        return f"127.0.0.{FIRST_HOST + self.nodes.index(node)}"

    def interface(self, node: str, network: int = 0) -> str:
        return CARD

    def dead_nodes(self) -> list[str]:
        """None: they live as long as this machine."""
        self.still_there()
        return []

    def shell(self, node: str, command: str, *, terminal: bool = False) -> list[str]:
        """The words that run `command` (a shell if empty) on this machine, under the name of a node."""
        self.refuse_stranger(node)
        self.still_there()
        settings = {
            **_variables(self.config, self.folder),
            "SHELL": str(self.folder / "bin" / "shell"),
            "LD_PRELOAD": str(paths.native(NAMES)),
            NODE: node,
            OF: str(self.folder),
        }
        line = ["-c", command] if command else []
        words = [f"{name}={value}" for name, value in settings.items()]
        # When what has started it is ended, it ends as well.
        return ["setpriv", "--pdeathsig", "TERM", "env", *words, "bash", "--norc", *line]

    def as_found(self) -> dict[str, str]:
        """The nodes, and which MPI starts the ranks."""
        self.still_there()
        return {"nodes": ", ".join(self.nodes), "MPI library": self.mpi}

    def heal(self) -> None:
        """Write its files again."""
        up(folder=self.folder)


def _started(folder: Path) -> list[Process]:
    """What was started on the nodes of the cluster in `folder`, and still runs."""
    mark, found = f"{OF}={folder}".encode(), []
    for process in processes.everyone():
        with suppress(OSError):  # it has ended, or is another user's
            if mark in Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0"):
                found.append(process)
    return found


def _variables(plan: ClusterConfig, folder: Path) -> dict[str, str]:
    """The environment of a shell under the name of a node."""
    usual = node_environment.variables(plan, folder)
    ours = {
        "HYDRA_LAUNCHER": "fork",
        "HYDRA_LAUNCHER_EXEC": str(folder / "bin" / "connection"),
        "FI_TCP_IFACE": CARD,
        "UCX_NET_DEVICES": CARD,
    }
    return {name: value for name, value in usual.items() if name not in ELSEWHERE} | ours


def files(plan: ClusterConfig, folder: Path) -> dict[str, tuple[str, int]]:
    """The files of the cluster: path below its folder, text, mode."""
    mpiexec = paths.mpi_prefix(plan.mpi) / "bin" / "mpiexec"
    preloaded = ":".join(str(paths.native(name)) for name in (NAMES, "patient_poll.so"))
    launcher = LAUNCHER.format(mpiexec=shlex.quote(str(mpiexec)), preloaded=shlex.quote(preloaded))
    usual = node_environment.files(plan, folder, _variables(plan, folder))
    return {
        **usual,
        "bin/mpiexec": (launcher, 0o755),
        "bin/mpirun": (launcher, 0o755),
        "bin/connection": (CONNECTION, 0o755),
    }


COLUMNS = {"local": LocalCluster.can}
