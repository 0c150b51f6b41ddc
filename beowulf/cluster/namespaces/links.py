"""Cables and switches of a local cluster, as lines of shell that a learner could type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from beowulf.cluster.common.config import ClusterConfig

# What tbf needs beside a rate. 100mbit with this burst repeats within 0.3 %; 1gbit is approximate (about 0.7 Gbit/s),
# because a smaller burst starves the bucket between two timer ticks.
BURST_BYTES = {"10mbit": 1600, "100mbit": 3200, "1gbit": 16000}
MTU_BYTES = 1500
LONGEST_QUEUE = "50ms"
# Frames of up to 64 KB that no cable ever carried would be captured with these on.
OFFLOADS = "tso off gso off gro off"
# The table of a node's packet filter that a fault on purpose makes.
CLOSED_TABLE = "beowulf_broken"


def shape(devices: Iterable[str], rate: str) -> list[str]:
    """Lines that limit what leaves each device to `rate` (`off` takes the limit away)."""
    if rate == "off":
        return [f"tc qdisc del dev {device} root 2>/dev/null || true" for device in devices]
    bucket = f"tbf rate {rate} burst {BURST_BYTES[rate]} latency {LONGEST_QUEUE}"
    return _batch("tc", [f"qdisc replace dev {device} root {bucket}" for device in devices])


def switch(
    plan: ClusterConfig, nodes: Iterable[str], pids: Mapping[str, int], present: Collection[str]
) -> list[str]:
    """Lines for the switch's namespace: one bridge a network, and each node's cable in it, with the rate.

    Bridges among the devices that are `present` are kept. Each node of `pids` (its first process) gets new cables.
    """
    networks = range(plan.networks)
    kind = "type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
    bridges = [f"br{network}" for network in networks]
    commands = [f"link add {bridge} {kind}" for bridge in bridges if bridge not in present]
    commands += [f"link set {bridge} up" for bridge in ("lo", *bridges)]
    for node, pid in pids.items():
        for network in networks:
            port, address = plan.port(node, network), plan.hardware_address(node, network)
            commands.append(
                f"link add {port} type veth peer name eth{network} address {address} netns {pid}"
            )
    commands += [
        f"link set {plan.port(node, network)} master br{network} mtu {MTU_BYTES} up"
        for node in nodes
        for network in networks
    ]
    # A host that filters bridged frames would pass ours through its firewall. Not every kernel has the switch for it.
    filtering = "/proc/sys/net/bridge/bridge-nf-call-iptables"
    return [
        *_batch("ip", commands),
        f"[ ! -e {filtering} ] || echo 0 > {filtering}",
        *_no_offloads(ports(plan, pids)),
        *shape(ports(plan, nodes), plan.rate),
    ]


def ports(plan: ClusterConfig, nodes: Iterable[str]) -> list[str]:
    """The switch ports of these nodes on all networks."""
    return [plan.port(node, network) for node in nodes for network in range(plan.networks)]


def interfaces(plan: ClusterConfig, node: str) -> list[str]:
    """Lines for the node's namespace: addresses, no offloads, the rate. Doing them twice changes nothing."""
    devices = [f"eth{network}" for network in range(plan.networks)]
    commands = ["link set lo up"]
    for network, device in enumerate(devices):
        commands.append(f"address replace {plan.address(node, network)}/24 dev {device}")
        commands.append(f"link set {device} mtu {MTU_BYTES} up")
    return [*_batch("ip", commands), *_no_offloads(devices), *shape(devices, plan.rate)]


def closed() -> list[str]:
    """Lines for a node's namespace: new connections except those of ssh are dropped without an answer."""
    return [
        "nft -f - <<'RULES'",
        f"table inet {CLOSED_TABLE} {{",
        "chain input {",
        "type filter hook input priority filter; policy accept;",
        'iifname != "lo" tcp flags & (syn | ack) == syn tcp dport != 22 drop',
        "}",
        "}",
        "RULES",
    ]


def opened() -> list[str]:
    """Lines that take `closed` away again, if it is there."""
    return [f"nft delete table inet {CLOSED_TABLE} 2>/dev/null || true"]


def _no_offloads(devices: Iterable[str]) -> list[str]:
    return [f"ethtool -K {device} {OFFLOADS}" for device in devices]


def _batch(tool: str, commands: list[str]) -> list[str]:
    # One process for all of them: a boot is a hundred small commands, and starting each one takes longer than its work.
    return [f"{tool} -batch - <<'LINES'", *commands, "LINES"] if commands else []
