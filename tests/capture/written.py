"""Captures that a test writes byte by byte, and what tshark and capinfos say of them."""

from __future__ import annotations

import ipaddress
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import strategies as st

from beowulf.packets.protocols import summary

ETHERNET = 1
START_S = 1_700_000_000


def ethernet(ethertype: int, payload: bytes) -> bytes:
    """A frame, padded to 60 bytes as a network card does."""
    head = b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01"
    return (head + struct.pack(">H", ethertype) + payload).ljust(60, b"\0")


def packed(address: str) -> bytes:
    return ipaddress.ip_address(address).packed


def ip(protocol: int, payload: bytes, src: str, dst: str, options: bytes = b"") -> bytes:
    """An IPv4 packet; the options are filled up to a multiple of four."""
    options += b"\0" * (-len(options) % 4)
    length = 20 + len(options)
    numbers = (0x40 | length // 4, 0, length + len(payload), 7, 0x4000, 64, protocol, 0)
    head = struct.pack(">BBHHHBBH", *numbers) + packed(src) + packed(dst)
    return head + options + payload


def fragment(packet: bytes, offset: int, *, more: bool) -> bytes:
    """The IPv4 packet marked as the fragment at `offset` (a multiple of eight)."""
    return packet[:6] + struct.pack(">H", offset // 8 | more << 13) + packet[8:]


def ipv6(
    protocol: int, payload: bytes, src: str, dst: str, extensions: Sequence[int] = ()
) -> bytes:
    """An IPv6 packet with extension headers of these kinds (0, 60), each of eight bytes."""
    kinds = [*extensions, protocol]
    # Each is filled with one padding option of four bytes.
    between = b"".join(struct.pack(">BB", kind, 0) + b"\x01\x04\0\0\0\0" for kind in kinds[1:])
    head = struct.pack(">IHBB", 6 << 28, len(between) + len(payload), kinds[0], 64)
    return head + packed(src) + packed(dst) + between + payload


@dataclass(frozen=True)
class Segment:
    """A TCP segment and its fields."""

    src_port: int
    dst_port: int
    seq: int
    ack: int
    flags: int
    window: int
    option_words: int
    payload: bytes
    options: bytes = b""  # in front of those words, of a length that four divides

    def __bytes__(self) -> bytes:
        words = len(self.options) // 4 + self.option_words
        ends = (self.src_port, self.dst_port, self.seq, self.ack)
        offset_and_flags = (5 + words) << 12 | self.flags
        head = struct.pack(">HHIIHHHH", *ends, offset_and_flags, self.window, 0, 0)
        return head + self.options + b"\x01" * 4 * self.option_words + self.payload


def udp(src_port: int, dst_port: int, payload: bytes) -> bytes:
    return struct.pack(">HHHH", src_port, dst_port, 8 + len(payload), 0) + payload


def arp(sender: str, target: str) -> bytes:
    head = struct.pack(">HHBBH6s", 1, 0x0800, 6, 4, 1, b"\x02\0\0\0\0\x01")
    return head + packed(sender) + bytes(6) + packed(target)


ECHO = struct.pack(">BBHHH", 8, 0, 0, 1, 1) + b"ping"
ECHO6 = struct.pack(">BBHHH", 128, 0, 0, 1, 1) + b"ping"
UNASSIGNED = 0x88B5  # an EtherType for experiments (IEEE 802)


@dataclass(frozen=True)
class Packet:
    """A frame as it was on the wire, when, on which interface, how many bytes of it were taken."""

    frame: bytes
    time_ns: int = START_S * 10**9
    interface: int = 0
    snap_bytes: int = 1 << 18

    @property
    def taken(self) -> bytes:
        return self.frame[: self.snap_bytes]


@dataclass
class Section:
    """A section of a pcapng file that is being written."""

    parts: list[bytes] = field(default_factory=list)
    resolutions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))

    def __bytes__(self) -> bytes:
        return b"".join(self.parts)

    def block(self, kind: int, body: bytes) -> None:
        body += b"\0" * (-len(body) % 4)
        length = struct.pack("<I", len(body) + 12)
        self.parts.append(struct.pack("<I", kind) + length + body + length)

    def interface(self, name: str = "", resolution: int = 6, link: int = ETHERNET) -> None:
        options = b""
        for code, value in ((2, name.encode()), (9, bytes([resolution]))):
            if value and (code != 9 or resolution != 6):  # 6 is what it is without the option
                padded = value + b"\0" * (-len(value) % 4)
                options += struct.pack("<HH", code, len(value)) + padded
        options += struct.pack("<HH", 0, 0) if options else b""
        self.block(1, struct.pack("<HHI", link, 0, 0) + options)
        self.resolutions.append(resolution)

    def packet(self, packet: Packet) -> None:
        ticks = packet.time_ns * 10 ** self.resolutions[packet.interface] // 10**9
        lengths = len(packet.taken), len(packet.frame)
        head = struct.pack("<IIIII", packet.interface, ticks >> 32, ticks & 0xFFFFFFFF, *lengths)
        self.block(6, head + packet.taken)


def pcapng(packets: Sequence[Packet], resolutions: Sequence[int] = (6,)) -> bytes:
    """A pcapng file of one section with an interface for each resolution."""
    section = Section()
    for number, resolution in enumerate(resolutions):
        section.interface(f"eth{number}", resolution)
    for packet in packets:
        section.packet(packet)
    return bytes(section)


