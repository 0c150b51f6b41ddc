"""Two more charts: bars made of parts, such as a timeline, and values with their intervals."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beowulf.figures import look
from beowulf.figures.charts import beyond
from beowulf.figures.look import COLOURS, HATCHES, MARKERS, Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

MOST_TICKS = 6
MOST_BEYOND = 1.5  # of the longest bar is shown of an interval
KINDS_APART = 0.26  # of a row: the marks of two kinds of value


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

    @classmethod
    def published(cls, name: str, value: float) -> Value:
        """What a paper prints, without an interval, as a mark beside the value of that name."""
        return cls(name, value, value, value, "in the paper")


def timeline(bars: Mapping[str, Sequence[Part]], *, title: str, value_title: str) -> Figure:
    """A horizontal bar for each name, made of its parts from left to right; lengths in one unit."""
    import pandas as pd

    kinds = list(dict.fromkeys(part.name for parts in bars.values() for part in parts))
    rows, said = [], []
    ends = [sum(part.length for part in parts) for parts in bars.values()]
    highs = [part.high for parts in bars.values() for part in parts if part.high]
    # An interval far longer than all bars is cut: the bars are what is to be compared.
    limit = min(max([*ends, *highs], default=0.0), MOST_BEYOND * max(ends, default=0.0))
    with look.style():
        drawing, axes = look.paper(8.6, 1.9 + 0.4 * max(len(bars), 2))
        for place, (name, parts) in enumerate(bars.items()):
            start = 0.0
            for part in parts:
                _bar(axes, place, start, part, kinds.index(part.name), limit)
                rows.append((name, part.name, start, start + part.length))
                start += part.length
            text = ", ".join(f"{part.name} {look.number_text(part.length)}" for part in parts)
            said.append(f"{name}: {text}, ends at {look.number_text(start)}")
            high = parts[-1].high or 0.0
            furthest = max([start, *(part.high for part in parts if part.high)])
            axes.annotate(
                _at_the_end(start, high, limit),
                (min(furthest, limit), place),  # beyond the interval of a part before the last, too
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
            )
        # It begins where the axis does, which the names at the left make narrower than the figure.
        lines = "\n".join(textwrap.fill(line, 72) for line in title.splitlines())
        _finish(axes, list(bars), lines, value_title)
        axes.set_xlim(0, 1.16 * limit or 1)  # with room for the figures at the ends
        for number, kind in enumerate(kinds):
            colour, hatch = COLOURS[number % len(COLOURS)], HATCHES[number % len(HATCHES)]
            axes.barh(0, 0, height=0, color=colour, hatch=hatch, edgecolor="white", label=kind)
        _legend(drawing, len(kinds))
    alt = f"{title}: {value_title}. " + "; ".join(said) + "."
    columns = ["bar", "part", f"from {value_title}", f"to {value_title}"]
    return Figure(drawing, title, alt, pd.DataFrame(rows, columns=columns))


def intervals(values: Sequence[Value], *, title: str, value_title: str) -> Figure:
    """A mark for each value with its 95 % interval as a line; a line at zero; kinds differ in mark.

    An interval that is far wider than the others, and than the values are apart, is cut, and a sentence below says so.
    """
    import pandas as pd

    names = list(dict.fromkeys(value.name for value in values))
    kinds = list(dict.fromkeys(value.kind for value in values))
    with look.style():
        drawing, axes = look.paper(8.6, 1.9 + 0.4 * max(len(names), 2))
        axes.axvline(0, color="#404040", linewidth=1)
        for number, kind in enumerate(kinds):
            chosen = [value for value in values if value.kind == kind]
            shift = KINDS_APART * (number - (len(kinds) - 1) / 2)
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
        ends = [0.0, *(each.value for each in values)]
        widths = sorted([0.0, *(each.high - each.low for each in values)])
        room = MOST_BEYOND * max(max(ends) - min(ends), widths[len(widths) // 2])
        low, high = min(ends) - room, max(ends) + room
        furthest = min([0.0, *(v.low for v in values)]), max([0.0, *(v.high for v in values)])
        if cut := beyond(*furthest, low, high, "%" if "%" in value_title else ""):
            axes.set_xlim(max(low, furthest[0]) - room / 20, min(high, furthest[1]) + room / 20)
        _finish(axes, names, title, "\n".join(filter(None, (value_title, cut))))
        if any(kinds):
            _legend(drawing, len(kinds))
    said = "; ".join(map(_in_words, values))
    alt = f"{title}: {value_title} with 95 % intervals. {said}."
    table = pd.DataFrame(values, columns=["name", "kind", "value", "low", "high"])
    return Figure(drawing, title, alt, table.rename(columns={"value": value_title}))


def _in_words(each: Value) -> str:
    words = f"{each.name}{' ' + each.kind if each.kind else ''} {look.number_text(each.value)}"
    if each.low == each.high:  # a figure of a paper, which prints no interval
        return words
    return f"{words} ({look.number_text(each.low)} to {look.number_text(each.high)})"


def _at_the_end(end: float, high: float, limit: float) -> str:
    """The text behind a bar: where it ends, and where its interval does if that is cut."""
    text = look.number_text(float(f"{end:.3g}"))
    return f"{text} (to {look.number_text(float(f'{high:.3g}'))})" if high > limit else text


def _bar(axes: Axes, place: int, start: float, part: Part, number: int, limit: float) -> None:
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
        error = [[max(end - part.low, 0.0)], [max(min(part.high, limit) - end, 0.0)]]
        axes.errorbar(end, place, xerr=error, fmt="none", ecolor="black", capsize=3, linewidth=1)


def _finish(axes: Axes, names: Sequence[str], title: str, value_title: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_yticks(range(len(names)), list(names))
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)  # the first one on top, none at the edge
    axes.grid(axis="y", visible=False)
    # Long numbers would touch each other.
    axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(look.number_tick)
    look.put_title(axes, title)
    axes.set_xlabel(value_title)


def _legend(drawing: Drawing, entries: int) -> None:
    if not entries:
        return
    # Below the axes: long bars leave no room within.
    drawing.legend(loc="outside lower center", ncols=min(entries, 4))
