"""The MPI messages in a capture: from whom, to whom, with which tag, how many bytes, by which protocol.

It reads what classic MPICH writes (see ch3.py) and asks for no port: a connection is recognised by its
handshake, or by headers that hardly occur by chance when its beginning was not captured.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.packets import ch3
from beowulf.packets.batches import Batch
from beowulf.packets.flows import Conversations, Trail
from beowulf.packets.headers import Columns
from beowulf.packets.mpi_streams import Part, Segment, Stream
from beowulf.packets.protocols import SSH_PORT
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = -1
# A connection of another kind is given up after so many segments without anything of MPICH's.
_PATIENCE = 8
_MESSAGES = (ch3.EAGER, ch3.SHORT, ch3.SYNCHRONOUS, ch3.READY, ch3.REQUEST_TO_SEND)


@dataclass
class Message:
    """A message on its way: its first packet, and for a rendezvous the two that follow it."""

    connection: int
    from_a: bool
    first: Part
    clear: Part | None = None
    data: Part | None = None

    @property
    def rendezvous(self) -> bool:
        """Whether the sender asked before it sent the data."""
        return self.first.packet.kind == ch3.REQUEST_TO_SEND

    @property
    def last(self) -> Part:
        """The packet that ends it, as far as it was captured."""
        return self.data or self.first

    @property
    def complete(self) -> bool:
        """Whether its last byte was captured or at least its last segment."""
        return self.last.complete and (not self.rendezvous or self.data is not None)

    @property
    def segments(self) -> int:
        """TCP segments that the sender needed for it, a request to send among them."""
        return self.first.segments + (self.data.segments if self.data else 0)


@dataclass
class Connection:
    """A TCP connection between two MPI processes, which carried something or was only opened."""

    number: int  # a place in Conversations.all
    streams: dict[bool, Stream] = field(default_factory=dict)  # by whether a sends
    parts: list[tuple[bool, Part]] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    requests: dict[tuple[bool, int], Message] = field(default_factory=dict)
    cleared: dict[tuple[bool, int], Message] = field(default_factory=dict)
    rank_a: int = UNKNOWN  # in MPI_COMM_WORLD
    rank_b: int = UNKNOWN
    strangers: int = 0

    def __post_init__(self) -> None:
        for from_a in (True, False):
            self.streams[from_a] = Stream(partial(self._began, from_a))

    @property
    def is_mpi(self) -> bool:
        """Whether anything in it is MPICH's."""
        return bool(self.parts) or any(stream.handshakes for stream in self.streams.values())

    def handshakes(self) -> list[tuple[bool, int, int, Segment]]:
        """Who sent it, its kind and rank, and the segment, in the order of the capture."""
        handshakes = [
            (from_a, *each) for from_a, stream in self.streams.items() for each in stream.handshakes
        ]
        return sorted(handshakes, key=lambda each: each[3].number)

    def _began(self, from_a: bool, part: Part) -> int:
        packet = part.packet
        self.parts.append((from_a, part))
        if packet.kind in _MESSAGES:
            message = Message(self.number, from_a, part)
            self.messages.append(message)
            if message.rendezvous:
                self.requests[from_a, packet.sender_request] = message
                return 0
            return 0 if packet.kind == ch3.SHORT else packet.data_bytes
        if packet.kind == ch3.CLEAR_TO_SEND:
            request = self.requests.pop((not from_a, packet.sender_request), None)
            if request:
                request.clear = part
                self.cleared[not from_a, packet.receiver_request] = request
        elif packet.kind == ch3.RENDEZVOUS_DATA:
            cleared = self.cleared.pop((from_a, packet.receiver_request), None)
            if cleared is None:
                return -1
            cleared.data = part
            return cleared.first.packet.data_bytes
        return -1 if packet.kind in ch3.UNSURE else 0


@dataclass
class Traffic:
    """All messages between MPI processes in a capture."""

    connections: list[Connection]
    conversations: Conversations
    addresses: list[str]
    first_ns: int
    several: list[str]  # interfaces that gave packets, if more than one: then some are there twice

    @property
    def messages(self) -> list[Message]:
        """In the order in which they began."""
        messages = [message for each in self.connections for message in each.messages]
        return sorted(messages, key=lambda message: message.first.first_number)

    @property
    def parts(self) -> list[tuple[Connection, bool, Part]]:
        """All packets of MPICH's with their senders, in the order in which they began."""
        parts = [(each, *part) for each in self.connections for part in each.parts]
        return sorted(parts, key=lambda row: (row[2].first_number, row[2].position))

    @property
    def lost_segments(self) -> int:
        """Segments of MPI connections in which there may be packets that could not be read."""
        return sum(
            stream.lost_segments for each in self.connections for stream in each.streams.values()
        )

    def table(self) -> pd.DataFrame:
        """One row a message; see `messages`."""
        import pandas as pd

        connections = {each.number: each for each in self.connections}
        rows = [self._row(each, connections[each.connection]) for each in self.messages]
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        table.attrs |= {"lost_segments": self.lost_segments, "several": self.several}
        return table

    def ends(self, connection: Connection, from_a: bool) -> dict[str, Any]:
        """Addresses, ports and ranks of sender and receiver in this direction."""
        talk = self.conversations.all[connection.number]
        sides = [(talk.a, connection.rank_a), (talk.b, connection.rank_b)]
        (sender, from_rank), (receiver, to_rank) = sides if from_a else sides[::-1]
        return {
            "from_rank": from_rank,
            "to_rank": to_rank,
            "src": self.addresses[sender.address],
            "src_port": sender.port,
            "dst": self.addresses[receiver.address],
            "dst_port": receiver.port,
        }

    def _row(self, message: Message, connection: Connection) -> dict[str, Any]:
        packet, last = message.first.packet, message.last
        return {
            "began_s": (message.first.began_ns - self.first_ns) / 1e9,
            "ended_s": (last.ended_ns - self.first_ns) / 1e9,
            "source": packet.rank,
            "tag": packet.tag,
            "context": packet.context,
            "collective": bool(packet.context & 1),
            "bytes": packet.data_bytes,
            "protocol": "rendezvous" if message.rendezvous else "eager",
            "kind": "rendezvous" if message.rendezvous else ch3.KINDS[packet.kind],
            "segments": message.segments,
            "first_packet": message.first.first_number,
            "last_packet": last.last_number,
            "complete": message.complete,
            **self.ends(connection, message.from_a),
        }


