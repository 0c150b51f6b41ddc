"""The packets of a run on the axis of its calls: each with the message that it carries, asks for or acknowledges."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.errors import LabError
from beowulf.packets.batches import NO_TIME
from beowulf.packets.flows import DELAYED_ACK_S, Conversations
from beowulf.packets.headers import ACK, FIN, RST, SYN, flag_names
from beowulf.packets.mpi_messages import Message, Reading, Traffic
from beowulf.packets.table import Packets
from beowulf.packets.waits import AT_ONCE_S
from beowulf.timeline.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

# What a packet is for; of the first that fits.
HANDSHAKE, AGAIN, REQUEST, CLEAR, DATA, ACKNOWLEDGES, END, OTHER = (
    "handshake",
    "retransmission",
    "request to send",
    "clear to send",
    "data",
    "ACK",
    "end",
    "other",
)
APART_NS = 1_000_000_000  # a capture that begins or ends so far from the run is of another one


@dataclass(frozen=True)
class Wire:
    """`packets`: one row each, `mpi` those between MPI processes; `messages`: with their number in the trace, or -1.

    `held`: the messages of the trace that Nagle's algorithm kept until a delayed ACK, each with since and until when.
    """

    packets: pd.DataFrame
    messages: pd.DataFrame
    held: pd.DataFrame
    nodes: tuple[str, ...]  # the addresses, as `src` and `dst` number them
    warnings: tuple[str, ...]


def read(file: Path, trace: Trace, events: pd.DataFrame, messages: pd.DataFrame) -> Wire:
    """The packets of a capture that was taken while the trace was recorded; LabError for one of another run."""
    import pandas as pd

    packets, talks = Packets(file), Conversations()
    reading = Reading(talks)
    pieces = []
    for batch, piece in packets.frames():
        trail = talks.follow(piece)
        reading.take(batch, piece, trail)
        columns = {
            name: piece[name].copy() for name in ("time_ns", "src", "dst", "flags", "payload_bytes")
        }
        columns |= {
            "number": batch.numbers.copy(),
            "conversation": trail.conversation,
            "from_a": trail.from_a,
            "position": trail.position,
            "again": trail.again,
        }
        pieces.append(pd.DataFrame(columns))
    traffic = reading.finish(packets)
    if not pieces:
        raise LabError(f"{file} has no packets.", "Was it captured while the program ran?")
    table = pd.concat(pieces, ignore_index=True)
    to_trace = -trace.ranks[0].to_real_ns()
    table["time_ns"] += to_trace
    if (
        table["time_ns"].max() < trace.began_ns - APART_NS
        or table["time_ns"].min() > trace.ended_ns + APART_NS
    ):
        raise LabError(
            f"{file} was captured at another time than this run.",
            "Record both at once: `--trace --capture`.",
        )
    found, warnings = _joined(traffic, events, messages)
    _name(table, traffic, found)
    frame = _frame(traffic, found, to_trace)
    nodes = tuple(packets.addresses)
    mine = [each.number for each in traffic.connections]
    table["mpi"] = table["conversation"].isin(mine)
    kept = "time_ns src dst kind flags payload_bytes message wire_message number mpi".split()
    return Wire(table[kept], frame, _held(table), nodes, tuple(warnings))


def _joined(
    traffic: Traffic, events: pd.DataFrame, messages: pd.DataFrame
) -> tuple[list[tuple[Message, dict[str, Any], int]], list[str]]:
    """The messages of the capture, each with its ends and its number in the trace.

    Messages of a sender to a receiver with one tag are on the wire in the order in which they were sent.
    """
    connections = {each.number: each for each in traffic.connections}
    began = events["began_ns"].to_numpy()
    ordered = messages.assign(began=began[messages["send"]]).sort_values("began", kind="stable")
    of_trace = {
        key: rows.index.tolist()
        for key, rows in ordered.groupby(["source", "to", "tag"], sort=False)
    }
    of_wire: dict[tuple[int, int, int], list[int]] = {}
    found: list[tuple[Message, dict[str, Any], int]] = []
    for message in traffic.messages:
        ends = traffic.ends(connections[message.connection], message.from_a)
        packet = message.first.packet
        if not packet.context & 1:
            key = (int(ends["from_rank"]), int(ends["to_rank"]), int(packet.tag))
            of_wire.setdefault(key, []).append(len(found))
        found.append((message, ends, -1))
    warnings = []
    for key, places in of_wire.items():
        mine = of_trace.get(key, [])
        if len(mine) != len(places):
            source, to, tag = key
            warnings.append(
                f"From rank {source} to rank {to} with tag {tag}, the trace has {len(mine):,} messages and the capture"
                f" {len(places):,}: they are not joined."
            )
            continue
        for place, number in zip(places, mine, strict=True):
            found[place] = (*found[place][:2], number)
    return found, warnings


def _name(
    table: pd.DataFrame, traffic: Traffic, found: list[tuple[Message, dict[str, Any], int]]
) -> None:
    """Give each packet its kind and the message that it belongs to, in the capture and in the trace."""
    flags = table["flags"].to_numpy()
    payload = table["payload_bytes"].to_numpy()
    kind = np.full(len(table), OTHER, dtype=object)
    carries = payload > 0
    kind[(flags & ACK != 0) & ~carries] = ACKNOWLEDGES
    kind[flags & (FIN | RST) != 0] = END
    kind[flags & SYN != 0] = HANDSHAKE
    wire_message = np.full(len(table), -1)
    conversation, position = table["conversation"].to_numpy(), table["position"].to_numpy()
    from_a = table["from_a"].to_numpy()
    mine: dict[tuple[int, bool], list[tuple[int, int, str, int]]] = {}
    for place, (message, _, _) in enumerate(found):
        parts = [(message.first, message.from_a, REQUEST if message.rendezvous else DATA)]
        if message.clear:
            parts.append((message.clear, not message.from_a, CLEAR))
        if message.data:
            parts.append((message.data, message.from_a, DATA))
        for part, side, what in parts:
            row = (part.position, part.position + part.wire_bytes, what, place)
            mine.setdefault((message.connection, side), []).append(row)
    for (number, side), rows in mine.items():
        rows.sort()
        starts = np.array([row[0] for row in rows])
        here = np.flatnonzero((conversation == number) & (from_a == side) & carries)
        # A segment may hold the end of one part and the beginning of the next: the first counts.
        at = np.searchsorted(starts, position[here], side="right") - 1
        after = np.minimum(np.maximum(at + 1, 0), len(rows) - 1)
        for packet, part, later in zip(here.tolist(), at.tolist(), after.tolist(), strict=True):
            chosen = rows[part] if part >= 0 and position[packet] < rows[part][1] else rows[later]
            if chosen[0] < position[packet] + payload[packet] and chosen[1] > position[packet]:
                kind[packet], wire_message[packet] = chosen[2], chosen[3]
    again = table["again"].to_numpy()
    kind[again & carries] = AGAIN
    # An ACK belongs to the latest message that came the other way.
    latest: dict[tuple[int, bool], int] = {}
    for packet in range(len(table)):
        number = int(conversation[packet])
        if number < 0:
            continue
        side = bool(from_a[packet])
        if carries[packet]:
            latest[number, side] = int(wire_message[packet])
        elif kind[packet] == ACKNOWLEDGES:
            wire_message[packet] = latest.get((number, not side), -1)
    in_trace = np.array([each[2] for each in found] or [-1])
    table["kind"] = kind
    table["wire_message"] = wire_message
    table["message"] = np.where(wire_message >= 0, in_trace[np.maximum(wire_message, 0)], -1)
    table["flags"] = [flag_names(int(each)) for each in flags]


def _held(table: pd.DataFrame) -> pd.DataFrame:
    """The messages whose first segment came at once behind an ACK that the other side had delayed."""
    import pandas as pd

    sent_ns: dict[tuple[int, bool], int] = {}  # of each side's last data
    freed_ns: dict[
        tuple[int, bool], tuple[int, int]
    ] = {}  # by a delayed ACK: when, and since when it was due
    rows, seen = [], {-1}
    mine = table[table["mpi"]]
    columns = ("conversation", "from_a", "time_ns", "kind", "payload_bytes", "message")
    for number, side, time_ns, kind, payload, message in zip(
        *(mine[name].tolist() for name in columns), strict=True
    ):
        if payload:
            freed, since = freed_ns.pop((number, side), (NO_TIME, NO_TIME))
            if freed != NO_TIME and time_ns - freed <= AT_ONCE_S * 1e9 and message not in seen:
                rows.append((message, since, time_ns))
            sent_ns[number, side] = time_ns
            seen.add(message)
        elif kind == ACKNOWLEDGES:
            since = sent_ns.get((number, not side), NO_TIME)
            if since != NO_TIME and time_ns - since >= DELAYED_ACK_S * 1e9:
                freed_ns[number, not side] = (time_ns, since)
    return pd.DataFrame(rows, columns=["message", "since_ns", "until_ns"]).astype("int64")


def _frame(
    traffic: Traffic, found: list[tuple[Message, dict[str, Any], int]], to_trace: int
) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for message, ends, number in found:
        packet = message.first.packet
        rows.append(
            {
                "message": number,
                "source": ends["from_rank"],
                "to": ends["to_rank"],
                "tag": packet.tag,
                "bytes": packet.data_bytes,
                "collective": bool(packet.context & 1),
                "protocol": "rendezvous" if message.rendezvous else "eager",
                "asked_ns": message.first.began_ns + to_trace if message.rendezvous else -1,
                "cleared_ns": message.clear.began_ns + to_trace if message.clear else -1,
                "data_ns": (message.data or message.first).began_ns + to_trace,
                "ended_ns": message.last.ended_ns + to_trace,
                "segments": message.segments,
                "complete": message.complete,
            }
        )
    columns = (
        "message source to tag bytes collective protocol asked_ns cleared_ns data_ns ended_ns segments complete"
    ).split()
    return pd.DataFrame(rows, columns=columns)
