"""A cluster that a class shares: Slurm gives nodes to one learner at a time, so measurements do not disturb each other.

The nodes are machines that `beowulf setup` has set up. A job that only sleeps holds them; every command on a node is
a step of that job (`srun`), so a learner needs no key, and all ends with the job, however that ends.
"""

from __future__ import annotations

import getpass
import shlex
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from beowulf import paths
from beowulf.cluster import Cluster, Completed, state
from beowulf.cluster.common import at_once
from beowulf.cluster.holding import lock
from beowulf.cluster.machines import connections, node_files, targets
from beowulf.cluster.machines.cluster import ENVIRONMENT, SshCluster
from beowulf.cluster.machines.inventory import Machine
from beowulf.cluster.machines.targets import Target
from beowulf.cluster.slurm import queue
from beowulf.cluster.slurm.queue import Job
from beowulf.errors import LabError, UsageError

TARGET = "slurm"
NODES, MINUTES = 4, 60
MOST_NODES, MOST_MINUTES = 64, 7 * 24 * 60
ASK_EVERY_S = 1.0
LOOK_EVERY_S = 2.0
# Why a job waits, where that is not the usual, in Slurm's word and in ours.
REASONS = {
    "PartitionDown": "the queue is closed at the moment",
    "PartitionInactive": "the queue is closed at the moment",
    "ReqNodeNotAvail": "some of its nodes are down or reserved for others",
    "Nodes": "some of its nodes are down or reserved for others",
    "JobHeldUser": "it is held",
    "JobHeldAdmin": "it is held by the administrator of the cluster",
    "PartitionTimeLimit": "the queue allows no job that long",
    "PartitionNodeLimit": "the queue does not give out that many nodes",
}

LOST = ("does not answer", "is down")

Report = Callable[[str], None]


@dataclass(frozen=True)
class Allocation:
    """A request to Slurm and its job; its file is beside the cluster's other files."""

    job: str
    nodes: int
    minutes: int
    queue: str
    ends: float = 0  # seconds since 1970; 0 while it waits


def load(folder: Path) -> Allocation | None:
    """The last request to Slurm; None when there was none."""
    saved = state.kept(folder, state.ALLOCATION)
    return Allocation(**saved) if saved else None


def save(folder: Path, allocation: Allocation, machines: Target) -> None:
    """Remember the request to Slurm, then the machines that it gave."""
    state.replace(folder, state.ALLOCATION, asdict(allocation))
    state.replace(folder, state.TARGET, asdict(machines))


def running(folder: Path | None = None) -> SlurmCluster | None:
    """The machines of an allocation, whether they are still ours or not."""
    folder = folder or paths.state()
    allocation, machines = load(folder), targets.load(folder)
    return SlurmCluster(machines, folder, allocation) if allocation and machines else None


def up(
    nodes: int | None, minutes: int | None, report: Report, folder: Path | None = None
) -> tuple[SlurmCluster, dict[str, LabError]]:
    """Nodes for this user alone, those that are held already or new ones; also the errors by node.

    Until they are free, `report` gets the place in the queue; an interruption cancels the request.
    """
    folder = folder or paths.state()
    allocation = _request(nodes, minutes, folder)
    try:
        job = _wait(allocation, report)
    except KeyboardInterrupt:
        down(folder)
        raise
    return attach(replace(allocation, queue=job.queue, ends=job.ends), job, folder)


def _request(nodes: int | None, minutes: int | None, folder: Path) -> Allocation:
    """The request that is under way, or a new one; it is remembered before the wait for it."""
    for wanted, most in ((nodes, MOST_NODES), (minutes, MOST_MINUTES)):
        if wanted is not None and not 1 <= wanted <= most:
            raise UsageError(f"Ask for 1 to {MOST_NODES} nodes, and 1 to {MOST_MINUTES} minutes.")
    with state.locked(folder):
        try:
            state.refuse_strangers(folder, TARGET, targets.OURS)
            last = load(folder)
            if last and (job := queue.job(last.job)) and job.lasts:
                if (nodes or last.nodes, minutes or last.minutes) == (last.nodes, last.minutes):
                    return last
                raise UsageError(
                    f"You have already asked for {last.nodes} node{'s' * (last.nodes != 1)} and"
                    f" {time_of(last)} (job {last.job}).",
                    "Give them back with `beowulf down`, then ask again.",
                )
            nodes = nodes or (last.nodes if last else NODES)
            return _new(nodes, minutes or (last.minutes if last else MINUTES), folder)
        except LabError:
            if load(folder) is None and targets.load(folder) is None:
                state.remove(folder, targets.OURS)
            raise


