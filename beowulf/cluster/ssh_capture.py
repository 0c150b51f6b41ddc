"""Captures on machines that are reached by ssh: each node keeps its packets until the end, then they are fetched.

Were they sent home at once, they would be on the very cables that are watched.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from beowulf.cluster import connections
from beowulf.cluster.shells import ANSWER, marked, surroundings

if TYPE_CHECKING:
    from beowulf.capture.wire import Capture
    from beowulf.cluster.ssh import SshCluster

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
HOME
exit $code
"""
# What comes before the packets is a login's (shells.ANSWER).
PACKETS = f"set -o pipefail; \"$@\" | LC_ALL=C sed '0,/{ANSWER}$/d'"
ONE, SEVERAL = "cat packets 2>/dev/null", "tar -c ./*.pcapng 2>/dev/null"
# No byte for so long, and the connection is taken for broken.
LONGEST_PAUSE_S = 20.0
LOOK_EVERY_S = 0.01
# More than this, and packets of two nodes cannot be put in order.
MOST_CLOCK_ERROR_S = 0.1


def capture(
    cluster: SshCluster,
    file: Path,
    where: str,
    snap_bytes: int,
    packet_filter: str,
    most_mb: float,
    ring: bool,
) -> Capture:
    """A capture on one node or on all `nodes`; our own connection to a node is left out of it."""
    from beowulf.capture.wire import Capture

    nodes = list(cluster.nodes) if where == "nodes" else [where]
    cards = {node: cluster.interface(node) for node in nodes}
    interfaces = nodes if where == "nodes" else [cards[where]]
    under_way: dict[subprocess.Popen[bytes], Path] = {}

    def start(words: list[str], output: IO[bytes], folder: Path) -> subprocess.Popen[bytes]:
        named = words[words.index("-i") + 1]
        node = named if where == "nodes" else where
        remote = REMOTE.replace("OWN", cluster.own_packets)
        remote = remote.replace("WORDS", _dumpcap(words, cards[node], named, ring))
        remote = remote.replace("HOME", SEVERAL if ring else ONE)
        ssh = [
            *connections.words(cluster.folder, cluster.machine(node)),
            marked(f"exec bash --norc -c {shlex.quote(remote)}"),
        ]
        fetch = f'{PACKETS} | tar -x -C "$0"' if ring else PACKETS
        ssh = ["bash", "--norc", "-c", fetch, str(folder), *ssh]
        process = subprocess.Popen(
            ssh,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.PIPE,
            env=surroundings(),
            start_new_session=True,
        )
        under_way[process] = folder if ring else Path(output.name)
        return process

    def stop(process: subprocess.Popen[bytes]) -> None:
        # All of them, so that none watches how another's packets come home.
        for each in under_way:
            with suppress(OSError):
                if each.stdin:
                    each.stdin.close()
        _await(process, under_way[process])

    wire = Capture(
        start,
        file,
        interfaces,
        snap_bytes,
        packet_filter,
        where=where,
        most_mb=most_mb,
        ring=ring,
        stop=stop,
    )
    wire.warnings += _clocks(cluster, nodes)
    return wire


def _dumpcap(words: list[str], card: str, named: str, ring: bool) -> str:
    """dumpcap's words as the node's shell shall read them: on its own card, without our own connection."""
    place = words.index("-i")
    mine = [*words[:place], "-i", card, "--ifname", named, *words[place + 2 :]]
    if not ring:
        mine[-1] = "packets"
    own = '"$own"'
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
        now = _size(arriving)
        if now != size:
            size, changed = now, time.monotonic()
        time.sleep(LOOK_EVERY_S)


def _size(arriving: Path) -> int:
    with suppress(OSError):
        if arriving.is_dir():
            return sum(part.stat().st_size for part in arriving.iterdir())
        return arriving.stat().st_size
    return 0


def _clocks(cluster: SshCluster, nodes: list[str]) -> list[str]:
    """Which nodes' clocks differ so much that their packets cannot be put in order with those of others."""
    return [
        f"The clock of {node} is {abs(error):.1f} s {'ahead of' if error > 0 else 'behind'} this machine's:"
        " its packets are out of order with others', and some may be missed by the rates."
        for node, error in cluster.clock_errors_s().items()
        if node in nodes and abs(error) > MOST_CLOCK_ERROR_S
    ]
