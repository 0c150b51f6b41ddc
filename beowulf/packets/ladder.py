"""One MPI message as a ladder between two nodes: each packet an arrow, time running down."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.errors import LabError
from beowulf.figures import look
from beowulf.figures.look import Figure
from beowulf.packets import ch3
from beowulf.packets.flows import Conversations
from beowulf.packets.headers import flag_names
from beowulf.packets.mpi_messages import Message, Traffic, traffic
from beowulf.packets.mpi_streams import Part
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

FIRST_ROWS, LAST_ROWS = 9, 5  # of the rows between only the number is shown
LEAST_FOLDED = 5  # fewer rows than these are drawn
CONTROL = (ch3.SYNCHRONOUS_ACK, ch3.REQUEST_TO_SEND, ch3.CLEAR_TO_SEND, ch3.CLOSE)


LOOKS: dict[str, tuple[str, str, Any, float]] = {  # of a kind: in words, colour, dash, width
    "data": ("with data", look.COLOURS[0], "-", 2.2),
    "control": ("of control", look.COLOURS[1], "--", 2.0),
    "ack": ("only ACK", "#555555", ":", 1.2),
}


def ladder(
    capture: Path | str,
    message: int = 0,
    *,
    tag: int | None = None,
    names: Mapping[str, str] | None = None,
) -> Figure:
    """One MPI message as a ladder: its sender left, its receiver right, time running down.

    `message` is its row in `messages(capture)`; with a `tag` it is the first of a program's own that has it. Each
    arrow is one packet, with the time at which the capture saw it and its number in Wireshark. Steps
    have equal distances and the slant shows the direction only: one capture knows one moment of a
    packet. `names` gives addresses a name. LabError when there is no such message.
    """
    mpi = traffic(capture)
    chosen = _chosen(mpi, message, tag)
    connection = next(each for each in mpi.connections if each.number == chosen.connection)
    ends = mpi.ends(connection, chosen.from_a)
    steps = _steps(capture, mpi, chosen)
    titles = [
        f"rank {ends[f'{side}_rank']}\n{(names or {}).get(ends[end], ends[end])}"
        for side, end in (("from", "src"), ("to", "dst"))
    ]
    packet = chosen.first.packet
    kind = "rendezvous" if chosen.rendezvous else ch3.KINDS[packet.kind]
    title = f"One message of {_bytes(packet.data_bytes)}, tag {packet.tag}: {kind}"
    return _draw_ladder(steps, titles, title)


def _chosen(traffic: Traffic, message: int, tag: int | None) -> Message:
    every = traffic.messages
    if tag is not None:
        for each in every:
            packet = each.first.packet
            if packet.tag == tag and not packet.context & 1:
                return each
        raise LabError(f"No message with tag {tag} is in this capture.")
    if not 0 <= message < len(every):
        raise LabError(
            f"There is no message {message}: the capture has {len(every)}, numbered from 0."
        )
    return every[message]


def _steps(capture: Path | str, traffic: Traffic, chosen: Message) -> pd.DataFrame:
    """The packets of the message's connection from its first to the ACK of its last."""
    import pandas as pd

    parts = {
        (part.first_number, from_a): part
        for connection, from_a, part in traffic.parts
        if connection.number == chosen.connection
    }
    rows = []
    first, last = chosen.first.first_number, chosen.last.last_number
    before, talks, over = 0, Conversations(), False
    for piece in Packets(capture):
        trail = talks.follow(piece)
        for at in np.flatnonzero(trail.conversation == chosen.connection).tolist():
            number = before + at + 1
            if number < first or over:
                continue
            from_a, payload = bool(trail.from_a[at]), int(piece["payload_bytes"][at])
            if number > last and (payload or from_a == chosen.from_a):
                over = bool(payload)
                continue
            part = parts.get((number, from_a))
            kind, text = "data", _bytes(payload)
            if part:
                kind = "control" if part.packet.kind in CONTROL else "data"
                text = _beginning(part, payload)
            elif not payload:
                kind, text = "ack", flag_names(int(piece["flags"][at]))
            if trail.again[at] and payload:
                text += ", retransmitted"
            direction = "forth" if from_a == chosen.from_a else "back"
            rows.append((number, int(piece["time_ns"][at]), direction, kind, text))
            over = over or number > last
        before += piece["flags"].size
        if over:
            break
    table = pd.DataFrame(rows, columns=["packet", "time_us", "direction", "kind", "what"])
    table["time_us"] = (table["time_us"] - table["time_us"].iloc[0]) / 1000
    return table


