"""A sealed prediction in a picture, beside what was measured and what a paper has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from beowulf.figures.look import COLOURS, DASHES, Figure, number_text

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
    picture: Axes | Figure,
    prediction: Ranged | None,
    *,
    along: Literal["x", "y"] = "y",
    measured: float | None = None,
    paper: float | None = None,
) -> None:
    """Draw a prediction as a hatched band with a line in it, and lines at what was measured and at the paper's figure.

    `along` is the axis that has the predicted quantity. It goes into the axes, or into the first ones of one of our
    figures; where nothing was sealed (None), there is no band.
    """
    axes = picture.drawing.axes[0] if isinstance(picture, Figure) else picture
    span, line = (axes.axhspan, axes.axhline) if along == "y" else (axes.axvspan, axes.axvline)
    said, places = [], []
    if prediction is not None:
        colour = COLOURS[4]
        low, value, high = prediction.low, prediction.value, prediction.high
        span(low, high, facecolor=(colour, 0.15), edgecolor=(colour, 0.6), hatch="//", zorder=0.5)
        line(value, color=colour, linewidth=1.8, label="your prediction")
        texts = tuple(map(number_text, (value, low, high)))
        said.append("Your prediction: {} ({} to {}).".format(*texts))
        places.append(value)
    for number, (name, at) in enumerate({"measured": measured, "paper": paper}.items(), 1):
        if at is not None:
            line(at, color="black", linewidth=1.4, linestyle=DASHES[number], label=name)
            said.append(f"{name.capitalize()}: {number_text(at)}.")
            places.append(at)
    if said:
        axes.legend(loc="best")
        _make_room(axes, along, places)
    if isinstance(picture, Figure):
        picture.alt = " ".join([picture.alt, *said])


def _make_room(axes: Axes, along: str, places: list[float]) -> None:
    """Let the axis reach as far as these places; a range may be far wider than what is measured, and is cut."""
    get, put = (axes.get_ylim, axes.set_ylim) if along == "y" else (axes.get_xlim, axes.set_xlim)
    low, high = get()
    top = max(places)
    if low <= min(places) and top <= high:
        return
    put(min(low, *places), max(high, 1.05 * top if top > 0 else top))
