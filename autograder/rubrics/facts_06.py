"""What the Records of lab 06 show: the numbers that its questions ask for, and the lines of its plots."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from statistics import median

from autograder.rubrics.own_plots import Curves
from autograder.rubrics.record_facts import Facts
from autograder.rubrics.submission import is_number
from beowulf.errors import LabError
from beowulf.labs.lab_06 import a11_long_messages as a11
from beowulf.labs.lab_06 import collectives, one_message, wire_picture
from beowulf.packets import ch3
from beowulf.record import Record


def on_a_timeline(record: Record) -> Facts:
    """What a Record of T6 shows: when the request and the first data left, in ms, and in which call of the sender."""
    moments = one_message.moments(record)
    return {
        "request_ms": float(moments["request_at_ms"]),
        "data_ms": float(moments["data_at_ms"]),
        "data_in": str(moments["data_in"]).lower(),
    }


def card(record: Record) -> Facts:
    """The headers of the frame in which the first card from rank 0 to rank 1 began."""
    facts = next(p for p in record.points if p.at["from_rank"] == 0).facts
    return {
        "ethernet_bytes": facts["ethernet_header_bytes"],
        "ip_bytes": facts["ip_header_bytes"],
        "tcp_bytes": facts["tcp_header_bytes"],
        "mpich_bytes": _mpich_header(facts),
    }


def _mpich_header(facts: Facts) -> int:
    """The bytes of MPICH's header: the payload of the first frame without the text."""
    if facts["kind"] == "short eager" or facts["protocol"] == "rendezvous":
        return int(facts["payload_bytes"])  # the text is within the header, or comes later
    beside = int(facts["payload_bytes"] - facts["bytes"])
    return ch3.HEADER_BYTES if facts["segments"] > 1 else beside


def plate(record: Record) -> Facts:
    """What the ghost rows of a captured plate cost, and how many columns it has."""
    point = record.select(capture="steps")[0]
    found = point.facts
    a_row = found["ghost_wire_bytes"] / found["ghost_rows"]
    return {
        "columns": int(point.at["columns"]),
        "packets_a_step": found["ghost_packets"] / found["steps"],
        "wire_bytes_a_row": a_row,
        "row_overhead_percent": 100 * (1 - found["ghost_row_bytes"] / a_row),
    }


def length_line(record: Record) -> Curves:
    """How many packets of a captured plate have which length."""
    pairs = record.select(capture="steps")[0].facts["lengths"]
    return [{float(length): float(count) for length, count in pairs}]


def card_lines(record: Record) -> Curves:
    """By the size of a card, in per cent: the bytes on the wire that are not the card, and the packets with data."""
    shares: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for point in record.points:
        facts, size = point.facts, point.facts["bytes"]
        if point.at["from_rank"] == 0 and is_number(size) and size > 0:
            others = 100 * (1 - size / facts["wire_bytes"])
            data = 100 * (1 - facts["ack_packets"] / facts["packets"])
            shares[float(size)].append((others, data))
    return [
        {size: median(both[n] for both in each) for size, each in shares.items()} for n in (0, 1)
    ]


def conversations(number: int, record: Record) -> Facts:
    """No facts of a Record with all of its conversations; LabError where one is missing."""
    if len(wire_picture.table(record)) < number:
        raise LabError("a conversation is missing")
    return {}


def long(record: Record) -> Facts:
    """Of messages of 8192 bytes: bytes on the wire with overlap, and what overlap changed in rate and overhead."""
    table = wire_picture.table(record).set_index(wire_picture.PLACE)
    rows = table.to_dict("index")
    none, most = (rows[8192, "nonblocking", overlap] for overlap in (0, a11.MOST))
    rate = "talking_mbit_per_s"
    with_overlap, without = (float(1 - row["tcp_overhead_percent"] / 100) for row in (most, none))
    return {
        "wire_bytes_for_100": 100 / with_overlap,
        "rate_times": float(most[rate] / none[rate]),
        "payload_times": with_overlap / without,
    }


def operations(record: Record) -> Facts:
    """What a broadcast and a scatter of 1 KB send."""
    count = partial(collectives.counted, record)
    return {
        "broadcast_messages": count("broadcast", "call", collectives.KB, "messages"),
        "scatter_call_bytes": count("scatter", "call", collectives.KB, "message_bytes"),
    }
