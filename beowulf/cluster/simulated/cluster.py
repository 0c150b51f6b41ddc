"""A cluster that SimGrid simulates: the same C programs, on as many nodes as are wanted, in simulated time.

Nothing runs on a node but the ranks of a program, all of them in one process of this machine. There are no packets, no
kernel to tune and no shell. Every run gives the same numbers.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beowulf import paths
from beowulf.cluster import description, state
from beowulf.cluster.base import Abilities, Cluster, Hardware
from beowulf.cluster.common.config import SIMULATED
from beowulf.cluster.common.hydra import EAGER_LIMIT
from beowulf.cluster.holding import lock
from beowulf.cluster.simulated.platform import Platform, of_plain, read
from beowulf.errors import LabError

TARGET = "simulated"
SMPIRUN = "smpirun"
PLATFORM_XML, MPIEXEC = "platform.xml", "mpiexec"
STACK_KIB = 1024  # for the local variables of a rank
# What every run begins with. Computing takes no time but what a program says of it, so that two runs are the same.
# SimGrid's usual barrier lets one rank go after the other, which a program that times a step after it would count.
OPTIONS = (
    "--log=root.thresh:warning",
    "--log=ker_engine.thresh:info",  # in a deadlock: which ranks wait
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/display-timing:no",
    "--cfg=smpi/barrier:mpich",
    f"--cfg=contexts/stack-size:{STACK_KIB}",
)
# In place of mpiexec: places the ranks as MPICH does, one node after the other, and starts the simulator.
SHIM = """#!/bin/bash
here={folder}
ranks=1 hosts=
while :; do
    case $1 in
        -n) ranks=$2; shift 2 ;;
        -hosts) hosts=$2; shift 2 ;;
        *) break ;;
    esac
done
[ -n "$hosts" ] || hosts=$(tr '\\n' , <"$here/hosts")
file=$(mktemp) || exit 1
trap 'rm -f "$file"' EXIT
printf '%s\\n' "$hosts" | tr , '\\n' | grep . | awk -v ranks="$ranks" \\
    '{{ name[NR] = $0 }} END {{ for (i = 0; i < ranks; i++) print name[i % NR + 1] }}' >"$file"