# Strategies: what our nodes' wires carry, and a little more.

addresses = st.sampled_from(["10.0.0.1", "10.0.0.2", "10.0.0.3", "192.168.7.255"])
addresses6 = st.sampled_from(["fd00::1", "fd00::2", "fe80::42"])
# Ports for which tshark guesses no protocol, and ssh.
ports = st.sampled_from([22, 40001, 40002, 65000])
payloads = st.integers(0, 1400).map(lambda length: b"\xaa" * length)
segments = st.builds(
    Segment,
    src_port=ports,
    dst_port=ports,
    seq=st.integers(0, 2**32 - 1),
    ack=st.integers(0, 2**32 - 1),
    flags=st.integers(0, 0xFFF),
    window=st.integers(0, 0xFFFF),
    option_words=st.integers(0, 10),
    payload=payloads,
)
datagrams = st.builds(
    udp, st.sampled_from([40001, 40002]), st.sampled_from([40003, 65000]), payloads
)
options = st.sampled_from([b"", b"\x01" * 4, b"\x01" * 40])
transports = st.one_of(
    st.tuples(st.just(6), segments.map(bytes)), st.tuples(st.just(17), datagrams)
)
packets4 = st.builds(
    lambda inner, src, dst, opts: ip(*inner, src, dst, opts),
    transports | st.just((1, ECHO)) | st.just((132, b"\0" * 16)),
    addresses,
    addresses,
    options,
)
packets6 = st.builds(
    lambda inner, src, dst, extensions: ipv6(*inner, src, dst, extensions),
    transports | st.just((58, ECHO6)),
    addresses6,
    addresses6,
    st.sampled_from([(), (0,), (60,), (0, 60)]),
)
frames = st.one_of(
    st.builds(ethernet, st.just(0x0800), packets4),
    st.builds(ethernet, st.just(0x86DD), packets6),
    st.builds(ethernet, st.just(0x0806), st.builds(arp, addresses, addresses)),
    st.builds(ethernet, st.just(UNASSIGNED), payloads),
)
# Up to the year 2100, in whole microseconds, so that every unit can tell them.
times_ns = st.integers(0, 4_102_444_800_000_000).map(lambda microseconds: microseconds * 1000)


def tshark(file: Path, *arguments: str) -> str:
    """What tshark prints of a capture, with fragments left as they are."""
    plain = ["-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE"]
    done = subprocess.run(
        ["tshark", "-n", *plain, "-r", str(file), *arguments],
        capture_output=True,
        text=True,
        timeout=240,
    )
    return done.stdout


def fields(file: Path, *names: str) -> list[list[str]]:
    """tshark's fields of each packet; of a field that occurs more than once, the first."""
    words = [word for name in names for word in ("-e", name)]
    lines = tshark(file, "-T", "fields", "-E", "occurrence=f", *words).splitlines()
    return [line.split("\t") for line in lines]


def hierarchy(file: Path) -> dict[str, tuple[int, int]]:
    """Frames and bytes of each protocol in `tshark -z io,phs`, outside of what ICMP quotes."""
    found: dict[str, tuple[int, int]] = {}
    path: list[str] = []
    for line in tshark(file, "-q", "-z", "io,phs").splitlines():
        if "frames:" not in line:
            continue
        name, frame_count, byte_count = line.split()
        path[(len(line) - len(line.lstrip())) // 2 :] = [name]
        if {"icmp", "icmpv6"} & set(path[:-1]):
            continue
        before = found.get(name, (0, 0))
        now = int(frame_count.split(":")[1]), int(byte_count.split(":")[1])
        found[name] = before[0] + now[0], before[1] + now[1]
    return found


def capinfos(file: Path) -> tuple[int, int, float]:
    """Packets, their bytes on the wire and the seconds between the first and the last, as capinfos says."""
    words = ["capinfos", "-T", "-r", "-M", "-m", "-c", "-d", "-u", str(file)]
    line = subprocess.run(words, capture_output=True, text=True, timeout=240).stdout.strip()
    _, packets, wire_bytes, duration_s = line.split(",")
    return int(packets), int(wire_bytes), 0.0 if duration_s == "n/a" else float(duration_s)


def agrees(path: Path) -> None:
    """Our summary of the capture is what capinfos and `tshark -z io,phs` count."""
    ours = summary(path)
    packets, wire_bytes, duration_s = capinfos(path)
    assert (ours["packets"], ours["bytes"]) == (packets, wire_bytes)
    # capinfos prints as many digits as the capture has.
    assert ours["first_to_last_s"] == pytest.approx(duration_s, abs=1e-6)
    assert ours["elapsed_s"] == ours["first_to_last_s"]
    theirs = hierarchy(path)
    counts = {name: (each["packets"], each["bytes"]) for name, each in ours["protocols"].items()}
    for name in ("arp", "ip", "ipv6", "icmp", "icmpv6", "tcp", "udp"):
        assert counts[name] == theirs.get(name, (0, 0)), name
    known = [counts[name] for name in ("arp", "ip", "ipv6", "other")]
    assert sum(packets for packets, _ in known) == ours["packets"]
    assert sum(size for _, size in known) == ours["bytes"]
    assert counts["ssh"][0] == len(tshark(path, "-Y", "tcp.port == 22").splitlines())
