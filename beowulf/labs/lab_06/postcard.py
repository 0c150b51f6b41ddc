"""Lab 06's own captures: a learner's postcards, taken whole, and what each message of theirs cost.

A Record of A10 with the variant `postcard`, `sizes` or `limit`, because it looks at single messages of
the wire that A10 counts. Each of its Points is one message.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import UsageError
from beowulf.labs.lab_06 import capture_run
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

STUDY = "A10"
NAMES = ("postcard", "sizes", "limit")
RANKS = 2
WHOLE_BYTES = 1 << 18  # more than any packet has
MOST_MESSAGES = 1000
# What a Point keeps of a message, by the names that `costs` gives them.
KEPT = (
    *("bytes", "protocol", "kind", "segments", "first_packet", "last_packet", "complete"),
    *("packets", "wire_bytes", "ack_packets", "control_packets", "retransmitted_packets"),
)


def send(
    cluster: Cluster,
    text: str,
    *sizes: int,
    name: str = "postcard",
    program: Path | str = "postcard.c",
) -> Record:
    """Send postcards with `text` from rank 0 to rank 1 under a capture of whole packets, and keep the Record.

    One card, or one of each of the `sizes` in bytes. LabError when the program fails; then nothing is kept.
    """
    if name not in NAMES:
        raise UsageError(f"Cards are called {', '.join(NAMES)}, not {name!r}.")
    return capture_run.record(
        cluster,
        STUDY,
        name,
        Path(program),
        [text, *sizes],
        ranks=RANKS,
        look=points,
        snap_bytes=WHOLE_BYTES,
    )


def points(file: Path) -> list[Point]:
    """A Point for each MPI message of a capture, in the order in which they began."""
    from beowulf.packets.costs import costs
    from beowulf.packets.table import read

    messages, packets = costs(file), read(file)
    found = []
    for place, message in enumerate(messages.head(MOST_MESSAGES).to_dict("records")):
        at = {name: message[name] for name in ("from_rank", "to_rank", "tag")}
        facts = {name: message[name] for name in KEPT}
        first = int(message["first_packet"])
        facts |= _frame(packets.iloc[first - 1])
        facts["packets_before"] = _before(packets, first)
        found.append(Point({"message": place, **at}, facts=facts))
    return found


def _frame(packet: pd.Series) -> dict[str, int]:
    """The packet with which a message began, header by header."""
    ip, tcp = 20 + int(packet["ip_options_bytes"]), 20 + int(packet["tcp_options_bytes"])
    return {
        "frame_bytes": int(packet["wire_bytes"]),
        "ethernet_header_bytes": int(packet["header_bytes"]) - ip - tcp,
        "ip_header_bytes": ip,
        "tcp_header_bytes": tcp,
        "payload_bytes": int(packet["payload_bytes"]),
    }


def _before(packets: pd.DataFrame, number: int) -> int:
    """How many packets of its connection, either way, come before the packet of that number."""
    mine, earlier = packets.iloc[number - 1], packets.iloc[: number - 1]
    ends = {(mine["src"], mine["src_port"]), (mine["dst"], mine["dst_port"])}
    sources = zip(earlier["src"], earlier["src_port"], strict=True)
    targets = zip(earlier["dst"], earlier["dst_port"], strict=True)
    return sum({source, target} == ends for source, target in zip(sources, targets, strict=True))


def table(record: Record) -> pd.DataFrame:
    """The messages of a Record, one a row, with what each cost on the wire."""
    import pandas as pd

    return pd.DataFrame([{**point.at, **point.facts} for point in record.points])
