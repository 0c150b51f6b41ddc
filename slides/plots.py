"""Pictures that a build of the slides draws, by name: plots of kept Records and results, and stills of kept runs.

A deck shows one as `![alternative text](plot:NAME)`. Their letters are as large as the other text on a slide.
"""

from __future__ import annotations

import io
import json
import lzma
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.errors import LabError
from beowulf.figures import COLOURS, HATCHES, style
from beowulf.figures.look import DASHES, MARKERS, paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
# Real Records, shortened to their samples; `where` says how they were measured. The tests have most of them, and
# beside this file are C1 with a demand of 8, of the full measurement of docs/results.md, and tokens on lab 08's machine
# of 1995.
KEPT = (
    ROOT / "tests" / "gold" / "real_records.json.xz",
    Path(__file__).with_name("records.json.xz"),
)
# Runs on four namespaces of one machine, with links of 100 Mbit/s, recorded by `beowulf run --trace` and in the labs'
# notebooks. Other programs ran on its two cores, so these had a real-time priority. Folders have other names in them.
RUNS = Path(__file__).with_name("runs")
FULL, QUICK = "100mbit classic, full, load 1.0", "100mbit classic, quick, load 3.3"
SLOW_FULL = "10mbit classic, full, load 1.0"
SIMULATED = "simulated by SimGrid"
WIDTH_PX = 1136  # what a slide has between its margins
WIDTH_IN, POINTS = 7.2, 11.2  # a letter of that many points is 24 px high on a slide or more
PREDICTED = (2, 8192)  # networks and bytes of the token that lab 08 asks for before it is measured
FRAME_BYTES = 1448
CABLE_MB_PER_S = 10 / 8
PAPERS_SIZES = (1024, 8192)  # for which paper C's figure 1 has about 1 MB/s with eight pairs
Samples = dict[int, list[float]]


@cache
def svg(name: str) -> bytes:
    """The picture of that name as SVG; LabError where there is none."""
    import matplotlib
    from matplotlib.text import Text

    if name in STILLS:
        drawing = _still(name)
    elif name in PLOTS:
        with style(), matplotlib.rc_context({"font.size": POINTS}):
            drawing = PLOTS[name]()
    else:
        there = ", ".join(sorted([*PLOTS, *STILLS]))
        raise LabError(f"There is no plot:{name}.", f"There are: {there}.")
    for text in drawing.findobj(Text):
        text.set_fontsize(max(POINTS, text.get_fontsize()))
    file = io.BytesIO()
    # Letters stay letters, so that a page can be searched and its smallest ones be found by a test.
    with style(), matplotlib.rc_context({"svg.fonttype": "none"}):
        drawing.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _paper(height: float, x_title: str, y_title: str = "") -> tuple[Drawing, Axes]:
    drawing, axes = paper(WIDTH_IN, height)
    axes.set_xlabel(x_title)
    axes.set_ylabel(y_title)
    return drawing, axes


def _samples(study: str, where: str, quantity: str, **at: Any) -> dict[tuple[Any, ...], Samples]:
    """A kept Record's samples by size, for each value of what is asked for with `...`."""
    kept = [each for file in KEPT for each in json.loads(lzma.decompress(file.read_bytes()))]
    (record,) = (each for each in kept if each["study"] == study and each["where"] == where)
    asked = [name for name, value in at.items() if value is ...]
    found: dict[tuple[Any, ...], Samples] = defaultdict(lambda: defaultdict(list))
    for point in record["points"]:
        here = point["at"]
        fits = all(value is ... or here.get(name) == value for name, value in at.items())
        if fits and point["quantity"] == quantity and "size_bytes" in here:
            group = tuple(here.get(name) for name in asked)
            found[group][int(here["size_bytes"])] += point["samples"]
    return found


def _size(value: float, _: object = None) -> str:
    """A number of bytes as a tick says it."""
    for unit, one in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= one:
            return f"{value / one:g} {unit}"
    return f"{value:g} B"


def _over_sizes(
    samples: Samples, powers: Iterable[int], values: Sequence[float], x_title: str, y_title: str
) -> Drawing:
    """The median over the size, both axes logarithmic, with ticks at these powers of two and at these values."""
    sizes = [size for size in sorted(samples) if size]
    drawing, axes = _paper(2.9, x_title, y_title)
    axes.plot(sizes, [float(np.median(samples[size])) for size in sizes], color=COLOURS[0])
    _powers(axes, powers)
    _values(axes, values)
    return drawing


def _values(axes: Axes, values: Sequence[float]) -> None:
    """Make the vertical axis a logarithmic one, with ticks at these values."""
    axes.set_yscale("log")
    axes.set_yticks(values, [f"{value:,}" for value in values])
    axes.minorticks_off()


