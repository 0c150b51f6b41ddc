"""What a measurement depends on, read before and after it: links, nodes, fault. Each thing has a name and a text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from typing import TYPE_CHECKING

from beowulf.cluster import connections, links, ssh_lock, state, supervisor
from beowulf.cluster.shells import completed
from beowulf.errors import LabError

if TYPE_CHECKING:
    from beowulf.cluster.namespaces import NamespaceCluster
    from beowulf.cluster.ssh import SshCluster

LONGEST_LOOK_S = 60.0
SWITCH = "switch"
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


def local(cluster: NamespaceCluster) -> dict[str, str]:
    """The state of a cluster of this machine, by name."""
    process, alive = cluster.supervisor.process, cluster.supervisor.nodes()
    settings = {
        "boot": f"{process.pid} {process.start_ticks}",
        "rate": cluster.config.rate,
        "nodes": ", ".join(cluster.nodes),
        "fault": cluster.broken or "none",
    }
    for node in cluster.nodes:
        settings[f"state of {node}"] = "up" if node in alive else "down"
    devices = {node: [f"eth{n}" for n in range(cluster.config.networks)] for node in alive}
    devices[SWITCH] = links.ports(cluster.config, alive)

    def ask(place: str) -> str:
        enter = cluster.enter_switch() if place == SWITCH else supervisor.enter(alive[place])
        cards = [] if place == SWITCH else devices[place]
        words = [*enter, "bash", "--norc", "-c", LOOK, place, *cards]
        return completed(words, "", LONGEST_LOOK_S, place).stdout

    outputs, failed = connections.everywhere(list(devices), ask)
    for place, text in outputs.items():
        here = looked(text, devices[place])
        settings |= {f"{what} on {place}": value for what, value in here.items()}
    settings |= {f"links on {place}": why.message for place, why in failed.items()}
    for node, first in alive.items():
        settings[f"boot on {node}"] = f"{first.pid} {first.start_ticks}"
    return settings


def machines(cluster: SshCluster) -> dict[str, str]:
    """The state of a cluster of machines, by name; GoneError when they were released."""
    if not state.cluster_in(cluster.folder):
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
    if there := ssh_lock.standing(cluster):
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
