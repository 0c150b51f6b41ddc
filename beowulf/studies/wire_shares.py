"""What the studies of the wire share: conversations of which every message is known, under a capture.

Paper A captured while its program ran and read the averages off Ethereal: shares of the TCP frames,
packets, bytes and Mbit a second. So it is here: one launch under one capture of the wire, the
launch itself (ssh, and how MPI's processes find each other) included. Because the averages of such a
capture depend on how long starting and ending take, the same rates are also given `talking`: from
the first to the last packet of the messages that are counted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf import paths
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.packets import ch3
from beowulf.packets.analysis import OVERHEAD, analyse
from beowulf.packets.batches import NO_TIME
from beowulf.packets.flows import Conversations
from beowulf.packets.mpi_messages import Message, traffic
from beowulf.packets.protocols import members
from beowulf.packets.table import Packets
from beowulf.record import Record, reserve, stamp
from beowulf.studies.study import Plan

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.cluster.capturing.capture import Capture

RANKS = 4
TAG = 600  # of what is timed; the next one is that of warm-up and lead-in
CHUNKS = 30
LAUNCHES, QUICK_LAUNCHES = 15, LEAST_PAIRS

MOST_ETHERNET_BYTES = 18  # in front of what the MTU counts: two addresses, a kind, a VLAN tag

MPI_FACTS = (
    "packets",
    "connections",
    "setup",
    "messages",
    "message_bytes",
    "segments_per_message",
    "kinds",
)
RATES = ("packets_per_s", "bytes_per_s", "mbit_per_s")


@dataclass(frozen=True)
class Talk:
    """What the pairs of ranks say to each other in one launch."""

    protocol: str
    message_bytes: int
    overlap_bytes: int
    exchanges: int  # that are timed

    @property
    def at(self) -> dict[str, Any]:
        """The coordinates of its Points."""
        return place(self.protocol, self.message_bytes, self.overlap_bytes)

    @property
    def arguments(self) -> list[str | int]:
        """The words of its command."""
        words: list[str | int] = ["--protocol", self.protocol, "--bytes", self.message_bytes]
        words += ["--overlap-bytes", self.overlap_bytes, "--exchanges", self.exchanges]
        return [*words, "--chunks", CHUNKS, "--tag", TAG]


def place(protocol: str, message_bytes: int, overlap_bytes: int) -> dict[str, Any]:
    """The coordinates of a talk."""
    return {"protocol": protocol, "message_bytes": message_bytes, "overlap_bytes": overlap_bytes}


def program() -> Path:
    """The source of the conversation."""
    return paths.root() / "labs" / "06-protocol-analysis" / "conversation.c"


def converse(talks: Sequence[Talk], *, quick: bool, launches: int | None = None) -> Plan:
    """Launch each talk several times, each under a capture; the first without overlap stay beside the Record.

    In each round the talks have another order, so that a burst of noise does not always hit the same.
    """
    rounds = launches or (QUICK_LAUNCHES if quick else LAUNCHES)

    def steps(measurement: Measurement) -> None:
        measurement.prepare(program())
        for number in range(rounds):
            for talk in random.Random(personal_code.seed(number)).sample(talks, len(talks)):
                _observe(measurement, talk, number)

    about = {
        "talks": [vars(talk) for talk in talks],
        "launches": rounds,
        "seed": personal_code.seed(),
        "tag": TAG,
        "overhead": " ".join(OVERHEAD.split()),
    }
    return Plan(rounds * len(talks), about, steps)


def _observe(measurement: Measurement, talk: Talk, number: int) -> None:
    """One launch under a capture: its samples and what was on the wire become a Point."""
    name = f"{measurement.study}-{stamp(measurement.started)}-{talk.protocol}-{talk.message_bytes}"
    file = reserve(measurement.folder / f"{name}-overlap-{talk.overlap_bytes}.pcapng")
    kept = number == 0 and talk.overlap_bytes == 0
    wire = None
    try:
        wire = measurement.cluster.capture(file)
        with wire:
            lines = measurement.launch(program(), RANKS, talk.arguments, launch=number, at=talk.at)
        seen = facts(wire, lines)
    except BaseException as error:
        # What broke off is worth a look, if there will be a Record that names it.
        kept = isinstance(error, LabError) and any(point.samples for point in measurement.points)
        raise
    finally:
        warnings = wire.warnings if wire else []
        measurement.warnings += [each for each in warnings if each not in measurement.warnings]
        if kept and wire and wire.began:
            measurement.captures.append(wire.facts())
        else:
            file.unlink(missing_ok=True)
    measurement.add({**talk.at, "ranks": RANKS, "launch": number}, HALF, ()).facts.update(seen)


def facts(wire: Capture, lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What was on the wire: a selection of `analyse`, the rates while talking, and whether all was seen."""
    analysis = analyse(wire.file)
    tcp, mpi = analysis["tcp"], analysis["mpi"]
    said = [line for line in lines if line["kind"] == "sent"]
    sent = [{name: value for name, value in line.items() if name != "kind"} for line in said]
    tags = {int(line["tag"]) for line in sent}
    seen = traffic(wire.file)
    # By a call of the program itself, and not a collective one.
    mine = [
        message
        for message in seen.messages
        for packet in [message.first.packet]
        if not packet.context & 1 and packet.kind in ch3.KINDS and packet.tag in tags
    ]
    captured = _counted(mine)
    timed = [m for m in mine if m.first.packet.tag == TAG]
    return {
        **{name: analysis[name] for name in ("elapsed_s", "packets", "bytes", *RATES)},
        "protocols": {k: v["packets"] for k, v in analysis["protocols"].items() if v["packets"]},
        "shares": analysis["shares"],
        "short_messages": analysis["short_messages"],
        "overhead": {k: v for k, v in analysis["overhead"].items() if k != "definition"},
        "tcp": {
            **{name: tcp[name] for name in ("packets", "bytes", "payload_bytes", "header_bytes")},
            "ack_only_packets": tcp["ack_only"]["packets"],
            "retransmitted_packets": tcp["retransmissions"]["packets"],
            "delayed_acks": tcp["delayed_acks"],
        },
        "mpi": {name: mpi[name] for name in MPI_FACTS},
        "ssh": {name: analysis["ssh"][name] for name in ("packets", "bytes")},
        "talking": talking(wire.file, timed),
        "sent": sent,
        "captured": captured,
        "matched": _same(sent, captured),
        "segments_not_understood": mpi["segments_not_understood"],
        "capture": kept(wire),
    }


