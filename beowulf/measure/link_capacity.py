"""What a link can carry of a message after Ethernet, IP and TCP have taken their share.

A full frame takes 1538 byte times of the cable: 8 preamble, 14 Ethernet header, 1500 of IP, 4 check
sum, 12 gap. Of the 1500, IP's header takes 20 and TCP's 20, or 32 with time stamps (Linux's default).
So 1460/1538 or 1448/1538 of 100 Mbit/s is left: 94.9 or 94.1 Mbit/s.

A link that tbf shapes counts a frame as 14 + 1500 bytes: preamble, check sum and gap cost nothing
there. It can carry 1448/1514, 95.6 Mbit/s: 1.6 % more than a cable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beowulf.cluster.common.config import RATE_BITS_PER_S

ETHERNET_BYTES = 8 + 14 + 4 + 12
IP_BYTES = 20
TCP_BYTES = 20
TIME_STAMP_BYTES = 12


def frame(mtu: int = 1500) -> tuple[int, int]:
    """Of a full frame: its bytes of data, and the byte times that it takes of a cable."""
    return mtu - IP_BYTES - TCP_BYTES - TIME_STAMP_BYTES, mtu + ETHERNET_BYTES


def mtu_of(cluster: Mapping[str, Any]) -> int:
    """The MTU by a cluster's description; of nodes that differ the smallest, which both ends of TCP agree on."""
    by_node = cluster.get("differ", {}).get("mtu", {})
    mtus = [str(mtu) for mtu in [*by_node.values(), cluster.get("mtu")]]
    return min((int(mtu) for mtu in mtus if mtu.isdecimal()), default=1500)


def payload_mbit_per_s(cluster: Mapping[str, Any]) -> float | None:
    """What one direction of a cable of this cluster carries of data; None when its rate is not known."""
    rate = RATE_BITS_PER_S.get(str(cluster.get("rate")))
    if rate is None:
        return None
    data, whole = frame(mtu_of(cluster))
    return rate / 1e6 * data / whole
