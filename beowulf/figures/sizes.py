"""The axis of sizes: its ticks are where something was measured, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from beowulf.figures.look import number_text, number_tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of the height of its letters, in matplotlib's own font.
DIGIT, COMMA = 0.64, 0.32
BETWEEN = 0.7  # is left free between two numbers


def size_ticks(axes: Axes, sizes: Iterable[float], *, log: bool) -> None:
    """Ticks at the sizes that were measured, with as many of their numbers as have room side by side.

    The axis is in powers of two with `log`; where there is a 0 then, it is one step before the 1.
    """
    from matplotlib import rcParams
    from matplotlib.ticker import NullFormatter

    known = sorted({float(size) for size in sizes})
    if not known:
        return
    if log and known[0] > 0:
        axes.set_xscale("log", base=2)
    elif log:
        axes.set_xscale("symlog", base=2, linthresh=1)
    axes.autoscale_view()  # what is drawn so far decides where the sizes are
    # In the height of letters. The layout leaves the axes rather more than what they have before it.
    dots = axes.transData.transform([(size, 1.0) for size in known])[:, 0]
    letter = float(rcParams["font.size"]) * float(rcParams["figure.dpi"]) / 72
    places = dict(zip(known, (float(dot) / letter for dot in dots), strict=True))
    said = _with_numbers(known, places)
    axes.set_xticks(said)
    axes.set_xticks([size for size in known if size not in said], minor=True)
    axes.xaxis.set_major_formatter(number_tick)
    axes.xaxis.set_minor_formatter(NullFormatter())


def _with_numbers(known: Sequence[float], places: dict[float, float]) -> list[float]:
    """The sizes whose numbers are written: the roundest, as long as all that are as round have room."""

    def fit(sizes: Sequence[float]) -> bool:
        return all(
            places[b] - places[a] >= (_width(a) + _width(b)) / 2 + BETWEEN
            for a, b in pairwise(sizes)
        )

    ranks = dict(zip(known, _ranks(known), strict=True))
    chosen: list[float] = []
    for rank in sorted(set(ranks.values())):
        more = sorted([*chosen, *(size for size in known if ranks[size] == rank)])
        if not fit(more):
            break
        chosen = more
    # Then those that are as far from the chosen ones as these do from each other.
    least = min((places[b] - places[a] for a, b in pairwise(chosen)), default=0.0)
    for size in (known[-1], known[0], *known):
        far = all(abs(places[size] - places[other]) >= least for other in chosen)
        if size not in chosen and far and fit(sorted([*chosen, size])):
            chosen = sorted([*chosen, size])
    return chosen


def _width(size: float) -> float:
    text = number_text(size)
    narrow = sum(letter in ",." for letter in text)
    return COMMA * narrow + DIGIT * (len(text) - narrow)


def _ranks(known: Sequence[float]) -> list[int]:
    """How round each size is, 0 for the roundest: as a power of two where most are, else in decimals."""
    powers = [size for size in known if size > 0 and _power(size) is not None]
    if 2 * len(powers) >= len(known):
        return [_rank_of_power(size) for size in known]
    return [_rank_of_decimal(size) for size in known]


def _power(size: float) -> int | None:
    """The n of 2 to the nth; None for what is no such power."""
    number = int(size)
    return number.bit_length() - 1 if number == size and number.bit_count() == 1 else None


def _rank_of_power(size: float) -> int:
    """1, 2 to the 32nd and what else is a power of 65,536 first, then powers of 256, of 16, of 4 and of 2."""
    power = 0 if size == 0 else _power(size)
    if power is None:
        return 5
    return next((rank for rank, step in enumerate((16, 8, 4, 2)) if power % step == 0), 4)


def _rank_of_decimal(size: float) -> int:
    """10, 100 and so on first, then 50 and 500, 20 and 200, then by how many digits are not 0."""
    digits = f"{size:.10g}".replace(".", "").strip("0")
    return {"": 0, "1": 0, "5": 1, "2": 2}.get(digits, 2 + len(digits))