limit=${{{eager}:-{usual}}}
set -o pipefail
{{ {smpirun} -np "$ranks" -platform "$here/{xml}" -hostfile "$file" {options} \\
    "--cfg=smpi/send-is-detached-thresh:$limit" "--cfg=smpi/async-small-thresh:$limit" "$@" \\
    2>&1 >&3 3>&- |
    awk '/Deadlock detected/ {{ bad = 1; next }}
        bad && match($0, /Actor [0-9]+ [(][^@]*/) {{ rank = substr($0, RSTART, RLENGTH)
            sub(/.*[^0-9]/, "", rank); if (++count < 10) who = who " " (count < 9 ? rank : "and more") }}
        bad {{ next }}
        {{ print; fflush() }}
        END {{ if (bad) print "{deadlock}" (who ? " Waiting ranks:" who "." : ""); exit bad }}' >&2; }} 3>&1
"""
DEADLOCK = "A deadlock: ranks wait for each other, and none of their calls can end."


def up(source: str, nodes: int | None = None, folder: Path | None = None) -> SimulatedCluster:
    """The cluster of a TOML file, or with `simulated` the usual one; `nodes` in place of the file's number."""
    folder = folder or paths.state()
    refuse_without_simgrid()
    platform = Platform() if source == TARGET else read(Path(source))
    if nodes is not None:
        platform = of_plain({"nodes": nodes}, platform)
    with lock.changing(folder, "beowulf up"), state.locked(folder):
        state.refuse_other_kinds(folder, TARGET)
        _lay_out(platform, folder)
        lasting = source if source == TARGET else str(Path(source).absolute())
        saved = {"source": lasting, "platform": platform.as_dict()}
        state.replace(folder, state.SIMULATED, saved)
    return SimulatedCluster(lasting, platform, folder)


def beside(platform: Platform, folder: Path) -> SimulatedCluster:
    """A cluster whose files are in `folder`, beside the one that runs: no command of a terminal knows of it."""
    refuse_without_simgrid()
    _lay_out(platform, folder)
    return SimulatedCluster(TARGET, platform, folder)


def refuse_without_simgrid() -> None:
    """LabError where SimGrid is not installed."""
    if not shutil.which(SMPIRUN):
        raise LabError(
            "SimGrid, which simulates clusters, is not installed.",
            "`apt install libsimgrid-dev` installs it; every other kind of cluster works without it.",
        )


def headers() -> list[Path]:
    """The folders with SimGrid's mpi.h and what it includes."""
    refuse_without_simgrid()
    include = Path(str(shutil.which(SMPIRUN))).resolve().parent.parent / "include"
    return [include, include / "smpi"]


def _lay_out(platform: Platform, folder: Path) -> None:
    """The files that a program is started with."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True, parents=True)
    (folder / PLATFORM_XML).write_text(platform.xml())
    (folder / "hosts").write_text("\n".join(platform.names) + "\n")
    shim = bin_folder / MPIEXEC
    shim.write_text(
        SHIM.format(
            folder=shlex.quote(str(folder)),
            options=shlex.join([*OPTIONS, *platform.factors()]),
            eager=EAGER_LIMIT,
            usual=platform.eager_bytes,
            deadlock=DEADLOCK,
            smpirun=shutil.which(SMPIRUN),
            xml=PLATFORM_XML,
        )
    )
    shim.chmod(0o755)


def running(folder: Path | None = None) -> SimulatedCluster | None:
    """The simulated cluster of this user, or None."""
    folder = folder or paths.state()
    if (saved := state.kept(folder, state.SIMULATED)) is None:
        return None
    return SimulatedCluster(saved["source"], of_plain(saved["platform"]), folder)


def down(folder: Path | None = None) -> bool:
    """Forget the cluster; False when there was none."""
    folder = folder or paths.state()
    if not (folder / state.SIMULATED).exists():
        return False
    with lock.changing(folder, "beowulf down"), state.locked(folder):
        for name in (state.SIMULATED, PLATFORM_XML, "hosts"):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder / "bin", ignore_errors=True)
    return True


class SimulatedCluster(Cluster):
    """Nodes and links that only SimGrid knows."""

    kind = "simulated"
    can = Abilities(simulated=True, shared_files=True)
    folder: Path
    instead = "`beowulf down`, then `beowulf up` boots a cluster that has them."

    def __init__(self, source: str, platform: Platform, folder: Path) -> None:
        self._source, self.platform, self.folder = source, platform, folder
        self.shown: set[str] = set()

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.platform.names

    @property
    def source(self) -> str:
        """`simulated`, or the TOML file."""
        return self._source

    @property
    def mpi(self) -> str:
        """SimGrid's own library."""
        return SIMULATED

    def address(self, node: str, network: int = 0) -> str:
        """None: messages cross links, and there are no addresses."""
        return ""

    def dead_nodes(self) -> list[str]:
        """None: nodes that do not exist do not fail."""
        return []

    def hardware(self, node: str) -> Hardware:
        """The cores of a node, which shares this machine's memory."""
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return Hardware(self.platform.cores, memory // len(self.nodes))

    def shell(self, node: str, command: str, *, terminal: bool = False) -> list[str]:
        """The words that run a line of shell on this machine, where `mpiexec` is the simulator."""
        if not command:
            raise self._has_no("shells on its nodes")
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return ["env", f"PATH={path}", "bash", "--norc", "-c", command]

    def describe(self) -> Mapping[str, Any]:
        """What is simulated, for a Record."""
        platform = self.platform
        return {
            "kind": self.kind,
            "nodes": list(self.nodes),
            "dead_nodes": [],
            "rate": f"{platform.rate_mbit:g}mbit",
            "networks": 1,
            "mpi": self.mpi,
            "cores": platform.cores,
            "node_cores": dict.fromkeys(self.nodes, platform.cores),
            "platform": platform.as_dict(),
            "options": [*OPTIONS, *platform.factors()],
            **description.of_learner(),
        }

    def heal(self) -> None:
        """Nothing to heal."""


COLUMNS = {"simulated": SimulatedCluster.can}
