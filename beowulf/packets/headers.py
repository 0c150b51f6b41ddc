"""The headers of many packets at once as columns: Ethernet, IP, IPv6, TCP, UDP."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beowulf.packets.batches import Batch, Bytes, Integers, rows

Columns = dict[str, NDArray[Any]]

ARP, IP, IPV6 = 0x0806, 0x0800, 0x86DD
ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58
FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
# As Wireshark names them, the lowest bit first; the three above have no use.
FLAGS = ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE", "", "", "")

# What each column holds, and in which type. A header that was not captured leaves zeros.
COLUMNS: dict[str, str] = {
    "time_ns": "int64",  # since 1970
    "interface": "uint16",  # a place in the capture's list of interfaces
    "wire_bytes": "uint32",  # the whole frame, as it was on the wire
    "captured_bytes": "uint32",  # what of it is in the file
    "ethertype": "uint16",  # below 1536 it is a length (IEEE 802.3)
    "ip_protocol": "uint8",  # of the packet's payload, behind IPv6's extension headers
    "src": "uint32",  # a place in the capture's list of addresses, 0 for none
    "dst": "uint32",
    "src_port": "uint16",
    "dst_port": "uint16",
    "flags": "uint16",  # of TCP, all twelve bits
    "seq": "uint32",
    "ack": "uint32",
    "window": "uint16",
    "payload_bytes": "uint32",  # above TCP or UDP, else above IP, without Ethernet's padding
    "ip_options_bytes": "uint16",  # IPv6: its extension headers
    "tcp_options_bytes": "uint8",
    "header_bytes": "uint16",  # all headers before the payload, Ethernet's own too
    "transport": "bool",  # the header above IP is in this packet: it is no later fragment
}

_EXTENSIONS = (0, 43, 60)  # hop-by-hop, routing, destination options (RFC 8200)
_FRAGMENT = 44


def _header(width: int, **fields: tuple[str, int]) -> np.dtype[Any]:
    """A header of so many bytes, of each field that is used its type and its place."""
    formats, offsets = zip(*fields.values(), strict=True)
    return np.dtype(
        {"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": width}
    )


_IP_HEADER = _header(
    20,
    version_length=("u1", 0),
    total=(">u2", 2),
    fragment=(">u2", 6),
    protocol=("u1", 9),
    src=(">u4", 12),
    dst=(">u4", 16),
)
_IPV6_HEADER = _header(40, length=(">u2", 4), next=("u1", 6), pair=("V32", 8))
_TCP_HEADER = _header(
    20,
    src_port=(">u2", 0),
    dst_port=(">u2", 2),
    seq=(">u4", 4),
    ack=(">u4", 8),
    flags=(">u2", 12),
    window=(">u2", 14),
)
_UDP_HEADER = _header(8, src_port=(">u2", 0), dst_port=(">u2", 2), length=(">u2", 4))

Places = Integers | slice


def flag_names(flags: int) -> str:
    """TCP's flags as Wireshark shows them: `SYN, ACK`; empty where none is set."""
    return ", ".join(name for bit, name in enumerate(FLAGS) if name and flags >> bit & 1)


class Addresses:
    """The IP addresses of a capture, each once; the first one is "" for packets without any."""

    def __init__(self) -> None:
        self._known = {"": 0}

    @property
    def names(self) -> list[str]:
        """All of them so far."""
        return list(self._known)

    def places(self, addresses: NDArray[Any]) -> NDArray[np.uint32]:
        """The places of these IPv4 addresses, as numbers, in `names`; new ones are added."""
        each, which = np.unique(addresses, return_inverse=True)
        return self._placed(ipaddress.IPv4Address(number) for number in each.tolist())[which]

    def places6(self, addresses: Bytes) -> NDArray[np.uint32]:
        """The same for IPv6 addresses, one row of 16 bytes each."""
        each, which = np.unique(addresses, axis=0, return_inverse=True)
        found = self._placed(ipaddress.IPv6Address(row.tobytes()) for row in each)
        return found[which.reshape(-1)]

    def _placed(self, addresses: Iterable[object]) -> NDArray[np.uint32]:
        known = self._known
        places = [known.setdefault(str(address), len(known)) for address in addresses]
        return np.array(places, dtype=np.uint32)


