"""A still picture of a run for slides and paper, with a sentence and its data table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from beowulf.errors import UsageError
from beowulf.figures import COLOURS, HATCHES, Figure, style
from beowulf.figures.look import paper, titles
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.page_data import CATEGORIES, bars, category
from beowulf.timeline.trace import MARK

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Computing, then the categories of calls.
FILLS = ("#DDDDDD", COLOURS[0], COLOURS[2], COLOURS[3], COLOURS[4], "#888888")
MOST_LINES = 400  # messages; more hide the ranks
MOST_BARS = 20_000
PATH_COLOUR = "#C2185B"


def chosen(text: str, ranks: int) -> list[int]:
    """Ranks that a text like 0-3,7 names; UsageError where it names none of them."""
    found: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise UsageError(f"`{part}` is no rank and no range of ranks.", "Write 0-3 or 0,2,5.")
        found += range(int(first), min(int(last or first), ranks) + 1)
    there = sorted({rank for rank in found if rank < ranks})
    if not there:
        raise UsageError(f"`{text}` names none of the {ranks} ranks.", "Write 0-3 or 0,2,5.")
    return there


def table(found: Analysis, from_s: float, to_s: float, ranks: Sequence[int]) -> pd.DataFrame:
    """What the picture shows, a row a call: rank, call, category, when, how long, the longest wait in it and why."""
    import pandas as pd

    calls, bar = bars(found)
    began = (calls["began_ns"].to_numpy() - found.trace.began_ns) / 1e9
    ended = (calls["ended_ns"].to_numpy() - found.trace.began_ns) / 1e9
    names = np.array(CATEGORIES)[category(calls, found.trace.calls)]
    rows = pd.DataFrame(
        {
            "rank": calls["rank"].to_numpy(),
            "call": np.array(found.trace.calls)[calls["call"].to_numpy()],
            "category": names,
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
            f"From {from_s:g} s to {to_s:g} s is no part of the run.",
            f"It took {length_s:.6g} s.",
        )
    shown = list(ranks) if ranks is not None else [each.rank for each in found.trace.ranks]
    rows = table(found, from_s, to_s, shown)
    scale, unit = (1e3, "ms") if to_s - from_s < 1 else (1.0, "s")
    title = f"{_program(found)}: what its ranks did"
    packets = _packets(found, from_s, to_s)
    with style():
        height = max(0.45 * len(shown), 1.2) if len(shown) < 25 else 8.4
        below = 0.0 if packets is None else 1.0 + 0.3 * len(packets[1])
        drawing, axes = paper(height=1.6 + height + below)
        wire = None
        if packets is not None:
            axes.remove()
            axes, wire = drawing.subplots(2, sharex=True, height_ratios=(height, below))
        place = {rank: number for number, rank in enumerate(shown)}
        for rank in shown:
            each = next(each for each in found.trace.ranks if each.rank == rank)
            start, end = (
                (t - found.trace.began_ns) / 1e9 * scale for t in (each.began_ns, each.ended_ns)
            )
            axes.broken_barh(
                [(start, end - start)], (place[rank] - 0.36, 0.72), color=FILLS[0], linewidth=0
            )
        # Of too many bars, the longest.
        kept = rows.assign(length=rows["ended_s"] - rows["began_s"]).nlargest(MOST_BARS, "length")
        for (name, of_rank), part in kept.groupby(["category", "rank"]):
            axes.broken_barh(
                list(zip(part["began_s"] * scale, part["length"] * scale, strict=True)),
                (place[int(str(of_rank))] - 0.36, 0.72),
                color=FILLS[CATEGORIES.index(str(name))],
                linewidth=0,
            )
        waited = _waits_between(found, from_s, to_s)
        waited = waited[waited["rank"].isin(shown)]
        looks = [each for each in wait_looks(found) if each[0] in set(waited["kind"])]
        for kind, colour, hatch in looks:
            part = waited[waited["kind"] == kind]
            for row in part.head(MOST_LINES).to_dict("records"):
                since = (row["since_ns"] - found.trace.began_ns) / 1e9 * scale
                axes.broken_barh(
                    [(since, row["waited_ns"] / 1e9 * scale)],
                    (place[row["rank"]] - 0.36, 0.26),
                    facecolor="white",
                    edgecolor=colour,
                    hatch=hatch,
                    linewidth=0.5,
                )
        _messages(found, axes, place, scale, from_s, to_s)
        _path(found, axes, place, scale, from_s, to_s)
        _marks(found, axes, place, scale, from_s, to_s)
        axes.set_xlim(from_s * scale, to_s * scale)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        every = max(1, len(shown) // 25)
        axes.set_yticks(range(0, len(shown), every), [str(rank) for rank in shown[::every]])
        axes.grid(visible=False, axis="y")
        time_title = f"time since {found.trace.since} ({unit})"
        titles(axes, title, time_title if wire is None else "", "rank")
        if wire is not None and packets is not None:
            _arrows(wire, *packets, scale)
            titles(wire, "", time_title, "packets")
        _legend(drawing, rows, looks)
    return Figure(drawing, title, sentence(found, rows, from_s, to_s, shown), rows)


def wait_looks(found: Analysis) -> list[tuple[str, str, str]]:
    """For each reason of a wait that the run has: its colour and its hatching."""
    from beowulf.timeline import waits as reasons

    kinds = (
        reasons.LATE_SENDER,
        reasons.LATE_RECEIVER,
        reasons.COLLECTIVE_WAIT,
        reasons.LATE_ROOT,
        reasons.EARLY_ROOT,
        reasons.RENDEZVOUS,
        reasons.NAGLE,
        reasons.NEVER_ENDED,
    )
    there = set(found.waits["kind"])
    looks = zip(kinds, WAIT_COLOURS, (*HATCHES[1:], "||", "--"), strict=True)
    return [(kind, colour, hatch) for kind, colour, hatch in looks if kind in there]


WAIT_COLOURS = (
    "#D55E00",
    "#8B1A1A",
    "#6A3D9A",
    "#B8860B",
    "#56B4E9",
    "#FF7FAE",
    "#117733",
    "#000000",
)


def _messages(
    found: Analysis, axes: Axes, place: dict[int, int], scale: float, from_s: float, to_s: float
) -> None:
    from matplotlib.collections import LineCollection

    messages, events = found.messages, found.events
    sent = (events["began_ns"].to_numpy()[messages["send"]] - found.trace.began_ns) / 1e9
    got = (events["ended_ns"].to_numpy()[messages["received"]] - found.trace.began_ns) / 1e9
    rows = np.flatnonzero((got >= from_s) & (sent <= to_s))
    source, to = messages["source"].to_numpy(), messages["to"].to_numpy()
    rows = rows[[source[n] in place and to[n] in place for n in rows]] if rows.size else rows
    if rows.size > MOST_LINES:
        rows = rows[np.argsort(sent[rows] - got[rows])[:MOST_LINES]]
    lines = [[(sent[n] * scale, place[source[n]]), (got[n] * scale, place[to[n]])] for n in rows]
    axes.add_collection(LineCollection(lines, colors="#222222", linewidths=0.8))


def _path(
    found: Analysis, axes: Axes, place: dict[int, int], scale: float, from_s: float, to_s: float
) -> None:
    """A line below the calls of the rank on which the length of the run depends at that time."""
    from matplotlib.collections import LineCollection

    lines = []
    for step in found.critical_path.steps:
        start, end = ((t - found.trace.began_ns) / 1e9 for t in (step.began_ns, step.ended_ns))
        if step.rank in place and start <= to_s and end >= from_s:
            ends = place.get(step.source, place[step.rank]), place[step.rank]
            lines.append([(start * scale, ends[0] + 0.44), (end * scale, ends[1] + 0.44)])
    axes.add_collection(LineCollection(lines[:MOST_BARS], colors=PATH_COLOUR, linewidths=2))


def _marks(
    found: Analysis, axes: Axes, place: dict[int, int], scale: float, from_s: float, to_s: float
) -> None:
    """The learner's own marks: a dashed line across the rank, with its name."""
    events = found.events[(found.events["flags"] & MARK) != 0].head(MOST_LINES)
    names = {each.rank: each.names for each in found.trace.ranks}
    for row in events.to_dict("records"):
        at = (row["began_ns"] - found.trace.began_ns) / 1e9
        if row["rank"] in place and from_s <= at <= to_s:
            middle = place[row["rank"]]
            axes.plot(
                [at * scale] * 2, [middle - 0.45, middle + 0.45], color="black", linestyle="--"
            )
            name = names[row["rank"]][row["tag"]] if row["tag"] < len(names[row["rank"]]) else ""
            axes.annotate(name or str(row["bytes"]), (at * scale, middle - 0.4), fontsize=8)


