"""All that `beowulf packets` says of a capture: what paper A lists, and what it could not see."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from beowulf.packets import ch3, protocols
from beowulf.packets.batches import NO_TIME
from beowulf.packets.flows import Conversation, Conversations
from beowulf.packets.headers import ACK, FIN, IPV6, RST, SYN, Columns
from beowulf.packets.mpi_messages import Reading, Traffic
from beowulf.packets.table import Packets
from beowulf.packets.waits import Waits

OVERHEAD = """\
TCP overhead is the share of the bytes in TCP's frames that are not payload seen for the first time:
the headers of Ethernet, IP and TCP with their options, padding, payload that was retransmitted, and with
all of these the frames that only acknowledge, open or close. MPI overhead is the same for the
connections between MPI processes, counted against the bytes of the messages: MPICH's own headers are
overhead there. Paper A's measure is another one: of all TCP frames, the share that Ethereal's protocol
hierarchy calls data. It counts frames, not bytes, so that a frame of 1 byte weighs as much as a full
one; and it goes down when more frames only acknowledge. Preamble, checksum and gap of Ethernet (24
bytes a frame) are in no capture and count in neither.
"""

# Parts of all packets; what each of them is, report.py says.
SHARES = ("data_segments", "remote_shell", "ack_only", "connection", "other")


def analyse(path: Path | str, elapsed_s: float | None = None, at: str = "") -> dict[str, Any]:
    """Counts, rates, shares and overhead of a capture, as plain data; CaptureError if it is none.

    Rates are over elapsed_s, or from the first to the last packet. Shares are parts of 1, of all
    packets (SHARES); `overhead` is as OVERHEAD defines it; None where nothing was there to share.
    `at` names the one interface whose packets count, in a capture that was taken at several.
    """
    packets, talks, tally = Packets(path, at=at), Conversations(), protocols.Tally()
    reading, waits = Reading(talks), Waits(talks)
    sums = Counter[str]()
    for batch, piece in packets.frames():
        trail = talks.follow(piece)
        tally.take(piece)
        reading.take(batch, piece, trail)
        waits.take(batch, piece, trail)
        sums.update(_sums(piece))
    traffic, count = reading.finish(packets), tally.packets
    connections = {each.number for each in traffic.connections}
    parts: dict[str, list[int]] = {"ssh": [], "mpi": [], "other_tcp": []}
    for number, talk in enumerate(talks.all):
        shell = protocols.SSH_PORT in (talk.a.port, talk.b.port)
        parts["ssh" if shell else "mpi" if number in connections else "other_tcp"].append(number)
    of = {name: [talks.all[number] for number in numbers] for name, numbers in parts.items()}
    kinds = {name: _plain(of[name]) | waits.summary(numbers) for name, numbers in parts.items()}
    tcp = {**_tcp(talks.all, sums), **waits.summary(range(len(talks.all)))}
    return {
        "file": str(path),
        **tally.summary(elapsed_s),
        "shares": {name: _share(sums[name], count) for name in SHARES},
        "short_messages": _short_messages(traffic, count),
        "overhead": _overhead(tcp, sums, traffic, of["mpi"]),
        "tcp": tcp,
        **kinds,
        "mpi": {**kinds["mpi"], **_mpi(traffic)},
        "warnings": _warnings(traffic, packets.truncated, count),
    }


def _sums(piece: Columns) -> dict[str, int]:
    kinds = protocols.members(piece)
    tcp, ssh = kinds["tcp"], kinds["ssh"]
    wire = piece["wire_bytes"].astype(np.int64)
    payload = piece["payload_bytes"].astype(np.int64)
    control = piece["flags"] & (SYN | FIN | RST) != 0
    acks = (piece["flags"] & ACK != 0) & ~control
    own = tcp & ~ssh
    ip_bytes = np.where(piece["ethertype"] == IPV6, 40, 20) + piece["ip_options_bytes"]
    tcp_bytes = 20 + piece["tcp_options_bytes"].astype(np.int64)
    headers = piece["header_bytes"].astype(np.int64)
    whole = tcp & ((piece["src_port"] | piece["dst_port"]) != 0)  # the TCP header was captured
    masks = {
        "data_segments": own & (payload > 0),
        "remote_shell": ssh,
        "ack_only": own & (payload == 0) & acks,
        "connection": own & (payload == 0) & ~acks,
        "other": ~tcp,
        "tcp_packets": tcp,
        "ssh_data": ssh & (payload > 0),
    }
    counts = {name: int(np.count_nonzero(mask)) for name, mask in masks.items()}
    sizes = {
        "tcp_bytes": wire[tcp],
        "ethernet_bytes": (headers - ip_bytes - tcp_bytes)[whole],
        "ip_bytes": ip_bytes[whole],
        "tcp_header_bytes": tcp_bytes[whole],
        "payload": payload[whole],
        "padding": (wire - headers - payload)[whole],
    }
    return counts | {name: int(size.sum()) for name, size in sizes.items()}


def _tcp(talks: list[Conversation], sums: Counter[str]) -> dict[str, Any]:
    sides = [side for talk in talks for side in (talk.a, talk.b)]
    again = sum(side.retransmitted_packets for side in sides)
    acks = sum(side.ack_only_packets for side in sides)
    return {
        "packets": sums["tcp_packets"],
        "bytes": sums["tcp_bytes"],
        "header_bytes": {
            "ethernet": sums["ethernet_bytes"],
            "ip": sums["ip_bytes"],
            "tcp": sums["tcp_header_bytes"],
        },
        "padding_bytes": sums["padding"],
        "payload_bytes": sums["payload"],
        "ack_only": {"packets": acks, "share": _share(acks, sums["tcp_packets"])},
        "retransmissions": {
            "packets": again,
            "bytes": sum(side.retransmitted_bytes for side in sides),
            "share": _share(again, sums["tcp_packets"]),
        },
        "out_of_order_packets": sum(side.out_of_order_packets for side in sides),
        "zero_window_packets": sum(side.zero_window_packets for side in sides),
        "delayed_acks": sum(side.delayed_acks for side in sides),
        "longest_ack_delay_s": max((side.longest_ack_delay_s for side in sides), default=0.0),
        "connections": len(talks),
        "setup_s": _median(_setup_s(talk) for talk in talks),
    }


def _overhead(
    tcp: dict[str, Any], sums: Counter[str], traffic: Traffic, mpi: list[Conversation]
) -> dict[str, Any]:
    first_time = tcp["payload_bytes"] - tcp["retransmissions"]["bytes"]
    sizes = sum(talk.a.wire_bytes + talk.b.wire_bytes for talk in mpi)
    message_bytes = sum(message.first.packet.data_bytes for message in traffic.messages)
    return {
        "tcp": _rest(first_time, tcp["bytes"]),
        "mpi": _rest(message_bytes, sizes) if not traffic.lost_segments else None,
        "paper_a_data_share": _share(sums["data_segments"], tcp["packets"]),
        "definition": " ".join(OVERHEAD.split()),
    }


def _short_messages(traffic: Traffic, packets: int) -> dict[str, Any]:
    """Segments with nothing but one packet of MPICH's without data behind its header."""
    alone = Counter(part.first_number for _, _, part in traffic.parts)
    count = sum(
        part.wire_bytes == ch3.HEADER_BYTES and part.segments == 1 and alone[part.first_number] == 1
        for _, _, part in traffic.parts
    )
    return {"packets": count, "share": _share(count, packets)}