def _rates(axes: Axes, lines: dict[str, Samples]) -> None:
    """For each label the MB/s over the size of a token."""
    for number, (label, tokens) in enumerate(lines.items()):
        axes.plot(
            sorted(tokens),
            [size / float(np.median(tokens[size])) / 1e6 for size in sorted(tokens)],
            color=COLOURS[number],
            marker=MARKERS[number],
            linestyle=DASHES[number],
            label=label,
        )
    _powers(axes, range(2, 14, 2))
    axes.minorticks_off()


def _powers(axes: Axes, powers: Iterable[int]) -> None:
    """Make the horizontal axis one of sizes, with ticks at these powers of two."""
    axes.set_xscale("log", base=2)
    axes.set_xticks([1 << power for power in powers])
    axes.xaxis.set_major_formatter(_size)


def _memory() -> Drawing:
    """A load of memory by the size of the area, of study A3."""
    (loads,) = _samples("A3", FULL, "load_ns", node="node00", pages="huge").values()
    return _over_sizes(loads, range(12, 30, 4), (1, 10, 100), "size of the area", "ns a load")


def _kernels() -> Drawing:
    """Six of the NAS kernels on one node and on four, without FT, which is predicted, and IS, which is like it."""
    samples = json.loads((RESULTS / "npb.json").read_text(encoding="utf-8"))["samples"]
    names = ["EP", "CG", "MG", "LU", "SP", "BT"]
    drawing, axes = _paper(2.9, "", "seconds")
    ways = {"one node": "{} W on one", "four nodes": "{} W on 4, 100 Mbit/s links"}
    medians = {
        label: [float(np.median(samples[key.format(name)])) for name in names]
        for label, key in ways.items()
    }
    for number, (label, heights) in enumerate(medians.items()):
        places = np.arange(len(names)) + 0.4 * number - 0.2
        axes.bar(places, heights, 0.38, color=COLOURS[number], hatch=HATCHES[number], label=label)
    axes.set_xticks(range(len(names)), names)
    axes.legend(loc="upper left", ncols=2)
    _values(axes, [0.1, 1, 10])
    return drawing


def _short_messages() -> Drawing:
    """Half round trips of short messages, of study E1: each launch's samples, and a straight line."""
    (trips,) = _samples("E1", QUICK, "half_round_trip_us", sweep="wide").values()
    sizes = [size for size in sorted(trips) if size <= 1024]
    medians = [float(np.median(trips[size])) for size in sizes]
    drawing, axes = _paper(2.7, "bytes", "half a round\ntrip (µs)")
    for size in sizes:
        axes.plot([size] * len(trips[size]), trips[size], "o", color=COLOURS[0], alpha=0.35)
    slope, start = np.polyfit(sizes, medians, 1)
    axes.plot([0, 1024], [start, start + 1024 * slope], "-", marker="", color=COLOURS[1])
    axes.set_ylim(0, 80)
    axes.set_xticks([0, 256, 512, 768, 1024])
    return drawing


def _one_message() -> Drawing:
    """How long messages of 8 to 128 KiB take, of study E1, beside a work of 6 ms."""
    (trips,) = _samples("E1", QUICK, "half_round_trip_us", sweep="wide").values()
    sizes = [size for size in sorted(trips) if 8192 <= size <= 131072]
    drawing, axes = _paper(3.1, "KiB", "ms")
    times = [float(np.median(trips[size])) / 1000 for size in sizes]
    axes.plot([size / 1024 for size in sizes], times, color=COLOURS[0], label="message")
    axes.axhline(6, color=COLOURS[1], linestyle="--", label="6 ms of work")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 14)
    axes.legend(loc="upper left")
    return drawing


def _pairs() -> Drawing:
    """Both calls in pairs, of study A7: the ratio of each pair of samples, size by size."""
    found = _samples("A7", FULL, "half_round_trip_us", protocol=..., ranks=2, pattern="pairs")
    blocking, other = found[("blocking",)], found[("nonblocking",)]
    sizes = [size for size in sorted(blocking) if size and size in other]
    drawing, axes = _paper(2.7, "size of a message", "non-blocking\n÷ blocking")
    axes.axhspan(0.9, 1.1, color="#DDE8EE")
    for size in sizes:
        count = min(len(blocking[size]), len(other[size]))
        ratios = np.array(other[size][:count]) / np.array(blocking[size][:count])
        axes.plot([size] * count, ratios, "o", color=COLOURS[0], alpha=0.25, markersize=4)
        axes.plot([size], [float(np.median(ratios))], "D", color=COLOURS[1], markersize=7)
    _powers(axes, range(0, 24, 4))
    axes.set_ylim(0.4, 1.8)
    return drawing


