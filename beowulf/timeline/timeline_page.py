"""The timeline as one HTML file that needs no network, and as a view in a notebook; built on Bokeh."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.figures import COLOURS
from beowulf.timeline import waits as reasons
from beowulf.timeline.analysis import Analysis, longest_waits
from beowulf.timeline.page_data import CATEGORIES, trace_columns
from beowulf.timeline.picture import FILLS, wait_looks

if TYPE_CHECKING:
    import pandas as pd

HERE = Path(__file__).parent
MOST_HEIGHT, LEAST_HEIGHT = 900, 140
RANK_HEIGHT, REST_HEIGHT = 44, 570
# In one line it would be longer than the picture is wide.
TOOLTIP = '<div style="max-width:18em;white-space:normal">@text</div>'
# No script from elsewhere, no request, and no text that is run as a program.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data: blob:; font-src data:; connect-src 'none'"
)


class Page:
    """A run's timeline: `save` writes it as a file, and a notebook shows it."""

    def __init__(
        self,
        found: Analysis,
        *,
        from_s: float | None = None,
        to_s: float | None = None,
        ranks: Sequence[int] | None = None,
    ) -> None:
        self.found = found
        self.packets: pd.DataFrame | None = None
        self.nodes: list[str] = []
        if found.wire is not None:
            self.packets, self.nodes = _between_ranks(found.wire.packets, found.nodes)
        self.from_s, self.to_s, self.ranks = from_s, to_s, ranks

    @property
    def title(self) -> str:
        """The name of the program."""
        return f"Timeline of {self.found.program or 'a program'}"

    def html(self) -> str:
        """The whole page."""
        from bokeh.resources import Resources

        library = "\n".join(Resources(mode="inline", components=["bokeh"]).js_raw)
        data = json.dumps(self._data()).replace("<", "\\u003c")
        script = (HERE / "timeline.js").read_text(encoding="utf-8")
        look = (HERE / "timeline.css").read_text(encoding="utf-8")
        return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(self.title)}</title><style>{look}</style></head>
<body><main><h1>{escape(self.title)}</h1>{self._warnings()}
{_BODY}
{self._rules()}</main>
<script type="application/json" id="data">{data}</script>
<script>{library}</script><script>{script}</script></body></html>"""

    def save(self, file: Path | str) -> None:
        """Write the page."""
        Path(file).write_text(self.html(), encoding="utf-8")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What `ipython` prints in a terminal, which cannot show the page."""
        from rich.console import Console, Group

        console = Console()
        with console.capture() as capture:
            console.print(Group(*self.found.warnings, longest_waits(self.found)))
        printer.text(f'{capture.get()}`_.save("timeline.html")` writes the picture, for a browser.')

    def _repr_html_(self) -> str:
        # High enough for all ranks: over a plot, the wheel zooms and does not scroll.
        height = REST_HEIGHT + sum(self._heights())
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html())}" width="100%" height="{height}"'
            ' style="border:0" sandbox="allow-scripts"></iframe>'
        )

    def _heights(self) -> list[int]:
        """Of the ranks and, where there are packets, of these: pixels."""
        rows = [min(MOST_HEIGHT, len(self.found.trace.ranks) * RANK_HEIGHT + 70)]
        if self.packets is not None and len(self.packets):
            rows.append(min(500, len(self.nodes) * 50 + 70))
        return [max(LEAST_HEIGHT, each) for each in rows]

    def _data(self) -> dict[str, Any]:
        trace = self.found.trace
        columns = trace_columns(self.found, self.packets)
        looks = {kind: colour for kind, colour, _ in wait_looks(self.found)}
        return {
            **columns,
            "length": self.found.length_ns,
            "ranks": [
                [
                    each.rank,
                    each.host,
                    each.began_ns - trace.began_ns,
                    each.ended_ns - trace.began_ns,
                ]
                for each in trace.ranks
            ],
            "calls": list(trace.calls),
            "names": {each.rank: list(each.names) for each in trace.ranks},
            "nodes": list(self.nodes),
            "categories": list(CATEGORIES),
            "fills": list(FILLS),
            "wait_fills": [looks.get(kind, "#000000") for kind in columns["kinds"]],
            "colours": list(COLOURS),
            "from": 0 if self.from_s is None else self.from_s * 1e9,
            "to": self.found.length_ns if self.to_s is None else self.to_s * 1e9,
            "chosen": list(self.ranks) if self.ranks is not None else None,
            "figures": self._figures(),
        }

    def _figures(self) -> list[Any]:
        """The ranks, the packets where there are some, and the overview, as Bokeh's own description."""
        from bokeh.embed import json_item
        from bokeh.layouts import column
        from bokeh.models import FixedTicker, HoverTool, Range1d, RangeTool

        count = len(self.found.trace.ranks)
        end = max(self.found.length_ns / 1e6, 1e-3)
        # Both ends are so that a pixel can be a nanosecond.
        x_range = Range1d(start=0, end=end, bounds=(-0.05 * end, 1.05 * end), min_interval=1e-5)
        time_title = f"ms since {self.found.trace.since}"
        height, *of_packets = self._heights()
        tools = "xpan,xwheel_zoom,xbox_zoom,reset,save"
        ranks = _plot(
            "ranks", height, x_range, Range1d(start=count, end=0), time_title, "rank", tools
        )
        ranks.yaxis.ticker = FixedTicker(ticks=[])
        ranks.grid.visible = False
        image = np.zeros((1, 1), dtype=np.uint32)
        place = {"image": [image], "x": [0], "y": [0], "dw": [end], "dh": [count]}
        _image(ranks, place)
        lines: dict[str, Any] = {"x0": [], "y0": [], "x1": [], "y1": [], "colour": [], "width": []}
        _segments(ranks, "messages", lines)
        _segments(ranks, "path", lines)
        _segments(ranks, "marks", lines, "dashed")
        _segments(ranks, "selected", lines)
        ranks.text(
            x="x", y="y", text="text", source=_source("labels", {"x": [], "y": [], "text": []}),
            text_font_size="11px", text_baseline="middle", text_color="black",
        )  # fmt: skip
        shown = [ranks]
        for height in of_packets:
            nodes = Range1d(start=len(self.nodes) - 0.5, end=-0.5)
            wire = _plot("wire", height, x_range, nodes, time_title, "packets", tools)
            wire.yaxis.ticker = FixedTicker(ticks=list(range(len(self.nodes))))
            wire.yaxis.major_label_overrides = dict(enumerate(self.nodes))
            _segments(wire, "packets", lines)
            heads: dict[str, Any] = {"x1": [], "y1": [], "colour": [], "text": [], "marker": []}
            arrivals = wire.scatter(
                "x1", "y1", size=7, color="colour", marker="marker", source=_source("heads", heads)
            )
            wire.add_tools(HoverTool(tooltips=TOOLTIP, renderers=[arrivals]))
            shown.append(wire)
        time_title = "the whole run: drag the window (ms)"
        whole = _plot(
            "whole", 90, Range1d(start=0, end=end), Range1d(start=count, end=0), time_title
        )
        whole.toolbar_location = None
        whole.yaxis.visible = False
        whole.grid.visible = False
        _image(whole, place)
        whole.add_tools(RangeTool(x_range=x_range))
        return [json_item(column(*shown, whole, sizing_mode="stretch_width"))]

    def _warnings(self) -> str:
        lines = "".join(f"<li>{escape(line)}</li>" for line in self.found.warnings)
        return f'<ul class="warnings" aria-label="Warnings">{lines}</ul>' if lines else ""

    def _rules(self) -> str:
        lines = (reasons.__doc__ or "").split("\n\n", 1)[-1].strip().splitlines()
        rows = "".join(
            f"<dt>{escape(line[:22].strip())}</dt><dd>{escape(line[22:].strip())}</dd>"
            for line in lines
        )
        return f"<details><summary>How the reason of a wait is found</summary><dl>{rows}</dl></details>"


