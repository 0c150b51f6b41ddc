"""The places where knobs are, nodes, switch and this machine: asked, and told, all at once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from beowulf.cluster import Cluster, Completed
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.cluster.shells import SHELL, completed
from beowulf.cluster.ssh import SshCluster
from beowulf.errors import LabError
from beowulf.tuning.knob import HOST, NODES, SWITCH, Knob, Reading

LONGEST_S = 30.0
CARD = re.compile(r"\beth0\b")
# Stands between the answers to several questions that are put to a place in one go.
MARK = "@@ beowulf"
T = TypeVar("T")


def turnable(cluster: Cluster) -> NamespaceCluster:
    """The cluster, if it is of a kind whose nodes can be administered; LabError otherwise."""
    if isinstance(cluster, NamespaceCluster):
        return cluster
    raise LabError(
        f"The knobs of a cluster of the kind {cluster.kind} cannot be turned from here.",
        "`beowulf up` boots a cluster whose knobs can.",
    )


def places(cluster: Cluster | None, knob: Knob) -> list[str]:
    """Where this knob is, the dead nodes too: the switch first, because frames must fit through it."""
    found = [HOST] if HOST in knob.where else []
    # A switch between PCs is nobody's to ask.
    found += [SWITCH] if SWITCH in knob.where and not isinstance(cluster, SshCluster) else []
    return found + (list(cluster.nodes) if cluster and NODES in knob.where else [])


def alive(cluster: Cluster | None, knob: Knob) -> list[str]:
    """Where this knob is now, without the dead nodes."""
    dead = cluster.dead_nodes() if cluster else []
    return [place for place in places(cluster, knob) if place not in dead]


def work(cluster: Cluster | None, place: str, script: str) -> Completed:
    """Run lines of shell at a place as its administrator."""
    if place == HOST:
        return completed([*SHELL], script, LONGEST_S, "")
    if cluster is None:
        raise LabError("No cluster runs.", "`beowulf up` boots one.")
    if place == SWITCH:
        return completed([*turnable(cluster).enter_switch(), *SHELL], script, LONGEST_S, place)
    # Knobs are told for the card of a local node; a PC's has a name of its own.
    lines = CARD.sub(cluster.interface(place), script)
    return cluster.administer(place, lines, timeout_s=LONGEST_S)


def everywhere(names: Iterable[str], do: Callable[[str], T]) -> dict[str, T]:
    """What `do` gives for each place, all at the same time; the first complaint when all are done."""
    listed = list(names)
    with ThreadPoolExecutor(max(len(listed), 1)) as beside:
        jobs = {name: beside.submit(do, name) for name in listed}
    return {name: job.result() for name, job in jobs.items()}


def read(
    cluster: Cluster | None, knobs: Iterable[Knob], only: Sequence[str] = ()
) -> dict[str, dict[str, Reading]]:
    """How each of these knobs is set at each place that lives (or at `only` these): by name, then by place.

    Every place is asked once for all of its knobs.
    """
    asked: dict[str, list[Knob]] = {}
    found: dict[str, dict[str, Reading]] = {}
    for knob in knobs:
        found[knob.name] = {}
        for place in only or alive(cluster, knob):
            asked.setdefault(place, []).append(knob)

    def ask(place: str) -> dict[str, Reading]:
        return _readings(cluster, place, asked[place])

    for place, readings in everywhere(asked, ask).items():
        for name, reading in readings.items():
            found[name][place] = reading
    return found


def _readings(cluster: Cluster | None, place: str, knobs: list[Knob]) -> dict[str, Reading]:
    # A shell for each question: one that fails ends its own alone.
    script = "".join(
        f"bash --norc -eu <<'LOOK' 2>&1\n{knob.look(place)}\nLOOK\necho \"{MARK} $?\"\n"
        for knob in knobs
    )
    done = work(cluster, place, f"set +e\n{script}")
    found: dict[str, Reading] = {}
    lines: list[str] = []
    waiting = list(knobs)
    for line in done.stdout.splitlines():
        if not line.startswith(MARK) or not waiting:
            lines.append(line)
            continue
        knob, said = waiting.pop(0), "".join(f"{each}\n" for each in lines)
        found[knob.name] = knob.missing(said) if line.split()[-1] != "0" else knob.reading(said)
        lines = []
    if waiting:
        raise _trouble(place, f"the knob {waiting[0].name} could not be read", done)
    return found


def turn(cluster: Cluster | None, knob: Knob, lines: Mapping[str, str]) -> dict[str, Reading]:
    """Run lines of a knob's shell at each of these places, the switch first; how it is set there afterwards."""

    def do(place: str) -> Reading:
        done = work(cluster, place, f"{lines[place]}\necho '{MARK}'\n{knob.look(place)}\n")
        if done.returncode:
            raise _trouble(place, f"the knob {knob.name} could not be turned", done)
        return knob.reading(done.stdout.partition(f"{MARK}\n")[2])

    first = [place for place in lines if place == SWITCH]
    found = everywhere(first, do)
    return found | everywhere((place for place in lines if place not in first), do)


def _trouble(place: str, what: str, done: Completed) -> LabError:
    said = (done.stderr.strip() or "it said nothing").rpartition("\n")[2].rstrip(".")
    mend = "`beowulf tune revert` puts back what was changed; `beowulf tune log` shows it."
    if place == HOST and os.geteuid() != 0:
        mend = "Only root may turn what belongs to the machine: put `sudo` before the command."
    return LabError(f"On {place}, {what}: {said}.", mend, "" if place in (HOST, SWITCH) else place)
