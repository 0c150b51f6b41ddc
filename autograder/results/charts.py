"""The pictures that only a class report has: shares of a class, and how many have how much."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.ticker import MaxNLocator

from beowulf.figures import bars
from beowulf.figures.look import COLOURS, HATCHES, Figure, paper, style, titles

STEPS = 12  # of a histogram, at most


def shares(
    counts: Mapping[str, Mapping[str, int]],
    kinds: Mapping[str, int],
    *,
    title: str,
    value_title: str,
) -> Figure:
    """For each name a bar of how many of each kind, one after the other; `kinds` has the place of each in COLOURS."""
    table = pd.DataFrame(
        [(name, *(each.get(kind, 0) for kind in kinds)) for name, each in counts.items()],
        columns=["name", *kinds],
    )
    with style():
        drawing, axes = paper(height=1.6 + 0.38 * len(counts))
        used = [kind for kind in kinds if table[kind].any()]
        start = pd.Series(0, table.index)
        for place, kind in enumerate(used):
            drawn = axes.barh(
                table.index,
                table[kind],
                left=start,
                color=COLOURS[kinds[kind]],
                hatch=HATCHES[place],
                edgecolor="white",
                label=kind,
            )
            numbers = [str(number or "") for number in table[kind]]
            for text in axes.bar_label(drawn, numbers, label_type="center", fontsize=9):
                if text.get_text():
                    box = "round,pad=0.15"
                    text.set_bbox({"boxstyle": box, "facecolor": "white", "edgecolor": "none"})
            start += table[kind]
        axes.set_yticks(table.index, table["name"])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        titles(axes, title, value_title, "")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    counts_text = "; ".join(
        f"{name}: " + ", ".join(f"{number} {kind}" for kind, number in each.items() if number)
        for name, each in counts.items()
    )
    return Figure(drawing, title, f"Bars of {value_title}. {title}. {counts_text}.", table)


def histogram(values: Sequence[float], most: float, *, title: str, value_title: str) -> Figure:
    """How many of the class are in each step between 0 and `most`; a step is a round number."""
    step = _round_step(most)
    steps = max(1, math.ceil(most / step))
    places = Counter(min(int(max(value, 0.0) / step), steps - 1) for value in values)
    in_step = {f"{step * n:g} to {step * (n + 1):g}": float(places[n]) for n in range(steps)}
    figure = bars(in_step, title=title, value_title="learners", name_title=value_title)
    figure.drawing.axes[0].xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def _round_step(most: float) -> float:
    least = most / STEPS if most > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(round_one * power for round_one in (1, 2, 5, 10) if round_one * power >= least)
