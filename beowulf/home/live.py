"""The cluster as it is now, for a page that looks every two seconds: files are read, and nothing is started."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from beowulf import paths
from beowulf.cluster import Cluster, state, targeted
from beowulf.cluster.common import processes
from beowulf.cluster.holding import lock
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.studies import given

RATE_NAMES = {
    "10mbit": "10 Mbit/s",
    "100mbit": "100 Mbit/s",
    "1gbit": "1 Gbit/s",
    "off": "no limit",
}
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Of a line of /proc/PID/stat after the name: time in the program and the kernel, its own and its ended children's.
CPU_TIMES = slice(11, 15)


def look() -> dict[str, Any]:
    """Plain data for the page. CPU seconds and bytes are counters, of which the page takes differences."""
    try:
        seen = _look(paths.state())
        held = lock.holder(paths.state())
    except LabError as error:
        seen, held = {"kind": "", "nodes": [], "sentence": str(error)}, None
    one_minute = Path("/proc/loadavg").read_text().split()[0]
    return seen | {
        "held": str(held or ""),
        "load": float(one_minute),
        "cores": os.cpu_count() or 1,
        "at_s": time.monotonic(),
    }


def _look(folder: Path) -> dict[str, Any]:
    if other := targeted():
        said = f"The cluster is of the kind {other.kind}. `beowulf status` in a terminal asks its nodes."
        if other.cannot_show:
            said = f"The cluster is of the kind {other.kind}. {other.cannot_show} {_given()}"
            return {**_still(other, "here", said), "cables": False}
        return _still(other, "not asked", said)
    cluster = namespaces.running(folder)
    if cluster is None:
        return {"kind": "", "nodes": [], "sentence": "No cluster is running."}
    return _local(cluster)


def _given() -> str:
    """Of which studies Records come with the labs, for a cluster that cannot show them."""
    known = ", ".join(given.studies())
    return f"Records of full runs are given of {known}: `beowulf show A5 --given`." if known else ""


def _still(cluster: Cluster, node_state: str, sentence: str) -> dict[str, Any]:
    """A cluster that is not looked at here."""
    nodes = [
        {"node": node, "address": cluster.address(node), "state": node_state}
        for node in cluster.nodes
    ]
    return {"kind": cluster.kind, "nodes": nodes, "sentence": sentence}


def _local(cluster: NamespaceCluster) -> dict[str, Any]:
    alive, config = cluster.supervisor.nodes(), cluster.config
    ports = _ports(cluster.supervisor.process.pid)
    nodes = [
        {
            "node": node,
            "address": cluster.address(node),
            **(_node(alive[node].pid) if node in alive else {"state": "down"}),
            # What the switch receives from a node, the node has sent.
            "links": [ports.get(config.port(node, n)) for n in range(config.networks)],
        }
        for node in cluster.nodes
    ]
    return {
        "kind": cluster.kind,
        "rate": config.rate,
        "networks": config.networks,
        "nodes": nodes,
        "sentence": _sentence(cluster, [each["node"] for each in nodes if each["state"] != "up"]),
    }


def _sentence(cluster: NamespaceCluster, not_up: list[Any]) -> str:
    up, every = len(cluster.nodes) - len(not_up), len(cluster.nodes)
    rate, mpi = RATE_NAMES[cluster.config.rate], cluster.mpi
    networks = "two networks, " if cluster.config.networks > 1 else ""
    sentence = f"{up} of {every} nodes are up, {networks}cables with {rate}, {mpi} MPICH."
    if cluster.broken:
        sentence += f" Broken on purpose by `beowulf break {cluster.broken}`: Heal repairs it."
    elif (cluster.folder / state.UNFINISHED).exists():
        sentence += " A change of the cluster is under way, or was cut short: Heal completes it."
    elif not_up:
        sentence += " Heal starts the others again."
    return sentence


def _node(first: int) -> dict[str, Any]:
    """A node that runs: has it an ssh server, and what CPU time have its processes used, ended ones included."""
    # /proc/PID/net/tcp would say who listens, but the kernel takes milliseconds to write it.
    ticks, servers, every = 0, 0, [first]
    while every:
        pid = every.pop()
        every += processes.children(pid)
        try:
            head, _, fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
        except OSError:
            continue
        ticks += sum(map(int, fields.split()[CPU_TIMES]))
        servers += head.endswith("(sshd")
    return {"state": "up" if servers else "no sshd", "cpu_s": ticks / TICKS_PER_S}


def _ports(switch: int) -> dict[str, dict[str, int]]:
    """The bytes that each node has sent and received, by the switch's port."""
    try:
        lines = Path(f"/proc/{switch}/net/dev").read_text().splitlines()
    except OSError:
        return {}
    ports = {}
    for line in lines:
        name, colon, counters = line.partition(":")
        if colon:
            received, *_, sent = [int(counters.split()[place]) for place in (0, 8)]
            ports[name.strip()] = {"sent": received, "received": sent}
    return ports
