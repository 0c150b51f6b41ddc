"""Debian's hpcc on the nodes of a cluster: the HPC Challenge suite, launched with the MPI that it is linked with.

That MPI is Open MPI, not the cluster's own MPICH. So hpcc is started by Open MPI's mpirun under its whole
path, and neither program is looked for in PATH.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from beowulf import mpi, places
from beowulf.cluster import Cluster
from beowulf.cluster.sshd import JOB
from beowulf.errors import LabError
from beowulf.measure.complaints import Complaints
from beowulf.measure.session import need_a_node_each
from beowulf.suites import hpcc_results
from beowulf.suites.hpcc_results import SECTIONS, Results
from beowulf.suites.problem import Problem, refuse_too_large

HPCC = "/usr/bin/hpcc"
MPIRUN = "/usr/bin/mpirun.openmpi"
BRIEF = "brief_rings.so"
SCRATCH = "/tmp/beowulf-hpcc.XXXXXX"  # on the master
FOLDER = re.compile(r"/\S+")
TIMEOUT_S = 3600.0
MEND = "`sudo apt-get install hpcc` installs it, `beowulf doctor --fix` as well."

# told: how many of how many sections have ended, and the last one's name
Told = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Machine:
    """What the nodes have together: memory that is free, cores, and the library that multiplies matrices."""

    memory_bytes: int
    cores: int
    blas: str


def machine(cluster: Cluster, nodes: list[str]) -> Machine:
    """Ask every node for what a problem has to fit into; LabError where hpcc is missing.

    Nodes that run on one machine share its memory and its cores: they are told by the machine's boot ID.
    """
    script = (
        f"[ -x {HPCC} ] && [ -x {MPIRUN} ] || echo missing;"
        " cat /proc/sys/kernel/random/boot_id; nproc; sed -n 's/^MemAvailable: *\\([0-9]*\\) kB/\\1/p'"
        " /proc/meminfo; readlink -f /usr/lib/$(uname -m)-linux-gnu/libblas.so.3"
    )
    found: dict[str, tuple[int, int]] = {}
    blas = ""
    for node in nodes:
        lines = cluster.run(node, script).stdout.split("\n")
        if lines[0] == "missing":
            raise LabError(f"hpcc is not installed on {node}.", MEND, node)
        try:
            found[lines[0]] = (int(lines[2]) * 1024, int(lines[1]))
            blas = blas or lines[3]
        except (IndexError, ValueError):
            raise LabError(
                f"{node} does not say how much memory it has.", "`beowulf status` looks.", node
            ) from None
    return Machine(
        sum(memory for memory, _ in found.values()), sum(cores for _, cores in found.values()), blas
    )


def launcher(hosts: list[str], *, crowded: bool, brief: bool = False) -> list[str]:
    """The words that start a program with Open MPI, one rank on each host.

    `crowded`: there are more ranks than cores, so a rank that waits lets go of its core.
    """
    settings = {
        # Messages over TCP alone, and over the cluster's network alone: Open MPI would take any that it finds.
        "pml": "ob1",
        "btl": "tcp,self",
        "btl_tcp_if_include": "eth0",
        "oob_tcp_if_include": "eth0",
        "plm_rsh_agent": "ssh",
        "mpi_yield_when_idle": str(int(crowded)),
        # Its own files vanish with the node.
        "orte_tmpdir_base": "/dev/shm",
    }
    words = [MPIRUN, "-np", str(len(hosts)), "--host", ",".join(f"{host}:1" for host in hosts)]
    words += ["--bind-to", "none", "-x", JOB]
    if brief:
        words += ["-x", f"LD_PRELOAD={places.native(BRIEF)}"]
    return words + [word for pair in settings.items() for word in ("--mca", *pair)]


def run(
    cluster: Cluster,
    problem: Problem,
    *,
    brief: bool = False,
    timeout_s: float = TIMEOUT_S,
    told: Told = lambda done, of, what: None,
) -> tuple[Results, float]:
    """Run all of hpcc on the first nodes, a rank on each; its results, and the seconds of the whole launch.

    `brief` cuts b_eff's long messages short, whose bandwidth is then left out. LabError when hpcc is missing
    or fails; a check of its own that does not pass stands in the results' `failures`.
    """
    need_a_node_each(cluster, problem.ranks)
    hosts = list(cluster.nodes[: problem.ranks])
    has = machine(cluster, hosts)
    refuse_too_large(problem, has.memory_bytes)
    words = launcher(hosts, crowded=len(hosts) > has.cores, brief=brief)
    folder = _prepare(cluster, problem)
    try:
        with (
            Complaints(sys.stderr) as complaints,
            contextlib.redirect_stdout(Sections(told)),
            contextlib.redirect_stderr(complaints),
        ):
            done = mpi.launch(
                cluster,
                [HPCC],
                len(hosts),
                environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
                hosts=hosts,
                timeout_s=timeout_s,
                show=True,
                folder=folder,
                launcher=words,
            )
    finally:
        with contextlib.suppress(LabError):
            cluster.run(hosts[0], f"rm -rf {shlex.quote(str(folder))}")
    if done.returncode:
        raise LabError(mpi.failure(done, "hpcc"), "What it printed above says more.")
    return hpcc_results.read(done.stdout, brief=brief), done.elapsed_s


def _prepare(cluster: Cluster, problem: Problem) -> Path:
    """A folder on the master with what hpcc reads, where what it writes goes to its standard output."""
    script = (
        f"set -e; d=$(mktemp -d {SCRATCH}); cat >$d/hpccinf.txt;"
        " ln -s /dev/stdout $d/hpccoutf.txt; echo $d"
    )
    done = cluster.run(cluster.nodes[0], script, stdin=problem.text)
    if done.returncode or not FOLDER.fullmatch(done.stdout.strip()):
        raise LabError(
            f"hpcc's input cannot be written on {cluster.nodes[0]}: {done.stderr.strip()}.",
            "See whether the disk is full.",
            cluster.nodes[0],
        )
    return Path(done.stdout.strip())


class Sections(io.TextIOBase):
    """A place to write to, which tells after each section that hpcc has ended."""

    def __init__(self, told: Told) -> None:
        self._told, self._rest, self._done = told, "", 0
        told(0, len(SECTIONS), "starting")

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, text: str) -> int:
        """Take some text, and look at what lines it ends."""
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            ended = hpcc_results.SECTION_END.match(line)
            if ended and ended[1] in SECTIONS:
                self._done += 1
                self._told(self._done, len(SECTIONS), ended[1])
        return len(text)
