"""A still picture of a run for slides and paper, with a sentence and its data table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from beowulf.errors import UsageError
from beowulf.figures import COLOURS, HATCHES, Figure, style
from beowulf.figures.look import paper, titles
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.packed import CATEGORIES, bars, category

if TYPE_CHECKING:
    import pandas as pd

# Computing, then the categories of calls.
FILLS = ("#DDDDDD", COLOURS[0], COLOURS[2], COLOURS[3], COLOURS[4], "#888888")
MOST_LINES = 400  # messages; more hide the ranks
MOST_BARS = 20_000
FACT = "time_s_since_mpi_init"


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
    names = np.array(CATEGORIES)[category(calls)]
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
    """The ranks one below another: calls by category, waits hatched, messages as lines."""
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
    with style():
        drawing, axes = paper(height=1.6 + max(0.45 * len(shown), 1.2) if len(shown) < 25 else 10)
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
        for kind, colour, hatch in wait_looks(found):
            part = found.waits[(found.waits["kind"] == kind) & found.waits["rank"].isin(shown)]
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
        axes.set_xlim(from_s * scale, to_s * scale)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        every = max(1, len(shown) // 25)
        axes.set_yticks(range(0, len(shown), every), [str(rank) for rank in shown[::every]])
        axes.grid(visible=False, axis="y")
        titles(axes, title, f"time since {found.trace.since} ({unit})", "rank")
        _legend(found, drawing, rows)
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
    found: Analysis, axes: object, place: dict[int, int], scale: float, from_s: float, to_s: float
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
    axes.add_collection(LineCollection(lines, colors="#222222", linewidths=0.8))  # type: ignore[attr-defined]


def _legend(found: Analysis, drawing: object, rows: pd.DataFrame) -> None:
    from matplotlib.patches import Patch

    there = {"computing", *rows["category"]}
    patches = [
        Patch(color=fill, label=name)
        for name, fill in zip(CATEGORIES, FILLS, strict=True)
        if name in there
    ]
    patches += [
        Patch(facecolor="white", edgecolor=colour, hatch=hatch, label=f"waits: {kind}")
        for kind, colour, hatch in wait_looks(found)
    ]
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
    waited = found.waits[found.waits["rank"].isin(list(ranks))]
    began_s = (waited["since_ns"] - found.trace.began_ns) / 1e9
    waited = waited[(began_s <= to_s) & (began_s + waited["waited_ns"] / 1e9 >= from_s)]
    if waited.empty:
        said.append("No rank waits for another one.")
    else:
        top = waited.iloc[0]
        said.append(
            f"The longest wait is {top['waited_ns'] / 1e6:.3f} ms of rank {top['rank']} for rank {top['cause']}:"
            f" {top['kind']}."
        )
    return " ".join(said)