def _draw_ladder(steps: pd.DataFrame, titles: list[str], title: str) -> Figure:
    folded = slice(0, 0)
    if len(steps) >= FIRST_ROWS + LAST_ROWS + LEAST_FOLDED:
        folded = slice(FIRST_ROWS, len(steps) - LAST_ROWS)
    rows: list[dict[Any, Any] | str] = [*steps.to_dict("records")]
    if folded.stop:
        rows[folded] = [f"… {_summed(steps[folded])} …"]
    with look.style():
        drawing, axes = look.paper(height=1.5 + 0.36 * len(rows))
        for down, row in enumerate(rows):
            if isinstance(row, str):
                axes.axhspan(down - 0.3, down + 0.35, xmin=0.2, xmax=0.9, color="#EEEEEE", zorder=0)
                axes.text(0.5, down, row, ha="center", va="center", style="italic")
            else:
                _arrow(axes, down, row)
        axes.vlines([0, 1], -0.6, len(rows) - 0.1, color="black", linewidth=1.6)
        for place, text in enumerate(titles):
            axes.text(place, -0.85, text, ha="center", va="bottom", weight="bold")
        axes.text(-0.2, -0.85, "time (µs)", ha="center", va="bottom")
        axes.text(1.26, -0.85, "packet", ha="right", va="bottom")
        axes.set_xlim(-0.34, 1.26)
        axes.set_ylim(len(rows), -2.2)
        axes.axis("off")
        axes.set_title(title, pad=12)
    left, right = (text.replace("\n", ", ") for text in titles)
    first = steps.head(4)
    to = first["direction"].map({"forth": "right", "back": "left"})
    said = "; ".join(first["what"] + " to the " + to)
    alt = (
        f"{title}. A ladder from {left}, on the left, to {right}, on the right:"
        f" {_summed(steps)}, in {look.number_text(steps['time_us'].iloc[-1])} µs. First {said}."
    )
    return Figure(drawing, title, alt, steps)


def _arrow(axes: Axes, down: int, step: dict[Any, Any]) -> None:
    _, colour, dash, width = LOOKS[step["kind"]]
    begin, end = (0.0, 1.0) if step["direction"] == "forth" else (1.0, 0.0)
    axes.annotate(
        "",
        xy=(end, down + 0.28),
        xytext=(begin, down - 0.18),
        arrowprops={"arrowstyle": "-|>", "color": colour, "linestyle": dash, "linewidth": width},
    )
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    axes.text(0.5, down + 0.05, step["what"], ha="center", va="center", color=colour, bbox=box)
    axes.text(-0.06, down, f"{step['time_us']:,.1f}", ha="right", va="center", fontsize=9.5)
    axes.text(1.26, down, f"{step['packet']}", ha="right", va="center", fontsize=9.5)


def _summed(steps: pd.DataFrame) -> str:
    counts = {kind: int((steps["kind"] == kind).sum()) for kind in LOOKS}
    return ", ".join(f"{count} {LOOKS[kind][0]}" for kind, count in counts.items() if count)


def _beginning(part: Part, payload_bytes: int) -> str:
    # Of a segment in which a packet of MPICH's begins.
    name = ch3.KINDS[part.packet.kind]
    text = f"{name[:1].upper()}{name[1:]}: header"
    if part.packet.kind == ch3.SHORT:
        return f"{text} with {_bytes(part.packet.data_bytes)}"
    behind = min(payload_bytes, part.wire_bytes) - ch3.HEADER_BYTES
    return f"{text}, {_bytes(behind)}" if behind > 0 else text


def _bytes(count: int) -> str:
    return f"{count:,} byte{'s' * (count != 1)}"
