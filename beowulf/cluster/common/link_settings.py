"""What a measurement depends on at a node, read before and after it: links, queues, MTU. Each has a name and a text."""

from __future__ import annotations

import re
from collections.abc import Collection

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