def _packets(found: Analysis, from_s: float, to_s: float) -> tuple[pd.DataFrame, list[str]] | None:
    """MPI's packets of that time and the nodes that they are between; None where there are none."""
    if found.wire is None:
        return None
    at_s = (found.wire.packets["time_ns"] - found.trace.began_ns) / 1e9
    packets = found.wire.packets.assign(at_s=at_s)
    mine = packets[packets["mpi"] & packets["at_s"].between(from_s, to_s)]
    there = sorted(set(mine["src"]) | set(mine["dst"]))
    return (mine, [found.nodes[node] for node in there]) if there else None


def _arrows(axes: Axes, packets: pd.DataFrame, nodes: list[str], scale: float) -> None:
    """Packets between the lines of their nodes, in the colours of their messages, grey without one."""
    from matplotlib.collections import LineCollection

    kept = packets.head(MOST_BARS)
    there = sorted(set(packets["src"]) | set(packets["dst"]))
    source, to = (np.searchsorted(there, kept[name]) for name in ("src", "dst"))
    at = kept["at_s"].to_numpy() * scale
    colours = np.array(
        [COLOURS[m % len(COLOURS)] if m >= 0 else "#888888" for m in kept["message"]]
    )
    ways = np.stack([np.stack([at, source], axis=1), np.stack([at, to], axis=1)], axis=1)
    axes.add_collection(LineCollection(list(ways), colors=colours, linewidths=0.8))
    for marker, there_now in (("v", to > source), ("^", to < source)):
        axes.scatter(at[there_now], to[there_now], s=22, c=colours[there_now], marker=marker)
    axes.set_ylim(len(nodes) - 0.7, -0.3)
    axes.set_yticks(range(len(nodes)), nodes)


