"""Lab 06's Records as nobody measured them: postcards, conversations, operations and counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from beowulf.exercises.lab_06 import count_packets, postcard
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record
from beowulf.studies.lab_06 import a10_short_messages as a10
from beowulf.studies.lab_06 import a11_long_messages as a11
from beowulf.studies.lab_06 import a12_side_by_side as a12
from beowulf.studies.lab_06 import collectives
from beowulf.studies.lab_06.wire_shares import Talk
from tests.gold.measured import LABEL, WHEN

SLUG = "06-protocol-analysis"
LAUNCHES = 3
RIGHT: dict[str, Any] = {
    "card_message_bytes": 21,
    "card_frame_bytes": 167,
    "ethernet_bytes": 14,
    "ip_bytes": 20,
    "tcp_bytes": 32,
    "mpich_bytes": 80,
    "packets_before_card": 7,
    "segments_1024": 1,
    "segments_8192": 6,
    "asking_packets": 2,
    "segments_200000": 140,
    "largest_eager_bytes": 131_040,
    "smallest_rendezvous_bytes": 131_041,
    "short_messages_are": "mpich",
    "all_data_percent": 97.62,
    "overhead_without_percent": 7.0,
    "overhead_with_percent": 7.0,
    "overhead_changes": "no",
    "rate_without_mbit_per_s": 60.0,
    "rate_with_mbit_per_s": 54.0,
    "data_share_moves": "falls",
    "overhead_moves": "falls",
    "broadcast_messages": 3,
    "scatter_call_bytes": 4096,
    "bytes_a_packet": 110.7,
    "no_overlap_bytes_per_s": 255_664.28,
    "bytes_of_64_70_percent": 8192,
    "most_packets_per_s": 148_809,
}


def record(study: str, points: Iterable[Point], **changes: Any) -> Record:
    """A Record of lab 06."""
    return Record(
        study, points=list(points), warnings=[LABEL], learner="a test", **{**WHEN, **changes}
    )


def message(size: int, **changes: Any) -> list[Point]:
    """A card of that size and the thanks for it, as `postcard.points` keeps them."""
    asked = size > 131_040
    inside = 0 < size <= 16
    usual: dict[str, Any] = {
        "bytes": size,
        "protocol": "rendezvous" if asked else "eager",
        "kind": "rendezvous" if asked else "short eager" if inside else "eager",
        "segments": math.ceil((80 + size) / 1448) + asked,
        "control_packets": 2 * asked,
        "packets_before": 7,
        "payload_bytes": 80 if asked or inside else min(80 + size, 1448),
        "ethernet_header_bytes": 14,
        "ip_header_bytes": 20,
        "tcp_header_bytes": 32,
    }
    facts = {**usual, "frame_bytes": 66 + usual["payload_bytes"], **changes}
    thanks = {**usual, "bytes": 0, "protocol": "eager", "kind": "eager", "segments": 1}
    return [
        Point({"message": 0, "from_rank": 0, "to_rank": 1, "tag": 1}, facts=facts),
        Point({"message": 1, "from_rank": 1, "to_rank": 0, "tag": 1}, facts=thanks),
    ]


def cards(name: str, *sizes: int) -> Record:
    """Postcards of these sizes."""
    points = [point for size in sizes for point in message(size)]
    return record(postcard.STUDY, points, variant=name)


def launch(data: float, overhead: float, mbit: float) -> dict[str, Any]:
    """What a launch of a conversation keeps of its capture, as far as anybody reads it."""
    rates = {"packets_per_s": 1000.0, "bytes_per_s": 1e6, "mbit_per_s": mbit}
    whole = {"elapsed_s": 1.0, "packets": 1000, **rates}
    return {
        **whole,
        "shares": {
            "data_segments": data,
            "remote_shell": 0.01,
            "ack_only": 0.98 - data,
            "connection": 0.01,
            "other": 0.0,
        },
        "short_messages": {"packets": 10, "share": 0.01},
        "overhead": {"tcp": overhead, "mpi": None, "paper_a_data_share": data},
        "tcp": {"packets": 1000, "retransmitted_packets": 0},
        "mpi": {"segments_per_message": 1.0},
        "talking": {**whole, "data_share": data, "tcp_overhead": overhead},
        "matched": True,
    }


def talks(study: str, said: Iterable[Talk], overhead_change: float = 0.0, **by_size: Any) -> Record:
    """Conversations: long messages have fewer data segments, less overhead; with overlap, 0.9 of the rate."""
    data = {2: 0.95, 1024: 0.94, 8192: 0.75}
    overhead = {2: 0.46, 1024: 0.14, 8192: 0.07} | by_size.get("overhead", {})
    points = []
    for talk in said:
        busy = talk.overlap_bytes == 8192
        size = talk.message_bytes
        facts = launch(data[size], overhead[size] + busy * overhead_change, 54.0 if busy else 60.0)
        for number in range(LAUNCHES):
            at = {**talk.at, "ranks": 4, "launch": number}
            points.append(Point(at, HALF, [20.0] * 30, facts))
    return record(study, points)


def operations(scatter_call: int = 4096) -> Record:
    """An A13 at 1 KB."""
    points = []
    for name in collectives.OPERATIONS:
        for way in ("call", "loop"):
            count = {"alltoall": 12, "allreduce": 6}.get(name, 3)
            size = scatter_call if (name, way) == ("scatter", "call") else 1024 * count
            at = {"operation": name, "way": way, "size_bytes": 1024, "part": collectives.PART}
            each = {"messages": float(count), "message_bytes": float(size)}
            facts = {"each": each, "operations": 24}
            points.append(
                Point({**at, "launch": 0, "ranks": 4}, collectives.OPERATION, [90.0] * 12, facts)
            )
    return record("A13", points)


def counted(**yours: float | None) -> Record:
    """Counts of a capture, ours but for those that are named."""
    ours = {"ack_share": 0.3289, "overhead": 0.0715, "bytes_a_message": 8482.0}
    points = [
        Point(
            {"count": name},
            facts={"yours": yours.get(name, value), "ours": value, "right": True, "why": ""},
        )
        for name, value in ours.items()
    ]
    return record(count_packets.STUDY, points, variant=count_packets.VARIANT)


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 06 has."""
    return [
        cards("postcard", 21),
        cards("sizes", 2, 1024, 8192, 200_000),
        cards("limit", 131_040, 131_041),
        talks("A10", a10.TALKS),
        talks("A11", a11.talks(a11.QUICK_OVERLAPS)),
        talks("A12", a12.TALKS),
        operations(),
        counted(),
    ]