def _new(nodes: int, minutes: int, folder: Path) -> Allocation:
    """A new request, remembered."""
    into = queue.queue()
    queue.refuse_closed(into, nodes, minutes)
    allocation = Allocation(queue.submit(nodes, minutes), nodes, minutes, into.name)
    try:
        save(folder, allocation, Target(TARGET, ()))
    except BaseException:
        queue.cancel(allocation.job)
        raise
    return allocation


def _wait(allocation: Allocation, report: Report) -> Job:
    """The job, once it has its nodes."""
    looks, last = 0, ""
    while True:
        job = queue.job(allocation.job)
        if job and job.runs:
            return job
        if job is None or not job.waits:
            raise ended(allocation, job)
        # Most often it has its nodes a moment later.
        looks += 1
        if looks > 1 and (sentence := waiting(job)) and sentence != last:
            report(sentence)
            last = sentence
        time.sleep(ASK_EVERY_S)


def waiting(job: Job) -> str:
    """The place of a waiting job in the queue, in a sentence; empty when it is about to start."""
    number, of = queue.place(job)
    if not number:
        return ""
    word = job.reason.partition(",")[0].partition(" ")[0]
    why = f"; {REASONS[word]}" if word in REASONS else ""
    start = f"; Slurm expects its turn at {clock(job.starts)}" if job.starts else ""
    return f"Job {job.number} is number {number} of {of} in the queue {job.queue}{why or start}."


def clock(moment: float) -> str:
    """A moment as a clock shows it, with the day unless it is today's."""
    then, now = time.localtime(moment), time.localtime()
    return time.strftime("%H:%M" if then[:3] == now[:3] else "%H:%M on %d %B", then)


def attach(
    allocation: Allocation, job: Job, folder: Path
) -> tuple[SlurmCluster, dict[str, LabError]]:
    """The nodes of a job that runs as the cluster of a folder; also the errors by node."""
    user = getpass.getuser()
    machines = tuple(
        Machine(name, name, user=user, through=queue.through(allocation.job, name))
        for name in queue.names(job.nodes)
    )
    with lock.changing(folder, "beowulf up"), state.locked(folder):
        target, troubles = targets.find(Target(TARGET, machines), folder)
        save(folder, allocation, target)
    cluster = SlurmCluster(target, folder, allocation)
    if not troubles:
        _, troubles = at_once.everywhere(cluster.nodes, cluster.tell_nodes)
    return cluster, troubles


def down(folder: Path | None = None) -> bool:
    """Give the nodes back, or the place in the queue, and forget them. False when they were given back already."""
    folder = folder or paths.state()
    with lock.changing(folder, "beowulf down"), state.locked(folder):
        last = load(folder)
        job = queue.job(last.job) if last else None
        if last and job and job.lasts:
            queue.cancel(last.job)
        state.remove(folder, targets.OURS)
    return bool(job and job.lasts)


def time_of(allocation: Allocation) -> str:
    """How long an allocation lasts, in words."""
    return f"{allocation.minutes} minute{'s' * (allocation.minutes != 1)}"


def ended(allocation: Allocation, job: Job | None) -> LabError:
    """The sentence for an allocation that has ended, or has not begun."""
    which = f"(job {allocation.job})"
    hint = "`beowulf up --target slurm` asks for nodes again."
    if job and job.waits:
        return LabError(
            f"Your request for {allocation.nodes} node{'s' * (allocation.nodes != 1)} {which} is still waiting.",
            "`beowulf up` waits for it; `beowulf down` cancels it.",
        )
    late = job is None and 0 < allocation.ends <= time.time()
    if late or (job and (job.state == "TIMEOUT" or job.reason == "TimeLimit")):
        return LabError(
            f"Your allocation {which} has reached its time limit of {time_of(allocation)}.", hint
        )
    if job and job.state == "NODE_FAIL":
        return LabError(f"A node failed, which ended your allocation {which}.", hint)
    if job and (job.state == "CANCELLED" or job.state == "COMPLETING"):
        return LabError(f"Your allocation {which} was cancelled.", hint)
    return LabError(f"Your allocation {which} has ended.", hint)


