"""A value for each name: bars, and marks where bars would be too many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from beowulf.figures.look import (
    COLOURS,
    HATCHES,
    MARKERS,
    Figure,
    long_scale,
    number_text,
    number_tick,
    paper,
    style,
    titles,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def bars(
    values: Mapping[str, float] | Mapping[str, Mapping[str, float]],
    *,
    title: str,
    value_title: str,
    name_title: str = "",
    factors: bool = False,
    published: Mapping[str, Mapping[str, float]] | None = None,
) -> Figure:
    """A bar for each name; with a mapping of mappings, the series side by side for each name.

    `published` has series of the same names, such as a paper's, that are marks and no bars.

    With `factors`, the values say how many times: on a long scale, bars begin at 1, so that half and twice
    are as long as each other.
    """
    grouped = any(isinstance(value, Mapping) for value in values.values())
    series = cast("Mapping[str, Mapping[str, float]]", values if grouped else {"": values})
    names = _names(series)
    all_values = [value for each in series.values() for value in each.values()]
    begin = 1.0 if factors else 0.0
    with style():
        entries = (len(series) if grouped else 0) + len(published or {})
        room = 0.25 * -(-entries // 2)  # for the legend
        drawing, axes = paper(height=1.3 + room + 0.38 * len(names) * max(1.0, 0.62 * len(series)))
        thick = 0.8 / max(len(series), 1)
        for number, (label, each) in enumerate(series.items()):
            places = [place for place, name in enumerate(names) if name in each]
            found = axes.barh(
                [place + (number - (len(series) - 1) / 2) * thick for place in places],
                [each[names[place]] - begin for place in places],
                left=begin,
                height=thick * 0.92,
                color=COLOURS[number % len(COLOURS)],
                hatch=HATCHES[number % len(HATCHES)],
                edgecolor="white",
                label=label,
            )
            shown = [each[names[place]] for place in places]
            # Of a factor, three digits say enough.
            texts = [number_text(float(f"{v:.3g}") if factors else v) for v in shown]
            axes.bar_label(found, texts, padding=4)
        for label, each in (published or {}).items():
            places = [names.index(name) for name in each]
            marks = axes.scatter(list(each.values()), places, marker="D", label=label, zorder=3)
            marks.set(facecolor="none", edgecolor="black")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.margins(x=0.17 if factors else 0.12)  # for the numbers, of factors on both sides
        if factors:
            _line_at_one(axes)
            long_scale(axes)
        elif all(value >= 0 for value in all_values):
            axes.set_xlim(0, None if any(all_values) else 1)
        axes.xaxis.set_major_formatter(number_tick)
        titles(axes, title, value_title, name_title)
        if entries:  # below the axes, where it covers no bar
            drawing.legend(loc="outside lower center", ncols=2)
    series = {**series, **(published or {})}
    alt = f"Bars of {value_title}. {title}. {_all_said(series)}."
    return Figure(drawing, title, alt, _as_table(series, value_title))


def dots(
    series: Mapping[str, Mapping[str, float]],
    *,
    title: str,
    value_title: str,
    factors: bool = False,
) -> Figure:
    """A mark for each series on each name's line, by a long scale: where bars of them all would be too many.

    With `factors`, the values say how many times, and a line is at 1.
    """
    names = _names(series)
    with style():
        drawing, axes = paper(height=1.8 + 0.3 * len(names))
        apart = 0.5 / max(len(series), 1)  # marks of the same value do not cover each other
        for number, (label, each) in enumerate(series.items()):
            places = [place for place, name in enumerate(names) if name in each]
            axes.plot(
                [each[names[place]] for place in places],
                [place + (number - (len(series) - 1) / 2) * apart for place in places],
                linestyle="none",
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number % len(MARKERS)],
                label=label,
            )
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        if factors:
            _line_at_one(axes)
        long_scale(axes)
        titles(axes, title, value_title, "")
        drawing.legend(loc="outside lower center", ncols=4)
    alt = f"Marks of {value_title}. {title}. {_all_said(series)}."
    return Figure(drawing, title, alt, _as_table(series, value_title))


def _line_at_one(axes: Axes) -> None:
    axes.axvline(1, color="#404040", linewidth=1, zorder=1.5)


def _names(series: Mapping[str, Mapping[str, float]]) -> list[str]:
    """All names, in the order in which they come first."""
    return list(dict.fromkeys(name for each in series.values() for name in each))


def _as_table(series: Mapping[str, Mapping[str, float]], value_title: str) -> pd.DataFrame:
    """A row for each series and name; one series without a name needs no column."""
    import pandas as pd

    named = [*(["series"] if list(series) != [""] else []), "name", value_title]
    rows = [
        {"series": label, "name": name, value_title: each[name]}
        for label, each in series.items()
        for name in _names(series)
        if name in each
    ]
    return pd.DataFrame(rows, columns=named)


def _all_said(series: Mapping[str, Mapping[str, float]]) -> str:
    said = "; ".join(
        (f"{label}: " if label else "")
        + ", ".join(f"{name} {number_text(value)}" for name, value in each.items())
        for label, each in series.items()
    )
    return said or "Nothing to show"
