"""A cluster of separate machines, PCs or VMs, reached by ssh.

`beowulf setup` makes them a cluster; `up` here only finds them, says which of them are not as they should be, and
remembers them, so that every command of this user works on them.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster import (
    NODES,
    SWITCH,
    WIRE,
    Abilities,
    Cluster,
    Completed,
    Hardware,
    description,
    state,
)
from beowulf.cluster.common import at_once
from beowulf.cluster.common.shells import SHELL
from beowulf.cluster.holding import lock
from beowulf.cluster.machines import connections, node_files, targets
from beowulf.cluster.machines import master_lock as ssh_lock
from beowulf.cluster.machines import snapshot as snapshot_machines
from beowulf.cluster.machines.inventory import Machine
from beowulf.cluster.machines.targets import PREFIX, Target
from beowulf.errors import LabError

if TYPE_CHECKING:
    from beowulf.cluster.capturing.capture import Capture

ENVIRONMENT = f"{PREFIX}/etc/environment"
LONGEST_TELLING_S = 10.0
LONGEST_SENDING_S = 60.0
MOST_CLOCK_ERROR_S = 1.0  # a wall clock of ours may be set meanwhile
# Run beside the commands of every node; CARD stands for the name of its card.
ASKED_TOO = {
    "speed": "ethtool CARD 2>/dev/null | sed -n 's/^[[:space:]]*Speed: //p'",
    "cores": "nproc",
    "clock": "date +%s.%N",
    "memory": "awk '/^MemTotal:/ { printf \"%.1f GB\", $2 / 1e6 }' /proc/meminfo",
}
SPEEDS = {"10Mb/s": "10mbit", "100Mb/s": "100mbit", "1000Mb/s": "1gbit"}


def up(source: str, folder: Path | None = None) -> tuple[SshCluster, dict[str, LabError]]:
    """Find the machines of an inventory, or of `vagrant`; also why any of them cannot be used.

    LabError, and nothing remembered, when none of them answers.
    """
    folder = folder or paths.state()
    machines, missing = targets.read(source)
    with lock.changing(folder, "beowulf up"), state.locked(folder):
        state.refuse_strangers(folder, SshCluster.kind, targets.OURS)
        before = targets.load(folder)
        if before is not None:
            connections.close(folder, before.machines)
        try:
            connections.configure(folder, machines)
            wanted = Target(targets.lasting(source), tuple(machines))
            if before is not None and before.source == wanted.source:
                # Those that do not answer now have answered earlier.
                wanted = replace(wanted, cards=before.cards)
            target, troubles = targets.find(wanted, folder)
            if not any(connections.open_to(folder, machine.name) for machine in machines):
                reasons = " ".join(str(trouble) for trouble in troubles.values())
                raise LabError(f"No machine of {source} can be used. {reasons}")
            state.replace(folder, state.TARGET, asdict(target))
        except BaseException:
            connections.close(folder, machines)
            if before is None:
                state.remove(folder, targets.OURS)
            else:
                connections.configure(folder, before.machines)
            raise
    gone = {name: LabError(reasons, node=name) for name, reasons in missing.items()}
    return SshCluster(target, folder), troubles | gone


def down(folder: Path | None = None) -> bool:
    """Release the machines: close the connections and forget them. False when there were none."""
    folder = folder or paths.state()
    if not (folder / state.TARGET).exists():
        return False
    with lock.changing(folder, "beowulf down"), state.locked(folder):
        if target := targets.load(folder):
            connections.close(folder, target.machines)
        state.remove(folder, targets.OURS)
    return True


def running(folder: Path | None = None) -> SshCluster | None:
    """The cluster of the machines that `up` has connected, or None."""
    folder = folder or paths.state()
    target = targets.load(folder)
    return SshCluster(target, folder) if target else None


class SshCluster(Cluster):
    """Separate machines; all commands for one of them go over one connection."""

    kind = "ssh"
    shared = True  # with other users, and with other machines of this one
    can = Abilities(whole_wire=WIRE, knobs=(NODES,), separate_nodes=True)
    folder: Path
    instead = "`beowulf down`, then `beowulf up` boots a cluster on this machine, which has them."
    # How a node's shell finds out, in capture's language, which packets are those of our own connection to it.
    own_packets = 'set -- $SSH_CONNECTION; own="not (host $1 and tcp port $4)"'

    def __init__(self, target: Target, folder: Path) -> None:
        self.target = target
        self.folder = folder
        self._machines = {machine.name: machine for machine in target.machines}
        self.shown: set[str] = set()
        self._hardware: dict[str, Hardware] = {}

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all machines, the master first, those that are off too."""
        return tuple(self._machines)

    @property
    def source(self) -> str:
        """The inventory of the machines, `vagrant` or `slurm`."""
        return self.target.source

    def address(self, node: str, network: int = 0) -> str:
        """The address of a machine on one of the cluster's networks."""
        machine = self.machine(node)
        if network == 0:
            return machine.address
        if network == 1 and machine.second:
            return machine.second
        raise LabError(
            f"According to the inventory, {node} has no address on a second network.",
            "Write one there (beowulf_second), then run `beowulf setup` and `beowulf up` again.",
            node,
        )

    def machine(self, node: str) -> Machine:
        """How a node is reached; LabError for one that is not there."""
        self.refuse_stranger(node)
        return self._machines[node]

    def interface(self, node: str, network: int = 0) -> str:
        """The card on which a node has its address on a network."""
        which = "second_interface" if network else "interface"
        if card := self.target.cards.get(node, {}).get(which):
            return card
        raise LabError(
            f"It is unknown which card of {node} is in the cluster{' on its second network' * bool(network)}.",
            "`beowulf up` asks the node again, once it is set up.",
            node,
        )

    def hardware(self, node: str) -> Hardware:
        """The cores and the memory of a node, which are read once."""
        if node not in self._hardware:
            self._hardware[node] = super().hardware(node)
        return self._hardware[node]

    def dead_nodes(self) -> list[str]:
        """The nodes that do not answer; one with an open connection is not asked."""
        _, failed = at_once.everywhere(self.nodes, self._look)
        return [node for node in self.nodes if node in failed]

    def _look(self, node: str) -> None:
        if not connections.open_to(self.folder, node):
            self._run(node, "true", b"", connections.LONGEST_ANSWER_S)

    def shell(self, node: str, command: str, *, terminal: bool = False) -> list[str]:
        """The words that run `command` (a login shell if empty) on a node with the cluster's tools in its PATH."""
        line = f"[ ! -r {ENVIRONMENT} ] || . {ENVIRONMENT}; {command or 'exec bash -l'}"
        if self.target.cards.get(node, {}).get("shell") != "bash":
            line = f"exec bash --norc -c {shlex.quote(line)}"
        return [*connections.words(self.folder, self.machine(node), terminal=terminal), line]

    def _in_shell(self, node: str, line: str, stdin: str, timeout_s: float) -> Completed:
        return self._run(node, self.shell(node, line)[-1], stdin.encode(), timeout_s)

    def administer(self, node: str, script: str, *, timeout_s: float = 60) -> Completed:
        """Run lines of shell on a node as root, by sudo unless the inventory's user is root."""
        user = self.machine(node).user
        line = f"PATH=$PATH:/usr/sbin:/sbin exec {shlex.join(SHELL)}"
        if user != "root":
            line = f'if [ "$(id -u)" = 0 ]; then {line}; else exec sudo -n {shlex.join(SHELL)}; fi'
        done = self._run(node, line, script.encode(), timeout_s)
        if done.returncode and (refused := _refused(done.stderr)):
            raise LabError(
                f"{user or 'Your user'} may not become root on {node} without a password: {refused}",
                "Its administrator can allow that in /etc/sudoers.d.",
                node,
            )
        return done

    def _run(self, node: str, line: str, stdin: bytes, timeout_s: float) -> Completed:
        return connections.run(self.folder, self.machine(node), line, stdin, timeout_s)

    def bring(self, words: Sequence[str], folder: Path | None) -> tuple[list[str], str]:
        """Copy the files that these words name, and what is in `folder`, to every node that answers."""
        files = node_files.travelling(words)
        inside = sorted(path for path in folder.rglob("*") if path.is_file()) if folder else []
        archive = node_files.packed(dict.fromkeys([*files.values(), *inside]))
        where, user = folder or paths.here(), self._user

        def send(node: str) -> None:
            self._files(node, node_files.unpack(user, node_files.there(where, user)), archive)

        _, failed = at_once.everywhere(self.nodes, send)
        dead = self.dead_nodes() if failed else []
        for node, why in failed.items():
            if node not in dead:
                raise why
        names = {text: node_files.there(text, user) for text in files}
        return [_renamed(word, names) for word in words], node_files.there(where, user)

    def fetch(self, folder: Path) -> None:
        """Bring home what a program has written into `folder` on the nodes."""

        def take(node: str) -> bytes:
            return self._files(node, node_files.pack(node_files.there(folder, self._user)), b"")

        archives, _ = at_once.everywhere(self.nodes, take)
        for archive in archives.values():
            node_files.unpacked(archive, folder)

    def _files(self, node: str, line: str, archive: bytes) -> bytes:
        """What a line of shell prints that takes or gives an archive."""
        outputs, code, _ = connections.exchange(
            self.folder, self.machine(node), line, archive, LONGEST_SENDING_S
        )
        if code:
            raise node_files.trouble(node, outputs[1].decode(errors="replace"))
        return outputs[0]

    @property
    def _user(self) -> str:
        # The master's user stands for all of them, in paths that a program gets once.
        return self.machine(self.nodes[0]).user or "you"

    def _capture(self, file: Path, where: str, limits: Mapping[str, Any]) -> Capture:
        """Capture the wire, at a node or at all `nodes`; the files are fetched when it ends, not while it runs."""
        from beowulf.cluster.machines.node_captures import Reached, capture

        if where == SWITCH:
            raise LabError(
                "Packets cannot be captured at a physical switch.",
                f"Capture what all nodes' cards send (`--where {WIRE}`), or what one node's card sees"
                f" (`--where {self.nodes[0]}`).",
            )
        words = {
            node: connections.words(self.folder, machine)
            for node, machine in self._machines.items()
        }
        reached = Reached(words, self.clock_errors_s(), self.own_packets)
        return capture(self, reached, file, where, limits)

    def clock_errors_s(self) -> dict[str, float]:
        """How far each node's clock is at least ahead of this machine's; 0 where the travel time explains it."""

        def ask(node: str) -> float:
            before = time.time()
            # A login script may print something before it.
            clock = self._run(node, "date +%s.%N", b"", LONGEST_TELLING_S).stdout.split()[-1]
            return _ahead_s(clock, before)

        return at_once.everywhere(self.nodes, ask)[0]

    def _held_there(
        self, doing: str, wait: bool, report: Callable[[str], None] | None
    ) -> AbstractContextManager[None]:
        there = ssh_lock.held_there(self, self.folder, doing, wait, report)
        return there if self.shared else nullcontext()

    def as_found(self) -> dict[str, str]:
        """What must not change while something is measured, by name."""
        return snapshot_machines.found(self, self.folder)

    def describe(self) -> dict[str, Any]:
        """What this cluster is, read from its first living node, and where others differ from it; for a Record."""
        dead = self.dead_nodes()
        alive = [node for node in self.nodes if node not in dead]
        by_node, _ = at_once.everywhere(alive, self._described)
        answers = dict(next(iter(by_node.values()), {}))
        differ = {
            what: {node: by_node[node].get(what, "") for node in by_node}
            for what in answers
            if len({each.get(what) for each in by_node.values()}) > 1
        }
        for what in ("memory", "clock"):
            answers.pop(what, "")
        speed, cores = answers.pop("speed", ""), answers.pop("cores", "")
        return {
            "kind": self.kind,
            "nodes": list(self.nodes),
            "addresses": {node: self.address(node) for node in self.nodes},
            "dead_nodes": dead,
            "rate": self.target.rate or SPEEDS.get(speed, "off"),
            "networks": 2 if all(machine.second for machine in self.target.machines) else 1,
            "mpi": "classic",
            "cores": int(cores) if cores else None,
            "target": self.target.source,
            "differ": differ,
            **description.hardware(self, alive),
            **description.of_learner(),
            **answers,
        }

    def _described(self, node: str) -> dict[str, str]:
        card = self.interface(node)
        before = time.time()
        answers = description.answers(self, node, card, ASKED_TOO)
        ahead_s = _ahead_s(answers["clock"], before)
        off = f"{abs(ahead_s):.0f} s {'ahead' if ahead_s > 0 else 'behind'}"
        return {**answers, "clock": "right" if abs(ahead_s) < MOST_CLOCK_ERROR_S else off}

    def heal(self) -> None:
        """Connect every machine again; LabError with all that is wrong."""
        self._healed(*up(self.target.source, self.folder))

    def _healed(self, again: SshCluster, troubles: Mapping[str, LabError]) -> None:
        self.target, self._machines = again.target, again._machines
        if troubles:
            raise LabError(" ".join(str(each) for each in troubles.values()))


COLUMNS = {"PCs, VMs": SshCluster.can}


def _ahead_s(clock: str, before: float) -> float:
    """How far a node's clock is ahead at least that showed this between a moment of ours and now."""
    return min(float(clock) - before, 0.0) or max(float(clock) - time.time(), 0.0)


def _refused(output: str) -> str:
    """What sudo printed when it refused; empty when it was something else."""
    for line in output.splitlines():
        if "sudo:" in line or "sudoers" in line:
            return line.strip().rstrip(".") + "."
    return ""


def _renamed(word: str, names: Mapping[str, str]) -> str:
    if word in names:
        return names[word]
    setting, equals, value = word.partition("=")
    return f"{setting}={names[value]}" if equals and value in names else word
