"""What a cluster is, as plain data for a Record: what its nodes answer, and what a Record's description shows later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beowulf.cluster import Cluster, module, state
from beowulf.cluster.common import at_once

# The commands that describe a node; CARD stands for its network card.
COMMANDS = {
    "kernel": "uname -r",
    "mtu": "cat /sys/class/net/CARD/mtu",
    "congestion_control": "cat /proc/sys/net/ipv4/tcp_congestion_control",
    "queue": "tc qdisc show dev CARD root",
    "offloads_on": "ethtool -k CARD | sed -n 's/^\\(tcp-segmentation\\|generic-segmentation"
    "\\|generic-receive\\)-offload: on.*/\\1/p'",
}


def answers(
    cluster: Cluster, node: str, card: str, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What a node reports about itself and its card."""
    commands = {
        name: line.replace("CARD", card) for name, line in {**COMMANDS, **(more or {})}.items()
    }
    script = "PATH=$PATH:/usr/sbin:/sbin; " + "; echo ---; ".join(commands.values())
    ask = cluster.administer if cluster.can.faults else cluster.run
    parts = ask(node, script).stdout.split("---\n")
    return {name: text.strip() for name, text in zip(commands, parts, strict=False)}


def hardware(cluster: Cluster, nodes: Sequence[str]) -> dict[str, Any]:
    """The cores, the memory and the network card of each of these nodes that answers."""
    has, _ = at_once.everywhere(nodes, cluster.hardware)
    return {
        "node_cores": {node: each.cores for node, each in has.items()},
        "node_memory_bytes": {node: each.memory_bytes for node, each in has.items()},
        "node_cards": at_once.everywhere(list(has), cluster.interface)[0],
    }


def of_learner() -> dict[str, str]:
    """The mark of the personal code under which a measurement is made; empty without one."""
    from beowulf.course import personal_code

    return {"mark": mark} if (mark := personal_code.mark(personal_code.word())) else {}


def on_one_machine(description: Mapping[str, Any]) -> bool:
    """Whether the nodes of a Record's cluster were one machine, whose messages cross no network card."""
    kind = description.get("kind")
    return kind in state.KINDS and any(can.one_machine for can in module(kind).COLUMNS.values())
