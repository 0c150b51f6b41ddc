"""A learner's own plot: what the figure holds is read, remarked on, and kept as a Record with the picture beside it.

A Record F and the lab's number, with the plot's name as its variant. Each pair of axes is one of its Points.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.course import lab_file
from beowulf.errors import UsageError
from beowulf.exercises.plot_reading import Wants, best, counted
from beowulf.figures.look import OURS, Figure
from beowulf.predictions import noted
from beowulf.record import Point, Record, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawing

__all__ = ["LETTER", "STUDY", "Wants", "held", "keep", "newest"]

# F4 has those of lab 04, one Record each, which has the plot's name as variant; F is any of them.
LETTER, STUDY = "F", re.compile("F[0-9]{0,3}")
MOST_POINTS = 500  # of a line; of more, as many from all over it
LARGEST_PICTURE_BYTES = 200_000
DOTS_PER_INCH = (110, 80, 60, 40)  # the first with which the picture is small enough


def keep(
    cluster: Cluster,
    figure: Any,
    name: str,
    wants: Wants,
    *,
    lab: str = "",
    also: Callable[[Sequence[Point]], list[str]] = lambda _points: [],
) -> None:
    """Keep what a figure of matplotlib (or its axes) holds as the plot of this name, and say what it lacks.

    `also` says what it lacks besides.

    Beside the Record the picture is kept as NAME.png. Where there is no plot yet, a sentence says so and nothing is
    kept.
    """
    if not lab_file.PREDICTION.fullmatch(name):
        raise UsageError(f"A plot's name is a word of letters, digits and hyphens, not {name!r}.")
    folder = cluster.records or Path("records")
    drawing = _drawing(figure)
    if isinstance(drawing, str):
        print(f"{name}: {drawing}")
        return
    points = [
        Point({"axes": place}, facts=held(axes)) for place, axes in enumerate(drawing.get_axes())
    ]
    if not any(point.facts["lines"] for point in points):
        print(f"{name}: There are axes, but nothing is drawn in them.")
        return
    slug = paths.lab(lab).name if lab else paths.lab_of(folder)
    if not slug:
        raise UsageError(
            f"Which lab is the plot {name} of? The folder of this notebook does not say.",
            'Name the lab, for example `lab="04"`.',
        )
    last = newest(folder, name)
    if last is None or [each.as_plain() for each in last.points] != [e.as_plain() for e in points]:
        noted(f"{LETTER}{int(slug.partition('-')[0])}", name, points, cluster).save_in(folder)
    print(
        *_sentences(points, wants, also(points)),
        _picture(drawing, folder / f"{name}.png"),
        sep="\n",
    )


def newest(folder: Path, name: str) -> Record | None:
    """The plot of this name that was kept last; None where there is none."""
    records, _ = readable(folder, f"F*-{name}-*.json")
    mine = [r for r in records if STUDY.fullmatch(r.study) and r.variant == name and r.points]
    return max(mine, key=lambda each: each.started, default=None)


def held(axes: Axes) -> dict[str, Any]:
    """What a pair of axes holds, as plain data: its scales, its words, and each line with its numbers."""
    root: Any = axes.get_figure(root=True)
    legends = [each for each in (axes.get_legend(), *root.legends) if each]
    return {
        "x_scale": axes.get_xscale(),
        "y_scale": axes.get_yscale(),
        "x_label": axes.get_xlabel() or root.get_supxlabel(),
        "y_label": axes.get_ylabel() or root.get_supylabel(),
        "x_ticks": _named_ticks(axes.xaxis),
        "y_ticks": _named_ticks(axes.yaxis),
        "title": axes.get_title() or axes.get_title(loc="left") or axes.get_title(loc="right"),
        "legend": [text.get_text() for legend in legends for text in legend.get_texts()],
        "texts": [text.get_text() for text in axes.texts if text.get_text().strip()],
        "lines": [each for each in _lines(axes) if each["points"]],
        "bands": _bands(axes),
    }


def _sentences(points: Sequence[Point], wants: Wants, lacks: Sequence[str]) -> list[str]:
    """What the plot holds, and what it lacks, `lacks` included."""
    view = best([point.facts for point in points], wants)
    lines = [line for panel in view.panels for line in panel["lines"]]
    drawn = (f"{each['label'] or 'unnamed'} with {each['points']} points" for each in lines)
    said = [f"Your plot has {counted(len(lines), 'line')}: {', '.join(drawn)}."]
    lacks = [*(each for part in view.lacks.values() for each in part), *lacks]
    return [*said, *lacks] if lacks else [*said, "It has all that was asked for."]


def _drawing(given: Any) -> Drawing | str:
    """The figure that was given, or that an axis or a line that was given is in; a sentence where there is none."""
    nothing = "There is no plot yet. Give the figure: `figure, axes = plt.subplots()` makes one."
    ours = "This is a picture of ours. Draw one of your own."
    if isinstance(given, Figure):
        return ours
    if hasattr(given, "gcf"):  # pyplot itself
        given = given.gcf() if given.get_fignums() else None
    while isinstance(given, list | tuple) or (hasattr(given, "flat") and given.size):
        given = next(iter(getattr(given, "flat", given)), None)
    if hasattr(given, "get_axes") and hasattr(given, "savefig"):
        found: Drawing = given
    elif hasattr(given, "get_figure") and (inside := given.get_figure(root=True)) is not None:
        found = inside
    else:
        return nothing
    return ours if found.get_label() == OURS else found if found.get_axes() else nothing


def _lines(axes: Axes) -> list[dict[str, Any]]:
    """Each line, row of marks or of bars in these axes; what lies across all of them is none, nor an interval's end."""
    from matplotlib.collections import PathCollection
    from matplotlib.container import BarContainer, ErrorbarContainer

    found = []
    ends: set[int] = set()
    names: dict[int, str] = {}
    for group in axes.containers:
        if isinstance(group, ErrorbarContainer):
            line, caps, _ = group.lines
            ends |= {id(cap) for cap in caps}
            names[id(line)] = str(group.get_label())
        elif isinstance(group, BarContainer):
            boxes = [bar.get_bbox() for bar in group.patches]
            lying = group.orientation == "horizontal"
            x = [box.x1 if lying else (box.x0 + box.x1) / 2 for box in boxes]
            y = [(box.y0 + box.y1) / 2 if lying else box.y1 for box in boxes]
            found.append(_line("bars", str(group.get_label()), x, y))
    for each in axes.get_lines():
        if id(each) not in ends and each.get_transform() == axes.transData:
            kind = "errorbar" if id(each) in names else "line"
            label = names.get(id(each), str(each.get_label()))
            found.append(_line(kind, label, each.get_xdata(orig=False), each.get_ydata(orig=False)))
    for marks in axes.collections:
        if isinstance(marks, PathCollection):
            found.append(_line("scatter", str(marks.get_label()), *_columns(marks.get_offsets())))
    return found


