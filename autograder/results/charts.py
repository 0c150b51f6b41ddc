"""The pictures that only a class report has: shares of a class, values beside the class."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pandas as pd
from matplotlib.ticker import MaxNLocator

from autograder.results.outliers import Compared
from beowulf.figures import bars
from beowulf.figures.look import (
    COLOURS,
    HATCHES,
    MARKERS,
    Figure,
    number_text,
    paper,
    style,
    titled,
    titles,
)

LONGEST_LABEL = 46
MOST_LINES = 24  # of values beside the class, those with the farthest first
STEPS = 12  # of a histogram, at most
FARTHEST = 1000.0  # times the class' middle that is drawn; the table has the value itself


def label(text: str) -> str:
    """A learner's text as a label: one line, short, without what would begin a formula."""
    plain = " ".join(text.replace("$", "").split())
    return plain if len(plain) <= LONGEST_LABEL else plain[: LONGEST_LABEL - 1] + "…"


def counts(values: Mapping[str, int], *, title: str, value_title: str) -> Figure:
    """A bar for each name: how many; there are no halves on its axis."""
    numbers = {name: float(number) for name, number in values.items()}
    figure = bars(numbers, title=title, value_title=value_title)
    figure.drawing.axes[0].xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def shares(
    counts: Mapping[str, Mapping[str, int]],
    kinds: Mapping[str, int],
    *,
    title: str,
    value_title: str,
) -> Figure:
    """For each name a bar of how many of each kind, one after the other; `kinds` has the place of each in COLOURS."""
    names = list(counts)
    rows = [{"name": name, **{kind: counts[name].get(kind, 0) for kind in kinds}} for name in names]
    with style():
        drawing, axes = paper(height=1.6 + 0.38 * len(names))
        start = [0] * len(names)
        for place, (kind, colour) in enumerate(kinds.items()):
            lengths = [counts[name].get(kind, 0) for name in names]
            if not any(lengths):
                continue
            drawn = axes.barh(
                range(len(names)),
                lengths,
                left=start,
                color=COLOURS[colour],
                hatch=HATCHES[place % len(HATCHES)],
                edgecolor="white",
                label=kind,
            )
            box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
            numbers = [str(length) if length else "" for length in lengths]
            for text in axes.bar_label(drawn, numbers, label_type="center", fontsize=9):
                if text.get_text():
                    text.set_bbox(dict(box))
            start = [begin + length for begin, length in zip(start, lengths, strict=True)]
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        titles(axes, title, value_title, "")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    counts_text = "; ".join(
        f"{name}: " + ", ".join(f"{number} {kind}" for kind, number in each.items() if number)
        for name, each in counts.items()
    )
    return Figure(
        drawing, title, f"Bars of {value_title}. {title}. {counts_text}.", pd.DataFrame(rows)
    )


def histogram(values: Sequence[float], most: float, *, title: str, value_title: str) -> Figure:
    """How many of the class are in each step between 0 and `most`; a step is a round number."""
    step = _round_step(most)
    bins = max(1, math.ceil(most / step))
    counted = [0] * bins
    for value in values:
        counted[min(int(max(value, 0.0) / step), bins - 1)] += 1
    edges = [step * place for place in range(bins + 1)]
    names = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    with style():
        drawing, axes = paper(height=3.2)
        middles = [(low + high) / 2 for low, high in pairwise(edges)]
        drawn = axes.bar(middles, counted, width=0.94 * step, color=COLOURS[0])
        axes.bar_label(drawn, [str(number) if number else "" for number in counted], padding=2)
        axes.set_xticks(edges, [f"{edge:g}" for edge in edges])
        axes.grid(axis="x", visible=False)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.margins(y=0.15)
        titles(axes, title, value_title, "learners")
    steps = ", ".join(
        f"{number} from {name}" for name, number in zip(names, counted, strict=True) if number
    )
    table = pd.DataFrame({value_title: names, "learners": counted})
    alt = f"Bars of learners over {value_title}. {title}. {steps or 'Nobody'}."
    return Figure(drawing, title, alt, table)


def _round_step(most: float) -> float:
    least = most / STEPS if most > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(round_one * power for round_one in (1, 2, 5, 10) if round_one * power >= least)


def beside_the_class(values: Sequence[Compared], *, title: str) -> Figure:
    """A line for each quantity, a mark for each learner: how many times the class' middle; the far ones are named."""
    lines: dict[tuple[str, str], list[Compared]] = defaultdict(list)
    for each in values:
        lines[each.study, each.quantity].append(each)
    order = sorted(lines, key=lambda line: (-sum(each.odd for each in lines[line]), line))
    shown = order[:MOST_LINES]
    with style():
        drawing, axes = paper(width=8.4, height=1.8 + 0.4 * len(shown))
        for down, line in enumerate(shown):
            for odd in (False, True):
                here = [each for each in lines[line] if each.odd is odd]
                axes.plot(
                    [_drawn_at(each.times) for each in here],
                    [down] * len(here),
                    linestyle="none",
                    marker=MARKERS[2] if odd else MARKERS[0],
                    markersize=8 if odd else 6,
                    color=COLOURS[1] if odd else COLOURS[0],
                    alpha=1.0 if odd else 0.55,
                    label=("far from the class" if odd else "the class") if not down else None,
                )
                for each in here if odd else ():
                    axes.annotate(
                        label(each.student),
                        (_drawn_at(each.times), down),
                        (6, 5),
                        textcoords="offset points",
                        fontsize=9,
                    )
        axes.axvline(1.0, color="#666666", linewidth=1)
        axes.set_xscale("log")
        ticks = _ticks([_drawn_at(each.times) for line in shown for each in lines[line]])
        axes.set_xticks(ticks, [number_text(tick) for tick in ticks])
        axes.minorticks_off()
        names = [label(f"{study}: {titled(quantity)}") for study, quantity in shown]
        axes.set_yticks(range(len(shown)), names)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        titles(axes, title, "times the class' middle", "")
    far = [
        f"{each.student} {each.times:.3g} times in {each.quantity} of {each.study}"
        for each in values
        if each.odd
    ]
    far_text = (
        "Far from the class: " + "; ".join(far) + "."
        if far
        else "No learner is far from the class."
    )
    table = pd.DataFrame(
        [vars(each) | {"times": float(f"{each.times:.4g}")} for each in values],
        columns=list(Compared.__dataclass_fields__),
    )
    return Figure(
        drawing,
        title,
        f"A mark for each learner in each of {len(shown)} quantities. {title}. {far_text}",
        table,
    )


def _drawn_at(times: float) -> float:
    """Where a value is drawn: what is beyond all measure is at the edge, so that the others stay apart."""
    return min(max(times, 1 / FARTHEST), FARTHEST)


def _ticks(values: Sequence[float]) -> list[float]:
    every = [step * 10.0**power for power in range(-6, 7) for step in (1, 2, 5)]
    low, high = min([*values, 0.5]), max([*values, 2.0])
    ticks = [tick for tick in every if low / 1.5 <= tick <= high * 1.5]
    return ticks if len(ticks) <= 12 else [tick for tick in ticks if f"{tick:e}".startswith("1.")]