def _waits_between(found: Analysis, from_s: float, to_s: float) -> pd.DataFrame:
    """The waits of which a part is in that time."""
    since_s = (found.waits["since_ns"] - found.trace.began_ns) / 1e9
    ended_s = since_s + found.waits["waited_ns"] / 1e9
    return found.waits[(since_s <= to_s) & (ended_s >= from_s)]


def _legend(drawing: object, rows: pd.DataFrame, looks: Sequence[tuple[str, str, str]]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    there = {"computing", *rows["category"]}
    patches: list[Artist] = [
        Patch(color=fill, label=name)
        for name, fill in zip(CATEGORIES, FILLS, strict=True)
        if name in there
    ]
    patches += [
        Patch(facecolor="white", edgecolor=colour, hatch=hatch, label=f"waits: {kind}")
        for kind, colour, hatch in looks
    ]
    patches.append(Line2D([], [], color=PATH_COLOUR, linewidth=2, label="critical path"))
    drawing.legend(handles=patches, loc="outside lower center", ncols=3, fontsize=9)  # type: ignore[attr-defined]


def _program(found: Analysis) -> str:
    return found.program.replace("$", r"\$") or "A program"


def sentence(
    found: Analysis, rows: pd.DataFrame, from_s: float, to_s: float, ranks: Sequence[int]
) -> str:
    """What the picture says, for those who cannot see it."""
    said = [
        f"Timeline of {len(ranks)} {'rank' if len(ranks) == 1 else 'ranks'} from {from_s:.6g} s to {to_s:.6g} s,"
        f" with {len(rows):,} MPI calls."
    ]
    parts = found.parts[found.parts["rank"].isin(list(ranks))]
    for row in parts.head(8).to_dict("records"):
        whole = row["run"] or 1
        said.append(
            f"Rank {row['rank']} computes for {row['computing'] / whole:.0%} of the whole run and waits for"
            f" {row['waiting'] / whole:.0%} of it."
        )
    waited = _waits_between(found, from_s, to_s)
    waited = waited[waited["rank"].isin(list(ranks))]
    if waited.empty:
        said.append("No rank waits for another one.")
    else:
        top = waited.iloc[0]
        said.append(
            f"The longest wait is {top['waited_ns'] / 1e6:.3f} ms of rank {top['rank']} for rank {top['cause']}:"
            f" {top['kind']}."
        )
    if packets := _packets(found, from_s, to_s):
        carried = Counter(packets[0]["kind"].astype(str))
        kinds = ", ".join(f"{count} {kind}" for kind, count in carried.most_common())
        said.append(f"Below, {len(packets[0]):,} packets between {len(packets[1])} nodes: {kinds}.")
    return " ".join(said)
