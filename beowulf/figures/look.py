"""The look of every picture, for all eyes.

Colours are those that colour-blind readers tell apart, and never alone: lines differ in marker and
dash, bars in hatching, cells in their word. Each picture carries a sentence and its data table.
"""

from __future__ import annotations

import base64
import io
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.errors import UsageError

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
    "_us_per_byte": "µs/byte",
    "_bytes_per_s": "bytes/s",
    "_packets_per_s": "packets/s",
    "_mbit_per_s": "Mbit/s",
    "_gb_per_s": "GB/s",
    "_mb_per_s": "MB/s",
    "_percent": "%",
    "_bytes": "bytes",
    "_kib": "KiB",
    "_ms": "ms",
    "_us": "µs",
    "_ns": "ns",
    "_s": "s",
}
OURS = "beowulf"  # what our own drawings are labelled with; it is not seen
LETTERS_AN_INCH = 9  # of a title
MOST_LETTERS = 40  # of a line of a vertical axis' title
MOST_ROWS = 200  # of a table below a picture in a notebook


@contextmanager
def style() -> Iterator[None]:
    """Within this context, what matplotlib draws has the look of all our figures."""
    import matplotlib

    with matplotlib.rc_context(_settings()):
        yield


def course_style() -> None:
    """From now on, whatever matplotlib draws in this notebook has the look of all our figures."""
    import matplotlib

    matplotlib.rcParams.update(_settings())


def _settings() -> Any:
    from cycler import cycler

    return {
        "axes.prop_cycle": cycler(color=COLOURS)
        + cycler(marker=MARKERS)
        + cycler(linestyle=DASHES),
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
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._image(path.suffix[1:]))
        text.write_text(self.alt + "\n", encoding="utf-8")
        self.table.to_csv(table, index=False)
        return [path, text, table]

    def _image(self, kind: str) -> bytes:
        facts: dict[str, Any] = {"Title": self.title, "Description": self.alt}
        if kind == "svg":
            facts["Date"] = None
        file = io.BytesIO()
        with style():
            self.drawing.savefig(file, format=kind, metadata=facts)
        return file.getvalue()

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


def titled(name: str) -> str:
    """A column's name as the title of an axis: `half_round_trip_us` is half round trip (µs), `bytes_per_s` bytes/s."""
    for ending, unit in UNITS.items():
        if f"_{name}".endswith(ending):
            what = f"_{name}".removesuffix(ending).replace("_", " ").strip()
            return f"{what} ({unit})" if what else unit
    return name.replace("_", " ").replace("speed up", "speed-up")


def number_text(value: float) -> str:
    """A number as a reader wants it: 1,234 and 12.3 and 0.00123, never more than four digits."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def number_tick(value: float, _: object) -> str:
    """What matplotlib writes beside a tick of an axis."""
    return number_text(value)


def long_scale(axes: Axes) -> None:
    """Make the horizontal axis of what is drawn a logarithmic one, with numbers that do not run into each other."""
    from matplotlib.ticker import LogLocator

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(
        LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0, 3.0))
    )
    axes.xaxis.set_major_formatter(number_tick)
    axes.minorticks_off()


def paper(width: float = 7.2, height: float = 4.3) -> tuple[Drawing, Axes]:
    """An empty drawing with one pair of axes, in inches; no higher than 14."""
    # Not through pyplot: no figure stays open, and a notebook does not show it twice.
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.1)
    drawing = Drawing(figsize=(width, min(height, 14.0)), layout=layout)
    drawing.set_label(OURS)
    return drawing, drawing.add_subplot()


def titles(axes: Axes, title: str, x_title: str, y_title: str) -> None:
    """Put the titles of a drawing and of its axes where all our figures have them."""
    put_title(axes, title)
    axes.set_xlabel(x_title)
    axes.set_ylabel(_in_lines(y_title))


def put_title(axes: Axes, title: str) -> None:
    """Put a title above a drawing, in as many lines as it needs."""
    place, drawing = axes.get_subplotspec(), axes.figure
    beside = place.get_gridspec().ncols if place else 1
    letters = int(LETTERS_AN_INCH * drawing.bbox.width / drawing.dpi / beside)
    lines = [textwrap.fill(line, letters) for line in title.splitlines()]
    axes.set_title("\n".join(lines), pad=12)


def _in_lines(title: str) -> str:
    """A title that is longer than its axis would be cut: its unit, else what follows a comma, gets a second line."""
    if len(title) <= MOST_LETTERS:
        return title
    said, bracket, unit = title.rpartition(" (")
    if bracket and len(said) <= MOST_LETTERS:
        return f"{said}\n({unit}"
    return title.replace(", ", ",\n", 1)
