"""Two more pictures: bars made of parts, such as a timeline, and values with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beowulf import figures
from beowulf.figures import COLOURS, HATCHES, MARKERS, Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class Part:
    """A part of a bar: its name, its length, and the 95 % interval of where it ends if known."""

    name: str
    length: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Value:
    """A value with its interval, and a word for what kind it is."""

    name: str
    value: float
    low: float
    high: float
    kind: str = ""


def timeline(
    bars: Mapping[str, Sequence[Part]], *, title: str, value_title: str, alt: str = ""
) -> Figure:
    """A horizontal bar for each name, made of its parts from left to right; lengths in one unit."""
    import pandas as pd

    kinds = list(dict.fromkeys(part.name for parts in bars.values() for part in parts))
    rows, said = [], []
    with figures.style():
        drawing, axes = _paper(len(bars))
        for place, (name, parts) in enumerate(bars.items()):
            start = 0.0
            for part in parts:
                _bar(axes, place, start, part, kinds.index(part.name))
                rows.append(
                    {
                        "bar": name,
                        "part": part.name,
                        f"from {value_title}": start,
                        f"to {value_title}": start + part.length,
                    }
                )
                start += part.length
            told = ", ".join(f"{part.name} {figures.number_text(part.length)}" for part in parts)
            said.append(f"{name}: {told}, ends at {figures.number_text(start)}")
            axes.annotate(
                figures.number_text(float(f"{start:.3g}")),
                (max(start, parts[-1].high or 0.0), place),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
            )
        _finish(axes, list(bars), title, value_title)
        ends = [sum(part.length for part in parts) for parts in bars.values()]
        ends += [part.high for parts in bars.values() for part in parts if part.high]
        axes.set_xlim(0, 1.16 * max(ends, default=0) or 1)  # with room for the figures at the ends
        for number, kind in enumerate(kinds):
            colour, hatch = COLOURS[number % len(COLOURS)], HATCHES[number % len(HATCHES)]
            axes.bar(0, 0, color=colour, hatch=hatch, edgecolor="white", label=kind)
        _legend(drawing, len(kinds))
    alt = alt or f"{title}: {value_title}. " + "; ".join(said) + "."
    return Figure(drawing, title, alt, pd.DataFrame(rows))


def intervals(values: Sequence[Value], *, title: str, value_title: str, alt: str = "") -> Figure:
    """A mark for each value with its 95 % interval as a line; a line at zero; kinds differ in mark."""
    import pandas as pd

    names = list(dict.fromkeys(value.name for value in values))
    kinds = list(dict.fromkeys(value.kind for value in values))
    with figures.style():
        drawing, axes = _paper(len(names))
        axes.axvline(0, color="#404040", linewidth=1)
        for number, kind in enumerate(kinds):
            chosen = [value for value in values if value.kind == kind]
            shift = 0.26 * (number - (len(kinds) - 1) / 2)
            axes.errorbar(
                [each.value for each in chosen],
                [names.index(each.name) + shift for each in chosen],
                xerr=[
                    [max(each.value - each.low, 0.0) for each in chosen],
                    [max(each.high - each.value, 0.0) for each in chosen],
                ],
                fmt=MARKERS[number % len(MARKERS)],
                color=COLOURS[number % len(COLOURS)],
                capsize=4,
                label=kind,
            )
        _finish(axes, names, title, value_title)
        if any(kinds):
            _legend(drawing, len(kinds))
    said = "; ".join(
        f"{each.name}{' ' + each.kind if each.kind else ''} {figures.number_text(each.value)}"
        f" ({figures.number_text(each.low)} to {figures.number_text(each.high)})"
        for each in values
    )
    rows = [
        {"name": e.name, "kind": e.kind, value_title: e.value, "low": e.low, "high": e.high}
        for e in values
    ]
    alt = alt or f"{title}: {value_title} with 95 % intervals. {said}."
    return Figure(drawing, title, alt, pd.DataFrame(rows))


def _bar(axes: Axes, place: int, start: float, part: Part, number: int) -> None:
    axes.barh(
        place,
        part.length,
        left=start,
        height=0.66,
        color=COLOURS[number % len(COLOURS)],
        hatch=HATCHES[number % len(HATCHES)],
        edgecolor="white",
    )
    if part.low is not None and part.high is not None:
        end = start + part.length
        error = [[max(end - part.low, 0.0)], [max(part.high - end, 0.0)]]
        axes.errorbar(end, place, xerr=error, fmt="none", ecolor="black", capsize=3, linewidth=1)


def _paper(rows: int) -> tuple[Drawing, Axes]:
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.1)
    drawing = Drawing(figsize=(7.8, min(1.9 + 0.4 * max(rows, 2), 14.0)), layout=layout)
    return drawing, drawing.add_subplot()


def _finish(axes: Axes, names: Sequence[str], title: str, value_title: str) -> None:
    axes.set_yticks(range(len(names)), list(names))
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_formatter(lambda value, _: figures.number_text(value))
    axes.set_title(title, pad=12)
    axes.set_xlabel(value_title)


def _legend(drawing: Drawing, entries: int) -> None:
    if not entries:
        return
    # Below the axes: long bars leave no room within.
    drawing.legend(loc="outside lower center", ncols=min(entries, 4))
