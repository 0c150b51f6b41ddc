"""Plots of the gold Records in many styles, drawn by matplotlib as learners do: right ones, and plausible mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter

from beowulf.exercises import own_plot
from beowulf.record import Point, Record
from tests.gold import lab_04, lab_05, lab_06, lab_07, lab_09

# What a plot should show: by the name of each line, y by x.
Lines = Mapping[str, Mapping[float, float]]
# The gold plot of each question, and its lab.
PLOTS = {
    "times-plot": (lab_04, lab_04.times_plot),
    "rates-plot": (lab_04, lab_04.rates_plot),
    "gain-plot": (lab_05, lab_05.gain_plot),
    "length-plot": (lab_06, lab_06.length_plot),
    "cost-plot": (lab_06, lab_06.cost_plot),
    "quantile-plot": (lab_07, lab_07.quantiles),
    "scaling-plot": (lab_09, lab_09.scaling_plot),
}


@dataclass(frozen=True)
class Drawn:
    """A style: the question, how it is drawn, which share of the points it gets, and a part of what is said."""

    question: str
    draw: Callable[[Lines], Any]
    share: float = 1.0
    says: str = ""

    def record(self) -> Record:
        """The plot as a Record keeps it."""
        _, made = PLOTS[self.question]
        gold = made()
        lines = {
            each["label"]: dict(zip(each["x"], each["y"], strict=True))
            for each in gold.points[0].facts["lines"]
        }
        figure = self.draw(lines)
        gold.points = [
            Point({"axes": n}, facts=own_plot.held(a)) for n, a in enumerate(figure.axes)
        ]
        plt.close(figure)
        return gold


def usual(lines: Lines, **axes: Any) -> Any:
    """One pair of axes with every line and a legend."""
    figure, one = plt.subplots()
    for name, line in lines.items():
        one.plot([*line], [*line.values()], "o-", label=name)
    one.set(**axes)
    one.legend()
    return figure


def scaled(lines: Lines, x: float = 1.0, y: float = 1.0) -> Lines:
    """The same numbers in other units."""
    return {name: {x * a: y * b for a, b in line.items()} for name, line in lines.items()}


def by_hand(lines: Lines) -> Any:
    with np.errstate(invalid="ignore"):  # one of the fits begins below zero
        taken = {
            name: {float(np.log2(a)): float(np.log10(b)) for a, b in line.items()}
            for name, line in lines.items()
        }
    return usual(taken, xlabel="log2(size in bytes)", ylabel="log10(time in µs)")


def named_places(lines: Lines) -> Any:
    """Evenly spaced places, whose ticks say the sizes."""
    figure, axes = plt.subplots()
    for name, line in lines.items():
        axes.semilogy(range(len(line)), [*line.values()], label=name)
    sizes = [*next(iter(lines.values()))]
    texts = [f"{n / 1024:g} KiB" if n >= 1024 else f"{n:g} B" for n in sizes]
    axes.set_xticks(range(len(sizes)), labels=texts, rotation=45)
    axes.set(xlabel="message size", ylabel="half round trip in microseconds")
    axes.legend()
    return figure


def by_pandas(lines: Lines) -> Any:
    axes = pd.DataFrame(lines).rename_axis("size [B]").plot(loglog=True, ylabel="t [us]")
    return axes.figure


def two_panels(lines: Lines) -> Any:
    figure, both = plt.subplots(1, 2, sharey=True)
    for axes, names in zip(both, (("mine", "C"), ("plain", "weighted")), strict=True):
        for name in names:
            axes.loglog([*lines[name]], [*lines[name].values()], label=name)
        axes.legend()
    figure.supxlabel("size / bytes")
    both[0].set_ylabel("half round trip / µs")
    return figure


def named_beside(lines: Lines) -> Any:
    """Names at the ends of the lines, and MB/s."""
    figure, axes = plt.subplots()
    for name, line in scaled(lines, y=1 / 8).items():
        axes.semilogx([*line], [*line.values()])
        axes.annotate(name, ([*line][-1], [*line.values()][-1]))
    axes.set(xlabel="size (bytes)", ylabel="rate (MB/s)")
    return figure


def a_panel_each(lines: Lines) -> Any:
    figure, several = plt.subplots(len(lines), 1, sharex=True)
    for axes, (name, line) in zip(several, lines.items(), strict=True):
        axes.scatter([*line], [*line.values()])
        axes.set(title=name, xscale="log", ylabel=several[0].get_ylabel() or "in %")
    several[-1].set_xlabel("size in bytes")
    return figure


def steps_in_gbit(lines: Lines) -> Any:
    figure, axes = plt.subplots()
    for name, line in scaled(lines, x=1 / 1024, y=1e-3).items():
        axes.step([*line], [*line.values()], where="mid", label=name)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set(xlabel="message size (KiB)", ylabel="sum of all rates (Gbit/s)")
    figure.legend(loc="upper right")
    return figure


def grouped_bars(lines: Lines) -> Any:
    table = pd.DataFrame(lines)
    table.index = [f"{size:,.0f}" for size in table.index]
    return table.plot.bar(xlabel="bytes of a ghost row", ylabel="improvement in per cent").figure


def lying_bars(lines: Lines) -> Any:
    figure, axes = plt.subplots()
    (line,) = lines.values()
    axes.barh([f"{length:g}" for length in line], [*line.values()], log=True)
    axes.set(ylabel="length of a packet (bytes)", xlabel="packets")
    return figure


def standing_bars(lines: Lines) -> Any:
    figure, axes = plt.subplots()
    (line,) = lines.values()
    axes.bar([*line], [*line.values()], width=20)
    axes.set(xlabel="frame length [bytes]", ylabel="how often", yscale="log")
    return figure


def time_along(lines: Lines) -> Any:
    """As a distribution is usually drawn: the share over the time."""
    figure, axes = plt.subplots()
    for name, line in lines.items():
        axes.plot([*line.values()], [*line], drawstyle="steps-post", label=name)
    axes.set(xlabel="half round trip in µs", ylabel="messages that have arrived (%)", xscale="log")
    axes.legend()
    return figure


def both_logs(lines: Lines) -> Any:
    taken = {
        name: {float(np.log2(a)): float(np.log2(b)) for a, b in line.items()}
        for name, line in lines.items()
    }
    return usual(taken, xlabel="log₂ of the number of nodes", ylabel="log₂ of the speed-up")


def logs_unsaid(lines: Lines) -> Any:
    taken = {name: {float(np.log2(a)): b for a, b in line.items()} for name, line in lines.items()}
    return usual(taken, xlabel="size (bytes)", ylabel="time (µs)", yscale="log")


def reversed_sizes(lines: Lines) -> Any:
    """Ticks that name the sizes in the wrong order."""
    figure = named_places(lines)
    axes = figure.axes[0]
    texts = [text.get_text() for text in axes.get_xticklabels()]
    axes.set_xticks(range(len(texts)), labels=texts[::-1])
    return figure


def no_names(lines: Lines) -> Any:
    figure = usual(lines, xscale="log", xlabel="size (bytes)", ylabel="rate (Mbit/s)")
    figure.axes[0].get_legend().remove()
    return figure


def first_of(lines: Lines, count: int) -> Lines:
    return dict([*lines.items()][:count])


LOGLOG = {"xscale": "log", "yscale": "log"}
SIZE_TIME = {**LOGLOG, "xlabel": "size (bytes)", "ylabel": "time (µs)"}
RIGHT = {
    "sizes in KiB, times in ms": Drawn(
        "times-plot",
        lambda lines: usual(
            scaled(lines, 1 / 1024, 1e-3), **LOGLOG, xlabel="size (KiB)", ylabel="time (ms)"
        ),
    ),
    "sizes in kB, times in seconds": Drawn(
        "times-plot",
        lambda lines: usual(
            scaled(lines, 1e-3, 1e-6), **LOGLOG, xlabel="n / kB", ylabel="half a round trip / s"
        ),
    ),
    "logarithms by hand": Drawn("times-plot", by_hand),
    "evenly spaced sizes": Drawn("times-plot", named_places),
    "pandas": Drawn("times-plot", by_pandas),
    "two panels": Drawn("times-plot", two_panels),
    "names beside the lines, MB/s": Drawn("rates-plot", named_beside),
    "steps, Gbit/s": Drawn("rates-plot", steps_in_gbit),
    "grouped bars": Drawn("gain-plot", grouped_bars),
    "a fraction, rows in KiB": Drawn(
        "gain-plot",
        lambda lines: usual(
            scaled(lines, 1 / 1024, 0.01), xlabel="row in KiB", ylabel="improvement (fraction)"
        ),
    ),
    "lying bars": Drawn("length-plot", lying_bars),
    "standing bars": Drawn("length-plot", standing_bars),
    "a panel each": Drawn("cost-plot", a_panel_each),
    "the share over the time": Drawn("quantile-plot", time_along),
    "two logarithms by hand": Drawn("scaling-plot", both_logs),
}
WRONG = {
    "times in µs, called ms": Drawn(
        "times-plot", lambda lines: usual(lines, **SIZE_TIME | {"ylabel": "time (ms)"}), 1.5 / 6
    ),
    "sizes in bytes, called KiB": Drawn(
        "times-plot", lambda lines: usual(lines, **SIZE_TIME | {"xlabel": "size (KiB)"}), 1.5 / 6
    ),
    "whole round trips": Drawn(
        "times-plot", lambda lines: usual(scaled(lines, y=2), **SIZE_TIME), 1.5 / 6
    ),
    "logarithms that are not named": Drawn("times-plot", logs_unsaid, 1 / 6, "linear"),
    "sizes in the wrong order": Drawn("times-plot", reversed_sizes, 1.5 / 6),
    "linear axes": Drawn(
        "times-plot",
        lambda lines: usual(lines, xlabel="size (bytes)", ylabel="time (µs)"),
        5 / 6,
        "linear",
    ),
    "lines without names": Drawn("rates-plot", no_names, 5 / 6, "no legend"),
    "two of three lines": Drawn(
        "rates-plot",
        lambda lines: usual(
            first_of(lines, 2), xscale="log", xlabel="size (bytes)", ylabel="rate (Mbit/s)"
        ),
        4 / 6,
        "2 of 3 lines",
    ),
    "the other sign": Drawn(
        "gain-plot",
        lambda lines: usual(scaled(lines, y=-1), xlabel="row (bytes)", ylabel="change (%)"),
        1.5 / 6,
    ),
    "axes without units": Drawn(
        "cost-plot", lambda lines: usual(lines, xscale="log", xlabel="size", ylabel="share"), 5 / 6
    ),
    "both networks swapped for one": Drawn(
        "scaling-plot",
        lambda lines: usual(
            first_of(lines, 1) | {"again": next(iter(lines.values()))},
            **LOGLOG,
            xlabel="nodes",
            ylabel="speed-up",
        ),
        4.5 / 6,
        "1 of 2 lines",
    ),
}
