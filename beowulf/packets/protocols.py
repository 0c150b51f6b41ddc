"""What the packets of a capture were: how many, how large, how often, of which protocol."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beowulf.packets.headers import ARP, COLUMNS, ICMP, ICMPV6, IP, IPV6, TCP, UDP, Columns
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    import pandas as pd

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


def summary(
    source: Path | str | pd.DataFrame,
    elapsed_s: float | None = None,
    *,
    since: float | None = None,
    until: float | None = None,
    at: str = "",
) -> dict[str, Any]:
    """Packets, bytes on the wire, rates and protocols of a capture file or of a table of packets.

    Rates are over `elapsed_s`, or from the first to the last packet when it is not given; they are
    0 when no time passed. `since` and `until` (seconds since 1970) leave out all packets outside.
    `at` names the one interface of a file whose packets count.
    """
    packets = wire_bytes = 0
    first_ns = last_ns = None
    counts = {name: {"packets": 0, "bytes": 0} for name in PROTOCOLS}
    for whole in _pieces(source, at):
        piece = _between(whole, since, until)
        size = piece["wire_bytes"].astype(np.int64)
        packets += size.size
        wire_bytes += int(size.sum())
        times = piece["time_ns"]
        if times.size:
            early, late = int(times.min()), int(times.max())
            first_ns = early if first_ns is None else min(first_ns, early)
            last_ns = late if last_ns is None else max(last_ns, late)
        for name, mine in members(piece).items():
            counts[name]["packets"] += int(np.count_nonzero(mine))
            counts[name]["bytes"] += int(size[mine].sum())
    between_s = 0.0 if first_ns is None or last_ns is None else (last_ns - first_ns) / 1e9
    elapsed_s = between_s if elapsed_s is None else float(elapsed_s)
    bytes_per_s = wire_bytes / elapsed_s if elapsed_s > 0 else 0.0
    return {
        # In the order in which paper A lists them.
        "elapsed_s": elapsed_s,
        "first_to_last_s": between_s,
        "packets": packets,
        "packets_per_s": packets / elapsed_s if elapsed_s > 0 else 0.0,
        "bytes": wire_bytes,
        "bytes_per_s": bytes_per_s,
        "mbit_per_s": bytes_per_s * 8 / _MEGA,
        "protocols": counts,
    }


def _pieces(source: Path | str | pd.DataFrame, at: str) -> Iterable[Columns]:
    if isinstance(source, Path | str):
        return Packets(source, at=at)
    needed = [name for name in COLUMNS if name not in ("src", "dst", "interface")]
    return [{name: source[name].to_numpy() for name in needed}]


def _between(piece: Columns, since: float | None, until: float | None) -> Columns:
    if since is None and until is None:
        return piece
    times = piece["time_ns"]
    inside = np.ones(times.size, dtype=np.bool_)
    if since is not None:
        inside &= times >= int(since * 1e9)
    if until is not None:
        inside &= times <= int(until * 1e9)
    return {name: column[inside] for name, column in piece.items()}
