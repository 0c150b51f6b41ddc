"""What a measurement depends on, read before and after it: links, nodes, fault. Each thing has a name and a text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from pathlib import Path

from beowulf.cluster import SWITCH, Cluster, connections, links, ssh_lock, state
from beowulf.cluster.config import ClusterConfig
from beowulf.cluster.supervisor import Supervisor
from beowulf.errors import LabError

# Prints how links are; the arguments are devices whose offloads are wanted.
LOOK = """
ip -o link
tc qdisc show
for card; do
    echo "offloads $card" $(ethtool -k $card |
        sed -n 's/^\\(tcp-segmentation\\|generic-segmentation\\|generic-receive\\)-offload: on.*/\\1/p')
done
echo "congestion control" $(cat /proc/sys/net/ipv4/tcp_congestion_control)
"""
# The same on a machine, whose boots have numbers.
BOOT_AND_LOOK = f"cat /proc/sys/kernel/random/boot_id\n{LOOK}"
# A device by `ip`, a queue at the root of one by `tc`. What the kernel counts up with each new queue is left out.
DEVICE = re.compile(r"\d+: ([^:@]+)[@:].* mtu (\d+) ")
QUEUE = re.compile(r"qdisc (\S+) \w+: dev (\S+) root (?:refcnt \d+ ?)?(.*)")


def looked(output: str, devices: Collection[str]) -> dict[str, str]:
    """What LOOK has printed of these devices, by name."""
    settings = {}
    for line in output.splitlines():
        if line.startswith("congestion control"):
            settings["congestion control"] = line.split()[-1]
        elif line.startswith("offloads "):
            _, device, *on = line.split()
            settings[f"offloads of {device}"] = " ".join(on) or "off"
        elif (link := DEVICE.match(line)) and link[1] in devices:
            settings[f"MTU of {link[1]}"] = link[2]
        elif (queue := QUEUE.match(line)) and queue[2] in devices:
            settings[f"queue of {queue[2]}"] = f"{queue[1]} {queue[3]}".strip()
    return settings


def local(cluster: Cluster, plan: ClusterConfig, its_supervisor: Supervisor) -> dict[str, str]:
    """The state of a cluster of this machine, by name."""
    process, alive = its_supervisor.process, its_supervisor.nodes()
    settings = {
        "boot": f"{process.pid} {process.start_ticks}",
        "rate": plan.rate,
        "nodes": ", ".join(cluster.nodes),
        "fault": cluster.broken or "none",
    }
    for node in cluster.nodes:
        settings[f"state of {node}"] = "up" if node in alive else "down"
    devices = {node: [f"eth{n}" for n in range(plan.networks)] for node in alive}
    devices[SWITCH] = links.ports(plan, alive)

    def ask(place: str) -> str:
        cards = [] if place == SWITCH else devices[place]
        return cluster.administer(place, f"set -- {' '.join(cards)}\n{LOOK}").stdout

    outputs, failed = connections.everywhere(list(devices), ask)
    for place, text in outputs.items():
        here = looked(text, devices[place])
        settings |= {f"{what} on {place}": value for what, value in here.items()}
    settings |= {f"links on {place}": why.message for place, why in failed.items()}
    for node, first in alive.items():
        settings[f"boot on {node}"] = f"{first.pid} {first.start_ticks}"
    return settings


def machines(cluster: Cluster, folder: Path) -> dict[str, str]:
    """The state of a cluster of machines, by name; GoneError when they were released."""
    if not state.cluster_in(folder):
        raise state.GoneError
    cluster.still_there()
    dead = cluster.dead_nodes()
    alive = [node for node in cluster.nodes if node not in dead]

    def ask(node: str) -> str:
        card = shlex.quote(cluster.interface(node))
        line = f"PATH=$PATH:/usr/sbin:/sbin; set -- {card}\n{BOOT_AND_LOOK}"
        return cluster.run(node, f"bash --norc -c {shlex.quote(line)}").stdout

    outputs, failed = connections.everywhere(alive, ask)
    settings = {"nodes": ", ".join(cluster.nodes)}
    if there := ssh_lock.standing(folder):
        settings["hold on the master"] = there
    for node in cluster.nodes:
        if node in outputs:
            settings[f"state of {node}"] = "up"
            settings[f"boot on {node}"] = outputs[node].partition("\n")[0]
            here = looked(outputs[node], [cluster.interface(node)])
            settings |= {f"{what} on {node}": value for what, value in here.items()}
        else:
            settings[f"state of {node}"] = str(failed.get(node, LabError("down")).message)
    return settings