def _mpi(traffic: Traffic) -> dict[str, Any]:
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for message in traffic.messages:
        packet = message.first.packet
        count = kinds["rendezvous" if message.rendezvous else ch3.KINDS[packet.kind]]
        count["messages"] += 1
        count["bytes"] += packet.data_bytes
        count["segments"] += message.segments
    collective = [m for m in traffic.messages if m.first.packet.context & 1]
    names = Counter(ch3.KINDS[part.packet.kind] for _, _, part in traffic.parts)
    data_kinds = {ch3.KINDS[kind] for kind in (ch3.EAGER, ch3.SHORT, ch3.SYNCHRONOUS, ch3.READY)}
    segments = sum(count["segments"] for count in kinds.values())
    return {
        "messages": len(traffic.messages),
        "message_bytes": sum(m.first.packet.data_bytes for m in traffic.messages),
        "collective": {
            "messages": len(collective),
            "bytes": sum(m.first.packet.data_bytes for m in collective),
        },
        "kinds": {
            name: {**count, "segments_per_message": count["segments"] / count["messages"]}
            for name, count in sorted(kinds.items())
        },
        "segments_per_message": segments / len(traffic.messages) if traffic.messages else None,
        "control_packets": {name: n for name, n in sorted(names.items()) if name not in data_kinds},
        "setup": _mpi_setup(traffic),
        "segments_not_understood": traffic.lost_segments,
    }


