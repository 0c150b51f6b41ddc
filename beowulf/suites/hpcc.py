"""Debian's hpcc on the nodes of a cluster: the HPC Challenge suite, launched with the MPI that it is linked with.

That MPI is Open MPI, not the cluster's own MPICH. So hpcc is started by Open MPI's mpirun under its whole
path, and neither program is looked for in PATH.
"""

from __future__ import annotations

import ipaddress
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from beowulf import mpi, paths
from beowulf.cluster import Cluster
from beowulf.cluster.common.node_environment import JOB
from beowulf.errors import LabError
from beowulf.measure.measurement import need_a_node_each
from beowulf.measure.program_stderr import ProgramStderr
from beowulf.suites import hpcc_results
from beowulf.suites.hpcc_results import SECTIONS, Results
from beowulf.suites.problem import Problem, refuse_too_large

HPCC = "/usr/bin/hpcc"
MPIRUN = "/usr/bin/mpirun.openmpi"
BRIEF = "short_beff_messages.so"
SCRATCH = "/tmp"
LOOPBACK = "127.0.0.0/8"
# What hpcc writes into a file goes to its standard output, where progress is read off it. Open MPI reaches the other
# nodes as the cluster's own mpiexec does, over the network that $0 is; in a job of Slurm, too, whose own way would wait
# for the step that we are in; its own files vanish with the node. Open MPI 5 starts programs by PRRTE, which has names
# of its own for these settings.
START = """\
ln -sf /dev/stdout hpccoutf.txt || exit
if command -v prterun >/dev/null; then
    export PRTE_MCA_plm=ssh PRTE_MCA_plm_ssh_agent="$HYDRA_LAUNCHER_EXEC" PRTE_MCA_ras=^slurm
    export PRTE_MCA_oob_tcp_if_include="$0" PRTE_MCA_prte_tmpdir_base=/dev/shm
else
    export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent="$HYDRA_LAUNCHER_EXEC" OMPI_MCA_ras=^slurm
    export OMPI_MCA_oob_tcp_if_include="$0" OMPI_MCA_orte_tmpdir_base=/dev/shm
fi
exec "$@"
"""
TIMEOUT_S = 3600.0
HINT = "`sudo apt-get install hpcc` installs it, `beowulf doctor --fix` as well."

# Report: how many of how many sections have ended, and the last one's name
Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Machine:
    """What the nodes have together: memory that is free, cores, and the library that multiplies matrices."""

    memory_bytes: int
    cores: int
    blas: str


def machine(cluster: Cluster, nodes: list[str]) -> Machine:
    """Ask every node for what a problem has to fit into; LabError where hpcc is missing.

    Nodes that run on one machine share its memory and its cores: the machine's boot ID shows which.
    """
    script = (
        f"[ -x {HPCC} ] && [ -x {MPIRUN} ] || echo missing;"
        " cat /proc/sys/kernel/random/boot_id; nproc; sed -n 's/^MemAvailable: *\\([0-9]*\\) kB/\\1/p'"
        " /proc/meminfo; readlink -f /usr/lib/$(uname -m)-linux-gnu/libblas.so.3"
    )
    found: dict[str, tuple[int, int]] = {}
    blas = ""
    for node in nodes:
        boot, cores, memory_kb, library, *_ = cluster.run(node, script).stdout.split("\n")
        if boot == "missing":
            raise LabError(f"hpcc is not installed on {node}.", HINT, node)
        found[boot] = (int(memory_kb) * 1024, int(cores))
        blas = blas or library
    return Machine(
        sum(memory for memory, _ in found.values()), sum(cores for _, cores in found.values()), blas
    )


def network(cluster: Cluster, node: str) -> str:
    """The cluster's network as Open MPI takes it, such as 10.0.0.0/24: cards may have other names on other nodes."""
    address = cluster.address(node)
    if ipaddress.ip_address(address).is_loopback:
        return LOOPBACK  # its device has 127.0.0.1 alone, and answers for all of them
    script = f"PATH=$PATH:/usr/sbin:/sbin ip -o -4 address show to {address}/32"
    found = re.search(rf"\b{re.escape(address)}/\d+", cluster.run(node, script).stdout)
    assert found, "the cluster's plan says so"
    return str(ipaddress.ip_interface(found[0]).network)


def launcher(hosts: list[str], network: str, *, crowded: bool, brief: bool = False) -> list[str]:
    """The words that start a program with Open MPI, one rank on each host, in the folder of its input.

    `crowded`: there are more ranks than cores, so a rank that waits lets go of its core.
    """
    settings = {
        # Messages over TCP alone, and over the cluster's network alone: Open MPI would take any that it finds.
        "pml": "ob1",
        "btl": "tcp,self",
        "btl_tcp_if_include": network,
        "mpi_yield_when_idle": str(int(crowded)),
    }
    hosted = ",".join(f"{host}:1" for host in hosts)
    words = ["sh", "-c", START, network, MPIRUN, "-np", str(len(hosts)), "--host", hosted]
    # What is started on a node ends with what started it.
    words += ["--bind-to", "none", "--leave-session-attached", "-x", JOB]
    if brief:
        words += ["-x", f"LD_PRELOAD={paths.native(BRIEF)}"]
    return words + [word for pair in settings.items() for word in ("--mca", *pair)]


def run(
    cluster: Cluster,
    problem: Problem,
    *,
    brief: bool = False,
    timeout_s: float = TIMEOUT_S,
    report: Report = lambda done, of, what: None,
) -> tuple[Results, float]:
    """Run all of hpcc on the first nodes, a rank on each; its results, and the seconds of the whole launch.

    `brief` cuts b_eff's long messages short, whose bandwidth is then left out. LabError when hpcc is missing
    or fails; a check of its own that does not pass is in the results' `failures`.
    """
    need_a_node_each(cluster, problem.ranks)
    hosts = list(cluster.nodes[: problem.ranks])
    has = machine(cluster, hosts)
    refuse_too_large(problem, has.memory_bytes)
    crowded = len(hosts) > has.cores
    words = launcher(hosts, network(cluster, hosts[0]), crowded=crowded, brief=brief)
    # Below /tmp, which the nodes of a local cluster share with this machine; others are sent what is in it.
    with (
        tempfile.TemporaryDirectory(prefix="beowulf-hpcc-", dir=SCRATCH) as folder,
        ProgramStderr(mpi.errors_to_screen) as errors,
    ):
        Path(folder, "hpccinf.txt").write_text(problem.text)
        done = mpi.launch(
            cluster,
            [HPCC],
            len(hosts),
            environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
            hosts=hosts,
            timeout_s=timeout_s,
            output=Sections(report).write,
            errors=errors.write,
            folder=Path(folder),
            launcher=words,
        )
    if done.returncode:
        raise LabError(mpi.failure(done, "hpcc"), "What it printed above says more.")
    return hpcc_results.read(done.stdout, brief=brief), done.elapsed_s


class Sections:
    """Listens to hpcc, and reports after each section that hpcc has ended."""

    def __init__(self, report: Report) -> None:
        self._report, self._rest, self._done = report, "", 0
        report(0, len(SECTIONS), "starting")

    def write(self, text: str) -> None:
        """Take some text, and look at what lines it ends."""
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            ended = hpcc_results.SECTION_END.match(line)
            if ended and ended[1] in SECTIONS:
                self._done += 1
                self._report(self._done, len(SECTIONS), ended[1])