def kept(wire: Capture) -> dict[str, Any]:
    """What a Record keeps of a capture that it counts: where it was seen, its digest, drops, and its longest frame."""
    names = ("where", "sha256", "packets", "dropped", "shifted_s")
    facts = {name: value for name, value in wire.facts().items() if name in names}
    sizes = [piece["wire_bytes"].max(initial=0) for piece in Packets(wire.file)]
    facts["longest_frame_bytes"] = int(max(sizes, default=0))
    return facts


def uncut(record: Record) -> list[str]:
    """Why frames in a Record's captures are not those of the cables; empty where they are."""
    mtu = str(record.cluster.get("mtu", "")).strip()
    captures = [point.facts.get("capture", {}) for point in record.points]
    longest = max((each.get("longest_frame_bytes", 0) for each in captures), default=0)
    if not mtu.isdecimal() or longest <= int(mtu) + MOST_ETHERNET_BYTES:
        return []
    return [
        f"frames of up to {longest:,} bytes were captured, and cables carry {mtu}: the cards cut them into segments"
        " themselves (`beowulf tune apply offloads off`)"
    ]


def _counted(messages: Sequence[Message]) -> list[dict[str, int]]:
    """By sender and tag: how many whole messages there were, and of how many bytes."""
    sizes: dict[tuple[int, int], list[int]] = {}
    for packet in (message.first.packet for message in messages if message.complete):
        sizes.setdefault((packet.tag, packet.rank), []).append(packet.data_bytes)
    return [
        {"rank": rank, "tag": tag, "messages": len(each), "bytes": sum(each)}
        for (tag, rank), each in sorted(sizes.items())
    ]


