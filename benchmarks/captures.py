"""Captures that a benchmark writes: TCP segments between four nodes as dumpcap writes them, with 128 bytes of each."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import numpy as np

SNAP_BYTES = 128
WIRE_BYTES = 1514
SEGMENT_BYTES = 1448
PACKETS_A_BLOCK = 50_000
PACKET_GAP_NS = 10_000
START_S = 1_700_000_000
SEED = 1

FRAME_OFFSET = 16
_RECORD = np.dtype(
    [
        ("seconds", "<u4"),
        ("nanoseconds", "<u4"),
        ("captured", "<u4"),
        ("wire", "<u4"),
        ("ethernet", "V12"),
        ("ethertype", ">u2"),
        ("version_length", "u1"),
        ("service", "u1"),
        ("total", ">u2"),
        ("id", ">u2"),
        ("fragment", ">u2"),
        ("ttl", "u1"),
        ("protocol", "u1"),
        ("checksum", ">u2"),
        ("src", ">u4"),
        ("dst", ">u4"),
        ("src_port", ">u2"),
        ("dst_port", ">u2"),
        ("seq", ">u4"),
        ("ack", ">u4"),
        ("flags", ">u2"),
        ("window", ">u2"),
        ("tcp_checksum", ">u2"),
        ("urgent", ">u2"),
        ("options", "V12"),
        ("payload", f"V{SNAP_BYTES - 66}"),
    ]
)
RECORD_BYTES = _RECORD.itemsize
_FILE_HEADER = np.array([0xA1B23C4D, 4 << 16 | 2, 0, 0, SNAP_BYTES, 1], "<u4").tobytes()


def write(path: Path, packets: int) -> int:
    """Write a pcap file (nanoseconds) of so many packets, a block at a time; returns its size."""
    draw = np.random.default_rng(SEED)
    nodes = np.array([int(ipaddress.IPv4Address(f"192.168.0.{host}")) for host in range(8, 12)])
    sent = np.zeros(len(nodes) ** 2, np.int64)
    with path.open("wb") as file:
        file.write(_FILE_HEADER)
        for first in range(0, packets, PACKETS_A_BLOCK):
            count = min(PACKETS_A_BLOCK, packets - first)
            file.write(_block(first, count, nodes, sent, draw).tobytes())
        return file.tell()


def _block(
    first: int,
    count: int,
    nodes: np.ndarray,
    sent: np.ndarray,
    draw: np.random.Generator,
) -> np.ndarray:
    block = np.zeros(count, _RECORD)
    time_ns = np.arange(first, first + count, dtype=np.int64) * PACKET_GAP_NS
    block["seconds"] = START_S + time_ns // 10**9
    block["nanoseconds"] = time_ns % 10**9
    block["captured"], block["wire"] = SNAP_BYTES, WIRE_BYTES
    block["ethernet"] = np.frombuffer(b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01", "V12")[0]
    block["ethertype"], block["version_length"] = 0x0800, 0x45
    block["total"], block["fragment"] = WIRE_BYTES - 14, 0x4000
    block["ttl"], block["protocol"] = 64, 6
    src = draw.integers(0, len(nodes), count)
    dst = (src + draw.integers(1, len(nodes), count)) % len(nodes)
    block["src"], block["dst"] = nodes[src], nodes[dst]
    block["src_port"], block["dst_port"] = 40000 + src, 40000 + dst
    # Each flow continues where it was, and acknowledges what has come the other way: numbers that jump
    # would all be called lost or retransmitted, which takes a reader longer.
    flow, back = src * len(nodes) + dst, dst * len(nodes) + src
    places = [np.flatnonzero(flow == each) for each in range(len(sent))]
    for mine in places:
        if not mine.size:
            continue
        here, other = flow[mine[0]], back[mine[0]]
        block["seq"][mine] = (sent[here] + SEGMENT_BYTES * np.arange(len(mine))) % 2**32
        came = sent[other] + SEGMENT_BYTES * np.searchsorted(places[other], mine)
        block["ack"][mine] = came % 2**32
    sent += SEGMENT_BYTES * np.array([len(mine) for mine in places])
    # Eight words of header, PSH at times, ACK always.
    block["flags"] = 0x8010 | draw.integers(0, 2, count) << 3
    block["window"] = 501
    stamps = b"\x01\x01\x08\x0a" + bytes(range(8))
    block["options"] = np.frombuffer(stamps, "V12")[0]
    return block
