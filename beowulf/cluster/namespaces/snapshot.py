"""What a measurement on a cluster of this machine depends on, by name: its boot, nodes, links, rate, fault."""

from __future__ import annotations

from beowulf.cluster import SWITCH, Cluster
from beowulf.cluster.common import at_once
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.common.link_settings import LOOK, looked
from beowulf.cluster.namespaces import links
from beowulf.cluster.namespaces.supervisor import Supervisor


def found(cluster: Cluster, plan: ClusterConfig, its_supervisor: Supervisor) -> dict[str, str]:
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

    outputs, failed = at_once.everywhere(list(devices), ask)
    for place, text in outputs.items():
        here = looked(text, devices[place])
        settings |= {f"{what} on {place}": value for what, value in here.items()}
    settings |= {f"links on {place}": why.message for place, why in failed.items()}
    for node, first in alive.items():
        settings[f"boot on {node}"] = f"{first.pid} {first.start_ticks}"
    return settings
