"""A sealed prediction in a picture, beside what was measured and what a paper has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from beowulf.figures.look import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Ranged(Protocol):
    """A number that was predicted, with the range around it."""

    @property
    def value(self) -> float:
        """The number."""

    @property
    def low(self) -> float:
        """The lower end of its range."""

    @property
    def high(self) -> float:
        """The upper end."""


def prediction_band(
    axes: Axes, prediction: Ranged | None, *, along: Literal["x", "y"] = "y"
) -> None:
    """Draw a prediction as a hatched band with a line in it; nothing where none was sealed.

    `along` is the axis that has the predicted quantity.
    """
    if prediction is None:
        return
    span, line = (axes.axhspan, axes.axhline) if along == "y" else (axes.axvspan, axes.axvline)
    colour = COLOURS[4]
    low, value, high = prediction.low, prediction.value, prediction.high
    span(low, high, facecolor=(colour, 0.15), edgecolor=(colour, 0.6), hatch="//", zorder=0.5)
    line(value, color=colour, linewidth=1.8, label="your prediction")
    axes.legend(loc="best")
    # The axis reaches as far as the line; a range may be far wider than what is measured, and is cut.
    get, put = (axes.get_ylim, axes.set_ylim) if along == "y" else (axes.get_xlim, axes.set_xlim)
    bottom, top = get()
    if not bottom <= value <= top:
        put(min(bottom, value), max(top, 1.05 * value if value > 0 else value))