def _calibration() -> Drawing:
    """The table that a model is made of: half round trips of study E1."""
    (trips,) = _samples("E1", QUICK, "half_round_trip_us", sweep="wide").values()
    titles = ("size of a message", "half a round\ntrip (µs)")
    return _over_sizes(trips, range(0, 24, 4), (10, 1000, 100_000), *titles)


def _tokens() -> Drawing:
    """What eight pairs carry on one network and on two, of study C1, but what the learners predict."""
    found = _samples("C1", SLOW_FULL, "token_s", demand=8, networks=...)
    drawing, axes = _paper(3.0, "size of a token", "MB/s, all pairs")
    del found[PREDICTED[:1]][PREDICTED[1]]
    _rates(axes, {"one network": found[(1,)], "two networks": found[(2,)]})
    axes.axvline(FRAME_BYTES, color="#404040", linestyle=":", marker="")
    beside: dict[str, Any] = {"textcoords": "offset points", "ha": "right"}
    axes.annotate("one frame:\n1,448 bytes", (FRAME_BYTES, 0.2), (-6, 0), **beside)
    # As tall as what may be, so that its place tells nothing.
    band: dict[str, Any] = {"color": COLOURS[1], "linewidth": 18, "alpha": 0.2}
    axes.plot([PREDICTED[1]] * 2, [2.2, 4.8], "-", marker="", **band)
    axes.text(PREDICTED[1], 3.5, "?", ha="center", va="center", fontsize=20, color=COLOURS[1])
    axes.set_ylim(0, 5)
    axes.legend(loc="upper left")
    return drawing


def _tokens_of_1995() -> Drawing:
    """What eight pairs and one carry on the one cable of the simulated machine, beside what paper C says of eight."""
    found = _samples("S8", SIMULATED, "token_s", cables=1, demand=...)
    drawing, axes = _paper(3.0, "size of a token", "MB/s, all pairs")
    _rates(axes, {"8 pairs": found[(8,)], "1 pair": found[(1,)]})
    axes.axhline(CABLE_MB_PER_S, color="#404040", linestyle=":", marker="")
    axes.text(PAPERS_SIZES[1], CABLE_MB_PER_S, "the cable: 1.25", ha="right", va="bottom")
    axes.plot(
        PAPERS_SIZES, [1, 1], "-", marker="", color="#9a6b00", linewidth=7, alpha=0.45,
        label="paper C: about 1 from 1 KB on",
    )  # fmt: skip
    axes.set_ylim(0, 1.5)
    axes.legend(loc="upper left", bbox_to_anchor=(0, 0.85))
    return drawing


DRAWN = (_memory, _kernels, _short_messages, _pairs, _one_message, _calibration)
PLOTS: dict[str, Callable[[], Drawing]] = {
    each.__name__.strip("_").replace("_", "-"): each for each in (*DRAWN, _tokens, _tokens_of_1995)
}

# Of each kept run: from and to which ms it is shown, and how high the picture is, in inches.
STILLS: dict[str, tuple[float, float, float]] = {
    "ring": (3.5, 5.66, 3.3),
    "mg": (2.0, 5.6, 3.3),
    "turns": (0.0, 85.0, 3.0),
    "overlap": (0.0, 87.0, 3.0),
    "message": (1067.2, 1112.0, 2.85),
    "rules": (2.3, 2.45, 3.0),
    "barrier": (8.2, 9.0, 3.2),
    "plate": (0.0, 58.0, 3.3),
}


def _still(name: str) -> Drawing:
    """A still picture of a kept run, between its messages."""
    from beowulf.exercises.timelines import analysed
    from beowulf.timeline.picture import picture

    from_ms, to_ms, height = STILLS[name]
    with tempfile.TemporaryDirectory(prefix="beowulf-slides-") as folder:
        with tarfile.open(RUNS / f"{name}.tar.xz") as kept:
            kept.extractall(folder, filter="data")
        found = analysed(Path(folder))
        drawing = picture(found, from_s=from_ms / 1000, to_s=to_ms / 1000).drawing
    legend = drawing.legends[0]
    keys = [key for key in legend.legend_handles if key is not None]
    labels = [text.get_text() for text in legend.get_texts()]
    legend.remove()
    drawing.axes[0].set_title("", loc="left")
    drawing.set_size_inches(WIDTH_IN, height)
    drawing.legend(
        keys, labels, loc="outside lower center", ncols=3, fontsize=POINTS, handlelength=1.4,
        columnspacing=1.0, handletextpad=0.5, borderpad=0, frameon=False,
    )  # fmt: skip
    return drawing