def _mpi_setup(traffic: Traffic) -> dict[str, Any]:
    """How MPI processes connected: TCP's opening, then the caller's rank and the answer."""
    times, calls, refused = [], 0, 0
    for each in traffic.connections:
        shaken = [(kind, segment) for _, kind, _, segment in each.handshakes()]
        calls += sum(kind in (0, 3) for kind, _ in shaken)
        answer = next((pair for pair in shaken if pair[0] in (1, 2, 4, 5)), None)
        if answer is None:
            continue
        refused += answer[0] in (2, 5)
        syn_ns = traffic.conversations.all[each.number].syn_ns
        if syn_ns != NO_TIME:
            times.append((answer[1].time_ns - syn_ns) / 1e9)
    return {"calls": calls, "refused": refused, "syn_to_answer_s": _median(times)}


def _plain(talks: list[Conversation]) -> dict[str, Any]:
    sides = [side for talk in talks for side in (talk.a, talk.b)]
    return {
        "connections": len(talks),
        "packets": sum(side.packets for side in sides),
        "bytes": sum(side.wire_bytes for side in sides),
        "payload_bytes": sum(side.payload_bytes for side in sides),
        "ack_only_packets": sum(side.ack_only_packets for side in sides),
        "retransmitted_packets": sum(side.retransmitted_packets for side in sides),
        "tcp_setup_s": _median(_setup_s(talk) for talk in talks),
    }


def _warnings(traffic: Traffic, truncated: bool, packets: int) -> list[str]:
    warnings = []
    if not packets:
        warnings.append("There is no packet in this capture.")
    if truncated:
        warnings.append("The last packet is cut off and was left out: the capture ended early.")
    if traffic.several:
        warnings.append(warn_of(traffic.several))
    if traffic.lost_segments:
        warnings.append(
            f"{traffic.lost_segments} segments between MPI processes could not be read:"
            " too little of each packet was captured, or some were missed."
            " Capture whole packets with `--snap 0`."
        )
    return warnings


def warn_of(several: list[str]) -> str:
    """What to know of a capture with the packets of several interfaces."""
    return (
        f"This capture was taken at {len(several)} places at once ({', '.join(several)}): a packet that"
        " passed two of them is in it twice and counts twice."
        f" `--at {several[0]}` reads those of one place."
    )


def _setup_s(talk: Conversation) -> float | None:
    if NO_TIME in (talk.syn_ns, talk.open_ns):
        return None
    return (talk.open_ns - talk.syn_ns) / 1e9


def _median(values: Any) -> float | None:
    numbers = [value for value in values if value is not None]
    return median(numbers) if numbers else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _rest(part: int, whole: int) -> float | None:
    return 1 - part / whole if whole else None
