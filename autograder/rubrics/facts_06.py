"""What the Records of lab 06 show: the numbers and words that its questions ask for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from autograder.rubrics.record_facts import Facts, Reader
from autograder.rubrics.submission import is_number
from beowulf.errors import LabError
from beowulf.exercises.lab_06 import postcard
from beowulf.packets import ch3
from beowulf.record import Record
from beowulf.studies.lab_06 import a10_short_messages as a10
from beowulf.studies.lab_06 import a11_long_messages as a11
from beowulf.studies.lab_06 import a12_side_by_side as a12
from beowulf.studies.lab_06 import collectives, wire_picture
from beowulf.studies.lab_06.wire_shares import place

if TYPE_CHECKING:
    import pandas as pd


def _card(record: Record) -> Facts:
    """The first card from rank 0 to rank 1, and the frame in which it began."""
    facts = next(p for p in record.points if p.at["from_rank"] == 0).facts
    return {
        "card_message_bytes": facts["bytes"],
        "card_frame_bytes": facts["frame_bytes"],
        "ethernet_bytes": facts["ethernet_header_bytes"],
        "ip_bytes": facts["ip_header_bytes"],
        "tcp_bytes": facts["tcp_header_bytes"],
        "mpich_bytes": _mpich_header(facts),
        "packets_before_card": facts["packets_before"],
    }


def _mpich_header(facts: Facts) -> int:
    """MPICH's header: what the first frame's payload has beside the text, where all of that is in it."""
    if facts["kind"] == "short eager" or facts["protocol"] == "rendezvous":
        return int(facts["payload_bytes"])  # the text is within the header, or comes later
    beside = int(facts["payload_bytes"] - facts["bytes"])
    return ch3.HEADER_BYTES if facts["segments"] > 1 else beside


def _sizes(record: Record) -> Facts:
    cards = {int(p.facts["bytes"]): p.facts for p in record.points if p.at["from_rank"] == 0}
    return {
        "segments_1024": cards[1024]["segments"],
        "segments_8192": cards[8192]["segments"],
        "asking_packets": cards[200_000]["control_packets"],
        "segments_200000": cards[200_000]["segments"],
    }


def _short(record: Record) -> Facts:
    table = wire_picture.table(record)
    return {"places": len(table) >= len(a10.TALKS) or _missing("a conversation")}


def _long(record: Record) -> Facts:
    table = wire_picture.table(record)
    none, most = (_medians(table, place("nonblocking", 8192, n)) for n in (0, a11.MOST))
    overhead, rate = "tcp_overhead_percent", "talking_mbit_per_s"
    return {
        "overhead_without_percent": none[overhead],
        "overhead_with_percent": most[overhead],
        "rate_without_mbit_per_s": none[rate],
        "rate_with_mbit_per_s": most[rate],
    }


def _medians(table: pd.DataFrame, at: dict[str, Any]) -> dict[str, float]:
    """The row of a conversation in the table that a learner sees."""
    for name, value in at.items():
        table = table[table[name] == value]
    row = table.iloc[0].to_dict()
    return {str(name): float(value) for name, value in row.items() if is_number(value)}


def _by_size(record: Record) -> Facts:
    table = wire_picture.table(record)
    small, _, large = (_medians(table, place("blocking", size, 0)) for size in a12.SIZES)

    def moves(name: str) -> str:
        return "rises" if large[name] > small[name] else "falls"

    return {
        "data_share_moves": moves("data_percent"),
        "overhead_moves": moves("tcp_overhead_percent"),
    }


def _operations(record: Record) -> Facts:
    count = partial(collectives.counted, record)
    return {
        "broadcast_messages": count("broadcast", "call", collectives.KB, "messages"),
        "scatter_call_bytes": count("scatter", "call", collectives.KB, "message_bytes"),
    }


def _missing(what: str) -> bool:
    raise LabError(f"{what} is missing")


# How the facts are read from a Record of each study and variant.
READERS: dict[tuple[str, str], Reader] = {
    (postcard.STUDY, "postcard"): _card,
    (postcard.STUDY, "sizes"): _sizes,
    ("A10", ""): _short,
    ("A11", ""): _long,
    ("A12", ""): _by_size,
    ("A13", ""): _operations,
}
