"""What every kind of cluster can do: the protocol that all other rooms know."""

from __future__ import annotations

import os
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster.common.shells import KILL_MARKED, LONGEST_KILLING_S, Completed, UnfinishedError
from beowulf.cluster.holding import lock
from beowulf.errors import LabError, Sentence, UsageError

if TYPE_CHECKING:
    from beowulf.cluster.capturing.capture import Capture


# Where packets are captured, besides at a single node: the whole wire, each frame once; the switch; all nodes.
WIRE, SWITCH, NODES = "wire", "switch", "nodes"
# The other place, beside the nodes, that has knobs.
HOST = "this machine"
# How a node answers how many cores it has and how many KB of memory.
ASK_HARDWARE = "nproc; sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo"


class NotAnsweredError(Sentence, KeyboardInterrupt):
    """A question to a node was interrupted."""


@dataclass(frozen=True)
class Abilities:
    """What a cluster can do; all other rooms ask for this, and never for its kind."""

    # How a capture sees every frame once: at the `switch`, or as the `wire` of all cards.
    whole_wire: str = ""
    knobs: tuple[str, ...] = ()  # the places whose knobs are turned: nodes, this machine
    # Its nodes are ours alone: they may be broken, slowed down, and their cables limited.
    faults: bool = False
    cpu_limits: bool = False  # the share of a processor that a node gets can be limited
    shared_files: bool = False  # its nodes see the files of this machine
    # Its nodes share this machine's kernel, cores and memory, and have no network cards.
    one_machine: bool = False
    # Each node has a network card, logins and settings of its own; else its nodes are names of this machine.
    separate_nodes: bool = False
    simulated: bool = False  # only MPI programs in C run on its nodes, in simulated time
    queue: bool = False  # a queue gives its nodes for a time, and starts what runs on them


@dataclass(frozen=True)
class Hardware:
    """The cores and the memory that a node has, or shares with the other nodes of its machine."""

    cores: int
    memory_bytes: int


