"""One MPI message as a ladder between two nodes: each packet an arrow, time running down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.errors import LabError, UsageError
from beowulf.figures import look
from beowulf.figures.look import Figure
from beowulf.packets import ch3
from beowulf.packets.flows import Conversations
from beowulf.packets.headers import flag_names
from beowulf.packets.mpi_messages import Message, Traffic, traffic
from beowulf.packets.mpi_streams import Part
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST_ROWS, LAST_ROWS = 9, 5  # of the rows between only the number is shown
LEAST_FOLDED = 5  # fewer rows than these are drawn
CONTROL = (ch3.SYNCHRONOUS_ACK, ch3.REQUEST_TO_SEND, ch3.CLEAR_TO_SEND, ch3.CLOSE)


@dataclass(frozen=True)
class _Step:
    """A packet of a ladder: when, from which side, what it is."""

    time_ns: int
    number: int
    forward: bool
    text: str
    kind: str  # data, control or ack


def ladder(
    capture: Path | str,
    message: int | None = None,
    *,
    tag: int | None = None,
    names: Mapping[str, str] | None = None,
) -> Figure:
    """One MPI message as a ladder: its sender left, its receiver right, time running down.

    `message` is its row in `messages(capture)`; or the first with this `tag` of a program's own. Each
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


def _chosen(traffic: Traffic, message: int | None, tag: int | None) -> Message:
    every = traffic.messages
    if tag is not None:
        for each in every:
            packet = each.first.packet
            if packet.tag == tag and not packet.context & 1:
                return each
        raise LabError(f"No message with tag {tag} is in this capture.")
    if message is None:
        raise UsageError("A ladder shows one message.", "Say which: its row, or a tag.")
    if not 0 <= message < len(every):
        raise LabError(f"There is no message {message}: the capture has {len(every)}, from 0 on.")
    return every[message]


def _steps(capture: Path | str, traffic: Traffic, chosen: Message) -> list[_Step]:
    """The packets of the message's connection from its first to the ACK of its last."""
    parts = {
        (part.first_number, from_a): part
        for connection, from_a, part in traffic.parts
        if connection.number == chosen.connection
    }
    steps: list[_Step] = []
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
            steps.append(
                _Step(int(piece["time_ns"][at]), number, from_a == chosen.from_a, text, kind)
            )
            over = over or number > last
        before += piece["flags"].size
        if over:
            break
    return steps


def _draw_ladder(steps: list[_Step], titles: list[str], title: str) -> Figure:
    import pandas as pd

    start_ns = steps[0].time_ns
    rows: list[_Step | list[_Step]] = list(steps)
    if len(steps) >= FIRST_ROWS + LAST_ROWS + LEAST_FOLDED:
        rows = [*steps[:FIRST_ROWS], steps[FIRST_ROWS:-LAST_ROWS], *steps[-LAST_ROWS:]]
    with look.style():
        drawing, axes = look.paper(height=1.5 + 0.36 * len(rows))
        for down, row in enumerate(rows):
            if isinstance(row, list):
                _gap(axes, down, _summed(row))
            else:
                _arrow(axes, down, row, (row.time_ns - start_ns) / 1000)
        axes.vlines([0, 1], -0.6, len(rows) - 0.1, color="black", linewidth=1.6)
        for place, text in enumerate(titles):
            axes.text(place, -0.85, text, ha="center", va="bottom", weight="bold")
        axes.text(-0.2, -0.85, "time (µs)", ha="center", va="bottom")
        axes.text(1.26, -0.85, "packet", ha="right", va="bottom")
        axes.set_xlim(-0.34, 1.26)
        axes.set_ylim(len(rows), -2.2)
        axes.axis("off")
        axes.set_title(title, pad=12)
    table = pd.DataFrame(
        [
            {
                "packet": step.number,
                "time_us": (step.time_ns - start_ns) / 1000,
                "direction": "forth" if step.forward else "back",
                "kind": step.kind,
                "what": step.text,
            }
            for step in steps
        ]
    )
    left, right = (text.replace("\n", ", ") for text in titles)
    taken = (steps[-1].time_ns - start_ns) / 1000
    first = [f"{step.text} to the {('left', 'right')[step.forward]}" for step in steps[:4]]
    alt = (
        f"{title}. A ladder from {left}, on the left, to {right}, on the right:"
        f" {_summed(steps)}, in {look.number_text(taken)} µs."
        f" First {'; '.join(first)}."
    )
    return Figure(drawing, title, alt, table)


def _arrow(axes: Axes, down: int, step: _Step, time_us: float) -> None:
    looks: dict[str, tuple[str, Any, float]] = {
        "data": (look.COLOURS[0], "-", 2.2),
        "control": (look.COLOURS[1], "--", 2.0),
        "ack": ("#555555", ":", 1.2),
    }
    colour, dash, width = looks[step.kind]
    begin, end = (0.0, 1.0) if step.forward else (1.0, 0.0)
    axes.annotate(
        "",
        xy=(end, down + 0.28),
        xytext=(begin, down - 0.18),
        arrowprops={"arrowstyle": "-|>", "color": colour, "linestyle": dash, "linewidth": width},
    )
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    axes.text(0.5, down + 0.05, step.text, ha="center", va="center", color=colour, bbox=box)
    axes.text(-0.06, down, f"{time_us:,.1f}", ha="right", va="center", fontsize=9.5)
    axes.text(1.26, down, f"{step.number}", ha="right", va="center", fontsize=9.5)


def _gap(axes: Axes, down: int, text: str) -> None:
    axes.axhspan(down - 0.3, down + 0.35, xmin=0.2, xmax=0.9, color="#EEEEEE", zorder=0)
    axes.text(0.5, down, f"… {text} …", ha="center", va="center", style="italic")


def _summed(steps: list[_Step]) -> str:
    data = sum(step.kind == "data" for step in steps)
    control = sum(step.kind == "control" for step in steps)
    acks = sum(step.kind == "ack" for step in steps)
    parts = [(data, "with data"), (control, "of control"), (acks, "only ACK")]
    return ", ".join(f"{count} {name}" for count, name in parts if count) or "nothing"


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
