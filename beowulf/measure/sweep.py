"""Which sizes are measured: fixed lists, the papers' own, and the adaptive way of mpptest."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

# Paper A, section IV.A: 0 to 1024 bytes "with the 2n stride".
PAPER_A_SMALL = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
# Paper D, table 5: 10 to 80 KB by 10; a kilobyte has 1024 bytes there (10,000 ints are 39.06 KB).
PAPER_D = tuple(range(10 * 1024, 81 * 1024, 10 * 1024))

# mpptest: a midpoint where a time departs so far from the line between its neighbours ...
DEPARTURE = 0.02
# ... and a second measurement of what is so far above that line.
OUTLIER = 0.10


def powers_of_two(first: int, last: int) -> list[int]:
    """`first`, then every power of two above it up to `last`; 0 may be the first."""
    sizes, size = [first], 1
    while size <= last:
        if size > first:
            sizes.append(size)
        size *= 2
    return sizes


def steps(first: int, last: int, increment: int) -> list[int]:
    """`first`, `first + increment`, … up to `last`: the parameters of paper A's program."""
    return list(range(first, last + 1, increment))


@dataclass(frozen=True)
class Refinement:
    """What an adaptive sweep measures next: new sizes `between` old ones, and old ones `again`."""

    between: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)


def refine(sizes: Sequence[int], times: Sequence[float], closest: int = 8) -> Refinement:
    """Where `times` leave the line between their neighbours: midpoints on both sides, and outliers.

    Sizes with a distance of `closest` bytes are not divided any more.
    """
    between: set[int] = set()
    again = []
    for i in range(1, len(sizes) - 1):
        left, here, right = sizes[i - 1 : i + 2]
        share = (here - left) / (right - left)
        line = times[i - 1] + share * (times[i + 1] - times[i - 1])
        departure = (times[i] - line) / line if line > 0 else 0.0
        if departure > OUTLIER:
            again.append(here)
        if abs(departure) > DEPARTURE:
            for low, high in ((left, here), (here, right)):
                if high - low >= 2 * closest:
                    between.add((low + high) // 2)
    return Refinement(sorted(between), again)


Curves = dict[Hashable, dict[int, float]]  # the time of each size, for everything that is compared


def adaptive(
    sizes: Sequence[int],
    measure: Callable[[list[int]], Mapping[Hashable, Mapping[int, float]]],
    *,
    rounds: int = 4,
    closest: int = 8,
    most: int = 128,
) -> Curves:
    """Measure `sizes`, then up to `rounds` times what refine() asks for; the smallest time of each size.

    `measure` gets sizes and gives a curve or several; a size that one curve asks for is measured for all.
    A disturbance only ever makes a message slower, so of two measurements of one size the smaller one
    stays. No new size comes when there would be more than `most`.
    """
    curves: Curves = {}
    wanted = sorted(set(sizes))
    for _ in range(rounds + 1):
        for name, curve in measure(wanted).items():
            times = curves.setdefault(name, {})
            times.update({size: min(us, times.get(size, us)) for size, us in curve.items()})
        measured = {size for curve in curves.values() for size in curve}
        refinements = [
            refine(sorted(c), [c[s] for s in sorted(c)], closest) for c in curves.values()
        ]
        between = {size for each in refinements for size in each.between} - measured
        if len(measured) + len(between) > most:
            between = set()
        wanted = sorted(between.union(*(each.again for each in refinements)))
        if not wanted:
            break
    return {name: {size: curve[size] for size in sorted(curve)} for name, curve in curves.items()}
