"""Dots and curves of a class as SVG: in the colours of the page around it, light or dark, and cheap to draw again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from beowulf.figures import number_text

WIDTH, SIDE, LINE, STEP = 960, 90, 9, 12
HIGHEST = 160  # of a pile
FAR_APART = 30.0  # values that are so many times apart are on a logarithmic axis
MOST_TICKS = 7
CURVES_HIGH = 320


class Axis:
    """Where values are between two ends of a drawing, and which numbers to write there."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        low, high = min(values), max(values)
        self.log = low > 0 and high >= FAR_APART * low
        room = 0.04 * (self._scaled(high) - self._scaled(low)) or 0.05 * abs(low) or 1.0
        self.low, self.high = self._scaled(low) - room, self._scaled(high) + room
        self.start, self.end = start, end

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def __call__(self, value: float) -> float:
        """Where a value is."""
        share = (self._scaled(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Round numbers within the axis."""
        if self.log:
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            steps = (1, 2, 5) if len(powers) <= 4 else (1,)
            every = [step * 10.0**power for power in powers for step in steps]
        else:
            rough = (self.high - self.low) / MOST_TICKS
            power = 10.0 ** math.floor(math.log10(rough))
            step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            every = [round(n * step, 12) for n in range(first, last + 1)]
        return [each for each in every if self.low <= self._scaled(each) <= self.high]


def ranges(
    guesses: Sequence[tuple[float, float, float]], measured: Sequence[float], alt: str
) -> str:
    """A dot with its range for each guess (value, low, high), the lowest first; below them a diamond a result."""
    axis = Axis([*(each for guess in guesses for each in guess), *measured], SIDE, WIDTH - SIDE)
    drawn = []
    for place, (value, low, high) in enumerate(sorted(guesses)):
        y = LINE * (place + 1)
        drawn.append(
            f'<path class="range" d="M{axis(low)} {y}H{axis(high)}"/>{_dot(axis(value), y)}'
        )
    height: float = LINE * (len(guesses) + 2)
    if measured:
        marks, height = _heap(axis, measured, height, "result")
        drawn.append(marks)
    return _svg(axis, height, "".join(drawn), alt)


def heap(values: Sequence[float], paper: float | None, alt: str) -> str:
    """A dot for each value, and a line where the paper's is."""
    axis = Axis([*values, *([] if paper is None else [paper])], SIDE, WIDTH - SIDE)
    drawn, height = _heap(axis, values, LINE, "dot")
    if paper is not None:
        drawn = f'<path class="paper" d="M{axis(paper)} 0V{height}"/>{drawn}'
    return _svg(axis, height, drawn, alt)


def curves(lines: Sequence[Mapping[float, float]], x_title: str, alt: str) -> str:
    """A thin line for each curve."""
    x = Axis([each for line in lines for each in line], SIDE, WIDTH - SIDE)
    y = Axis([each for line in lines for each in line.values()], CURVES_HIGH, 0)
    drawn = [
        f'<path class="grid" d="M{SIDE} {y(tick)}H{WIDTH - SIDE}"/>'
        f'<text x="{SIDE - 8}" y="{y(tick) + 6}" text-anchor="end">{number_text(tick)}</text>'
        for tick in y.ticks()
    ]
    for line in lines:
        points = " ".join(f"{x(size)},{y(value)}" for size, value in sorted(line.items()))
        drawn.append(f'<polyline class="curve" points="{points}"/>')
    return _svg(x, CURVES_HIGH, "".join(drawn), alt, x_title)


def _heap(axis: Axis, values: Sequence[float], top: float, kind: str) -> tuple[str, float]:
    """Marks at their values, those at one place below each other; and where they end."""
    places = sorted(map(axis, values))
    high = max(Counter(x // STEP for x in places).values())
    step = min(STEP, HIGHEST / high)
    marks: list[str] = []
    piles: Counter[float] = Counter()
    for x in places:
        y = round(top + step * piles[x // STEP], 1)
        piles[x // STEP] += 1
        diamond = f'<path class="result" d="M{x} {y - 7}l7 7l-7 7l-7 -7z"/>'
        marks.append(diamond if kind == "result" else _dot(x, y))
    return "".join(marks), round(top + step * high)


def _dot(x: float, y: float) -> str:
    return f'<circle class="dot" cx="{x}" cy="{y}" r="5"/>'


def _svg(axis: Axis, height: float, drawn: str, alt: str, x_title: str = "") -> str:
    ticks = "".join(
        f'<path class="grid" d="M{axis(tick)} 0V{height}"/>'
        f'<text x="{axis(tick)}" y="{height + 24}" text-anchor="middle">{number_text(tick)}</text>'
        for tick in axis.ticks()
    )
    if x_title:
        middle = WIDTH / 2
        ticks += (
            f'<text x="{middle}" y="{height + 48}" text-anchor="middle">{escape(x_title)}</text>'
        )
    box = f'viewBox="0 -10 {WIDTH} {height + 20 + 24 * (2 if x_title else 1)}"'
    return f'<svg {box} role="img" aria-label="{escape(alt, quote=True)}">{ticks}{drawn}</svg>'
