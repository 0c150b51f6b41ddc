"""Lab 06's Records as nobody measured them: predictions, postcards, a plate, counts, plots, conversations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from itertools import product
from typing import Any

from beowulf.labs.lab_06 import a10_short_messages as a10
from beowulf.labs.lab_06 import a11_long_messages as a11
from beowulf.labs.lab_06 import a12_side_by_side as a12
from beowulf.labs.lab_06 import collectives, one_message, own_loop, postcard
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record
from beowulf.studies.wire_shares import TAG, Talk
from tests import heat_records
from tests.gold import measured
from tests.gold.case import worth
from tests.gold.hand_in import plain_answers

SLUG = "06-protocol-analysis"
record, sealed = measured.record, partial(measured.sealed, 6)
LAUNCHES = 3
SIZES = (2, 64, 512, 1024, 8192, 32_768, 200_000)
RIGHT: dict[str, Any] = plain_answers(SLUG) | {
    "longer_frame_bytes": 446,
    "longest_card_bytes": 1368,
    **{"ethernet_bytes": 4 * 14, "ip_bytes": 4 * 20, "tcp_bytes": 4 * 32, "mpich_bytes": 80},
    "packets_a_step": 54,
    "wire_bytes_a_row": 8500,
    "row_overhead_percent": 5.88,
    "wire_bytes_for_100": 107.53,
    "rate_times": 0.9,
    "payload_times": 1.0,
    "request_ms": 0.12,
    "data_ms": 31.4,
    "data_in": "MPI_Waitall",
    "all_data_percent": 97.62,
    "bytes_a_packet": 110.7,
}

WORTH = worth(SLUG)
# What needs no answer.
MEASURED = worth(
    SLUG,
    *("predict-card", "predict-packets", "predict-overhead", "plate-record", "a10-record"),
    *("a11-record", "a12-record", "a13-record", "packet-loop", "length-plot", "cost-plot"),
)


def message(size: int) -> list[Point]:
    """A card of that size and the thanks for it, as `postcard.points` keeps them."""
    asked, inside = size > 131_040, 0 < size <= 16
    segments = math.ceil((80 + size) / 1448) + asked
    acks = (segments - asked) // 2
    # Each packet has 66 bytes of headers; MPICH's own are in the request, its answer and before the data.
    packets = segments + acks + asked
    facts: dict[str, Any] = {
        "bytes": size,
        "protocol": "rendezvous" if asked else "eager",
        "kind": "rendezvous" if asked else "short eager" if inside else "eager",
        **{"segments": segments, "packets": packets, "ack_packets": acks},
        "wire_bytes": 66 * packets + 80 * (1 + 2 * asked) + (0 if inside else size),
        "control_packets": 2 * asked,
        "payload_bytes": 80 if asked or inside else min(80 + size, 1448),
        **{"ethernet_header_bytes": 14, "ip_header_bytes": 20, "tcp_header_bytes": 32},
    }
    facts["frame_bytes"] = 66 + facts["payload_bytes"]
    thanks = {**facts, "bytes": 0, "protocol": "eager", "kind": "eager", "segments": 1}
    thanks |= {"packets": 1, "ack_packets": 0, "wire_bytes": 146}
    return [
        Point({"message": place, "from_rank": place, "to_rank": 1 - place, "tag": 1}, facts=each)
        for place, each in enumerate((facts, thanks))
    ]


def cards(name: str, *sizes: int) -> Record:
    """Postcards of these sizes."""
    points = [point for size in sizes for point in message(size)]
    return record(postcard.STUDY, points, variant=name)


def on_a_timeline() -> Record:
    """A T6: the request leaves at once, the data in MPI_Waitall."""
    facts = {"request_at_ms": 0.12, "data_at_ms": 31.4, "data_in": "MPI_Waitall"}
    at = {"timeline": one_message.RUN, "tag": one_message.TAG, "size_bytes": one_message.BYTES}
    points = heat_records.run_on_a_timeline(one_message.RUN, ranks=2)
    return record(one_message.STUDY, [*points, Point(at, facts=facts)])


def plate(columns: int = 1000) -> Record:
    """A plate that was captured."""
    return heat_records.wire(columns=columns)


def loop(**yours: Any) -> Record:
    """Counts by a loop of the learner's, right but for those that are named; None is no number."""
    ours = {"handshake": 24, "data": 900, "bare_acks": 560, "ghost_rows": 120}
    points = []
    for name, count in ours.items():
        mine = yours.get(name, count)
        facts = {"yours": mine, "ours": count, "right": mine == count, "why": ""}
        points.append(Point({"count": name}, facts=facts))
    sweep = {"row_bytes": 8000, "source": "def count(packets): ..."}
    return record(own_loop.STUDY, points, variant=own_loop.VARIANT, sweep=sweep)