def _same(sent: Sequence[dict[str, int]], captured: Sequence[dict[str, int]]) -> bool:
    def plain(each: Sequence[dict[str, int]]) -> set[tuple[tuple[str, int], ...]]:
        return {tuple(sorted(count.items())) for count in each if count["messages"]}

    return bool(sent) and plain(sent) == plain(captured)


def talking(file: Path, timed: Sequence[Message]) -> dict[str, Any]:
    """Packets, bytes, rates, data share and overhead from the first to the last packet of these messages."""
    if not timed:
        return {}
    since = min(message.first.began_ns for message in timed)
    until = max(message.last.ended_ns for message in timed)
    if until <= since:
        return {}
    counts: Counter[str] = Counter()
    talks = Conversations()
    for piece in Packets(file):
        trail = talks.follow(piece)
        times = piece["time_ns"]
        inside = (times != NO_TIME) & (times >= since) & (times <= until)
        tcp = inside & members(piece)["tcp"]
        size = piece["wire_bytes"].astype(np.int64)
        counts["packets"] += int(np.count_nonzero(inside))
        counts["bytes"] += int(size[inside].sum())
        counts["tcp_packets"] += int(np.count_nonzero(tcp))
        counts["tcp_bytes"] += int(size[tcp].sum())
        counts["data_segments"] += int(np.count_nonzero(tcp & (piece["payload_bytes"] > 0)))
        counts["fresh"] += int(trail.fresh_bytes[tcp].sum())
    elapsed_s = (until - since) / 1e9
    return {
        "elapsed_s": elapsed_s,
        "packets": counts["packets"],
        "bytes": counts["bytes"],
        "packets_per_s": counts["packets"] / elapsed_s,
        "bytes_per_s": counts["bytes"] / elapsed_s,
        "mbit_per_s": 8 * counts["bytes"] / elapsed_s / 1e6,
        "data_share": counts["data_segments"] / counts["tcp_packets"],
        "tcp_overhead": 1 - counts["fresh"] / counts["tcp_bytes"],
    }


def rows(record: Record) -> pd.DataFrame:
    """One row a launch that was captured whole: rates over the capture and while talking, shares in percent.

    LabError when the Record has none.
    """
    import pandas as pd

    launches = [
        _row(point.at, point.facts) for point in record.points if point.facts.get("talking")
    ]
    if not launches:
        raise LabError(
            f"The Record of study {record.study} has no launch that was captured to the end.",
            f"`beowulf study {record.study}` captures one.",
        )
    return pd.DataFrame(launches)


def _row(at: dict[str, Any], of: dict[str, Any]) -> dict[str, Any]:
    talk = of["talking"]
    return {
        **{name: at[name] for name in ("protocol", "message_bytes", "overlap_bytes", "launch")},
        **{name: of[name] for name in ("elapsed_s", "packets", *RATES)},
        "data_percent": 100 * of["overhead"]["paper_a_data_share"],
        "remote_shell_percent": 100 * of["shares"]["remote_shell"],
        "short_message_percent": 100 * of["short_messages"]["share"],
        "long_data_percent": 100 * (of["shares"]["data_segments"] - of["short_messages"]["share"]),
        "ack_only_percent": 100 * of["shares"]["ack_only"],
        "connection_percent": 100 * of["shares"]["connection"],
        "other_percent": 100 * of["shares"]["other"],
        "tcp_percent": 100 * of["tcp"]["packets"] / of["packets"],
        "tcp_overhead_percent": 100 * of["overhead"]["tcp"],
        **{f"talking_{name}": talk[name] for name in ("elapsed_s", "packets", *RATES)},
        "talking_data_percent": 100 * talk["data_share"],
        "talking_tcp_overhead_percent": 100 * talk["tcp_overhead"],
        "segments_per_message": of["mpi"]["segments_per_message"],
        "retransmitted_packets": of["tcp"]["retransmitted_packets"],
        "matched": of["matched"],
    }
