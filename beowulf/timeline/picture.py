"""A still picture of a run for slides and paper, with a sentence and its data table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.errors import UsageError
from beowulf.figures import COLOURS, HATCHES, Figure, style
from beowulf.figures.look import paper, titles
from beowulf.timeline import waits as reasons
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.page_data import CATEGORIES, bars, category
from beowulf.timeline.trace import MARK

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

# Computing, then the categories of calls.
FILLS = ("#DDDDDD", COLOURS[0], COLOURS[2], COLOURS[3], COLOURS[4], "#888888")
MOST_LINES = 400  # messages; more hide the ranks
MOST_BARS = 20_000
PATH_COLOUR = "#C2185B"
WAIT_COLOURS = {
    reasons.LATE_SENDER: "#D55E00",
    reasons.LATE_RECEIVER: "#8B1A1A",
    reasons.COLLECTIVE_WAIT: "#6A3D9A",
    reasons.LATE_ROOT: "#B8860B",
    reasons.EARLY_ROOT: "#56B4E9",
    reasons.RENDEZVOUS: "#FF7FAE",
    reasons.NAGLE: "#117733",
    reasons.NEVER_ENDED: "#000000",
}


def chosen(text: str, ranks: int) -> list[int]:
    """Ranks that a text like 0-3,7 names; UsageError where it names none of them."""
    found: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise UsageError(
                f"`{part}` is neither a rank nor a range of ranks.", "Write 0-3 or 0,2,5."
            )
        found |= {*range(int(first), min(int(last or first) + 1, ranks))}
    if not found:
        raise UsageError(
            f"`{text}` names no rank of this run, which has {ranks}.", "Write 0-3 or 0,2,5."
        )
    return sorted(found)


@dataclass(frozen=True)
class _View:
    """What of a run is drawn: from when to when, and which ranks one below another."""

    found: Analysis
    from_s: float
    to_s: float
    ranks: Sequence[int]

    @property
    def unit(self) -> tuple[str, float]:
        """The unit of the axis of time, and how many of it a second has."""
        return ("ms", 1e3) if self.to_s - self.from_s < 1 else ("s", 1.0)

    @cached_property
    def place(self) -> dict[int, int]:
        """The row of each rank."""
        return {rank: number for number, rank in enumerate(self.ranks)}

    @cached_property
    def calls(self) -> pd.DataFrame:
        """The calls of that time; see `table`."""
        return table(self.found, self.from_s, self.to_s, self.ranks)

    @cached_property
    def waits(self) -> pd.DataFrame:
        """The waits of which a part is in that time."""
        waits = self.found.waits
        since_s = self.since_s(waits["since_ns"])
        inside = (since_s <= self.to_s) & (since_s + waits["waited_ns"] / 1e9 >= self.from_s)
        found: pd.DataFrame = waits[inside & waits["rank"].isin(self.ranks)]
        return found

    @cached_property
    def packets(self) -> tuple[pd.DataFrame, list[str]] | None:
        """MPI's packets of that time and the nodes that they are between; None where there are none."""
        if self.found.wire is None:
            return None
        every = self.found.wire.packets
        during = self.since_s(every["time_ns"]).between(self.from_s, self.to_s)
        mine = every[every["mpi"] & during]
        there = sorted(set(mine["src"]) | set(mine["dst"]))
        return (mine, [self.found.nodes[node] for node in there]) if there else None

    def since_s(self, ns: Any) -> Any:
        """A moment of the trace, or several, in seconds since the run began."""
        return (ns - self.found.trace.began_ns) / 1e9

    def on_axis(self, ns: Any) -> Any:
        """The same in the unit of the axis."""
        return self.since_s(ns) * self.unit[1]


def table(found: Analysis, from_s: float, to_s: float, ranks: Sequence[int]) -> pd.DataFrame:
    """What the picture shows, a row a call: rank, call, category, when, how long, the longest wait in it and why."""
    import pandas as pd

    calls, bar = bars(found)
    began, ended = (
        (calls[name].to_numpy() - found.trace.began_ns) / 1e9 for name in ("began_ns", "ended_ns")
    )
    rows = pd.DataFrame(
        {
            "rank": calls["rank"].to_numpy(),
            "call": np.array(found.trace.calls)[calls["call"].to_numpy()],
            "category": np.array(CATEGORIES)[category(calls, found.trace.calls)],
            "began_s": began,
            "ended_s": ended,
            "partner": calls["partner"].to_numpy(),
            "bytes": calls["bytes"].to_numpy(),
            "wait": "",
            "waited_ms": 0.0,
        }
    )
    waits = found.waits.sort_values("waited_ns")
    places = bar[waits["event"].to_numpy()]
    good = places >= 0
    rows.loc[places[good], "wait"] = waits["kind"].to_numpy()[good]
    rows.loc[places[good], "waited_ms"] = waits["waited_ns"].to_numpy()[good] / 1e6
    inside = (ended >= from_s) & (began <= to_s) & np.isin(rows["rank"], list(ranks))
    return rows[inside].reset_index(drop=True)


