"""Lab 06's own captures: a learner's postcards, in whole packets, and what each message cost.

A Record of A10 with the variant `postcard`, `sizes` or `limit`; each of its Points is one message.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import figures, mpi
from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.exercises.exercise import Exercise, records
from beowulf.figures.look import paper
from beowulf.labs.lab_06.capture_run import capture
from beowulf.measure.watched import Watched
from beowulf.packets.ch3 import HEADER_BYTES
from beowulf.record import Point, Record, reserve

if TYPE_CHECKING:
    import pandas as pd

STUDY = "A10"
NAMES = ("postcard", "sizes", "limit")
RANKS, LONGEST_S = 2, 60.0
WHOLE_BYTES = 1 << 18  # longer than any packet
MOST_MESSAGES = 1000
LAYERS, EVERY = ("Ethernet", "IP", "TCP", "MPICH", "payload"), "all layers"
WIDE, MOST_BYTES = 16, 256  # of a picture: bytes per row, and bytes of a packet
# What a Point keeps of a message, under the names that `costs` uses.
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
    """Send postcards with `text` from rank 0 to rank 1, capture whole packets, and keep the Record.

    One card, or one of each of the `sizes` in bytes. LabError when the program fails; nothing is kept then.
    """
    if name not in NAMES:
        raise UsageError(f"A card's name is one of {', '.join(NAMES)}, not {name!r}.")
    source, words = Path(program), [text, *map(str, sizes)]
    command = mpi.prepare(source, library=str(cluster.describe().get("mpi", "classic")))
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    about = {"name": source.name, "arguments": words, "sha256": digest}
    file: Path | None = None
    try:
        with (
            Watched(cluster, STUDY) as watched,
            Exercise(STUDY, name).record(cluster, program=about, watched=watched) as made,
        ):
            file = reserve((records(cluster) / made.file_name).with_suffix(".pcapng"))
            with cluster.capture(file, snap_bytes=WHOLE_BYTES) as wire:
                done = mpi.launch(cluster, command, RANKS, words, timeout_s=LONGEST_S)
            if failed := mpi.failure(done, source.name):
                raise LabError(failed, done.stderr.strip() or "Run it in a terminal to see more.")
            made.points = points(file)
            made.captures, made.warnings = [wire.facts()], list(wire.warnings)
    except BaseException:
        if file:
            file.unlink(missing_ok=True)  # useless without its Record
        raise
    return made


def points(file: Path) -> list[Point]:
    """A Point for each MPI message of a capture, in the order in which they began."""
    from beowulf.packets.costs import costs
    from beowulf.packets.table import read

    messages, packets = costs(file), read(file)
    found = []
    for place, message in enumerate(messages.head(MOST_MESSAGES).to_dict("records")):
        at = {name: message[name] for name in ("from_rank", "to_rank", "tag")}
        facts = {name: message[name] for name in KEPT}
        facts |= _frame(packets.iloc[int(message["first_packet"]) - 1])
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


def table(record: Record) -> pd.DataFrame:
    """The messages of a Record, one per row, with what each cost on the wire."""
    import pandas as pd

    return pd.DataFrame([{**point.at, **point.facts} for point in record.points])


def _card(cluster: Cluster, cell: str) -> dict[int, tuple[dict[str, Any], bytes]]:
    """By packet number: the facts and the bytes of each packet that begins a message of the postcard."""
    from beowulf.packets.table import Packets

    card = Exercise(STUDY, NAMES[0]).own(cluster, cell)
    begun = {int(point.facts["first_packet"]): point.facts for point in card.points}
    return {
        packet: (begun[packet], batch.memory[start : start + size].tobytes())
        for batch, _ in Packets(capture(cluster, card)).frames()
        for packet, start, size in zip(
            batch.numbers.tolist(), batch.start, batch.captured_bytes, strict=True
        )
        if packet in begun
    }


@figures.draggable(_card, "lab.postcard.send", message=(0, 1), layer=(EVERY, *LAYERS))
def packet_layers(
    packets: dict[int, tuple[dict[str, Any], bytes]], message: int = 0, layer: str = EVERY
) -> figures.Figure:
    """The bytes of your postcard (message 0) or of the thanks (1), with one layer highlighted: drag both."""
    import pandas as pd

    number = sorted(packets)[message]
    facts, frame = packets[number]
    lengths = [facts[f"{name.lower()}_header_bytes"] for name in LAYERS[:3]]
    lengths += [HEADER_BYTES, facts["payload_bytes"] - HEADER_BYTES]
    of = [name for name, n in zip(LAYERS, lengths, strict=True) for _ in range(n)]
    each = pd.DataFrame(list(zip(frame, of, strict=False)), columns=["byte", "layer"])
    title = f"Packet {number}, {len(frame):,} bytes: {layer}"
    with figures.style():
        drawing, axes = paper(8.6, 1.7 + 0.48 * min(len(frame), MOST_BYTES) / WIDE)
        for name, colour in zip(LAYERS, figures.COLOURS, strict=False):
            axes.plot([], [], "s", color=(colour, 0.4), markersize=12, label=name)
        for place, byte, name in each.head(MOST_BYTES).itertuples():
            face = figures.COLOURS[LAYERS.index(name)], 0.4 * (layer in (EVERY, name))
            text = f"{byte:02x}\n{chr(byte) if 32 <= byte < 127 else '·'}"
            at = place % WIDE, -(place // WIDE)
            cell = axes.text(*at, text, ha="center", va="center", family="monospace")
            cell.set_bbox({"facecolor": face, "edgecolor": "#D9D9D9", "pad": 2})
        axes.set(xlim=(-1, WIDE), ylim=(at[1] - 1, 1), title=title)
        axes.axis("off")
        drawing.legend(loc="outside lower center", ncols=len(LAYERS))
    alt = f"{title}. Up to {MOST_BYTES} bytes, {WIDE} per row, in hexadecimal and as letters."
    return figures.Figure(drawing, title, alt, each)
