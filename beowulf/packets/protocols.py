"""What the packets of a capture were: how many, how large, how often, of which protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beowulf.packets.headers import ARP, ICMP, ICMPV6, IP, IPV6, TCP, UDP, Columns
from beowulf.packets.table import Packets

SSH_PORT = 22

# The names nest, as in `tshark -z io,phs`: what is ssh is tcp too, and what is tcp is ip or ipv6.
PROTOCOLS = ("arp", "ip", "ipv6", "icmp", "icmpv6", "tcp", "udp", "ssh", "other")

# So many bits a second are one Mbit/s: paper A and all network rates count in powers of ten.
_MEGA = 1_000_000


def members(piece: Columns) -> dict[str, NDArray[np.bool_]]:
    """For each of PROTOCOLS, which packets of the piece belong to it."""
    ip, ipv6 = piece["ethertype"] == IP, piece["ethertype"] == IPV6
    arp = piece["ethertype"] == ARP
    above = {proto: piece["transport"] & (piece["ip_protocol"] == proto) for proto in (TCP, UDP)}
    either = (piece["src_port"] == SSH_PORT) | (piece["dst_port"] == SSH_PORT)
    return {
        "arp": arp,
        "ip": ip,
        "ipv6": ipv6,
        "icmp": ip & piece["transport"] & (piece["ip_protocol"] == ICMP),
        "icmpv6": ipv6 & piece["transport"] & (piece["ip_protocol"] == ICMPV6),
        "tcp": above[TCP],
        "udp": above[UDP],
        "ssh": above[TCP] & either,
        "other": ~(arp | ip | ipv6),
    }


class Tally:
    """Counts packets, bytes and protocols while a capture is read piece by piece."""

    def __init__(self) -> None:
        self.packets = self.bytes = 0
        self._times_ns: list[int] = []  # of the first and of the last packet of each piece
        self._counts = {name: {"packets": 0, "bytes": 0} for name in PROTOCOLS}

    def take(self, piece: Columns) -> None:
        """The next piece."""
        size, times = piece["wire_bytes"].astype(np.int64), piece["time_ns"]
        if not size.size:
            return
        self.packets += size.size
        self.bytes += int(size.sum())
        self._times_ns += [int(times.min()), int(times.max())]
        for name, mine in members(piece).items():
            self._counts[name]["packets"] += int(np.count_nonzero(mine))
            self._counts[name]["bytes"] += int(size[mine].sum())

    def summary(self, elapsed_s: float | None = None) -> dict[str, Any]:
        """What was counted, and rates; see `summary`."""
        between_s = (max(self._times_ns) - min(self._times_ns)) / 1e9 if self.packets else 0.0
        elapsed_s = between_s if elapsed_s is None else float(elapsed_s)
        bytes_per_s = self.bytes / elapsed_s if elapsed_s > 0 else 0.0
        return {
            # In the order in which paper A lists them.
            "elapsed_s": elapsed_s,
            "first_to_last_s": between_s,
            "packets": self.packets,
            "packets_per_s": self.packets / elapsed_s if elapsed_s > 0 else 0.0,
            "bytes": self.bytes,
            "bytes_per_s": bytes_per_s,
            "mbit_per_s": bytes_per_s * 8 / _MEGA,
            "protocols": self._counts,
        }


def summary(
    path: Path | str,
    elapsed_s: float | None = None,
    *,
    since: float | None = None,
    until: float | None = None,
    at: str = "",
) -> dict[str, Any]:
    """Packets, bytes on the wire, rates and protocols of a capture file.

    Rates are over `elapsed_s`, or from the first to the last packet when it is not given; they are
    0 when no time passed. `since` and `until` (seconds since 1970) leave out all packets outside.
    `at` names the one interface whose packets count.
    """
    tally = Tally()
    for piece in Packets(path, at=at):
        times = piece["time_ns"]
        inside = np.ones(times.size, dtype=np.bool_)
        if since is not None:
            inside &= times >= int(since * 1e9)
        if until is not None:
            inside &= times <= int(until * 1e9)
        tally.take({name: column[inside] for name, column in piece.items()})
    return tally.summary(elapsed_s)
