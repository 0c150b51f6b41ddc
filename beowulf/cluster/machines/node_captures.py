"""Captures on machines that are reached by ssh: each node keeps its packets until the end, then they are fetched.

If they were sent home at once, they would cross the very cables that are watched.

A physical switch cannot be captured at, but each frame has a sender. So the whole wire is what each
node's card sends, and what others send to it, put together: each frame once, and by the clock of its sender.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from beowulf.cluster import NODES, WIRE, Cluster
from beowulf.cluster.capturing.capture import Capture
from beowulf.cluster.common import at_once
from beowulf.cluster.common.shells import ANSWER, marked, surroundings
from beowulf.cluster.machines import connections
from beowulf.errors import LabError

# When its stdin ends, because we close it or because the connection broke, dumpcap ends and the packets come.
REMOTE = """\
PATH=$PATH:/usr/sbin:/sbin
umask 077
folder=$(mktemp -d) && cd "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT
exec 3<&0
OWN
WORDS 3<&- &
dumpcap=$!
{ cat <&3 >/dev/null; kill -TERM $dumpcap; } 2>/dev/null &
watcher=$!
exec 3<&-
wait $dumpcap
code=$?
kill $watcher 2>/dev/null
cat packets 2>/dev/null
exit $code
"""
# What comes before the packets is a login's (shells.ANSWER).
PACKETS = f"set -o pipefail; \"$@\" | LC_ALL=C sed '0,/{ANSWER}$/d'"
# No byte for so long, and the connection is taken for broken.
LONGEST_PAUSE_S = 20.0
LOOK_EVERY_S = 0.01
# More than this, and packets of two nodes cannot be put in order.
MOST_CLOCK_ERROR_S = 0.1
# Begins the line that a node answers with; a login script may print others.
MARK = "@@ beowulf"


@dataclass(frozen=True)
class Reached:
    """How the nodes are reached: by node, the words that start a command there, and its clock, as far as it is ahead.

    `own_packets` are lines by which a node's shell finds out, in capture's language, which packets are not our own.
    """

    words: Mapping[str, list[str]]
    ahead_s: Mapping[str, float]
    own_packets: str


def capture(
    cluster: Cluster,
    reached: Reached,
    file: Path,
    where: str,
    limits: Mapping[str, Any],
) -> Capture:
    """A capture on one node, on all `nodes` or of the `wire`; our own connection to a node is left out of it."""
    nodes = _places(cluster, where)
    cards = {node: cluster.interface(node) for node in nodes}
    only = _once(cluster, cards) if where == WIRE else dict.fromkeys(nodes, "")
    ahead_s = reached.ahead_s
    interfaces = [cards[where]] if where in nodes else nodes
    under_way: dict[subprocess.Popen[bytes], Path] = {}

    def start(words: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
        named = words[words.index("-i") + 1]
        node = where if where in nodes else named
        named = WIRE if where == WIRE else named
        remote = REMOTE.replace("OWN", reached.own_packets)
        remote = remote.replace("WORDS", _dumpcap(words, cards[node], named, only[node]))
        ssh = [*reached.words[node], marked(f"exec bash --norc -c {shlex.quote(remote)}")]
        process = subprocess.Popen(
            ["bash", "--norc", "-c", PACKETS, "bash", *ssh],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.PIPE,
            env=surroundings(),
            start_new_session=True,
        )
        under_way[process] = Path(output.name)
        return process

    def stop(process: subprocess.Popen[bytes]) -> None:
        # All of them, so that none watches how another's packets come home.
        for each in under_way:
            assert each.stdin
            with suppress(OSError):
                each.stdin.close()
        _await(process, under_way[process])

    wire = Capture(
        start,
        file,
        interfaces,
        **limits,
        where=where,
        stop=stop,
        once=where == WIRE,
        ahead_s={node: ahead_s.get(node, 0.0) for node in nodes} if where == WIRE else None,
    )
    wire.warnings += [] if where == WIRE else _clocks(ahead_s, nodes)
    return wire


def _places(cluster: Cluster, where: str) -> list[str]:
    """The nodes on which packets are captured. A dead node sends nothing, so the wire is whole without it."""
    if where == NODES:
        return list(cluster.nodes)
    if where != WIRE:
        return [where]
    dead = cluster.dead_nodes()
    if alive := [node for node in cluster.nodes if node not in dead]:
        return alive
    raise LabError("No node answers, so no packets can be captured.", "`beowulf up` says why.")


def _once(cluster: Cluster, cards: Mapping[str, str]) -> dict[str, str]:
    """By node, in capture's language, the frames that are captured there, so that each is captured once.

    Those that its card sends, and those that come to it from a machine that is no node; of what such a machine sends to
    all, the first node's copy counts.
    """

    def ask(node: str) -> list[str]:
        address = f"ip -o link show {cards[node]} | sed -n 's/.*link.ether \\([^ ]*\\).*/\\1/p'"
        line = f'PATH=$PATH:/usr/sbin:/sbin; echo; echo "{MARK} $({address}) $SSH_CONNECTION"'
        answer = cluster.run(node, line, timeout_s=connections.LONGEST_ANSWER_S).stdout
        return answer.rpartition(MARK)[2].split()

    by_node = at_once.all_of(list(cards), ask)
    foreign = " and ".join(f"not ether src {words[0]}" for words in by_node.values())
    filters = {}
    for number, (node, (card, *_)) in enumerate(by_node.items()):
        to_it = f"ether dst {card}" + " or ether multicast" * (number == 0)
        filters[node] = f"(ether src {card} or (({to_it}) and {foreign}))"
        # From the master, our own connections to the others are on its card, too.
        for other, (_, *ours) in by_node.items():
            if ours and other != node:
                here, port, there, _ = (each.partition("%")[0] for each in ours)
                filters[node] += f" and not (host {here} and host {there} and tcp port {port})"
    return filters


def _dumpcap(words: list[str], card: str, named: str, only: str) -> str:
    """dumpcap's words for the node's shell: on its own card, without our own connection."""
    place = words.index("-i")
    mine = [*words[:place], "-i", card, "--ifname", named, "-w", "packets"]
    own = '"$own"'
    if only:
        own = shlex.quote(f"{only} and ") + own
    if "-f" in mine:
        at = mine.index("-f")
        chosen = shlex.quote(f"({mine[at + 1]}) and ")
        mine = [*mine[:at], *mine[at + 2 :]]
        own = chosen + own
    return f"{shlex.join(mine)} -f {own}"


def _await(process: subprocess.Popen[bytes], arriving: Path) -> None:
    """Wait until a node's packets are here, as long as any come."""
    size, changed = -1, time.monotonic()
    while process.poll() is None and time.monotonic() - changed < LONGEST_PAUSE_S:
        now = arriving.stat().st_size
        if now != size:
            size, changed = now, time.monotonic()
        time.sleep(LOOK_EVERY_S)


def _clocks(ahead_s: Mapping[str, float], nodes: list[str]) -> list[str]:
    """Which nodes' clocks differ so much that their packets cannot be put in order with those of others."""
    return [
        f"The clock of {node} is {abs(error):.1f} s {'ahead of' if error > 0 else 'behind'} this machine's:"
        " its packets are out of order with those of others, and the rates may miss some of them."
        for node, error in ahead_s.items()
        if node in nodes and abs(error) > MOST_CLOCK_ERROR_S
    ]
