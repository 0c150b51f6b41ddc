"""What a measurement on machines depends on, by name: the hold on the master, and the boot and links of each node."""

from __future__ import annotations

import shlex
from pathlib import Path

from beowulf.cluster import Cluster, state
from beowulf.cluster.common import at_once
from beowulf.cluster.common.link_settings import LOOK, looked
from beowulf.cluster.machines import master_lock as ssh_lock
from beowulf.errors import LabError

# Machines boot apart from each other, and their boots have numbers.
BOOT_AND_LOOK = f"cat /proc/sys/kernel/random/boot_id\n{LOOK}"


def found(cluster: Cluster, folder: Path) -> dict[str, str]:
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

    outputs, failed = at_once.everywhere(alive, ask)
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
