"""How long a frame may be."""

from __future__ import annotations

from beowulf.cluster import Cluster
from beowulf.cluster.namespaces.links import BURST_BYTES
from beowulf.tuning.knob import NODES, SWITCH, Knob, facts, number

LEAST_BYTES, MOST_BYTES = 576, 9000
HEADER_BYTES = 14
PORTS = "ip -o link show master br0"


class Mtu(Knob):
    """The most bytes of a packet that one frame carries."""

    name = "mtu"
    title = "MTU (jumbo frames)"
    what = "The most bytes that one frame carries: 1500 on every Ethernet, up to 9000 where card and switch allow it."
    why = "A long message needs fewer frames, and each frame costs a header and a way up the stack."
    here = (
        "The same as on a PC: the nodes and the ports of the switch get it. A cable of 100mbit lets frames of about"
        " 3,000 bytes through at most, because of how it is slowed down; 9000 needs `beowulf up --rate 1gbit` or `off`."
        " `beowulf up` sets it back to 1500, unless it was kept."
    )
    elsewhere = "On PCs and VMs: `ip link set eth0 mtu 9000` on each, and a switch that allows it."
    values = ("1500", "3000", "9000")
    tuned = "1500"
    shows = "3000"
    where = (SWITCH, NODES)
    relaunch = True

    def accepted(self, value: str) -> str:
        return str(number(self.name, value, LEAST_BYTES, MOST_BYTES, "bytes"))

    def misfit(self, cluster: Cluster | None, value: str) -> str:
        rate = str(cluster.describe().get("rate", "off")) if cluster else "off"
        most = BURST_BYTES.get(rate, MOST_BYTES + HEADER_BYTES) - HEADER_BYTES
        if int(value) <= most:
            return ""
        return (
            f"A cable of {rate} lets packets of {most:,} bytes through, and not of {int(value):,}."
            f" `beowulf up --rate off` takes the limit away."
        )

    def look(self, place: str) -> str:
        shown = PORTS if place == SWITCH else "ip -o link show eth0"
        return f"{shown} | sed 's/^[0-9]*: \\([^@:]*\\).* mtu \\([0-9]*\\).*/\\1=\\2/'"

    def value(self, state: str) -> str:
        return ", ".join(dict.fromkeys(facts(state).values()))

    def set(self, value: str, place: str) -> str:
        if place != SWITCH:
            return f"ip link set eth0 mtu {value}"
        return f"for port in $({PORTS} | sed 's/^[0-9]*: \\([^@:]*\\).*/\\1/'); do ip link set $port mtu {value}; done"

    def back(self, state: str, place: str) -> str:
        # The port of a node that is down now is gone; with the node comes a new one.
        lines = (
            f"! ip link show {device} >/dev/null 2>&1 || ip link set {device} mtu {mtu}"
            for device, mtu in facts(state).items()
        )
        return "\n".join(lines)

    def restored(self, now: str, before: str) -> bool:
        mtus = facts(now)
        return all(mtus.get(device, mtu) == mtu for device, mtu in facts(before).items())
