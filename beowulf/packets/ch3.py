"""What classic MPICH (CH3 over nemesis and TCP) writes into a connection, byte by byte.

Found by experiment with MPICH 3.4.3 on 64-bit x86, where all numbers are little-endian; the names are
those of its public sources. A connection begins with a handshake: a number of 32 bits for its kind,
four bytes unused, the length of what follows in 64 bits. The caller's (kind 0) carries its rank in
MPI_COMM_WORLD in 32 bits; the answer (1 yes, 2 no) carries nothing. It is 'no' when both call at once.

After it, each direction is a row of packets: a header of 80 bytes, and data behind it for some kinds.
Bytes of the header that a kind does not use hold what was in that memory before.

    kind of packet          0: kind   4: request        8: tag   12: rank  14: context  16      24
    eager, synchronous,     32 bits   -                 32 bits  16 bits   16 bits      request length
      ready, request to send
    short eager             32 bits   -                 32 bits  16 bits   16 bits      length  16 bytes
    acknowledgement,        32 bits   of the sender     of the receiver (clear to send only)
      clear to send
    rendezvous data         32 bits   of the receiver
    close                   32 bits   1: the answer
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEADER_BYTES = 80
NEEDED_BYTES = 32  # of a header: the fields that are used end here
HANDSHAKE_BYTES = 16
SHORT_BYTES = 16  # what a short eager packet carries within its header

EAGER, SHORT, SYNCHRONOUS, SYNCHRONOUS_ACK, READY = 0, 1, 2, 3, 4
REQUEST_TO_SEND, CLEAR_TO_SEND, RENDEZVOUS_DATA = 5, 6, 7
CANCEL, CANCEL_ANSWER, CLOSE = 8, 9, 35

KINDS = {
    EAGER: "eager",
    SHORT: "short eager",
    SYNCHRONOUS: "synchronous eager",
    SYNCHRONOUS_ACK: "synchronous acknowledgement",
    READY: "ready",
    REQUEST_TO_SEND: "request to send",
    CLEAR_TO_SEND: "clear to send",
    RENDEZVOUS_DATA: "rendezvous data",
    CANCEL: "cancel",
    CANCEL_ANSWER: "cancel answer",
    **dict.fromkeys(range(10, 35), "one-sided"),
    CLOSE: "close",
    36: "revoke",
}
MATCHED = (EAGER, SYNCHRONOUS, READY, REQUEST_TO_SEND)  # with a tag, a rank, a context, a length
# One-sided kinds that may have data behind the header, of a length that we do not read.
UNSURE = (10, 12, 13, 15, 17, 20, 22, 24)
HANDSHAKES = {0: "call", 1: "answer: yes", 2: "answer: no", 6: "closed"}
HANDSHAKES |= {3: "call to a port", 4: "port answer: yes", 5: "port answer: no"}

_MATCH = struct.Struct("<I4xiHHIxxxxQ")
_SHORT = struct.Struct("<I4xiHHQ8x")
_REQUESTS = struct.Struct("<III")
_LONGEST = 1 << 40
NO_REQUEST = 0x2C000000


@dataclass(frozen=True)
class Packet:
    """One packet's header: -1 for what its kind does not have."""

    kind: int
    tag: int = -1
    rank: int = -1  # of the sender, in the communicator
    context: int = -1  # of the communicator; the next odd number is that of its collective calls
    data_bytes: int = -1  # of the message
    sender_request: int = -1
    receiver_request: int = -1


def parse(head: bytes) -> Packet | None:
    """The packet whose first 32 bytes these are, or None when they cannot be a header."""
    kind, one, other = _REQUESTS.unpack_from(head)
    if kind in MATCHED:
        _, tag, rank, context, request, size = _MATCH.unpack_from(head)
        sound = _is_request(request) and size < _LONGEST and rank < 1 << 15 and tag >= 0
        return Packet(kind, tag, rank, context, size, request) if sound else None
    if kind == SHORT:
        _, tag, rank, context, size = _SHORT.unpack_from(head)
        sound = size <= SHORT_BYTES and rank < 1 << 15 and tag >= 0
        return Packet(kind, tag, rank, context, size) if sound else None
    if kind == CLEAR_TO_SEND:
        sound = _is_request(one) and _is_request(other)
        return Packet(kind, sender_request=one, receiver_request=other) if sound else None
    if kind == RENDEZVOUS_DATA:
        return Packet(kind, receiver_request=one) if _is_request(one) else None
    if kind in (SYNCHRONOUS_ACK, CANCEL_ANSWER):
        return Packet(kind, sender_request=one) if _is_request(one) else None
    return Packet(kind) if kind in KINDS else None


def is_certain(packet: Packet) -> bool:
    """Whether these fields hardly occur by chance, so that they identify a connection."""
    return packet.kind in (*MATCHED, CLEAR_TO_SEND) or (
        packet.kind == SHORT and packet.context < 1 << 14
    )


def handshake(payload: bytes, payload_bytes: int) -> tuple[int, int, int] | None:
    """Kind, rank (-1: none) and length of the handshake with which a segment begins, or None.

    A short message from rank 0 with tag 0 begins with the same bytes as an answer: a handshake is
    therefore the whole payload, or has a header behind it.
    """
    if len(payload) < HANDSHAKE_BYTES:
        return None
    kind, size = struct.unpack_from("<I4xQ", payload)
    whole = HANDSHAKE_BYTES + size
    if kind not in HANDSHAKES or whole > min(payload_bytes, HEADER_BYTES - 1):
        return None
    if whole < payload_bytes:
        behind = parse(payload[whole : whole + NEEDED_BYTES].ljust(NEEDED_BYTES, b"\0"))
        if behind is None or not is_certain(behind) or payload_bytes - whole < HEADER_BYTES:
            return None
    if kind:
        return kind, -1, whole
    if len(payload) < HANDSHAKE_BYTES + 4:
        return None
    return kind, int(struct.unpack_from("<i", payload, HANDSHAKE_BYTES)[0]), whole


def _is_request(handle: int) -> bool:
    # MPICH's handles tell what they are of in four bits; 11 is a request. That of a request that exists
    # has its highest bit set, which ASCII text never has: the launcher's text is not taken for a header.
    return handle == NO_REQUEST or handle >> 26 & 0b101111 == 0b101011
