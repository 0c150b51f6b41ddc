"""The axis of sizes: its ticks are where something was measured, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from beowulf.figures.look import number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of the height of its letters, in matplotlib's own font.
DIGIT, COMMA = 0.64, 0.32
BETWEEN = 0.7  # is left free between two numbers
BINARY = (("MiB", 1 << 20), ("KiB", 1 << 10))
DECIMAL = (("MB", 1_000_000), ("kB", 1000))
LONG = 10_000  # from that size on a number of bytes needs a larger unit


def size_ticks(axes: Axes, sizes: Iterable[float], *, log: bool, in_bytes: bool = False) -> None:
    """Ticks at the sizes that were measured, with as many of their numbers as have room side by side.

    The axis is in powers of two with `log`; where there is a 0 then, it is one step before the 1. A number of bytes
    has a unit below it where there are long ones: KiB and MiB where most sizes are powers of two, else kB and MB.
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
    units = (BINARY if _of_powers(known) else DECIMAL) if in_bytes and known[-1] >= LONG else ()
    texts = {size: _text(size, units) for size in known}
    said = _with_numbers(known, places, texts)
    axes.set_xticks(said, [texts[size] for size in said])
    axes.set_xticks([size for size in known if size not in said], minor=True)
    axes.xaxis.set_minor_formatter(NullFormatter())


def _text(size: float, units: Sequence[tuple[str, int]]) -> str:
    """A size as its tick says it, in the largest of these units of which it is a whole number."""
    for unit, one in units:
        if size and size % one == 0:
            return f"{number_text(size / one)}\n{unit}"
    return number_text(size)


def _with_numbers(
    known: Sequence[float], places: dict[float, float], texts: dict[float, str]
) -> list[float]:
    """The sizes whose numbers are written: the roundest, as long as all that are as round have room."""

    def fit(sizes: Sequence[float]) -> bool:
        return all(
            places[b] - places[a] >= (_width(texts[a]) + _width(texts[b])) / 2 + BETWEEN
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


def _width(text: str) -> float:
    """Of the longest line of a text."""

    def of(line: str) -> float:
        narrow = sum(letter in ",." for letter in line)
        return COMMA * narrow + DIGIT * (len(line) - narrow)

    return max(map(of, text.splitlines()))


def _ranks(known: Sequence[float]) -> list[int]:
    """How round each size is, 0 for the roundest: as a power of two where most are, else in decimals."""
    if _of_powers(known):
        return [_rank_of_power(size) for size in known]
    return [_rank_of_decimal(size) for size in known]


def _of_powers(known: Sequence[float]) -> bool:
    """Whether most sizes are powers of two."""
    powers = [size for size in known if size > 0 and _power(size) is not None]
    return 2 * len(powers) >= len(known)


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
