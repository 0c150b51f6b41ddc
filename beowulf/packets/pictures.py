"""A picture of a whole capture: payload over time, and retransmissions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.figures import look
from beowulf.figures.look import Figure
from beowulf.packets.flows import Conversations
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST_POINTS = 2000  # of a line: more than a screen has columns
MOST_LINES = 6  # directions in one picture, the busiest ones


def bytes_over_time(capture: Path | str, *, names: Mapping[str, str] | None = None) -> Figure:
    """Payload bytes sent so far in the busiest directions; crosses mark retransmissions."""
    import pandas as pd

    lines = _cumulative(capture, names or {})
    busiest = sorted(lines, key=lambda label: -lines[label]["sent_bytes"].iloc[-1])[:MOST_LINES]
    title = "Payload sent so far, and retransmissions"
    totals: list[str] = []
    pieces: list[pd.DataFrame] = []
    crossed = False
    with look.style():
        drawing, axes = look.paper(height=4.3 + 0.2 * len(busiest))
        for number, label in enumerate(busiest):
            line = lines[label]
            colour = look.COLOURS[number % len(look.COLOURS)]
            axes.plot(
                line["time_s"],
                line["sent_bytes"],
                color=colour,
                linestyle=look.DASHES[number],
                marker=look.MARKERS[number],
                markevery=max(len(line) // 8, 1),
                drawstyle="steps-post",
                label=label,
            )
            again = line[line["again"]]
            if len(again):
                axes.plot(
                    again["time_s"],
                    again["sent_bytes"],
                    "x",
                    color="black",
                    markersize=9,
                    markeredgewidth=2,
                    linestyle="none",
                    label=None if crossed else "retransmitted",
                )
                crossed = True
            times = (
                f", {len(again)} segments retransmitted"
                if len(again)
                else ", nothing retransmitted"
            )
            total = look.number_text(float(line["sent_bytes"].iloc[-1]))
            totals.append(f"{label}: {total} bytes{times}.")
            pieces.append(line.assign(direction=label))
        axes.set_ylim(bottom=0)
        _finish(axes, title, "time since the first packet (s)", "payload so far (bytes)")
        if busiest:
            drawing.legend(loc="outside lower center", ncols=2, fontsize=9)
    columns = ["direction", "time_s", "sent_bytes", "again"]
    table = pd.concat(pieces)[columns] if pieces else pd.DataFrame(columns=columns)
    return Figure(drawing, title, f"{title}. {' '.join(totals) or 'No payload.'}", table)


def _cumulative(capture: Path | str, names: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """For each direction the fresh payload so far, at most MOST_POINTS rows and all retransmissions."""
    import pandas as pd

    packets, talks = Packets(capture), Conversations()
    pieces: dict[tuple[int, bool], list[tuple[Any, ...]]] = defaultdict(list)
    for piece in packets:
        trail = talks.follow(piece)
        carries = (piece["payload_bytes"] > 0) & (trail.conversation >= 0)
        for number in np.unique(trail.conversation[carries]).tolist():
            for from_a in (True, False):
                mine = carries & (trail.conversation == number) & (trail.from_a == from_a)
                if mine.any():
                    pieces[number, from_a].append(
                        (piece["time_ns"][mine], trail.fresh_bytes[mine], trail.again[mine])
                    )
    lines = {}
    for (number, from_a), parts in pieces.items():
        talk = talks.all[number]
        ends = (talk.a, talk.b) if from_a else (talk.b, talk.a)
        texts = [packets.addresses[side.address] for side in ends]
        texts = [
            f"{names.get(text, text)}:{side.port}" for text, side in zip(texts, ends, strict=True)
        ]
        times, fresh, again = (np.concatenate(column) for column in zip(*parts, strict=True))
        sent = np.cumsum(fresh)
        shown = again.copy()
        shown[:: max(len(sent) // MOST_POINTS, 1)] = True
        shown[-1] = True
        lines[f"{texts[0]} to {texts[1]}"] = pd.DataFrame(
            {
                "time_s": (times[shown] - packets.first_ns) / 1e9,
                "sent_bytes": sent[shown],
                "again": again[shown],
            }
        )
    return lines


def _finish(axes: Axes, title: str, x_title: str, y_title: str) -> None:
    axes.xaxis.set_major_formatter(look.number_tick)
    axes.yaxis.set_major_formatter(look.number_tick)
    look.titles(axes, title, x_title, y_title)
