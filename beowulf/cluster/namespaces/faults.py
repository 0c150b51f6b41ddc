"""Clusters that are broken on purpose, for a learner to find out what is wrong. `beowulf up` heals them."""

from __future__ import annotations

import hashlib
from itertools import permutations
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.cluster.namespaces import links, sshd
from beowulf.errors import LabError, UsageError

FAULTS = {
    "wrong-hosts": "one node's /etc/hosts gives another node an address that no machine has",
    "node-down": "one node is switched off",
    "key-refused": "one node does not accept the key that the others have",
}
# One that neither ping nor a login shows, but a program whose ranks send each other messages.
CLOSED_PORTS = "closed-ports"
EVERY = {**FAULTS, CLOSED_PORTS: "one node accepts no new connections except those of ssh"}
# Names that do not tell; which fault and which node each of them is differs from learner to learner. The last one has
# always CLOSED_PORTS, on a node that differs.
PUZZLES = ("a", "b", "c", "d")
UNUSED_HOST = 99


def solution(name: str, nodes: tuple[str, ...], of: str) -> tuple[str, str]:
    """The fault and the node behind a puzzle of the learner `of`, or behind the plain name of a fault."""
    seed = hashlib.sha256(of.encode()).digest()
    if name in EVERY:
        return name, nodes[1 + seed[1] % (len(nodes) - 1)]
    if name not in PUZZLES:
        names = ", ".join([*PUZZLES, *EVERY])
        raise UsageError(f"There is no broken cluster {name!r}.", f"There are: {names}.")
    orders = list(permutations(FAULTS))
    place = PUZZLES.index(name)
    hidden = [*orders[seed[0] % len(orders)], CLOSED_PORTS]
    return hidden[place], nodes[1 + seed[1 + place] % (len(nodes) - 1)]


def apply(cluster: Cluster, folder: Path, fault: str, node: str) -> None:
    """Set up `fault` on a `node` of the cluster whose files are in `folder`."""
    cluster.refuse_stranger(node)
    own = folder / "nodes" / node
    if fault == "node-down":
        cluster.kill(node)
    elif fault == "wrong-hosts":
        hosts = own / "hosts"
        other = next(name for name in reversed(cluster.nodes) if name != node)
        right = cluster.address(other)
        wrong = right.rpartition(".")[0] + f".{UNUSED_HOST}"
        hosts.write_text(hosts.read_text().replace(f"{right} {other}\n", f"{wrong} {other}\n"))
        _drop_connections(cluster, (node,), other)
    elif fault == "key-refused":
        stranger = sshd.host_key(folder, node).with_suffix(".pub")
        (own / "authorized_keys").write_text(stranger.read_text())
        _drop_connections(cluster, cluster.nodes, node)
    elif fault == CLOSED_PORTS:
        done = cluster.administer(node, "\n".join(links.closed()))
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2]
            raise LabError(f"The ports of {node} could not be closed: {reason}.", "", node)


def _drop_connections(cluster: Cluster, of: tuple[str, ...], to: str) -> None:
    # An open shared connection would go on working and hide the fault.
    for node in of:
        cluster.administer(node, "\n".join(sshd.hang_up(to)))
