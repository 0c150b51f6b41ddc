"""A picture of a whole capture: payload over time, and retransmissions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.figures import look
from beowulf.figures.look import Figure
from beowulf.packets.flows import Conversations
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 2000  # of a line: more than a screen has columns
MOST_LINES = 6  # directions in one picture, the busiest ones


def bytes_over_time(capture: Path | str, *, names: Mapping[str, str] | None = None) -> Figure:
    """Payload bytes sent so far in the busiest directions; crosses mark retransmissions."""
    import pandas as pd

    lines = _cumulative(capture, names or {})
    busiest = sorted(lines, key=lambda label: -lines[label]["sent_bytes"].iloc[-1])[:MOST_LINES]
    title = "Payload sent so far, and retransmissions"
    said: list[str] = []
    crosses: dict[str, Any] = {
        "color": "black",
        "markersize": 9,
        "markeredgewidth": 2,
        "linestyle": "none",
    }
    with look.style():
        drawing, axes = look.paper(height=4.3 + 0.2 * len(busiest))
        for number, label in enumerate(busiest):
            line = lines[label]
            axes.plot(
                line["time_s"],
                line["sent_bytes"],
                color=look.COLOURS[number],
                linewidth=3.6 - 0.5 * number,  # of lines on one another each is seen
                linestyle=look.DASHES[number],
                marker=look.MARKERS[number],
                markevery=max(len(line) // 8, 1),
                drawstyle="steps-post",
                label=label,
            )
            again = line[line["again"]]
            axes.plot(again["time_s"], again["sent_bytes"], "x", **crosses)
            total = look.number_text(float(line["sent_bytes"].iloc[-1]))
            times = f"{len(again)} segments" if len(again) else "nothing"
            said.append(f"{label}: {total} bytes, {times} retransmitted.")
        axes.set_ylim(bottom=0)
        if busiest:  # when they send, not the start and the end of the capture
            every = pd.concat([lines[label] for label in busiest])
            when = pd.concat(
                [every["time_s"].quantile([0.01, 0.99]), every["time_s"][every["again"]]]
            )
            room = 0.1 * (when.max() - when.min()) or 0.001
            axes.set_xlim(when.min() - room, when.max() + room)
        axes.xaxis.set_major_formatter(look.number_tick)
        axes.yaxis.set_major_formatter(look.number_tick)
        look.titles(axes, title, "time since the first packet (s)", "payload so far (bytes)")
        if any(lines[label]["again"].any() for label in busiest):
            axes.plot([], [], "x", **crosses, label="retransmitted")
        if busiest:
            drawing.legend(loc="outside lower center", ncols=2, fontsize=9)
    columns = ["direction", "time_s", "sent_bytes", "again"]
    pieces = [lines[label].assign(direction=label)[columns] for label in busiest]
    table = pd.concat(pieces) if pieces else pd.DataFrame(columns=columns)
    return Figure(drawing, title, f"{title}. {' '.join(said) or 'No payload.'}", table)


def _cumulative(capture: Path | str, names: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """For each direction the fresh payload so far, at most MOST_POINTS rows and all retransmissions."""
    import pandas as pd

    packets, talks = Packets(capture), Conversations()
    pieces = []
    for piece in packets:
        trail = talks.follow(piece)
        carries = (piece["payload_bytes"] > 0) & (trail.conversation >= 0)
        columns = {"number": trail.conversation, "from_a": trail.from_a}
        columns |= {"time_ns": piece["time_ns"], "fresh": trail.fresh_bytes, "again": trail.again}
        pieces.append(pd.DataFrame({name: of[carries] for name, of in columns.items()}))
    lines: dict[str, pd.DataFrame] = {}
    if not pieces:
        return lines
    every = pd.concat(pieces, ignore_index=True)
    for (number, from_a), sent in every.groupby(["number", "from_a"], sort=False):
        talk = talks.all[int(str(number))]
        ends = [
            f"{names.get(address, address)}:{side.port}"
            for side in ((talk.a, talk.b) if from_a else (talk.b, talk.a))
            for address in [packets.addresses[side.address]]
        ]
        shown = sent["again"].to_numpy(dtype=bool, copy=True)
        shown[:: max(len(sent) // MOST_POINTS, 1)] = shown[-1] = True
        line = {
            "time_s": (sent["time_ns"] - packets.first_ns) / 1e9,
            "sent_bytes": sent["fresh"].cumsum(),
            "again": sent["again"],
        }
        lines[" to ".join(ends)] = pd.DataFrame(line)[shown]
    return lines
