"""The default kind of cluster: nodes made of Linux namespaces on this machine, each with an sshd of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster import HOST, NODES, SWITCH, WIRE, Abilities, Completed, state
from beowulf.cluster.common import at_once, processes
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.common.shells import SHELL, Show, completed, silent
from beowulf.cluster.holding import lock
from beowulf.cluster.namespaces import boot, links, sshd, supervisor
from beowulf.cluster.namespaces import snapshot as snapshot_namespaces
from beowulf.cluster.namespaces.supervisor import Supervisor
from beowulf.cluster.one_machine import OneMachine
from beowulf.errors import LabError
from beowulf.this_machine.user import learner

if TYPE_CHECKING:
    from beowulf.cluster.capturing.capture import Capture


AS_USER = Abilities(
    whole_wire=SWITCH,
    knobs=(HOST, NODES),
    faults=True,
    shared_files=True,
    one_machine=True,
    separate_nodes=True,
)
AS_ROOT = replace(AS_USER, cpu_limits=True)
COLUMNS = {"namespaces, as root": AS_ROOT, "namespaces, as a user": AS_USER}


def up(plan: ClusterConfig, *, show: Show = silent, folder: Path | None = None) -> NamespaceCluster:
    """Boot the cluster that `plan` describes, or heal the one that runs: afterwards every node is whole and answers.

    `show(where, lines)` is called with every shell command before it is run. LockedError while another process measures
    on it, unless there is nothing to change.
    """
    folder = folder or paths.state()
    _refuse_on_a_node()
    if lock.holder(folder) and (as_it_is := running(folder)) and as_it_is.is_whole(plan):
        return as_it_is
    with lock.changing(folder, "beowulf up"), state.locked(folder):
        old = supervisor.find(folder)
        before = state.load(folder)
        if old and (before is None or replace(before.plan, rate=plan.rate) != plan):
            _end(folder, state.OURS - {state.HELD})
            old = None
        elif before is None:
            state.refuse_strangers(folder, state.USUAL)
        try:
            with state.unfinished(folder):
                return NamespaceCluster(plan, folder, boot.boot(plan, folder, old, show))
        except BaseException:
            if old is None:
                _end(folder)
                state.remove(folder)
            raise


def down(*, folder: Path | None = None) -> bool:
    """Take the cluster down: no process, mount, interface or file of it stays. False when there was none.

    LockedError while another process measures on it.
    """
    folder = folder or paths.state()
    _refuse_on_a_node()
    if not folder.exists() and supervisor.find(folder) is None:
        return False
    with lock.changing(folder, "beowulf down"), state.locked(folder):
        if not supervisor.find(folder) and not state.load(folder) and state.strangers(folder):
            return False
        was_there = _end(folder)
        state.remove(folder)
        return was_there


def running(folder: Path | None = None) -> NamespaceCluster | None:
    """The cluster that runs in this folder, or None."""
    folder = folder or paths.state()
    _refuse_on_a_node()
    saved = state.load(folder)
    its_supervisor = supervisor.find(folder, saved.supervisor_pid) if saved else None
    return (
        NamespaceCluster(saved.plan, folder, its_supervisor) if saved and its_supervisor else None
    )


class NamespaceCluster(OneMachine):
    """A running local cluster. Its nodes are looked up in the kernel at every call, so a dead one counts as dead."""

    kind = "namespaces"
    can = AS_ROOT if os.geteuid() == 0 else AS_USER

    def __init__(self, plan: ClusterConfig, folder: Path, its_supervisor: Supervisor) -> None:
        self.config = plan
        self.folder = folder
        self._supervisor = its_supervisor

    @property
    def supervisor(self) -> Supervisor:
        """The running supervisor; after `down` and `up`, possibly by another process, it is a different one."""
        if not self._supervisor.process.alive:
            self._look_again()
        return self._supervisor

    def _look_again(self) -> None:
        if not (now := running(self.folder)):
            raise state.GoneError
        self.config, self._supervisor = now.config, now._supervisor

    def is_whole(self, plan: ClusterConfig) -> bool:
        """Whether it follows `plan`, no node is down, and no fault was put in."""
        whole = not (self.folder / state.UNFINISHED).exists() and not self.broken
        return whole and self.config == plan and not self.dead_nodes()

    def address(self, node: str, network: int = 0) -> str:
        """The address of a node on one of the cluster's networks."""
        return self.config.address(node, network)

    def dead_nodes(self) -> list[str]:
        """The nodes that do not run."""
        alive = self.supervisor.nodes()
        return [node for node in self.nodes if node not in alive]

    def shell(self, node: str, command: str, *, terminal: bool = False) -> list[str]:
        """The words that run `command` (a login shell if empty) on a node as the learner, over ssh."""
        # When what entered the node is ended, ssh ends as well and is not left behind there.
        ssh = ["setpriv", "--pdeathsig", "TERM", "ssh", "-t" if terminal else "-T", node]
        return [*self.enter(node), *ssh, *([command] if command else [])]

    def enter(self, node: str) -> list[str]:
        """The words that run what follows them on a node as its administrator, from outside and without ssh."""
        self.refuse_stranger(node)
        process = self.supervisor.nodes().get(node)
        if process is None:
            raise LabError(f"{node} is down.", "`beowulf up` starts it again.", node)
        return supervisor.enter(process)

    def enter_switch(self) -> list[str]:
        """The words that run what follows them in the switch's network, where each port carries its node's name."""
        return supervisor.enter(self.supervisor.process)

    def administer(self, node: str, script: str, *, timeout_s: float = 60) -> Completed:
        """Run lines of shell on a node, or at the switch, as its administrator."""
        words = self.enter_switch() if node == SWITCH else self.enter(node)
        return completed([*words, *SHELL], script, timeout_s, node)

    def processes(self, node: str) -> list[int]:
        """All processes in a node's process namespace, its first one before the others."""
        self.enter(node)  # LabError when it is down
        return processes.inside(self.supervisor.nodes()[node].pid)

    def limit(self, nodes: Sequence[str], rate: str) -> None:
        """Limit the cables of these nodes at both ends, or take the limit away (`off`)."""
        lines = {node: links.shape(["eth0"], rate) for node in nodes}
        lines[SWITCH] = links.shape([self.config.port(node) for node in nodes], rate)

        def do(place: str) -> None:
            done = self.administer(place, "\n".join(lines[place]))
            if done.returncode:
                reason = done.stderr.strip().rpartition("\n")[2]
                raise LabError(
                    f"The rate of the cables of {place} could not be limited: {reason}.", "", place
                )

        at_once.all_of(list(lines), do)

    def _capture(self, file: Path, where: str, limits: Mapping[str, Any]) -> Capture:
        """Capture the wire, which is all that crosses the switch of the first network, or what nodes' eth0 see.

        At one node, all of its cards are captured.

        A node's port of the switch sees the very frames that its eth0 does, and has its name.
        """
        from beowulf.cluster.capturing.capture import Capture

        where = SWITCH if where == WIRE else where
        if where == NODES:
            for node in self.nodes:
                self.enter(node)  # LabError for one that is down
            enter, interfaces = self.enter_switch(), [self.config.port(node) for node in self.nodes]
        elif where == SWITCH:
            # A bridge in promiscuous mode is shown each frame that it forwards, once.
            enter, interfaces = self.enter_switch(), ["br0"]
        else:
            cards = [self.interface(where, network) for network in range(self.config.networks)]
            enter, interfaces = self.enter(where), cards

        def start(words: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                [*enter, *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )

        return Capture(
            start,
            file,
            interfaces,
            **limits,
            where=where,
            stop=_stop,
            once=where not in (SWITCH, NODES),  # each of a node's cards is on a network of its own
        )

    def break_it(self, fault: str, node: str = "") -> None:
        """Heal the cluster, then set up one fault; if no `node` is given, the learner's code or name chooses it."""
        from beowulf.cluster.namespaces import faults
        from beowulf.course import personal_code

        with lock.changing(self.folder, "beowulf break"):
            self.heal()
            what, chosen = faults.solution(fault, self.nodes, personal_code.word() or learner())
            with state.unfinished(self.folder):
                faults.apply(self, self.folder, what, node or chosen)
                state.write(self.folder, {state.BROKEN: (fault, 0o600)})

    @property
    def broken(self) -> str:
        """The name of the fault that `break_it` set up, or nothing."""
        mark = self.folder / state.BROKEN
        return mark.read_text() if mark.exists() else ""

    def heal(self) -> None:
        """Boot dead nodes and put every file of the cluster back."""
        self._look_again()  # another process may have set another rate since
        up(self.config, folder=self.folder)

    def listening(self, node: str) -> bool:
        """Whether the node's sshd waits for logins."""
        return sshd.LISTENING in self.administer(node, "cat /proc/net/tcp").stdout

    def kill(self, node: str) -> None:
        """Pull the plug: the node and all that runs on it end at once."""
        process = self.supervisor.nodes().get(node)
        if process:
            processes.end([process])

    def as_found(self) -> dict[str, str]:
        """What must not change while something is measured: the nodes, their links, the fault, by name."""
        self._look_again()
        return snapshot_namespaces.found(self, self.config, self.supervisor)

    def describe(self) -> dict[str, Any]:
        """What this cluster is, read from its first living node, as plain data for a Record."""
        self._look_again()
        return super().describe()


def _stop(entered: subprocess.Popen[bytes]) -> None:
    # nsenter stays outside and waits for its child, which is the one to stop.
    for pid in processes.children(entered.pid):
        os.kill(pid, signal.SIGINT)


def _end(folder: Path, names: Collection[str] = state.OURS) -> bool:
    was_there = supervisor.find(folder) is not None or (folder / state.CLUSTER).exists()
    supervisor.end(folder)
    state.empty(folder, names)
    return was_there


def _refuse_on_a_node() -> None:
    if node := supervisor.this_node():
        raise LabError(
            f"This is {node}, a node of the cluster.",
            "`beowulf` works only outside the cluster: leave this shell with `exit` first.",
        )