def picture(
    found: Analysis,
    *,
    from_s: float = 0.0,
    to_s: float | None = None,
    ranks: Sequence[int] | None = None,
) -> Figure:
    """The ranks one below another: calls by category, waits hatched, messages as lines, the critical path below each.

    Where packets were captured they are arrows between the nodes, below the ranks.
    """
    length_s = found.length_ns / 1e9
    to_s = length_s if to_s is None else min(to_s, length_s)
    if not 0 <= from_s < to_s:
        raise UsageError(
            f"From {from_s:g} s to {to_s:g} s is not part of the run.",
            f"It took {length_s:.6g} s.",
        )
    every = [each.rank for each in found.trace.ranks]
    view = _View(found, from_s, to_s, every if ranks is None else list(ranks))
    program = found.program.replace("$", r"\$") or "A program"
    title = f"{program}: what its ranks did"
    time_title = f"time since {found.trace.since} ({view.unit[0]})"
    count = len(view.ranks)
    with style():
        height = max(0.45 * count, 1.2) if count < 25 else 8.4
        below = 1.0 + 0.3 * len(view.packets[1]) if view.packets else 0.0
        drawing, axes = paper(height=1.6 + height + below)
        if view.packets:
            axes.remove()
            axes, wire = drawing.subplots(2, sharex=True, height_ratios=(height, below))
            _packets(view, wire, *view.packets)
            titles(wire, "", time_title, "packets")
        looks = [each for each in wait_looks(found) if each[0] in set(view.waits["kind"])]
        _calls(view, axes)
        _waits(view, axes, looks)
        _messages(view, axes)
        _path(view, axes)
        _marks(view, axes)
        axes.set_xlim(from_s * view.unit[1], to_s * view.unit[1])
        axes.ticklabel_format(axis="x", useOffset=False)
        axes.set_ylim(count - 0.4, -0.6)
        step = max(1, count // 25)
        axes.set_yticks(range(0, count, step), [str(rank) for rank in view.ranks[::step]])
        axes.grid(visible=False, axis="y")
        titles(axes, title, "" if view.packets else time_title, "rank")
        _legend(drawing, {"computing", *view.calls["category"]}, looks)
    return Figure(drawing, title, _sentence(view), view.calls)


def wait_looks(found: Analysis) -> list[tuple[str, str, str]]:
    """For each reason of a wait that the run has: its colour and its hatching."""
    there = set(found.waits["kind"])
    looks = zip(WAIT_COLOURS.items(), (*HATCHES[1:], "||", "--"), strict=True)
    return [(kind, colour, hatch) for (kind, colour), hatch in looks if kind in there]


def _calls(view: _View, axes: Axes) -> None:
    for each in view.found.trace.ranks:
        if each.rank in view.place:
            start, end = view.on_axis(each.began_ns), view.on_axis(each.ended_ns)
            row = (view.place[each.rank] - 0.36, 0.72)
            axes.broken_barh([(start, end - start)], row, color=FILLS[0], linewidth=0)
    rows = view.calls.assign(length=view.calls["ended_s"] - view.calls["began_s"])
    rows[["began_s", "length"]] *= view.unit[1]
    # Of too many bars, the longest.
    for (name, rank), part in rows.nlargest(MOST_BARS, "length").groupby(["category", "rank"]):
        axes.broken_barh(
            list(zip(part["began_s"], part["length"], strict=True)),
            (view.place[int(str(rank))] - 0.36, 0.72),
            color=FILLS[CATEGORIES.index(str(name))],
            linewidth=0,
        )


def _waits(view: _View, axes: Axes, looks: Sequence[tuple[str, str, str]]) -> None:
    for kind, colour, hatch in looks:
        for row in view.waits[view.waits["kind"] == kind].head(MOST_LINES).to_dict("records"):
            axes.broken_barh(
                [(view.on_axis(row["since_ns"]), row["waited_ns"] / 1e9 * view.unit[1])],
                (view.place[row["rank"]] - 0.36, 0.26),
                facecolor="white",
                edgecolor=colour,
                hatch=hatch,
                linewidth=0.5,
            )


def _messages(view: _View, axes: Axes) -> None:
    from matplotlib.collections import LineCollection

    messages, events = view.found.messages, view.found.events
    rows = messages.assign(
        sent_s=view.since_s(events["began_ns"].to_numpy()[messages["send"]]),
        got_s=view.since_s(events["ended_ns"].to_numpy()[messages["received"]]),
        upper=messages["source"].map(view.place),
        lower=messages["to"].map(view.place),
    ).dropna(subset=["upper", "lower"])
    rows = rows[(rows["got_s"] >= view.from_s) & (rows["sent_s"] <= view.to_s)]
    # Of too many, those that took longest.
    rows = rows.assign(took=rows["got_s"] - rows["sent_s"]).nlargest(MOST_LINES, "took")
    ends = rows[["sent_s", "upper", "got_s", "lower"]].to_numpy(dtype=float)
    ends[:, ::2] *= view.unit[1]
    lines = list(ends.reshape(-1, 2, 2))
    axes.add_collection(LineCollection(lines, colors="#222222", linewidths=0.8))


def _path(view: _View, axes: Axes) -> None:
    """A line below the calls of the rank on which the length of the run depends at that time."""
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    lines = []
    for step in view.found.critical_path.steps:
        start, end = view.since_s(step.began_ns), view.since_s(step.ended_ns)
        if step.rank in view.place and start <= view.to_s and end >= view.from_s:
            to = view.place[step.rank]
            source = view.place.get(step.source, to)
            ends = [(start, source + 0.44), (end, to + 0.44)]
            lines.append([(s * view.unit[1], row) for s, row in ends])
    chain = LineCollection(lines[:MOST_BARS], colors=PATH_COLOUR, linewidths=2)
    chain.set_path_effects([withStroke(linewidth=5, foreground="white")])
    axes.add_collection(chain)


def _marks(view: _View, axes: Axes) -> None:
    """The learner's own marks: a dashed line across the rank, with its name."""
    events = view.found.events
    names = {each.rank: each.names for each in view.found.trace.ranks}
    for row in events[(events["flags"] & MARK) != 0].head(MOST_LINES).to_dict("records"):
        if row["rank"] in view.place and view.from_s <= view.since_s(row["began_ns"]) <= view.to_s:
            at, middle = view.on_axis(row["began_ns"]), view.place[row["rank"]]
            axes.plot([at] * 2, [middle - 0.45, middle + 0.45], color="black", linestyle="--")
            mine = names[row["rank"]]
            name = mine[row["tag"]] if row["tag"] < len(mine) else ""
            axes.annotate(name or str(row["bytes"]), (at, middle - 0.4), fontsize=8)


def _packets(view: _View, axes: Axes, packets: pd.DataFrame, nodes: list[str]) -> None:
    """Packets between the lines of their nodes, in the colours of their messages, grey without one."""
    from matplotlib.collections import LineCollection

    kept = packets.head(MOST_BARS)
    there = sorted(set(packets["src"]) | set(packets["dst"]))
    source, to = (np.searchsorted(there, kept[name]) for name in ("src", "dst"))
    at = view.on_axis(kept["time_ns"].to_numpy())
    colours = np.array(
        [COLOURS[m % len(COLOURS)] if m >= 0 else "#888888" for m in kept["message"]]
    )
    ways = np.stack([at, source, at, to], axis=1).reshape(-1, 2, 2)
    axes.add_collection(LineCollection(list(ways), colors=colours, linewidths=0.8))
    for marker, those in (("v", to > source), ("^", to < source)):
        axes.scatter(at[those], to[those], s=22, c=colours[those], marker=marker)
    axes.set_ylim(len(nodes) - 0.7, -0.3)
    axes.set_yticks(range(len(nodes)), nodes)


def _legend(drawing: Drawing, there: set[str], looks: Sequence[tuple[str, str, str]]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    fills = zip(CATEGORIES, FILLS, strict=True)
    keys: list[Artist] = [Patch(color=fill, label=name) for name, fill in fills if name in there]
    keys += [
        Patch(facecolor="white", edgecolor=colour, hatch=hatch, label=f"waits: {kind}")
        for kind, colour, hatch in looks
    ]
    keys.append(Line2D([], [], color=PATH_COLOUR, linewidth=2, label="critical path"))
    drawing.legend(handles=keys, loc="outside lower center", ncols=3, fontsize=9)


def _sentence(view: _View) -> str:
    """What the picture says, for those who cannot see it."""
    count = len(view.ranks)
    said = [
        f"Timeline of {count} {'rank' if count == 1 else 'ranks'} from {view.from_s:.6g} s to {view.to_s:.6g} s,"
        f" with {len(view.calls):,} MPI calls."
    ]
    parts = view.found.parts
    for row in parts[parts["rank"].isin(view.ranks)].head(8).to_dict("records"):
        whole = row["run"] or 1
        said.append(
            f"Rank {row['rank']} computes for {row['computing'] / whole:.0%} of the whole run and waits for"
            f" {row['waiting'] / whole:.0%} of it."
        )
    if view.waits.empty:
        said.append("No rank waits for another one.")
    else:
        top = view.waits.iloc[0]
        whom = "itself" if top["cause"] == top["rank"] else f"rank {top['cause']}"
        said.append(
            f"The longest wait is {top['waited_ns'] / 1e6:.3f} ms of rank {top['rank']} for {whom}: {top['kind']}."
        )
    if view.packets:
        packets, nodes = view.packets
        carried = Counter(packets["kind"].astype(str)).most_common()
        kinds = ", ".join(f"{number} {kind}" for kind, number in carried)
        said.append(f"Below, {len(packets):,} packets between {len(nodes)} nodes: {kinds}.")
    return " ".join(said)