COLUMNS = {
    "began_s": "first segment, since the capture's first packet; of a rendezvous the request's",
    "ended_s": "last segment of its data",
    "from_rank": "who sent it, in MPI_COMM_WORLD; -1 where the capture does not tell",
    "to_rank": "who got it, in MPI_COMM_WORLD",
    "source": "rank of the sender in the message's own communicator",
    "tag": "as the program gave it; MPICH's own for collective calls",
    "context": "of the communicator; MPI_COMM_WORLD has 0, and 1 for its collective calls",
    "collective": "whether a collective call sent it",
    "bytes": "what the program sent, without any header",
    "protocol": "eager or rendezvous",
    "kind": "short eager, eager, synchronous eager, ready or rendezvous",
    "segments": "TCP segments that the sender needed",
    "first_packet": "number in the file, as Wireshark counts",
    "last_packet": "number in the file",
    "complete": "whether it was captured to its end",
    "src": "address of the sender",
    "src_port": "",
    "dst": "address of the receiver",
    "dst_port": "",
}


def messages(path: Path | str, at: str = "") -> pd.DataFrame:
    """The MPI messages of a capture, one a row in the order in which they began; see COLUMNS.

    `attrs["lost_segments"]` counts segments whose packets could not be read: more than none where
    several packets share a segment and only its first bytes were captured. `at` names the one interface
    whose packets are read; `attrs["several"]` the interfaces when they were more than one.
    """
    return traffic(path, at).table()


def traffic(path: Path | str, at: str = "") -> Traffic:
    """All messages between MPI processes in a capture; CaptureError when it is none."""
    packets, talks = Packets(path, at=at), Conversations()
    reading = Reading(talks)
    for batch, piece in packets.frames():
        reading.take(batch, piece, talks.follow(piece))
    return reading.finish(packets)


class Reading:
    """Collects the messages of MPI processes while a capture is read piece by piece."""

    def __init__(self, talks: Conversations) -> None:
        self._talks = talks
        self._connections: dict[int, Connection] = {}

    def take(self, batch: Batch, piece: Columns, trail: Trail) -> None:
        """The next piece, its memory, and the trail of its conversations."""
        ssh = (piece["src_port"] == SSH_PORT) | (piece["dst_port"] == SSH_PORT)
        mine = (trail.conversation >= 0) & (trail.fresh_bytes > 0) & ~ssh
        begin = batch.start + piece["header_bytes"]
        end = np.minimum(batch.start + batch.captured_bytes, begin + piece["payload_bytes"])
        memory = batch.memory.data
        for at in np.flatnonzero(mine).tolist():
            number = int(trail.conversation[at])
            connection = self._connections.get(number)
            if connection is None:
                connection = self._connections[number] = Connection(number)
            elif connection.strangers > _PATIENCE:
                continue
            segment = Segment(
                int(trail.position[at]),
                int(piece["payload_bytes"][at]),
                bytes(memory[begin[at] : end[at]]),
                int(piece["time_ns"][at]),
                int(batch.numbers[at]),
            )
            connection.streams[bool(trail.from_a[at])].take(segment)
            if not connection.is_mpi:
                connection.strangers += 1

    def finish(self, packets: Packets) -> Traffic:
        """All of it, with the ranks of both ends as far as the capture shows them."""
        for connection in self._connections.values():
            for stream in connection.streams.values():
                stream.finish()
        mine = [each for each in self._connections.values() if each.is_mpi]
        about = packets.addresses, packets.first_ns, packets.several
        traffic = Traffic(mine, self._talks, *about)
        _name_ranks(traffic)
        return traffic


def _name_ranks(traffic: Traffic) -> None:
    # The caller sends its rank. The side that was called shows its own in messages within MPI_COMM_WORLD;
    # where it sent none, another of its connections shows it, if all from its address agree.
    here: dict[int, set[int]] = defaultdict(set)
    for connection in traffic.connections:
        ranks_of_ends = {True: UNKNOWN, False: UNKNOWN}
        for message in connection.messages:
            if message.first.packet.context in (0, 1):
                ranks_of_ends[message.from_a] = message.first.packet.rank
        for from_a, kind, rank, _ in connection.handshakes():
            if kind == 0:
                ranks_of_ends[from_a] = rank
        connection.rank_a, connection.rank_b = ranks_of_ends[True], ranks_of_ends[False]
        talk = traffic.conversations.all[connection.number]
        here[talk.a.address].add(connection.rank_a)
        here[talk.b.address].add(connection.rank_b)
    for connection in traffic.connections:
        talk = traffic.conversations.all[connection.number]
        for name, side in (("rank_a", talk.a), ("rank_b", talk.b)):
            ranks = here[side.address] - {UNKNOWN}
            if getattr(connection, name) == UNKNOWN and len(ranks) == 1:
                setattr(connection, name, next(iter(ranks)))
