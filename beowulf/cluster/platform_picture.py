"""A picture of a simulated cluster: its nodes, its switches, and the links between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from beowulf.cluster.platform import FAT_TREE, SWITCH, Platform
from beowulf.figures.look import COLOURS, Figure, paper, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWN = 64  # nodes; of more, the first ones
Place = tuple[float, float]


def picture(platform: Platform) -> Figure:
    """The network of a platform; of more than 64 nodes the first ones."""
    import pandas as pd

    drawn = min(platform.nodes, MOST_DRAWN)
    with style():
        drawing, axes = paper(7.2, 3.2)
        if platform.topology == SWITCH:
            said = _switch(axes, drawn)
        elif platform.topology == FAT_TREE:
            said = _tree(axes, platform, drawn)
        else:
            said = _torus(axes, platform, drawn)
        axes.set_axis_off()
        title = f"{platform.nodes:,} nodes, {said}"
        axes.set_title(title)
    alt = f"{title}. Each link carries {platform.rate_mbit:,g} Mbit/s and takes {platform.latency_us:g} µs."
    if platform.backplane_mbit:
        alt += f" All links share {platform.backplane_mbit:,g} Mbit/s."
    if drawn < platform.nodes:
        alt += f" The first {drawn} nodes are drawn."
    facts = {name: str(value) for name, value in platform.as_dict().items() if name != "times_us"}
    return Figure(drawing, title, alt, pd.DataFrame(list(facts.items()), columns=["what", "value"]))


def _join(axes: Axes, one: Place, other: Place) -> None:
    axes.plot(
        *zip(one, other, strict=True),
        color="grey",
        linestyle="-",
        marker="",
        linewidth=0.8,
        zorder=1,
    )


def _nodes(axes: Axes, places: list[Place]) -> None:
    axes.scatter([x for x, _ in places], [y for _, y in places], s=40, color=COLOURS[0], zorder=2)


def _switches(axes: Axes, places: list[Place]) -> None:
    x, y = zip(*places, strict=True)
    axes.scatter(list(x), list(y), s=110, marker="s", color=COLOURS[1], zorder=3)


def _switch(axes: Axes, drawn: int) -> str:
    places = [(float(number), 0.0) for number in range(drawn)]
    middle = ((drawn - 1) / 2, 1.0)
    for place in places:
        _join(axes, place, middle)
    _nodes(axes, places)
    _switches(axes, [middle])
    return "one switch"


def _tree(axes: Axes, platform: Platform, drawn: int) -> str:
    down, up = platform.tree()
    low = math.ceil(platform.nodes / down[0])
    shown = math.ceil(drawn / down[0])
    above = [((drawn - 1) * (each + 0.5) / up[1], 2.0) for each in range(up[1])]
    below = [(down[0] * each + (down[0] - 1) / 2, 1.0) for each in range(shown)]
    for place in below:
        for upper in above:
            _join(axes, place, upper)
    places = [(float(number), 0.0) for number in range(drawn)]
    for number, place in enumerate(places):
        _join(axes, place, below[number // down[0]])
    _nodes(axes, places)
    _switches(axes, [*below, *above])
    return f"a fat tree of {low} lower and {up[1]} upper switches"


def _torus(axes: Axes, platform: Platform, drawn: int) -> str:
    shape = platform.torus()
    wide, high = shape[0], shape[1] if len(shape) > 1 else 1
    places = [
        (float(number % wide + number // (wide * high) * (wide + 1)), float(number // wide % high))
        for number in range(drawn)
    ]
    for number, place in enumerate(places):
        if number % wide:
            _join(axes, places[number - 1], place)
        if number // wide % high:
            _join(axes, places[number - wide], place)
    _nodes(axes, places)
    return f"a torus of {' x '.join(map(str, shape))}, whose ends and planes meet"
