"""The packets of a run on the axis of its calls: each with the message that it carries, asks for or acknowledges."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
HANDSHAKE, AGAIN, END, OTHER = "handshake", "retransmission", "end", "other"
REQUEST, CLEAR, DATA, ACKNOWLEDGES = "request to send", "clear to send", "data", "ACK"
APART_NS = 1_000_000_000  # a capture that begins or ends so far from the run is of another one


@dataclass(frozen=True)
class Wire:
    """`packets`: one row each, `mpi` those between MPI processes, `message` its number in the trace, or -1.

    `held`: the messages of the trace that Nagle's algorithm kept until a delayed ACK, each with since and until when.
    """

    packets: pd.DataFrame
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
        names = ("time_ns", "src", "dst", "flags", "payload_bytes")
        columns = {name: piece[name] for name in names} | {"number": batch.numbers}
        pieces.append(pd.DataFrame({**columns, **vars(trail)}))
    traffic = reading.finish(packets)
    if not pieces:
        raise LabError(f"{file} has no packets.", "Was it captured while the program was running?")
    table = pd.concat(pieces, ignore_index=True)
    to_trace = -trace.ranks[0].to_real_ns()
    table["time_ns"] += to_trace
    if (
        table["time_ns"].max() < trace.began_ns - APART_NS
        or table["time_ns"].min() > trace.ended_ns + APART_NS
    ):
        raise LabError(
            f"{file} was captured at a different time from this run.",
            "Record both together: `--trace --capture`.",
        )
    found, warnings = _joined(traffic, events, messages)
    _name(table, found)
    table["mpi"] = table["conversation"].isin([each.number for each in traffic.connections])
    kept = "time_ns src dst kind flags payload_bytes message number mpi".split()
    return Wire(table[kept], _held(table), tuple(packets.addresses), tuple(warnings))


def _joined(
    traffic: Traffic, events: pd.DataFrame, messages: pd.DataFrame
) -> tuple[list[tuple[Message, int]], list[str]]:
    """The messages of the capture, each with its number in the trace, or -1.

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
    every = traffic.messages
    for place, message in enumerate(every):
        packet = message.first.packet
        if not packet.context & 1:
            ends = traffic.ends(connections[message.connection], message.from_a)
            key = (int(ends["from_rank"]), int(ends["to_rank"]), int(packet.tag))
            of_wire.setdefault(key, []).append(place)
    warnings, numbers = [], [-1] * len(every)
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
            numbers[place] = number
    return list(zip(every, numbers, strict=True)), warnings


def _name(table: pd.DataFrame, found: list[tuple[Message, int]]) -> None:
    """Give each packet its kind and the message of the trace that it belongs to."""
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
    for place, (message, _) in enumerate(found):
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
    sides = zip(conversation.tolist(), from_a.tolist(), strict=True)
    for packet, (number, side) in enumerate(sides):
        if carries[packet]:
            latest[number, side] = int(wire_message[packet])
        elif kind[packet] == ACKNOWLEDGES:
            wire_message[packet] = latest.get((number, not side), -1)
    in_trace = np.array([number for _, number in found] or [-1])
    table["kind"] = kind
    table["message"] = np.where(wire_message >= 0, in_trace[np.maximum(wire_message, 0)], -1)
    table["flags"] = [flag_names(int(each)) for each in flags]


def _held(table: pd.DataFrame) -> pd.DataFrame:
    """The messages whose first segment came at once behind an ACK that the other side had delayed."""
    import pandas as pd

    sent_ns: dict[tuple[int, bool], int] = {}  # of each side's last data
    # By a delayed ACK: when, and since when it was due.
    freed_ns: dict[tuple[int, bool], tuple[int, int]] = {}
    rows, seen = [], {-1}
    for row in table[table["mpi"]].to_dict("records"):
        number, side, time_ns = row["conversation"], row["from_a"], row["time_ns"]
        if row["payload_bytes"]:
            freed, since = freed_ns.pop((number, side), (None, NO_TIME))
            at_once = freed is not None and time_ns - freed <= AT_ONCE_S * 1e9
            if at_once and row["message"] not in seen:
                rows.append((row["message"], since, time_ns))
            sent_ns[number, side] = time_ns
            seen.add(row["message"])
        elif row["kind"] == ACKNOWLEDGES:
            since = sent_ns.get((number, not side), NO_TIME)
            if since != NO_TIME and time_ns - since >= DELAYED_ACK_S * 1e9:
                freed_ns[number, not side] = (time_ns, since)
    return pd.DataFrame(rows, columns=["message", "since_ns", "until_ns"]).astype("int64")
