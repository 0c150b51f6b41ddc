"""The charts that several studies share: a matrix of words, lines over a size."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from beowulf.figures.look import (
    COLOURS,
    DASHES,
    Figure,
    number_text,
    number_tick,
    paper,
    style,
    titled,
    titles,
)
from beowulf.figures.sizes import size_ticks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

# Values that lie so many times apart are drawn on a long scale: on an even one, the small ones lie on the ground.
DECADES = 100.0
# So many times the height of the lines themselves is left above and below them for their intervals.
MOST_ROOM = 0.75
# In points: lines that do not tell a course, and by how much their marks stand out.
THIN, LARGER = 0.6, 3.0
MOST_WITHIN = 4  # entries of a legend within the axes


def matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], str],
    *,
    title: str,
    good: str = "ok",
    row_title: str = "",
    column_title: str = "",
) -> Figure:
    """A word for each pair of row and column; a word that is not `good` stands out."""
    import pandas as pd
    from matplotlib.patches import Rectangle

    with style():
        drawing, axes = paper(
            width=max(4.5, 2.0 + 1.25 * len(columns)), height=max(2.6, 1.3 + 0.62 * len(rows))
        )
        for down, row in enumerate(rows):
            for across, column in enumerate(columns):
                word = cells.get((row, column))
                fine = word == good
                face = "#F2F2F2" if word is None else "#DCEBF5" if fine else "#FBE3D2"
                box = Rectangle(
                    (across - 0.5, down - 0.5),
                    1,
                    1,
                    facecolor=face,
                    edgecolor="white" if word is None or fine else COLOURS[1],
                    linewidth=2,
                    zorder=1 if word is None or fine else 2,
                )
                axes.add_patch(box)
                weight = "normal" if fine else "bold"
                text = "–" if word is None else _folded(word)
                axes.text(across, down, text, ha="center", va="center", weight=weight, zorder=3)
        axes.set_xlim(-0.52, len(columns) - 0.48)
        axes.set_ylim(len(rows) - 0.48, -0.52)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False, bottom=False)
        axes.xaxis.set_label_position("top")
        axes.grid(visible=False)
        for side in axes.spines.values():
            side.set_visible(False)
        titles(axes, title, column_title, row_title)
    bad = [f"{row} to {column}: {word}" for (row, column), word in cells.items() if word != good]
    said = [f"{len(cells) - len(bad)} of {len(cells)} cells say {good}", *bad]
    alt = f"{title}: a matrix of {len(rows)} rows and {len(columns)} columns. {'; '.join(said)}."
    table = pd.DataFrame(
        [[row, *(cells.get((row, column), "") for column in columns)] for row in rows],
        columns=[row_title or "row", *columns],
    )
    return Figure(drawing, title, alt, table)


def lines(
    table: pd.DataFrame,
    x: str,
    y: str,
    by: str = "",
    *,
    title: str,
    x_title: str = "",
    y_title: str = "",
    x_log: bool = False,
    y_log: bool = False,
    low: str = "",
    high: str = "",
    joined: bool = True,
    marks: Collection[str] = (),
    axes: Axes | None = None,
) -> Figure:
    """A line of column `y` over `x` for each value of `by`; `low` and `high` shade an interval.

    The titles of the axes come from the columns' names, with their units, unless they are given. The
    height of the picture belongs to the lines: an interval that is far wider than they are is cut.
    With `x_log`, and over a column named `size_...`, the ticks of `x` are at its values. Where values are too
    far apart to tell the course between them, they are not `joined`: marks and intervals stand out, and thin
    lines only show which belong together. Groups named in `marks`, such as points that a paper prints, have no line
    and no interval. It is drawn on a paper of its own, unless `axes` are given.
    """
    from matplotlib.ticker import MaxNLocator

    x_title, y_title = x_title or titled(x), y_title or titled(y)
    groups: list[tuple[Any, pd.DataFrame]] = [("", table)]
    if by:
        groups = list(table.groupby(by, sort=False))
    said = []
    # Many entries would cover the lines: they are below them, where the paper is its own.
    below = len(groups) > MOST_WITHIN and axes is None
    with style():
        axes = axes or paper(height=4.3 + 0.15 * len(groups) * below)[1]
        largest = 8.0 if len(groups) > 1 else 6.0
        for number, (label, each) in enumerate(groups):
            each = each.sort_values(x)
            text = f"{label} {by}" if isinstance(label, Real) else str(label)
            # Marks get smaller, so that of lines that cover each other each can be seen.
            size, colour = max(4.0, largest - 0.7 * number), COLOURS[number % len(COLOURS)]
            size, width = (size, None) if joined else (size + LARGER, THIN)
            (drawn,) = axes.plot(each[x], each[y], label=text, markersize=size, linewidth=width)
            if text in marks:
                drawn.set(linestyle="none", markersize=largest, fillstyle="none", markeredgewidth=2)
            elif low and high and joined:
                # Its edges are dashed as its line is: where several overlap, each can still be followed.
                axes.fill_between(
                    each[x],
                    each[low],
                    each[high],
                    facecolor=(colour, 0.12),
                    edgecolor=(colour, 0.7),
                    linestyle=DASHES[number % len(DASHES)],
                    linewidth=0.7,
                )
            elif low and high:
                axes.vlines(each[x], each[low], each[high], color=colour, alpha=0.5, lw=size / 3)
            said.append(_said(text, each, x, y))
        axes.xaxis.set_major_formatter(number_tick)
        if x_log or x.startswith("size_"):
            size_ticks(axes, table[x], log=x_log, in_bytes=x.endswith("_bytes"))
        elif table[x].dtype.kind == "i":  # there are no 2.25 nodes
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        cut = ""
        if y_log:
            axes.set_yscale("log")
        else:
            cut = _height(axes, table[y], table[low or y], table[high or y], _unit(y_title))
            bottom, top = axes.get_ylim()
            if bottom < 0 < top:  # which side of it a difference is on, is what one looks for
                axes.axhline(0, color="#404040", linewidth=1, zorder=1.5)
        axes.yaxis.set_major_formatter(number_tick)
        titles(axes, title, "\n".join(filter(None, (x_title, cut))), y_title)
        if below:
            axes.figure.legend(loc="outside lower center", ncols=2, fontsize=9)
        elif by:
            axes.legend(loc="best")
    alt = " ".join([f"{title}: {y_title} over {x_title}.", *said, cut]).strip()
    return Figure(cast("Drawing", axes.figure), title, alt, table)


def plot(series: Mapping[str, Mapping[Any, float]], x: str, y: str, **look: Any) -> Figure:
    """A line for each name, by its values of `y` over `x`; `look` is as of lines()."""
    import pandas as pd

    rows = [(name, *each) for name, line in series.items() for each in line.items()]
    return lines(pd.DataFrame(rows, columns=["line", x, y]), x, y, "line", **look)


def over_sizes(
    table: pd.DataFrame,
    y: str,
    by: str = "",
    *,
    x: str = "size_bytes",
    x_title: str = "message size (bytes)",
    low: str = "low",
    high: str = "high",
    **look: Any,
) -> Figure:
    """Lines of column `y`, a median, over the size of a message, with its interval shaded; `look` is as of lines()."""
    return lines(table, x, y, by, x_title=x_title, low=low, high=high, x_log=True, **look)


def spans_decades(values: pd.Series[float]) -> bool:
    """Whether values lie so far apart that only a long scale shows all of them."""
    return bool(values.min() > 0 and values.max() >= DECADES * values.min())


def one_below_another(title: str, charts: Mapping[str, Callable[[Axes], Figure]]) -> Figure:
    """Several charts on one paper, each drawn on the axes that it is given; in the table, `way` has their names.

    Many lines that all of them have share a legend.
    """
    import pandas as pd

    with style():
        drawing, only = paper(height=4.3 * len(charts))
        only.remove()
        places = drawing.subplots(len(charts), 1, squeeze=False)[:, 0]
        drawn = [draw(axes) for draw, axes in zip(charts.values(), places, strict=True)]
        labels = [axes.get_legend_handles_labels()[1] for axes in places]
        if len(labels[0]) > MOST_WITHIN and all(each == labels[0] for each in labels):
            for axes in places:
                axes.get_legend().remove()
            drawing.legend(
                *places[0].get_legend_handles_labels(),
                loc="outside lower center",
                ncols=2,
                fontsize=9,
            )
    tables = [each.table.assign(way=way) for way, each in zip(charts, drawn, strict=True)]
    alt = " ".join(each.alt for each in drawn)
    return Figure(drawing, title, alt, pd.concat(tables, ignore_index=True))


def _height(
    axes: Axes,
    values: pd.Series[float],
    lows: pd.Series[float],
    highs: pd.Series[float],
    unit: str,
) -> str:
    """Give the axis a height in which the lines can be distinguished; a sentence if it cuts intervals."""
    # Not a cut-out, in which small differences look large: what is never negative begins at 0.
    from_zero = lows.min() >= 0
    least = 0.0 if from_zero else float(values.min())
    room = MOST_ROOM * (float(values.max()) - least)
    if not room > 0:  # nothing, or one flat line
        if from_zero:
            axes.set_ylim(bottom=0)
        return ""
    bottom = 0.0 if from_zero else max(float(lows.min()), least - room)
    top = min(float(highs.max()), float(values.max()) + room)
    margin = 0.05 * (top - bottom)
    bottom, top = bottom if from_zero else bottom - margin, top + margin
    axes.set_ylim(bottom, top)
    return beyond(float(lows.min()), float(highs.max()), bottom, top, unit)


def beyond(low: float, high: float, bottom: float, top: float, unit: str) -> str:
    """A sentence if intervals go beyond these ends of an axis."""
    # Only of the side that is cut: the end of the other can be seen.
    ends = [f"down to {_with_unit(low, unit)}"] if low < bottom else []
    ends += [f"up to {_with_unit(high, unit)}"] if high > top else []
    return f"Intervals go beyond the picture, {' and '.join(ends)}." if ends else ""


def _with_unit(value: float, unit: str) -> str:
    """A number of three digits with its unit: the end of an interval is known no better."""
    return f"{number_text(float(f'{value:.3g}'))} {unit}".rstrip()


def _unit(title: str) -> str:
    """What is in brackets at the end of an axis' title: the unit."""
    _, bracket, unit = title.rpartition("(")
    return unit[:-1] if bracket and title.endswith(")") else ""


def _folded(word: str) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(word, 14)) or word


def _said(label: str, each: pd.DataFrame, x: str, y: str) -> str:
    known = each.dropna(subset=[y])
    if known.empty:
        return f"{label}: no values.".lstrip(": ")
    at, values = known[x].tolist(), known[y].tolist()
    places = (0, -1, values.index(max(values)))
    texts = [f"{number_text(values[place])} at {number_text(at[place])}" for place in places]
    said = f"from {texts[0]} to {texts[1]}, highest {texts[2]}."
    return f"{label}: {said}" if label else said
