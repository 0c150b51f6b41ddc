"""The pictures that only a class report has: shares of a class, values beside the class."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.ticker import MaxNLocator

from autograder.results.outliers import Compared
from beowulf.figures import bars
from beowulf.figures.look import (
    COLOURS,
    HATCHES,
    MARKERS,
    Figure,
    long_scale,
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


def counts(
    values: Mapping[str, int], *, title: str, value_title: str, name_title: str = ""
) -> Figure:
    """A bar for each name: how many; there are no halves on its axis."""
    numbers = {name: float(number) for name, number in values.items()}
    figure = bars(numbers, title=title, value_title=value_title, name_title=name_title)
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
    in_step = {f"{step * n:g} to {step * (n + 1):g}": places[n] for n in range(steps)}
    return counts(in_step, title=title, value_title="learners", name_title=value_title)


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
        looks = {
            False: ("the class", MARKERS[0], 6, COLOURS[0], 0.55),
            True: ("far from the class", MARKERS[2], 8, COLOURS[1], 1.0),
        }
        for odd, (name, marker, size, colour, alpha) in looks.items():
            here = [
                (e, down) for down, line in enumerate(shown) for e in lines[line] if e.odd is odd
            ]
            places = [(_drawn_at(each.times), down) for each, down in here]
            axes.plot(
                [x for x, _ in places],
                [y for _, y in places],
                linestyle="none",
                marker=marker,
                markersize=size,
                color=colour,
                alpha=alpha,
                label=name,
            )
            for (each, _), place in zip(here if odd else (), places, strict=False):
                student = label(each.student)
                axes.annotate(student, place, (6, 5), textcoords="offset points", fontsize=9)
        axes.axvline(1.0, color="#666666", linewidth=1)
        long_scale(axes)
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
