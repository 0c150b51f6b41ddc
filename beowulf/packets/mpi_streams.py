"""One direction of a connection between two MPI processes, cut into the packets that MPICH wrote.

Only the first 32 bytes of a packet's header have to be in the capture: data is passed over by its
length. Where a header is missing, all is passed over until a segment begins with one again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from beowulf.packets import ch3

# So many segments may wait for an earlier one before that one counts as never captured.
_MOST_WAITING = 256


@dataclass(frozen=True)
class Segment:
    """A TCP segment with payload: its position in the stream, how much, what was captured."""

    position: int
    payload_bytes: int
    captured: bytes
    time_ns: int
    number: int  # of the packet in the file, from 1 as in Wireshark


@dataclass
class Part:
    """A packet of MPICH's on the wire: from the first segment with bytes of it to the last."""

    packet: ch3.Packet
    position: int
    wire_bytes: int  # its header and its data
    began_ns: int
    ended_ns: int
    first_number: int
    last_number: int
    segments: int = 0
    complete: bool = False

    def add(self, segment: Segment) -> None:
        """One more segment holds bytes of it; they may come in another order than its bytes."""
        self.segments += 1
        self.began_ns = min(self.began_ns, segment.time_ns)
        self.ended_ns = max(self.ended_ns, segment.time_ns)
        self.first_number = min(self.first_number, segment.number)
        self.last_number = max(self.last_number, segment.number)


class Stream:
    """Takes segments in any order and tells of each packet when it begins.

    `began(part)` gives the bytes of data behind the part's header; below 0: unknown.
    """

    def __init__(self, began: Callable[[Part], int]) -> None:
        self._began = began
        self._waiting: dict[int, Segment] = {}
        self._at: int | None = None
        self._head = bytearray()
        self._opening: Segment | None = None  # in which the header began that is being collected
        self._part: Part | None = None
        self._counted: Segment | None = None  # the latest that was added to the part
        self._until = 0  # where the part ends
        # Until a handshake or a header is seen: the capture may have begun within the connection.
        self._lost = True
        self.handshakes: list[tuple[int, int, Segment]] = []  # kind, rank
        self.lost_segments = 0  # in which a header may be that could not be read

    def take(self, segment: Segment) -> None:
        """The next segment with payload in the order of the capture."""
        if self._at is None:
            self._at = segment.position
        if segment.position > self._at:
            longest = self._waiting.get(segment.position)
            if longest is None or longest.payload_bytes < segment.payload_bytes:
                self._waiting[segment.position] = segment
            if len(self._waiting) > _MOST_WAITING:
                self._skip()
            return
        self._next(segment)

    def finish(self) -> None:
        """There are no more segments: what still waits for a missing one is read without it."""
        while self._waiting:
            self._skip()

    def _skip(self) -> None:
        first = min(self._waiting)
        if self._part is None or first > self._until:
            self._lose()
        self._at = first
        self._next(self._waiting.pop(first))

    def _next(self, segment: Segment) -> None:
        assert self._at is not None
        read_already = self._at - segment.position
        if read_already < segment.payload_bytes:
            self._read(segment, self._at)
            self._at = segment.position + segment.payload_bytes
        if self._waiting and (first := min(self._waiting)) <= self._at:
            self._next(self._waiting.pop(first))

    def _lose(self) -> None:
        self._lost = True
        self._part = None
        self._head.clear()

    def _read(self, segment: Segment, at: int) -> None:
        end = segment.position + segment.payload_bytes
        shaken = None if self.handshakes or at else ch3.handshake(segment.captured, end)
        if shaken:
            kind, rank, size = shaken
            self.handshakes.append((kind, rank, segment))
            self._lost = False
            at += size
        if self._lost and not self._found(segment, at):
            self.lost_segments += 1
            return
        while at < end and not self._lost:
            if self._part is not None:
                at = self._pass(segment, at, min(end, self._until))
            else:
                at = self._collect(segment, at, end)
        if self._lost:
            self.lost_segments += 1

    def _found(self, segment: Segment, at: int) -> bool:
        # MPICH hands a header and its data over at once, so most headers begin a segment.
        head = segment.captured[at - segment.position :][: ch3.NEEDED_BYTES]
        packet = ch3.parse(head) if len(head) == ch3.NEEDED_BYTES else None
        self._lost = packet is None or not ch3.is_certain(packet)
        return not self._lost

    def _pass(self, segment: Segment, at: int, to: int) -> int:
        assert self._part is not None
        if segment is not self._counted:
            self._part.add(segment)
            self._counted = segment
        if to == self._until:
            self._part.complete = True
            self._part = None
        return to

    def _collect(self, segment: Segment, at: int, end: int) -> int:
        if not self._head:
            self._opening = segment
        missing = ch3.NEEDED_BYTES - len(self._head)
        here = at - segment.position
        piece = segment.captured[here : here + missing]
        self._head += piece
        if len(piece) < missing:
            if at + len(piece) < end:
                self._lose()
            return end
        self._begin(at + missing - ch3.NEEDED_BYTES, segment)
        return at + missing

    def _begin(self, position: int, segment: Segment) -> None:
        packet = ch3.parse(bytes(self._head))
        opening = self._opening
        assert opening is not None
        self._head.clear()
        if packet is None:
            self._lose()
            return
        times, numbers = (opening.time_ns,) * 2, (opening.number,) * 2
        part = Part(packet, position, ch3.HEADER_BYTES, *times, *numbers)
        part.add(opening)
        if opening is not segment:
            part.add(segment)
        self._counted = segment
        data_bytes = self._began(part)
        if data_bytes < 0:
            self._lose()
            return
        part.wire_bytes += data_bytes
        self._part = part
        self._until = position + part.wire_bytes
