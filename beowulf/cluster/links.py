"""Cables and switches of a local cluster, as lines of shell that a learner could type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from beowulf.cluster.plan import Plan

# What tbf needs beside a rate. 100mbit with this burst repeats within 0.3 %; 1gbit is approximate (about 0.7 Gbit/s),
# because a smaller burst starves the bucket between two timer ticks.
BURST_BYTES = {"10mbit": 1600, "100mbit": 3200, "1gbit": 16000}
LONGEST_QUEUE = "50ms"
# Frames of up to 64 KB that no cable ever carried would be captured with these on.
OFFLOADS = "tso off gso off gro off"


def shape(device: str, rate: str) -> str:
    """The line that limits what leaves `device` to `rate` (`off` takes the limit away)."""
    if rate == "off":
        return f"tc qdisc del dev {device} root 2>/dev/null || true"
    burst = BURST_BYTES[rate]
    return (
        f"tc qdisc replace dev {device} root tbf rate {rate} burst {burst} latency {LONGEST_QUEUE}"
    )


def switches(plan: Plan, present: Collection[str]) -> list[str]:
    """Lines for the switch's namespace: one bridge a network, unless it is among the devices that are `present`."""
    lines = ["ip link set lo up"]
    for network in range(plan.networks):
        bridge = f"br{network}"
        if bridge not in present:
            lines.append(
                f"ip link add {bridge} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
            )
        lines.append(f"ip link set {bridge} up")
    # A host that filters bridged frames would pass ours through its firewall. Not every kernel has the switch for it.
    lines.append("sysctl -qw net.bridge.bridge-nf-call-iptables=0 2>/dev/null || true")
    return lines


def cables(plan: Plan, pids: Mapping[str, int]) -> list[str]:
    """Lines for the switch's namespace that plug one cable a network into each node of `pids` (its first process)."""
    batch = []
    for node, pid in pids.items():
        for network in range(plan.networks):
            port = plan.port(node, network)
            batch += [
                (
                    f"link add {port} type veth peer name eth{network} address {plan.hardware_address(node, network)}"
                    f" netns {pid}"
                ),
                f"link set {port} master br{network}",
            ]
    lines = ["ip -batch - <<'CABLES'", *batch, "CABLES"]
    for port in ports(plan, pids):
        lines.append(f"ethtool -K {port} {OFFLOADS}")
    return lines


def ports(plan: Plan, nodes: Iterable[str]) -> list[str]:
    """The switch ports of these nodes on all networks."""
    return [plan.port(node, network) for node in nodes for network in range(plan.networks)]


def interfaces(plan: Plan, node: str) -> list[str]:
    """Lines for the node's namespace: addresses, no offloads, the rate. Doing them twice changes nothing."""
    lines = ["ip link set lo up"]
    for network in range(plan.networks):
        device = f"eth{network}"
        lines += [
            f"ip address replace {plan.address(node, network)}/24 dev {device}",
            f"ip link set {device} up",
            f"ethtool -K {device} {OFFLOADS}",
            shape(device, plan.rate),
        ]
    return lines