def gave(cluster: Cluster) -> TypeGuard[SlurmCluster]:
    """Whether it is Slurm that gave the nodes of this cluster."""
    return cluster.can.queue


class SlurmCluster(SshCluster):
    """The nodes of one job of Slurm; what runs on them is a step of that job."""

    kind = "slurm"
    shared = False  # a job is one user's, and remembered in one folder
    can = replace(SshCluster.can, queue=True, knobs=())
    # Slurm's own conversations with a node: those with its daemons, and those of srun, whose ports
    # (cluster_setup/roles/slurm) are above those that Linux gives to connections of programs (32768 to 60999).
    own_packets = 'own="not tcp portrange 6817-6818 and not tcp portrange 61001-63000"'

    def __init__(self, target: Target, folder: Path, allocation: Allocation) -> None:
        super().__init__(target, folder)
        self.allocation = allocation
        self._looked = 0.0
        self._dead: list[str] = []

    @property
    def hosts(self) -> str:
        """The file on each node that names the nodes of the job."""
        return f"{node_files.root(self._user)}/hosts-{self.allocation.job}"

    def job(self) -> Job | None:
        """The job's state; None when Slurm has forgotten it."""
        return queue.job(self.allocation.job)

    def is_ours(self) -> bool:
        """Whether the nodes are ours at this moment."""
        return bool((job := self.job()) and job.runs)

    def still_there(self) -> None:
        """LabError when the nodes are not ours any more, or not yet."""
        job = self.job()
        if job is None or not job.runs or not self.nodes:
            raise ended(self.allocation, job)

    def dead_nodes(self) -> list[str]:
        """The nodes that Slurm has lost; Slurm is asked at most every other second."""
        if time.monotonic() - self._looked > LOOK_EVERY_S:
            self.still_there()
            node_states = queue.states([f"--nodes={','.join(self.nodes)}"])
            # One that is only to get no further jobs goes on with this one.
            self._dead = [node for node in self.nodes if node_states.get(node, "").startswith(LOST)]
            self._looked = time.monotonic()
        return list(self._dead)

    def shell(self, node: str, command: str, *, terminal: bool = False) -> list[str]:
        """The words that run `command` (a login shell if empty) on a node with the cluster's tools in its PATH."""
        line = (
            # Where this machine has Slurm's settings is no affair of the node.
            "unset SLURM_CONF; export HOME=~ SHELL=/bin/bash; cd;"
            f" [ ! -r {ENVIRONMENT} ] || . {ENVIRONMENT};"
            f" export HYDRA_HOST_FILE={shlex.quote(self.hosts)}; {command or 'exec bash -l'}"
        )
        before = connections.words(self.folder, self.machine(node), terminal=terminal)
        return [*before, f"exec bash --norc -c {shlex.quote(line)}"]

    def _run(self, node: str, line: str, stdin: bytes, timeout_s: float) -> Completed:
        done = super()._run(node, line, stdin, timeout_s)
        if done.returncode:
            self.still_there()
        return done

    def tell_nodes(self, node: str) -> None:
        """Write the names of the job's nodes on one of them, for mpiexec."""
        root = shlex.quote(node_files.root(self._user))
        script = (
            f"umask 077; mkdir -p {root} && [ -O {root} ] && [ ! -h {root} ] && rm -f {root}/hosts-*"
            f" && printf '%s\\n' {shlex.join(self.nodes)} >{shlex.quote(self.hosts)}"
        )
        done = self._run(node, script, b"", connections.LONGEST_ANSWER_S)
        if done.returncode:
            raise node_files.trouble(node, done.stderr)

    def describe(self) -> dict[str, Any]:
        """What this cluster is, as plain data for a Record."""
        given = self.allocation
        return {**super().describe(), "job": given.job, "queue": given.queue, "exclusive": True}

    def heal(self) -> None:
        """Connect every node again; LabError with all that is wrong."""
        job = self.job()
        if job is None or not job.runs:
            raise ended(self.allocation, job)
        self._healed(*attach(self.allocation, job, self.folder))


COLUMNS = {"Slurm": SlurmCluster.can}