def _plot(
    name: str,
    height: int,
    x_range: Any,
    y_range: Any,
    x_title: str,
    y_title: str = "",
    tools: str = "",
) -> Any:
    from bokeh.models import BasicTickFormatter
    from bokeh.plotting import figure

    plot = figure(
        name=name,
        height=height,
        x_range=x_range,
        y_range=y_range,
        x_axis_label=x_title,
        y_axis_label=y_title,
        tools=tools,
        active_scroll="xwheel_zoom" if tools else None,
        sizing_mode="stretch_width",
        min_border_left=70,
    )
    plot.toolbar.logo = None
    plot.xaxis.formatter = BasicTickFormatter(use_scientific=False)
    return plot


def _source(name: str, data: dict[str, Any]) -> Any:
    from bokeh.models import ColumnDataSource

    return ColumnDataSource(data=dict(data), name=name)


def _between_ranks(packets: pd.DataFrame, nodes: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """The packets of MPI alone, and the nodes that have some."""
    mine = packets[packets["mpi"]]
    there = sorted(set(mine["src"]) | set(mine["dst"]))
    row = {node: place for place, node in enumerate(there)}
    numbered = mine.assign(src=mine["src"].map(row), dst=mine["dst"].map(row))
    return numbered, [nodes[node] for node in there]


def _image(plot: Any, data: dict[str, Any]) -> None:
    plot.image_rgba(
        image="image", x="x", y="y", dw="dw", dh="dh", origin="bottom_left", anchor="bottom_left",
        source=_source(f"image of {plot.name}", data),
    )  # fmt: skip


def _segments(plot: Any, name: str, data: dict[str, Any], dash: str = "solid") -> None:
    plot.segment(
        "x0", "y0", "x1", "y1", color="colour", line_width="width", line_dash=dash,
        source=_source(name, data),
    )  # fmt: skip


_BODY = """<form id="choose" onsubmit="return false">
<label>From (ms) <input id="from" size="10" inputmode="decimal"></label>
<label>to (ms) <input id="to" size="10" inputmode="decimal"></label>
<label>Ranks <input id="ranks" size="10" placeholder="0-3,7"></label><button type="button" id="show">Show</button>
<button type="button" id="whole">Whole run</button>
<button type="button" id="longest">Longest wait</button><button type="button" id="before">Wait before</button>
<button type="button" id="next">Next wait</button>
<label><input type="checkbox" id="lines" checked> messages</label>
<label><input type="checkbox" id="chain" checked> critical path</label></form>
<p id="legend"></p>
<div id="view" tabindex="0" role="application" aria-label="Timeline. Arrow keys left and right move, plus and minus
zoom, Home shows the whole run, n and p go to the next and the previous wait, l to the longest, up and down
choose a rank, Enter reads the call in the middle."><div id="plots"></div></div>
<p class="keys">Keys: ← → move, + − zoom, Home whole run, n p next and previous wait, l longest wait, ↑ ↓ rank, Enter
details.</p>
<p id="counts"></p><p id="live" aria-live="polite"></p><div id="tip" hidden></div>
<h2>The longest waits</h2><div class="table"><table id="waits"><thead><tr><th>at ms<th>rank<th>in<th>reason
<th>for rank<th>ms<td></tr></thead><tbody></tbody></table></div>"""
