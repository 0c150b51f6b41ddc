"""Bars of parts and values with intervals: do they say in words and in a table what they show?"""

from __future__ import annotations

from itertools import pairwise

from beowulf.figures.segments import Part, Value, intervals, timeline


def test_the_parts_of_a_bar_follow_each_other() -> None:
    bars = {
        "rank 0": [Part("works", 3.0), Part("waits", 1.0, 3.5, 4.5)],
        "rank 1": [Part("works", 2)],
    }
    figure = timeline(bars, title="Who waits?", value_title="time (s)")
    assert figure.table["from time (s)"].tolist() == [0, 3, 0]
    assert figure.table["to time (s)"].tolist() == [3, 4, 2]
    assert "rank 0: works 3, waits 1, ends at 4" in figure.alt
    assert figure.drawing.axes[0].get_xlim()[1] > 4.5, "the interval's end is inside"
    hatches = {patch.get_hatch() for patch in figure.drawing.axes[0].patches}
    assert len(hatches) == 2, "parts differ in more than their colour"


def test_an_interval_far_longer_than_the_bars_is_cut_and_its_end_is_reported() -> None:
    bars = {"a": [Part("works", 10.0, 9.0, 4000.0)], "b": [Part("works", 8.0, 7.0, 9.0)]}
    figure = timeline(bars, title="t", value_title="s")
    axes = figure.drawing.axes[0]
    assert axes.get_xlim()[1] < 30
    assert [text.get_text() for text in axes.texts] == ["10 (to 4,000)", "8"]
    figure.drawing.draw_without_rendering()
    labels = [label for label in axes.get_xticklabels() if label.get_text()]
    boxes = [label.get_window_extent() for label in labels]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes)), "numbers do not touch"


def test_a_value_has_its_interval_and_its_kind_in_the_table_and_in_words() -> None:
    values = [Value("7 KB", -26.3, -28.0, -24.0, "rank 0"), Value("7 KB", 3.0, 2.0, 5.0, "rank 1")]
    figure = intervals(values, title="Gain", value_title="improvement (%)")
    assert "7 KB rank 0 -26.3 (-28 to -24)" in figure.alt
    assert figure.table[["low", "high"]].to_numpy().tolist() == [[-28, -24], [2, 5]]


def test_nothing_to_show_is_still_a_figure() -> None:
    assert timeline({}, title="t", value_title="s").alt
    assert intervals([], title="t", value_title="s").alt
