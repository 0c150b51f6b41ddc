"""A learner's own plot: is all that it holds read, is what it lacks named in words, and is it kept with its picture?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from nodeless_cluster import Nodeless

from beowulf import figures, paths
from beowulf.errors import UsageError
from beowulf.exercises import own_plot, plot_reading
from beowulf.exercises.plot_reading import Wants

SIZES = [1, 16, 256, 4096, 65_536, 1_048_576]
RATES = [0.02, 0.3, 5.0, 40.0, 90.0, 94.0]
WANTS = Wants(x="size in bytes", y="rate in Mbit/s", log_x=True, lines=2, points=6)
FINE = "It has all that was asked for."


@pytest.fixture(autouse=True)
def drawn_off_screen() -> Iterator[None]:
    with mpl.rc_context({"backend": "agg"}):
        yield
    plt.close("all")


@pytest.fixture
def cluster(tmp_path: Path) -> Nodeless:
    return Nodeless(tmp_path / "work" / "04-blocking-nonblocking" / "records")


def good() -> tuple[Any, Any]:
    figure, axes = plt.subplots()
    axes.plot(SIZES, RATES, "o-", label="blocking")
    axes.plot(SIZES, [0.9 * rate for rate in RATES], "s--", label="non-blocking")
    axes.set(xscale="log", xlabel="size (bytes)", ylabel="rate [Mbit/s]", title="Rates")
    axes.legend()
    return figure, axes


def kept(cluster: Nodeless, name: str = "rates") -> Any:
    found = own_plot.newest(cluster.records, name)
    assert found is not None
    return found


def said(
    cluster: Nodeless,
    given: Any,
    capsys: pytest.CaptureFixture[str],
    wants: Wants = WANTS,
) -> str:
    own_plot.keep(cluster, given, "rates", wants)
    return capsys.readouterr().out


def test_a_plot_is_read_kept_and_lies_beside_the_records(
    cluster: Nodeless, capsys: pytest.CaptureFixture[str]
) -> None:
    figure, _ = good()
    assert FINE in said(cluster, figure, capsys)
    record = kept(cluster)
    assert (record.study, record.variant) == ("F4", "rates")
    [point] = record.points
    facts = point.facts
    assert (facts["x_scale"], facts["y_scale"], facts["title"]) == ("log", "linear", "Rates")
    assert (facts["x_label"], facts["y_label"]) == ("size (bytes)", "rate [Mbit/s]")
    assert facts["legend"] == ["blocking", "non-blocking"]
    assert [(each["label"], each["points"]) for each in facts["lines"]] == [
        ("blocking", 6),
        ("non-blocking", 6),
    ]
    assert (facts["lines"][0]["x"], facts["lines"][0]["y"]) == (SIZES, RATES)
    picture = cluster.records / "rates.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < own_plot.LARGEST_PICTURE_BYTES


def test_the_figure_its_axes_and_what_is_in_them_lead_to_the_plot(
    cluster: Nodeless, capsys: pytest.CaptureFixture[str]
) -> None:
    _, axes = good()
    for given in (axes, np.array([[axes]]), axes.lines[0], list(axes.lines), plt):
        assert FINE in said(cluster, given, capsys), given


@pytest.mark.parametrize("given", [None, ..., [], 3, "rates.png", plt])
def test_where_there_is_no_plot_a_sentence_says_so_and_nothing_is_kept(
    given: Any, cluster: Nodeless, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "There is no plot yet." in said(cluster, given, capsys)
    assert not cluster.records.exists()


def test_empty_axes_and_a_picture_of_ours_are_no_plot(
    cluster: Nodeless, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "nothing is drawn in them" in said(cluster, plt.subplots()[1], capsys)
    assert "There is no plot yet" in said(cluster, plt.figure(), capsys)
    ours = figures.bars({"a": 1.0}, title="t", value_title="times")
    for given in (ours, ours.drawing, ours.drawing.axes[0]):
        assert "Draw one of your own" in said(cluster, given, capsys)
    assert not cluster.records.exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda axes: axes.set(xlabel=""), "The x axis has no label: it shows the size in bytes."),
        (lambda axes: axes.set(ylabel="rate"), "The label of the y axis, 'rate', has no unit: Mbit/s."),
        (lambda axes: axes.set(xscale="linear"), "The x axis is linear, from 1 to 1,048,576"),
        (lambda axes: axes.get_legend().remove(), "no legend says which is which"),
        (lambda axes: axes.lines[1].remove(), "1 line drawn; 2 belong in it."),
        (lambda axes: [line.set_data(SIZES[:3], RATES[:3]) for line in axes.lines], "A line has 3 points, and needs"),
    ],
    ids=["no label", "no unit", "linear", "no legend", "no second line", "few points"],
)  # fmt: skip
def test_what_is_missing_is_named_in_words_and_the_plot_is_kept(
    change: Callable[[Any], object],
    says: str,
    cluster: Nodeless,
    capsys: pytest.CaptureFixture[str],
) -> None:
    figure, axes = good()
    change(axes)
    text = said(cluster, figure, capsys)
    assert says in text
    assert FINE not in text
    assert kept(cluster).points


def test_lines_that_are_to_have_intervals_have_bars_or_a_band(
    cluster: Nodeless, capsys: pytest.CaptureFixture[str]
) -> None:
    wants = replace(WANTS, intervals=2)
    figure, axes = good()
    assert "0 lines drawn with intervals; 2 have some" in said(cluster, figure, capsys, wants)
    ends = [[1.0] * len(SIZES)] * 2
    axes.errorbar(SIZES, RATES, yerr=ends, label="once more")
    assert "1 line drawn with intervals" in said(cluster, figure, capsys, wants)
    axes.fill_between(SIZES, RATES, [rate + 1 for rate in RATES])
    assert FINE in said(cluster, figure, capsys, wants)


@pytest.mark.parametrize(
    ("label", "unit", "there"),
    [
        ("size / B", "bytes", True),
        ("size", "bytes", False),
        ("time (us)", "µs", True),
        (r"time ($\mu$s)", "µs", True),
        ("time (μs)", "µs", True),
        ("rate, Mbit / s", "Mbit/s", True),
        ("steps", "s", False),
        ("share, per cent", "%", True),
        ("wire (bytes a packet)", "bytes a packet", True),
        ("size [KiB]", "bytes", True),
        ("log2(size in bytes)", "bytes", True),
        ("time (ms)", "µs", True),
        ("rate (MB/s)", "Mbit/s", True),
        ("rate (Mbit)", "Mbit/s", False),
    ],
)
def test_a_unit_is_known_in_its_usual_spellings(label: str, unit: str, there: bool) -> None:
    assert plot_reading.has_unit(label, unit) is there


def test_error_bars_marks_and_bars_are_lines_and_guides_are_none() -> None:
    _, axes = plt.subplots()
    axes.errorbar([1, 2, 3], [4.0, 5.0, 6.0], yerr=[1, 1, 1], capsize=3, label="with intervals")
    axes.scatter([1, 2], [3.0, np.nan], label="marks")
    axes.bar(["a", "b"], [7.0, 8.0], label="bars")
    axes.axhline(94, label="the link")
    axes.axvline(2)
    axes.fill_between([1, 2], [0, 0], [1, 1])
    axes.plot([], [])
    lines = own_plot.held(axes)["lines"]
    assert [(each["kind"], each["label"], each["points"]) for each in lines] == [
        ("bars", "bars", 2),
        ("errorbar", "with intervals", 3),
        ("scatter", "marks", 1),
    ]
    assert [each["y"] for each in lines] == [[7, 8], [4, 5, 6], [3]]


def test_of_very_many_points_some_from_all_over_are_kept() -> None:
    _, axes = plt.subplots()
    axes.plot(range(10_000), range(10_000))
    [line] = own_plot.held(axes)["lines"]
    assert (line["points"], len(line["x"])) == (10_000, own_plot.MOST_POINTS)
    assert (line["x"][0], line["x"][-1]) == (0, 9999)


def test_of_several_axes_the_best_ones_count(
    cluster: Nodeless, capsys: pytest.CaptureFixture[str]
) -> None:
    figure, (first, second) = plt.subplots(1, 2)
    first.plot([1, 2], [3, 4])
    for number in (1, 2):
        second.plot(SIZES, [number * rate for rate in RATES], label=f"{number} nodes")
    second.set(xscale="log", xlabel="size (bytes)", ylabel="rate (Mbit/s)")
    figure.legend()
    assert FINE in said(cluster, figure, capsys)
    assert len(kept(cluster).points) == 2


def test_the_same_plot_is_kept_once_and_another_one_beside_it(
    cluster: Nodeless, capsys: pytest.CaptureFixture[str]
) -> None:
    figure, axes = good()
    said(cluster, figure, capsys)
    said(cluster, figure, capsys)
    assert len(list(cluster.records.glob("F4-rates-*.json"))) == 1
    axes.set_title("Better")
    said(cluster, figure, capsys)
    assert len(list(cluster.records.glob("F4-rates-*.json"))) == 2
    assert kept(cluster).points[0].facts["title"] == "Better"


def test_a_picture_of_much_is_kept_less_sharp_or_not_at_all(
    cluster: Nodeless,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figure, axes = good()
    draw = np.random.default_rng(1)
    axes.imshow(draw.random((400, 400, 3)), extent=(1, 10, 0, 90), aspect="auto")
    said(cluster, figure, capsys)
    picture = cluster.records / "rates.png"
    assert picture.stat().st_size <= own_plot.LARGEST_PICTURE_BYTES
    picture.unlink()
    monkeypatch.setattr(own_plot, "LARGEST_PICTURE_BYTES", 100)
    assert "too large to be kept as rates.png" in said(cluster, figure, capsys)
    assert not picture.exists()


def test_a_name_that_is_none_and_a_lab_that_nobody_can_tell_are_refused(tmp_path: Path) -> None:
    figure, _ = good()
    elsewhere = Nodeless(tmp_path / "records")
    with pytest.raises(UsageError, match="A plot's name is a word of letters"):
        own_plot.keep(elsewhere, figure, "my rates", WANTS)
    with pytest.raises(UsageError, match="Which lab is the plot rates of"):
        own_plot.keep(elsewhere, figure, "rates", WANTS)
    own_plot.keep(elsewhere, figure, "rates", WANTS, lab="04")
    assert kept(elsewhere).study == "F4"
    assert paths.lab_of(tmp_path) == ""