def length_plot(**facts: Any) -> Record:
    """How many packets of the plate have which length."""
    (point,) = plate().select(capture="steps")
    line = {float(length): float(number) for length, number in point.facts["lengths"]}
    labels = {"x_label": "length (bytes)", "y_label": "packets", "y_scale": "log"}
    return measured.plot("F6", "lengths", {"packets": line}, **{**labels, **facts})


def cost_plot(**facts: Any) -> Record:
    """The two measures over the size of a card."""
    sent = [point.facts for point in cards("sizes", *SIZES).points if point.at["from_rank"] == 0]
    lines = {
        says: {f["bytes"]: 100 * (1 - f[part] / f[whole]) for f in sent}
        for says, part, whole in (
            ("bytes that are not the card", "bytes", "wire_bytes"),
            ("packets with data", "ack_packets", "packets"),
        )
    }
    labels = {"x_label": "size (bytes)", "y_label": "share (%)", "x_scale": "log"}
    return measured.plot("F6", "costs", lines, **{**labels, **facts})


# Of a launch of a conversation, as shares of 1 and as rates.
USUAL = {
    **{"data": 0.95, "short": 0.01, "ssh": 0.01, "connection": 0.01, "overhead": 0.45},
    **{"packets_per_s": 5000.0, "talking_packets_per_s": 25_000.0},
    **{"packet_bytes": 110.0, "tcp": 1.0},
}


def captured(talk: Talk, **values: float) -> dict[str, Any]:
    """What a launch keeps of its capture, as far as anybody reads it: with the USUAL values but for these."""
    of, packets = USUAL | values, 4000
    counts = {"messages": talk.exchanges, "bytes": talk.exchanges * talk.message_bytes}
    sent = [{"rank": rank, "tag": TAG, **counts} for rank in range(4)]

    def rates(per_s: float) -> dict[str, float]:
        size = per_s * of["packet_bytes"]
        rate = {"packets_per_s": per_s, "bytes_per_s": size, "mbit_per_s": 8e-6 * size}
        return {"packets": packets, "elapsed_s": packets / per_s, **rate}

    return {
        **rates(of["packets_per_s"]),
        "shares": {
            **{"data_segments": of["data"], "remote_shell": of["ssh"]},
            "ack_only": 1 - of["data"] - of["ssh"] - of["connection"],
            **{"connection": of["connection"], "other": 1 - of["tcp"]},
        },
        "short_messages": {"packets": 40, "share": of["short"]},
        "overhead": {"tcp": of["overhead"], "mpi": None, "paper_a_data_share": of["data"]},
        "tcp": {"packets": packets * of["tcp"], "retransmitted_packets": 0},
        "mpi": {"segments_per_message": 1.0},
        "talking": {
            **rates(of["talking_packets_per_s"]),
            **{"data_share": of["data"], "tcp_overhead": of["overhead"]},
        },
        **{"sent": sent, "captured": sent, "matched": True, "segments_not_understood": 0},
    }


def talks(study: str, said: Iterable[Talk], overhead_change: float = 0.0) -> Record:
    """Conversations: long messages have fewer data segments, less overhead; with overlap, 0.9 of the rate."""
    data = {2: 0.95, 1024: 0.94, 8192: 0.75}
    overhead = {2: 0.46, 1024: 0.14, 8192: 0.07}
    points = []
    for talk in said:
        size, busy = talk.message_bytes, talk.overlap_bytes == 8192
        values = {"data": data[size], "overhead": overhead[size] + busy * overhead_change}
        values["packet_bytes"] = 270.0 if busy else 300.0  # 54 Mbit/s, and 60
        facts = captured(talk, **values)
        for number in range(LAUNCHES):
            at = {**talk.at, "ranks": 4, "launch": number}
            points.append(Point(at, HALF, [20.0] * 30, facts))
    return record(study, points)


def operations(scatter_call: int = 4096) -> Record:
    """An A13 at 1 KB."""
    points = []
    for name, way in product(collectives.OPERATIONS, collectives.WAYS):
        count = {"alltoall": 12, "allreduce": 6}.get(name, 3)
        size = scatter_call if (name, way) == ("scatter", "call") else 1024 * count
        at = {"operation": name, "way": way, "size_bytes": 1024, "part": collectives.PART}
        each = {"messages": float(count), "message_bytes": float(size)}
        facts = {"each": each, "operations": 24}
        at |= {"launch": 0, "ranks": 4}
        points.append(Point(at, collectives.OPERATION, [90.0] * 12, facts))
    return record("A13", points)


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 06 has."""
    return [
        sealed("card", 100, 60, 200, "A10-postcard"),
        sealed("packets", 54, 36, 72, "H6"),
        sealed("overhead", 0, -1, 1, "A11"),
        cards("postcard", 21),
        plate(),
        loop(),
        length_plot(),
        cards("sizes", *SIZES),
        cost_plot(),
        talks("A11", a11.talks(a11.QUICK_OVERLAPS)),
        cards("limit", 131_040, 131_041),
        on_a_timeline(),
        talks("A10", a10.TALKS),
        talks("A12", a12.TALKS),
        operations(),
    ]