class Cluster(ABC):
    """What every kind of cluster can do."""

    kind: str
    can: Abilities
    folder: Path | None = None  # where this user's files of the cluster are
    instead = ""  # what a person may do who wants what this kind has not
    cannot_show: str = ""  # what of a cluster this kind cannot show, for a learner who has no other
    # The changes that a user has been shown before they are made (beowulf/tuning/change_preview.py).
    shown: set[str]
    records: Path | None = None  # where a notebook keeps its Records
    watched: Any = None  # what looks at it during a measurement (beowulf/measure/watched.py)

    @property
    @abstractmethod
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes, node00 first, the dead ones too."""

    @property
    def source(self) -> str:
        """What `beowulf up --target` was given to make it; empty for the kind that plain `up` boots."""
        return ""

    def still_there(self) -> None:
        """LabError when its nodes are not ours any more."""
        return

    def is_ours(self) -> bool:
        """Whether its nodes are ours at this moment; most stay ours until `beowulf down`."""
        return True

    @property
    def broken(self) -> str:
        """Which fault was set up on purpose and not healed yet; empty if none was."""
        return ""

    def refuse_stranger(self, node: str) -> None:
        """LabError for a node that is not there."""
        if node not in self.nodes:
            raise UsageError(f"There is no {node!r}; the nodes are {', '.join(self.nodes)}.")

    @abstractmethod
    def address(self, node: str, network: int = 0) -> str:
        """The planned address of `node` on a network (0 is the first)."""

    @abstractmethod
    def dead_nodes(self) -> list[str]:
        """The nodes that do not run or do not answer."""

    def run(
        self,
        node: str,
        command: str | list[str],
        *,
        timeout_s: float = 60,
        stdin: str = "",
    ) -> Completed:
        """Run a command in a shell on a node, as the learner; returns what it printed, and its return code.

        When the wait for it ends early, nothing of it is left on the node, unlike with ssh alone. An empty command is a
        login shell, which ends with its stdin.
        """
        line = command if isinstance(command, str) else shlex.join(command)
        mark = f"BEOWULF_CALL={os.urandom(8).hex()}"
        try:
            return self._in_shell(node, f"export {mark}; {line}" if line else "", stdin, timeout_s)
        except (KeyboardInterrupt, UnfinishedError) as ended:
            with suppress(LabError):
                script = KILL_MARKED.format(mark=mark)
                self._in_shell(node, "bash --norc", script, LONGEST_KILLING_S)
            if isinstance(ended, UnfinishedError):
                raise UnfinishedError(node, line, ended.timeout_s) from None
            raise

    def _in_shell(self, node: str, line: str, stdin: str, timeout_s: float) -> Completed:
        """Run a line of shell on a node to its end."""
        raise self._has_no("commands on its nodes")

    @abstractmethod
    def shell(self, node: str, command: str, *, terminal: bool = False) -> list[str]:
        """The words that, started on this machine, run `command` (or a login shell) on a node."""

    def capture(
        self,
        file: Path,
        *,
        where: str = WIRE,
        snap_bytes: int = 128,
        packet_filter: str = "",
        most_mb: float = 1000,
    ) -> Capture:
        """A capture, to be entered with `with`: packets of the wire, at the switch, a node or all `nodes`, into `file`.

        Of the `wire` each frame is captured once, in the way in which this kind of cluster can see all of them; the
        capture's `where` says which. At all nodes, each packet between two of them is captured at both; the name of
        its interface is that of the node. At `most_mb` it ends.
        """
        limits = {"snap_bytes": snap_bytes, "filter": packet_filter, "most_mb": most_mb}
        return self._capture(file, where, limits)

    def _capture(self, file: Path, where: str, limits: Mapping[str, Any]) -> Capture:
        raise self._has_no("packets to capture")

    def hardware(self, node: str) -> Hardware:
        """The cores and the memory of a node; LabError when it does not answer."""
        cores, memory_kb = map(int, self.run(node, ASK_HARDWARE).stdout.split()[-2:])
        return Hardware(cores, memory_kb * 1024)

    def enter(self, node: str) -> list[str]:
        """The words that run what follows them on a node as its administrator, from outside and without ssh."""
        raise self._has_no("nodes that are entered from outside")

    def processes(self, node: str) -> list[int]:
        """All processes of a node, by this machine's numbers."""
        raise self._has_no("processes that are seen from outside")

    def limit(self, nodes: Sequence[str], rate: str) -> None:
        """Limit the cables of these nodes in both directions, or take the limit away (`off`)."""
        raise self._has_no("cables whose rate can be set")

    def _has_no(self, what: str) -> LabError:
        return LabError(f"A cluster of the kind {self.kind} has no {what}.", self.instead)

    def administer(self, node: str, script: str, *, timeout_s: float = 60) -> Completed:
        """Run lines of shell on a node, or at the switch, as its administrator."""
        raise self._has_no("nodes that are administered from here")

    @property
    def mpi(self) -> str:
        """Which MPI library the nodes have: `classic` or `modern`."""
        return "classic"

    def interface(self, node: str, network: int = 0) -> str:
        """The name of the network card with which a node is on a network (0 is the first)."""
        return f"eth{network}"

    def bring(self, words: Sequence[str], folder: Path | None) -> tuple[list[str], str]:
        """Words, and the `folder` that a program is to run in (else the one that we are in), as the nodes know them.

        Nodes of this machine share its files; elsewhere they are brought there first.
        """
        return list(words), str(folder or paths.here())

    def fetch(self, folder: Path) -> None:
        """Bring home what a program has written into `folder` on the nodes; where they share files, it is here."""
        return

    @abstractmethod
    def describe(self) -> Mapping[str, Any]:
        """What this cluster is, as plain data for a Record."""

    @contextmanager
    def holding(
        self,
        doing: str,
        *,
        measures: bool = True,
        wait: bool = False,
        report: Callable[[str], None] | None = None,
    ) -> Iterator[None]:
        """Keep others from measuring on this cluster and from changing it meanwhile (holding/lock.py).

        LockedError while another one measures, unless we `wait`; `report` gets the sentence for a person who waits.
        What is simulated is disturbed by nobody.
        """
        if self.folder is None or self.can.simulated:
            yield
            return
        with (
            lock.held(self.folder, doing, measures=measures, wait=wait, report=report),
            self._held_there(doing, wait, report),
        ):
            yield

    def _held_there(
        self, doing: str, wait: bool, report: Callable[[str], None] | None
    ) -> AbstractContextManager[None]:
        """Hold it against users at other machines, too, who can measure on the same nodes."""
        return nullcontext()

    def as_found(self) -> dict[str, str]:
        """What must not change while something is measured, by name; GoneError when the cluster is gone."""
        return {}

    def break_it(self, fault: str, node: str = "") -> None:
        """Set up a fault that a learner is to find (namespaces/faults.py)."""
        raise self._has_no("nodes that are broken on purpose")

    def kill(self, node: str) -> None:
        """Pull the plug: the node and all that runs on it end at once."""
        raise self._has_no("nodes that are switched off from here")

    @abstractmethod
    def heal(self) -> None:
        """Bring every node back to how `up` made it."""

    def ask(self, node: str, command: str) -> str:
        """What a command on a node prints (its error output, if that is all)."""
        try:
            done = self.run(node, command)
        except KeyboardInterrupt:
            raise NotAnsweredError(
                f"{node} had not finished `{command}` when you stopped it."
            ) from None
        return done.stdout or done.stderr