def _named_ticks(axis: Axis) -> list[tuple[float, str]]:
    """Where an axis has texts of the learner's own, or of categories, in place of numbers that it chose itself."""
    from matplotlib.category import StrCategoryFormatter
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    if not isinstance(
        axis.get_major_formatter(), FixedFormatter | FuncFormatter | StrCategoryFormatter
    ):
        return []
    texts = [label.get_text() for label in axis.get_majorticklabels()]
    places = [float(place) for place in axis.get_majorticklocs()]
    return list(zip(places, texts, strict=False))[:MOST_POINTS]


def _bands(axes: Axes) -> int:
    """How many areas between two lines there are, as fill_between draws them."""
    from matplotlib.collections import PolyCollection

    return sum(isinstance(each, PolyCollection) for each in axes.collections)


def _columns(offsets: Any) -> tuple[Any, Any]:
    import numpy as np

    places: Any = np.ma.filled(np.ma.asarray(offsets, dtype=float), np.nan).reshape(-1, 2)
    return places[:, 0], places[:, 1]


def _line(kind: str, label: str, x: Any, y: Any) -> dict[str, Any]:
    import numpy as np

    both: Any = np.ma.filled(np.ma.asarray([x, y], dtype=float), np.nan)
    places = both.shape[1]  # a logarithm by hand has no number at some
    both = both[:, np.isfinite(both).all(axis=0)]
    count = both.shape[1]
    some = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int))
    name = "" if label.startswith("_") else label
    kept_x, kept_y = both[:, some].tolist()
    facts = {"kind": kind, "label": name, "points": count, "places": places}
    return {**facts, "x": kept_x, "y": kept_y}


def _picture(drawing: Drawing, file: Path) -> str:
    """Keep the picture, as sharp as its size allows; a sentence that says where it is."""
    for dots in DOTS_PER_INCH:
        image = io.BytesIO()
        drawing.savefig(image, format="png", dpi=dots)
        if image.tell() <= LARGEST_PICTURE_BYTES:
            break
    else:
        return (
            f"The picture is too large to be kept as {file.name}; what it shows is in the Record."
        )
    file.write_bytes(image.getvalue())
    return f"It is kept, and the picture is in {file}."
