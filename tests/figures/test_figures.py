"""Can everybody read the figures: without colour, without seeing, without the program?"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb

from beowulf import figures
from beowulf.errors import UsageError
from beowulf.figures.segments import Value, intervals

WEIGHTS = (0.2126, 0.7152, 0.0722)  # of red, green and blue in WCAG 2
NODES = ("node00", "node01", "node02")


@pytest.fixture
def reach() -> figures.Figure:
    cells = {(row, column): "ok" for row in NODES for column in NODES if row != column}
    cells["node01", "node02"] = 'no "ping" <b>'
    return figures.matrix(
        NODES, NODES, cells, title="Who reaches whom", row_title="from", column_title="to"
    )


@pytest.fixture
def rates() -> figures.Figure:
    table = pd.DataFrame(
        {
            "ranks": [2, 2, 2, 4, 4, 4],
            "size_bytes": [1024, 1, 64, 1, 64, 1024],
            "rate_bytes_per_s": [9e6, 1e4, 5e5, 2e4, 1e6, 8e6],
        }
    )
    return figures.lines(
        table, "size_bytes", "rate_bytes_per_s", "ranks", title="Rate by size", x_log=True
    )


def test_marks_of_several_series_stand_side_by_side_on_the_line_of_their_name() -> None:
    series = {"node00": {"read": 1.0, "write": 100.0}, "node01": {"read": 1.0}}
    figure = figures.dots(series, title="Nodes", value_title="times as fast", factors=True)
    *marks, one = figure.drawing.axes[0].lines
    assert list(one.get_xdata()) == [1, 1]
    first, second = ([float(y) for y in line.get_ydata()] for line in marks)
    assert [round(y) for y in (*first, *second)] == [0, 1, 0]
    assert first[0] != second[0]
    assert list(figure.table.itertuples(index=False, name=None)) == [
        ("node00", "read", 1.0),
        ("node00", "write", 100.0),
        ("node01", "read", 1.0),
    ]
    assert "node00: read 1, write 100; node01: read 1." in figure.alt


def test_a_matrix_has_its_words_in_cells_table_and_sentence(reach: figures.Figure) -> None:
    assert "5 of 6 cells say ok" in reach.alt
    assert 'node01 to node02: no "ping" <b>' in reach.alt
    assert list(reach.table.columns) == ["from", *NODES]
    assert reach.table.set_index("from").loc["node01", "node02"] == 'no "ping" <b>'
    assert reach.table.set_index("from").loc["node01", "node01"] == ""
    words = [text.get_text() for text in reach.drawing.axes[0].texts]
    assert words.count("ok") == 5
    assert words.count("–") == 3
    assert 'no "ping" <b>' in words


def test_lines_differ_in_more_than_colour_have_units_and_a_sentence_that_tells_their_course(
    rates: figures.Figure,
) -> None:
    axes = rates.drawing.axes[0]
    lines = axes.get_lines()
    for looks in (
        [line.get_color() for line in lines],
        [line.get_marker() for line in lines],
        [line.get_linestyle() for line in lines],
    ):
        assert len(set(looks)) == len(lines) == 2
    assert [line.get_label() for line in lines] == ["2 ranks", "4 ranks"]
    assert list(lines[0].get_xdata()) == [1, 64, 1024], "sorted along the axis"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("size (bytes)", "rate (bytes/s)")
    assert axes.get_ylim()[0] == 0, "the axis is not cut"
    assert "2 ranks: from 10,000 at 1 to 9,000,000 at 1,024" in rates.alt


def test_bars_differ_in_hatching_show_their_numbers_and_start_at_zero() -> None:
    shares = {"no overlap": {"data": 73.41, "ssh": 0.14}, "overlap": {"data": 72.87}}
    figure = figures.bars(shares, title="Shares", value_title="share (%)")
    [axes] = figure.drawing.axes
    assert len({bars[0].get_hatch() for bars in axes.containers}) == 2
    assert "no overlap: data 73.41, ssh 0.14; overlap: data 72.87" in figure.alt
    last = {"series": "overlap", "name": "data", "share (%)": 72.87}
    assert figure.table.to_dict("records")[-1] == last
    assert {text.get_text() for text in axes.texts} == {"73.41", "0.14", "72.87"}
    assert axes.get_xlim()[0] == 0
    assert figures.bars({}, title="Wire", value_title="packets").alt.endswith("Nothing to show.")


def test_bars_of_factors_begin_at_one_on_a_logarithmic_axis_and_have_three_digits() -> None:
    values = {"write": 59.87, "alike": 1.0, "call": 0.1437, "pipe": 0.02544}
    drawing = figures.bars(values, title="t", value_title="times", factors=True).drawing
    [axes] = drawing.axes
    assert axes.get_xscale() == "log"
    assert {bar.get_x() for bar in axes.patches} == {1}
    assert [1 + bar.get_width() for bar in axes.patches] == pytest.approx(list(values.values()))
    assert [text.get_text() for text in axes.texts] == ["59.9", "1", "0.144", "0.0254"]
    assert [list(line.get_xdata()) for line in axes.lines] == [[1, 1]]
    drawing.draw_without_rendering()
    bars = [bar.get_window_extent() for bar in axes.patches]
    numbers = [text.get_window_extent() for text in axes.texts]
    assert numbers[0].x0 > bars[0].x1, "what is faster has its number to the right"
    assert numbers[2].x1 < bars[2].x0, "what is slower, to the left"
    assert all(axes.bbox.x0 < each.x0 and each.x1 < axes.bbox.x1 for each in numbers)


def test_a_notebook_gets_the_sentence_and_the_table_escaped(reach: figures.Figure) -> None:
    bundle = reach._repr_mimebundle_()
    page = bundle["text/html"]
    assert bundle["image/png"].startswith(b"\x89PNG")
    assert bundle["text/plain"] == reach.alt
    assert "<details>" in page
    assert "<table" in page
    assert 'alt="Who reaches whom' in page
    assert "no &quot;ping&quot; &lt;b&gt;" in page
    assert "<b>" not in page


def test_a_long_table_is_cut_in_the_notebook_but_not_lost() -> None:
    table = pd.DataFrame({"x_s": range(1000), "y_s": range(1000)})
    figure = figures.lines(table, "x_s", "y_s", title="Long")
    page = figure._repr_mimebundle_()["text/html"]
    assert page.count("<tr") <= figures.MOST_ROWS + 1
    assert f"{1000 - figures.MOST_ROWS} rows more" in page
    assert len(figure.table) == 1000


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_saved_figure_has_its_sentence_and_table_beside_it(
    kind: str, rates: figures.Figure, tmp_path: Path
) -> None:
    image, text, table = rates.save(tmp_path / "new" / f"rates.{kind}")
    assert image.stat().st_size > 1000
    assert text.read_text().strip() == rates.alt
    assert len(pd.read_csv(table)) == 6
    assert rates.title.encode() in image.read_bytes(), "the image knows its title"
    before = image.read_bytes()
    rates.save(image)
    assert image.read_bytes() == before, "the same picture is the same file"
    with pytest.raises(UsageError, match=r"\.png or \.svg"):
        rates.save(tmp_path / "rates.jpg")


def test_units_are_read_from_names_and_numbers_read_well() -> None:
    names = ("half_round_trip_us", "data_percent", "mbit_per_s", "ranks")
    titles = ["half round trip (µs)", "data (%)", "Mbit/s", "ranks"]
    assert list(map(figures.titled, names)) == titles
    numbers = (0, 1234, 1234.5, 0.00123, 73.41)
    texts = ["0", "1,234", "1,234", "0.00123", "73.41"]
    assert list(map(figures.number_text, numbers)) == texts


def test_the_first_colours_stand_out_on_white() -> None:
    # 3 to 1 is what WCAG 2.1 asks of graphics; later series rely on marker, dash and hatching too.
    for colour in figures.COLOURS[:3]:
        parts = [
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in to_rgb(colour)
        ]
        luminance = sum(part * weight for part, weight in zip(parts, WEIGHTS, strict=True))
        assert 1.05 / (luminance + 0.05) >= 3


def test_style_leaves_no_trace_and_the_courses_style_stays() -> None:
    before = dict(mpl.rcParams)
    with figures.style():
        assert mpl.rcParams["axes.spines.top"] is False
    assert dict(mpl.rcParams) == before
    with mpl.rc_context():
        figures.course_style()
        assert mpl.rcParams["axes.spines.top"] is False


def test_importing_figures_is_light() -> None:
    code = (
        "import sys, json, beowulf.figures\n"
        "print(json.dumps([m for m in ('matplotlib', 'numpy', 'pandas') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def noisy(most: float) -> figures.Figure:
    """Two lines between 10 and 20 with an interval that reaches as far as `most`."""
    rows = [
        (size, 10 + size / 10, protocol, 9, high)
        for protocol in ("blocking", "nonblocking")
        for size, high in ((0, 12), (10, most), (100, 22))
    ]
    table = pd.DataFrame(rows, columns=["size_bytes", "time_us", "protocol", "low", "high"])
    names = ("size_bytes", "time_us", "protocol")
    return figures.lines(table, *names, title="t", low="low", high="high", x_log=True)


def test_an_interval_far_wider_than_the_lines_is_cut_and_reported_and_another_is_shown_whole() -> (
    None
):
    figure = noisy(5000)
    [axes] = figure.drawing.axes
    low, high = axes.get_ylim()
    assert low == 0
    assert high < 2 * 20 * 1.1
    sentence = "Intervals go beyond the picture, up to 5,000 µs."
    assert sentence in figure.alt
    assert sentence in axes.get_xlabel()
    figure = noisy(25)
    assert figure.drawing.axes[0].get_ylim()[1] >= 25
    assert "beyond the picture" not in figure.alt


def test_only_an_end_that_is_cut_is_reported_and_with_its_unit() -> None:
    rows = [(1, -10.0, -11.0, -9.0), (2, 10.0, -49.53, 12.0)]
    table = pd.DataFrame(rows, columns=["size_bytes", "difference_percent", "low", "high"])
    figure = figures.over_sizes(
        table, "difference_percent", title="t", y_title="difference, median (% of blocking)"
    )
    assert figure.drawing.axes[0].get_xlabel().endswith("picture, down to -49.5 % of blocking.")
    lines = figure.drawing.axes[0].lines
    assert [list(line.get_ydata()) for line in lines[1:]] == [[0, 0]], "a line at zero"


def test_far_intervals_of_values_are_cut_and_nodes_are_whole_numbers() -> None:
    values = [Value("a", -20.0, -25.0, 15_000.0), Value("b", 5.0, 1.0, 9.0)]
    figure = intervals(values, title="t", value_title="change (%)")
    [axes] = figure.drawing.axes
    assert axes.get_xlim()[1] < 100
    assert "beyond the picture, up to 15,000 %." in axes.get_xlabel()
    nodes = pd.DataFrame({"nodes": [2, 4], "time_us": [1.0, 2.0]})
    ticks = figures.lines(nodes, "nodes", "time_us", title="t").drawing.axes[0].get_xticks()
    assert all(tick == int(tick) for tick in ticks)


def test_an_empty_message_stands_on_a_logarithmic_axis_too_and_marks_on_each_other_differ() -> None:
    axes = noisy(25).drawing.axes[0]
    first, second = (axes.transData.transform((x, 1))[0] for x in (0, 10))
    assert axes.get_xlim()[0] < 0 < 10
    assert second > first
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "10", "100"]
    sizes = [line.get_markersize() for line in axes.lines]
    assert sizes[0] > sizes[1]


POWERS = [float(2**power) for power in range(21)]
OF_FOUR = ["1", "4", "16", "64", "256", "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]
PAPER_B = [1e3, 1e4, 5e4, 7.5e4, 1e5, 1.5e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7]


@pytest.mark.parametrize(
    ("sizes", "numbers"),
    [
        (POWERS, OF_FOUR),
        ([0.0, *POWERS[:13]], ["0", "1", "4", "16", "64", "256", "1,024", "4,096"]),
        (PAPER_B, [f"{n} kB" for n in (1, 10, 50, 100, 500)] + [f"{n} MB" for n in (1, 2, 5, 10)]),
        ([1448.0, 16_384.0, 262_144.0], ["1,448", "16 KiB", "256 KiB"]),
    ],
)
def test_ticks_stand_at_measured_sizes_and_their_numbers_do_not_touch(
    sizes: list[float], numbers: list[str]
) -> None:
    table = pd.DataFrame({"size_bytes": sizes, "time_us": sizes})
    drawing = figures.lines(table, "size_bytes", "time_us", title="t", x_log=True).drawing
    drawing.draw_without_rendering()
    [axes] = drawing.axes
    assert {*axes.get_xticks(), *axes.get_xticks(minor=True)} == set(sizes)
    assert [label.get_text().replace("\n", " ") for label in axes.get_xticklabels()] == numbers
    assert not any(label.get_text() for label in axes.get_xticklabels(minor=True))
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_values_that_tell_no_course_are_marks_with_their_own_intervals() -> None:
    rows = [(1, 20.0, 18.0, 22.0), (16_384, 5.0, 4.0, 6.0), (262_144, 4.0, 3.0, 9.0)]
    table = pd.DataFrame(rows, columns=["size_bytes", "cpu_percent", "low", "high"])

    def drawn(joined: bool) -> Axes:
        return figures.over_sizes(
            table, "cpu_percent", title="t", y_title="CPU use (%)", joined=joined
        ).drawing.axes[0]

    line, marks = drawn(True).lines[0], drawn(False).lines[0]
    assert marks.get_linewidth() < line.get_linewidth() / 2
    assert marks.get_markersize() > line.get_markersize()
    [spans] = drawn(False).collections
    assert isinstance(spans, LineCollection), "nothing is shaded between the sizes"
    ends = [(low[1], high[1]) for low, high in spans.get_segments()]
    assert ends == [(18, 22), (4, 6), (3, 9)]


@pytest.mark.parametrize(
    "lines",
    [
        ["whole round trip,", "median with 95 % interval (µs)"],
        ["CPU use, median with 95 % interval", "(% of a core)"],
    ],
)
def test_a_long_title_of_an_axis_has_two_lines_of_which_none_is_cut(lines: list[str]) -> None:
    table = pd.DataFrame({"a": [1, 2], "b": [1, 2]})
    drawing = figures.lines(table, "a", "b", title="t", y_title=" ".join(lines)).drawing
    label = drawing.axes[0].yaxis.label
    assert label.get_text().split("\n") == lines
    drawing.draw_without_rendering()
    around, within = label.get_window_extent(), drawing.bbox
    assert within.y0 <= around.y0
    assert around.y1 <= within.y1


def test_bands_that_overlap_can_be_distinguished_by_their_edges() -> None:
    bands = noisy(5000).drawing.axes[0].collections
    assert len(bands) == 2
    faces = [band.get_facecolor()[0] for band in bands]
    assert all(face[3] < 0.2 for face in faces), "what is behind it shines through"
    edges = [(tuple(band.get_edgecolor()[0]), str(band.get_linestyle())) for band in bands]
    assert edges[0][0] != edges[1][0]
    assert edges[0][1] != edges[1][1], "without colour, too"
    assert all(edge[0][3] > 0.5 for edge in edges)


def test_only_values_that_span_decades_need_a_long_scale() -> None:
    those = ([1.0, 99.0], [1.0, 100.0], [0.0, 100.0], [])
    found = [figures.spans_decades(pd.Series(values, dtype=float)) for values in those]
    assert found == [False, True, False, False]


@dataclass
class Guess:
    value: float
    low: float
    high: float


def test_a_prediction_is_drawn_beside_the_result_and_none_is_not() -> None:
    axes = noisy(25).drawing.axes[0]
    figures.prediction_band(axes, None)
    assert not axes.patches
    figures.prediction_band(axes, Guess(15, 5, 40))
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts[-1] == "your prediction"
    [band] = axes.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == (5, 40)
    assert band.get_hatch(), "without colour, too"
    figures.prediction_band(axes, Guess(8, 4, 16), along="x")
    upright = axes.patches[-1]
    assert (upright.get_x(), upright.get_x() + upright.get_width()) == (4, 16)
