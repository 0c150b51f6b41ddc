"""The places where knobs are, nodes and this machine: read and set, all at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from beowulf.cluster import Cluster, Completed
from beowulf.cluster.common import at_once
from beowulf.cluster.common.shells import SHELL, completed
from beowulf.errors import LabError
from beowulf.tuning.knob import HOST, NODES, SECOND, Knob, Reading

LONGEST_S = 60.0
CARD = re.compile(rf"\beth0\b|\b{SECOND}\b")
# Separates the answers to several questions that are put to a place in one go.
MARK = "@@ beowulf"


def belongs_here(cluster: Cluster | None, knob: Knob) -> bool:
    """Whether it belongs to this machine, whose nodes share it; a PC or a VM is a machine, and has it of its own."""
    return knob.on_host and (cluster is None or HOST in cluster.can.knobs)


def places(cluster: Cluster | None, knob: Knob) -> list[str]:
    """Where this knob is, the dead nodes too."""
    if belongs_here(cluster, knob):
        return [HOST]
    return list(cluster.nodes) if cluster and NODES in cluster.can.knobs else []


def alive(cluster: Cluster | None, knob: Knob) -> list[str]:
    """Where this knob is now, without the dead nodes."""
    dead = cluster.dead_nodes() if cluster else []
    return [place for place in places(cluster, knob) if place not in dead]


def work(cluster: Cluster | None, place: str, script: str) -> Completed:
    """Run lines of shell at a place as its administrator."""
    if place == HOST:
        return completed([*SHELL], script, LONGEST_S, "")
    if cluster is None:
        raise LabError("No cluster is running.", "`beowulf up` boots one.")
    return cluster.administer(place, its_own(cluster, place, script), timeout_s=LONGEST_S)


def its_own(cluster: Cluster | None, place: str, script: str) -> str:
    """Lines of shell with the names that a node's cards have there: knobs name those of a local node."""
    if cluster is None or place == HOST:
        return script

    def own(card: re.Match[str]) -> str:
        if card[0] != SECOND:
            return cluster.interface(place)
        try:
            return cluster.interface(place, 1)
        except LabError:
            return SECOND  # no card has this name, and the lines say what that means

    return CARD.sub(own, script)


def read(
    cluster: Cluster | None, knobs: Iterable[Knob], only: Sequence[str] = ()
) -> dict[str, dict[str, Reading]]:
    """How each of these knobs is set at each place that lives (or at `only` these): by name, then by place.

    Every place is asked once for all of its knobs.
    """
    knobs_by_place: dict[str, list[Knob]] = {}
    by_knob: dict[str, dict[str, Reading]] = {}
    for knob in knobs:
        by_knob[knob.name] = {}
        for place in only or alive(cluster, knob):
            if place != HOST and knob.only_local and cluster and not cluster.can.one_machine:
                by_knob[knob.name][place] = knob.missing("only nodes of this machine have it")
            else:
                knobs_by_place.setdefault(place, []).append(knob)

    def ask(place: str) -> dict[str, Reading]:
        return _readings(cluster, place, knobs_by_place[place])

    for place, readings in at_once.all_of([*knobs_by_place], ask).items():
        for name, reading in readings.items():
            by_knob[name][place] = reading
    return by_knob


def _readings(cluster: Cluster | None, place: str, knobs: list[Knob]) -> dict[str, Reading]:
    # A shell for each question: one that fails ends its own alone.
    script = "".join(
        f"bash --norc -eu <<'LOOK' 2>&1\n{knob.look(place)}\nLOOK\necho \"{MARK} $?\"\n"
        for knob in knobs
    )
    done = work(cluster, place, f"set +e\n{script}")
    parts = re.split(rf"^{MARK} (\d+)\n", done.stdout, flags=re.MULTILINE)
    outputs, codes = parts[::2], parts[1::2]
    if len(codes) < len(knobs):
        raise _trouble(place, f"the knob {knobs[len(codes)].name} could not be read", done)
    return {
        knob.name: knob.reading(output) if code == "0" else knob.missing(output)
        for knob, output, code in zip(knobs, outputs, codes, strict=False)
    }


def turn(cluster: Cluster | None, knob: Knob, lines: Mapping[str, str]) -> dict[str, Reading]:
    """Run lines of a knob's shell at each of these places; how it is set there afterwards."""

    def do(place: str) -> Reading:
        done = work(cluster, place, f"{lines[place]}\necho '{MARK}'\n{knob.look(place)}\n")
        if done.returncode:
            raise _trouble(place, f"the knob {knob.name} could not be turned", done)
        return knob.reading(done.stdout.partition(f"{MARK}\n")[2])

    return at_once.all_of([*lines], do)


def set_to(cluster: Cluster | None, knob: Knob, values: Mapping[str, str]) -> None:
    """Set a knob to a value at each of these places; LabError where it did not take."""
    lines = {place: knob.set(value, place) for place, value in values.items()}
    for place, now in turn(cluster, knob, lines).items():
        if now.value != values[place]:
            raise LabError(
                f"On {place}, {knob.name} is {now.value} after it was set to {values[place]}.",
                "`beowulf tune revert` puts back what was there.",
                node(place),
            )


def node(place: str) -> str:
    """The node that this place is; empty for this machine."""
    return "" if place == HOST else place


def _trouble(place: str, what: str, done: Completed) -> LabError:
    reason = (done.stderr.strip() or "it printed nothing").rpartition("\n")[2].rstrip(".")
    hint = "`beowulf tune revert` puts back what was changed; `beowulf tune log` shows it."
    if place == HOST and os.geteuid() != 0:
        hint = "Only root may turn what belongs to the machine: put `sudo` before the command."
    return LabError(f"On {place}, {what}: {reason}.", hint, node(place))