class _Packets:
    # The packets of a batch on the way up: where the header above IP is, and how much IP carries.

    def __init__(self, batch: Batch, addresses: Addresses) -> None:
        self.memory = batch.memory
        self.addresses = addresses
        self.columns = {name: np.zeros(batch.start.size, kind) for name, kind in COLUMNS.items()}
        for name in ("time_ns", "interface", "wire_bytes", "captured_bytes"):
            self.columns[name][:] = getattr(batch, name)
        self.at = batch.start.copy()
        self.captured_end = batch.start + batch.captured_bytes
        self.wire_end = batch.start + batch.wire_bytes
        self.carried = np.zeros(batch.start.size, dtype=np.int64)

    def which(self, mask: NDArray[np.bool_], needed_bytes: int = 0) -> Places:
        """The places of the packets in `mask` of which so many bytes from `at` on are captured."""
        if needed_bytes:
            mask = mask & (self.captured_end - self.at >= needed_bytes)
        return slice(None) if mask.all() else np.flatnonzero(mask)

    def headers(self, places: Places, kind: np.dtype[Any]) -> NDArray[Any]:
        """The headers of that kind at those packets' places."""
        return rows(self.memory, self.at[places], kind.itemsize).view(kind)[:, 0]

    def ethernet(self) -> None:
        self.at += 12
        whole = self.which(np.ones(self.at.size, dtype=np.bool_), 2)
        kind = rows(self.memory, self.at[whole], 2).view(">u2")[:, 0]
        self.columns["ethertype"][whole] = kind
        self.at += 2

    def ip(self) -> None:
        mine = self.which(self.columns["ethertype"] == IP, 20)
        header = self.headers(mine, _IP_HEADER)
        if not header.size:
            return
        own = (header["version_length"] & 15).astype(np.int64) * 4
        room = self.wire_end[mine] - self.at[mine]
        total = header["total"].astype(np.int64)
        # 0 is what a frame has that the kernel has not cut into segments yet.
        total = np.where((total == 0) | (total > room), room, total)
        sound = (header["version_length"] >> 4 == 4) & (own >= 20) & (total >= own)
        self.columns["src"][mine] = self.addresses.places(header["src"])
        self.columns["dst"][mine] = self.addresses.places(header["dst"])
        self.columns["ip_protocol"][mine] = header["protocol"]
        self.columns["ip_options_bytes"][mine] = np.maximum(own - 20, 0)
        # Behind options that were captured in part tshark looks for nothing, and so do we.
        reached = self.captured_end[mine] - self.at[mine] >= own
        self.columns["transport"][mine] = sound & reached & (header["fragment"] & 0x1FFF == 0)
        self.carried[mine] = np.where(sound, total - own, 0)
        self.at[mine] += own

    def ipv6(self) -> None:
        mine = self.which(self.columns["ethertype"] == IPV6, 40)
        header = self.headers(mine, _IPV6_HEADER)
        if not header.size:
            return
        pair = np.ascontiguousarray(header["pair"]).view(np.uint8).reshape(-1, 32)
        self.columns["src"][mine] = self.addresses.places6(pair[:, :16])
        self.columns["dst"][mine] = self.addresses.places6(pair[:, 16:])
        self.at[mine] += 40
        room = self.wire_end[mine] - self.at[mine]
        length = header["length"].astype(np.int64)
        self.carried[mine] = np.where((length == 0) | (length > room), room, length)
        self.columns["ip_protocol"][mine] = header["next"]
        self.columns["transport"][mine] = self.carried[mine] >= 0
        self._extensions(self.columns["ethertype"] == IPV6)

    def _extensions(self, mask: NDArray[np.bool_]) -> None:
        protocol, transport = self.columns["ip_protocol"], self.columns["transport"]
        for _ in range(8):  # more than any sender puts in a row
            mask = mask & transport & np.isin(protocol, (*_EXTENSIONS, _FRAGMENT))
            if not mask.any():
                return
            whole = np.zeros_like(mask)
            whole[self.which(mask, 8)] = True
            transport[mask & ~whole] = False  # what follows was not captured
            mask = whole
            head = rows(self.memory, self.at[mask], 4)
            fragment = protocol[mask] == _FRAGMENT
            size = np.where(fragment, 8, (head[:, 1].astype(np.int64) + 1) * 8)
            later = fragment & ((head[:, 2] != 0) | (head[:, 3] & 0xF8 != 0))
            protocol[mask] = head[:, 0]
            self.at[mask] += size
            self.carried[mask] -= size
            self.columns["ip_options_bytes"][mask] += size.astype(np.uint16)
            transport[mask] = ~later & (self.carried[mask] >= 0)
        transport[mask & np.isin(protocol, _EXTENSIONS)] = False

    def tcp(self) -> None:
        columns = self.columns
        mine = self.which(columns["transport"] & (columns["ip_protocol"] == TCP), 20)
        header = self.headers(mine, _TCP_HEADER)
        for name in ("src_port", "dst_port", "seq", "ack", "window"):
            columns[name][mine] = header[name]
        own = (header["flags"] >> 12).astype(np.int64) * 4
        columns["flags"][mine] = header["flags"] & 0xFFF
        columns["tcp_options_bytes"][mine] = np.maximum(own - 20, 0)
        self.carried[mine] -= np.where(own >= 20, own, self.carried[mine])
        self.at[mine] += np.maximum(own, 20)

    def udp(self) -> None:
        columns = self.columns
        mine = self.which(columns["transport"] & (columns["ip_protocol"] == UDP), 8)
        header = self.headers(mine, _UDP_HEADER)
        columns["src_port"][mine] = header["src_port"]
        columns["dst_port"][mine] = header["dst_port"]
        length = header["length"].astype(np.int64)
        length = np.where(length == 0, self.carried[mine], length)
        self.carried[mine] = np.minimum(length, self.carried[mine]) - 8
        self.at[mine] += 8


def dissect(batch: Batch, addresses: Addresses) -> Columns:
    """The packets of a batch as columns, named and typed as in COLUMNS."""
    packets = _Packets(batch, addresses)
    packets.ethernet()
    packets.ip()
    packets.ipv6()
    packets.tcp()
    packets.udp()
    packets.columns["payload_bytes"][:] = np.maximum(packets.carried, 0)
    packets.columns["header_bytes"][:] = packets.at - batch.start
    return packets.columns
