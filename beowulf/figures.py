"""The look of every picture, and the pictures that several studies share, for all eyes.

Colours are those that colour-blind readers tell apart, and never alone: lines differ in marker and
dash, bars in hatching, cells in their word. Each picture carries a sentence and its data table.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

# Okabe and Ito, Color Universal Design (2008), without the yellow that is hardly seen on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo")

# How the ends of names read as units, longest first.
UNITS = {
    "_bytes_per_s": "bytes/s",
    "_packets_per_s": "packets/s",
    "_mbit_per_s": "Mbit/s",
    "_percent": "%",
    "_bytes": "bytes",
    "_ms": "ms",
    "_us": "µs",
    "_ns": "ns",
    "_s": "s",
}
MOST_ROWS = 200  # of a table below a picture in a notebook


@contextmanager
def style() -> Iterator[None]:
    """Within this context, what matplotlib draws has the look of all our figures."""
    import matplotlib
    from cycler import cycler

    looks = cycler(color=COLOURS) + cycler(marker=MARKERS) + cycler(linestyle=DASHES)
    settings = {
        "axes.prop_cycle": looks,
        "axes.titlesize": 13,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "figure.dpi": 110,
        "figure.figsize": (7.2, 4.3),
        "figure.constrained_layout.use": True,
        "font.size": 11,
        "grid.color": "#D9D9D9",
        "hatch.linewidth": 0.6,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "lines.markersize": 6,
        "savefig.facecolor": "white",
        "svg.hashsalt": "beowulf",  # so that the same picture is the same file
    }
    with matplotlib.rc_context(cast("Any", settings)):
        yield


@dataclass
class Figure:
    """A drawing with its title, a sentence for who cannot see it, and the table behind it."""

    drawing: Drawing
    title: str
    alt: str
    table: pd.DataFrame

    def save(self, path: Path | str) -> list[Path]:
        """Write .png or .svg as `path` says, and beside it the sentence (.txt) and table (.csv)."""
        path = Path(path)
        if path.suffix not in (".png", ".svg"):
            raise UsageError(f"A figure is saved as .png or .svg, not as {path.name}.")
        text, table = path.with_suffix(".txt"), path.with_suffix(".csv")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._image(path.suffix[1:]))
            text.write_text(self.alt + "\n", encoding="utf-8")
            self.table.to_csv(table, index=False)
        except OSError as problem:
            why = (problem.strerror or str(problem)).lower()
            raise LabError(f"{path} was not written: {why}.", "Choose another place.") from None
        return [path, text, table]

    def _image(self, kind: str) -> bytes:
        facts: dict[str, Any] = {"Title": self.title, "Description": self.alt}
        if kind == "svg":
            facts["Date"] = None
        file = io.BytesIO()
        with style():
            self.drawing.savefig(file, format=kind, metadata=facts)
        return file.getvalue()

    def _repr_html_(self) -> str:
        return self._page(self._image("png"))

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        image = self._image("png")
        return {"text/html": self._page(image), "image/png": image, "text/plain": self.alt}

    def _page(self, image: bytes) -> str:
        rows = self.table.head(MOST_ROWS).to_html(index=False, border=0, na_rep="–")
        more = len(self.table) - MOST_ROWS
        rest = f"<p>and {more} rows more: <code>.table</code> has them all</p>" if more > 0 else ""
        source = "data:image/png;base64," + base64.b64encode(image).decode("ascii")
        return (
            f'<figure><img src="{source}" alt="{escape(self.alt, quote=True)}">'
            f"<details><summary>Data table: {escape(self.title)}</summary>{rows}{rest}</details>"
            "</figure>"
        )


def bars(
    values: Mapping[str, float] | Mapping[str, Mapping[str, float]],
    *,
    title: str,
    value_title: str,
    name_title: str = "",
    alt: str = "",
) -> Figure:
    """A bar for each name; with a mapping of mappings, the series side by side for each name."""
    import pandas as pd

    grouped = any(isinstance(value, Mapping) for value in values.values())
    series = cast("Mapping[str, Mapping[str, float]]", values if grouped else {"": values})
    names = list(dict.fromkeys(name for each in series.values() for name in each))
    rows = [
        {**({"series": label} if grouped else {}), "name": name, value_title: each[name]}
        for label, each in series.items()
        for name in names
        if name in each
    ]
    columns = [*(["series"] if grouped else []), "name", value_title]
    with style():
        drawing, axes = _paper(height=1.3 + 0.38 * len(names) * max(1.0, 0.62 * len(series)))
        thick = 0.8 / max(len(series), 1)
        for number, (label, each) in enumerate(series.items()):
            places = [place for place, name in enumerate(names) if name in each]
            found = axes.barh(
                [place + (number - (len(series) - 1) / 2) * thick for place in places],
                [each[names[place]] for place in places],
                height=thick * 0.92,
                color=COLOURS[number % len(COLOURS)],
                hatch=HATCHES[number % len(HATCHES)],
                edgecolor="white",
                label=label,
            )
            axes.bar_label(found, [number_text(each[names[p]]) for p in places], padding=4)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.margins(x=0.12)
        if all(value >= 0 for each in series.values() for value in each.values()):
            axes.set_xlim(0, None if any(any(each.values()) for each in series.values()) else 1)
        axes.xaxis.set_major_formatter(_number)
        _titles(axes, title, value_title, name_title)
        if grouped:
            axes.legend(loc="best")
    said = "; ".join(
        (f"{label}: " if grouped else "")
        + ", ".join(f"{n} {number_text(v)}" for n, v in each.items())
        for label, each in series.items()
    )
    alt = alt or f"Bars of {value_title}. {title}. {said or 'Nothing to show'}."
    return Figure(drawing, title, alt, pd.DataFrame(rows, columns=columns))


def matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], str],
    *,
    title: str,
    good: str = "ok",
    row_title: str = "",
    column_title: str = "",
    alt: str = "",
) -> Figure:
    """A word for each pair of row and column; a word that is not `good` stands out."""
    import pandas as pd
    from matplotlib.patches import Rectangle

    with style():
        drawing, axes = _paper(
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
        _titles(axes, title, column_title, row_title)
    bad = [f"{row} to {column}: {word}" for (row, column), word in cells.items() if word != good]
    fine_cells = len(cells) - len(bad)
    alt = alt or (
        f"{title}: a matrix of {len(rows)} rows and {len(columns)} columns. "
        f"{fine_cells} of {len(cells)} cells say {good}"
        + ("; " + "; ".join(bad) if bad else "")
        + "."
    )
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
    alt: str = "",
) -> Figure:
    """A line of column `y` over `x` for each value of `by`; `low` and `high` shade an interval.

    The titles of the axes come from the columns' names, with their units, unless they are given.
    """
    missing = [name for name in (x, y, by, low, high) if name and name not in table]
    if missing:
        raise UsageError(f"The table has no column {', '.join(missing)}.")
    x_title, y_title = x_title or titled(x), y_title or titled(y)
    groups: list[tuple[Any, pd.DataFrame]] = [("", table)]
    if by:
        groups = list(table.groupby(by, sort=False))
    said = []
    with style():
        drawing, axes = _paper()
        for number, (label, each) in enumerate(groups):
            each = each.sort_values(x)
            text = f"{label} {by}" if isinstance(label, Real) else str(label)
            axes.plot(each[x], each[y], label=text)
            if low and high:
                colour = COLOURS[number % len(COLOURS)]
                axes.fill_between(each[x], each[low], each[high], color=colour, alpha=0.18, lw=0)
            said.append(_said(text, each, x, y))
        if x_log:
            axes.set_xscale("log", base=2)
        if y_log:
            axes.set_yscale("log")
        elif table[low or y].min() >= 0:
            axes.set_ylim(bottom=0)  # not a cut-out, in which small differences look large
        axes.xaxis.set_major_formatter(_number)
        axes.yaxis.set_major_formatter(_number)
        _titles(axes, title, x_title, y_title)
        if by:
            axes.legend(loc="best")
    alt = alt or f"{title}: {y_title} over {x_title}. " + " ".join(said)
    return Figure(drawing, title, alt, table)


def titled(name: str) -> str:
    """A column's name as the title of an axis: `half_round_trip_us` is half round trip (µs)."""
    for ending, unit in UNITS.items():
        if name.endswith(ending):
            return f"{name.removesuffix(ending).replace('_', ' ')} ({unit})"
    return name.replace("_", " ")


def number_text(value: float) -> str:
    """A number as a reader wants it: 1,234 and 12.3 and 0.00123, never more than four digits."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _number(value: float, _: object) -> str:
    return number_text(value)


def _paper(width: float = 7.2, height: float = 4.3) -> tuple[Drawing, Axes]:
    # Not through pyplot: no figure stays open, and a notebook does not show it twice.
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.1)
    drawing = Drawing(figsize=(width, min(height, 14.0)), layout=layout)
    return drawing, drawing.add_subplot()


def _titles(axes: Axes, title: str, x_title: str, y_title: str) -> None:
    axes.set_title(title, pad=12)
    axes.set_xlabel(x_title)
    axes.set_ylabel(y_title)


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
