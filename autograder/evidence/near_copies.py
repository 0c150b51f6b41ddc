"""Records that resemble each other as two measurements never do: scaled, shuffled, rounded, or drawn from one another.

The middle of a place differs from one launch to the next by chance. Which places rise in a launch, beside their
neighbours, is that launch's own. Two learners have nothing of it in common, and a copy has all of it, even if it was
multiplied, sorted, rounded, or its launches were renamed. Of a Record of one launch, its passes are compared like that.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import median

import numpy as np
from numpy.typing import NDArray

from beowulf.record import Point, Record

Values = NDArray[np.float64]
Place = tuple[str, tuple[float, ...]]

MOST_LAUNCHES_IN_ANY_ORDER = 4  # of more, only the order as it is
LEAST_LIKE, LEAST_SCORE = 0.5, 5.0
MOST_PASSES = 20  # that are compared, of one launch
SIZES = ("size_bytes", "message_bytes", "overlap_bytes")
# What else varies within one run of a program; all other coordinates tell one run from another.
WITHIN_A_RUN = {"protocol", "rank", "event", "row", "operation", "pages", "part", "way"}
FEWEST, MOST = 5, 100  # samples of a place that are looked at
MOST_PLACES = 5_000  # of a Record
LARGEST = 1e100  # whatever the unit


@dataclass(frozen=True)
class Steps:
    """How one place differs from its neighbour in each launch, as directions of length 1."""

    launches: int  # or passes of one launch
    of_places: Mapping[str, Values]


@dataclass(frozen=True)
class Resemblance:
    """Two Records by their places in a list: `like` is 1 for a copy and about 0 for two measurements."""

    one: int
    other: int
    like: float
    score: float  # in standard deviations
    places: int


def steps(record: Record) -> Steps:
    """The steps of a Record, over the launches that most of its places have; with one launch, over its passes."""
    points = list(filter(_can_be_compared, record.points[:MOST_PLACES]))
    one_launch = len({_launch(point) for point in points}) == 1
    middles: dict[str, dict[Place, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for point in points:
        samples = point.samples[:MOST]
        values = {_launch(point): median(samples)}
        if one_launch:
            values = dict(enumerate(samples[:MOST_PASSES]))
        if min(values.values()) > 0:
            logs = {launch: math.log(value) for launch, value in values.items()}
            middles[_group(point, len(samples))][_place(point)].update(logs)
    launches = _most_frequent(
        frozenset(of_place) for group in middles.values() for of_place in group.values()
    )
    directions: dict[str, Values] = {}
    for group, places in middles.items():
        complete = sorted(place for place in places if set(places[place]) == set(launches))
        rows = np.array([[places[place][launch] for launch in launches] for place in complete])
        if len(rows) < 2:
            continue
        # Neighbours differ by size alone, so what a launch does to all sizes is not in their steps.
        changes = np.diff(rows, axis=0)
        changes -= changes.mean(axis=1, keepdims=True)
        lengths = np.sqrt((changes**2).sum(axis=1))
        for place, change, length in zip(complete[1:], changes, lengths, strict=True):
            if length > 0:
                directions[f"{group} {place}"] = change / length
    return Steps(len(launches), directions)


def _can_be_compared(point: Point) -> bool:
    return (
        len(point.samples) >= FEWEST
        and type(_launch(point)) is int
        and all(abs(sample) < LARGEST for sample in point.samples[:MOST])
    )


def _launch(point: Point) -> int:
    launch: int = point.at.get("launch", 0)
    return launch


def _group(point: Point, samples: int) -> str:
    """What the points of one run of a program have in common, but for its launch."""
    varied = {*SIZES, *WITHIN_A_RUN, "launch"}
    fixed = {name: value for name, value in point.at.items() if name not in varied}
    return json.dumps([fixed, samples], sort_keys=True)


def _place(point: Point) -> Place:
    """Where in its run a point is, its sizes last: in this order, neighbours differ by size alone."""
    varied = {name: value for name, value in point.at.items() if name in WITHIN_A_RUN}
    sizes = (point.at.get(name) for name in SIZES)
    numbers = tuple(float(size) if isinstance(size, int | float) else 0.0 for size in sizes)
    return json.dumps([point.quantity, varied], sort_keys=True), numbers


def resembling(every: Sequence[Steps], owners: Sequence[str]) -> Iterator[Resemblance]:
    """The Records of different owners that resemble each other more than chance lets any two of a large class."""
    for launches in sorted({each.launches for each in every if each.launches > 1}):
        rows = [number for number, each in enumerate(every) if each.launches == launches]
        counts = Counter(name for row in rows for name in every[row].of_places)
        names = sorted(name for name, number in counts.items() if number > 1)
        column = {name: place for place, name in enumerate(names)}
        values = np.zeros((len(rows), len(names), launches))
        for place, row in enumerate(rows):
            for name, direction in every[row].of_places.items():
                if name in column:
                    values[place, column[name]] = direction
        has = (values != 0).any(axis=2).astype(float)
        common = has @ has.T
        best = np.max([_products(values, order) for order in _orders(launches)], axis=0)
        like = best / np.maximum(common, 1)
        score = like * np.sqrt(common * (launches - 1))
        for one, other in np.argwhere((like >= LEAST_LIKE) & (score >= LEAST_SCORE)):
            if one < other and owners[rows[one]] != owners[rows[other]]:
                alike, sure = float(like[one, other]), float(score[one, other])
                places = int(common[one, other])
                yield Resemblance(rows[one], rows[other], alike, sure, places)


def _products(values: Values, order: Sequence[int]) -> Values:
    """The sum of the products of all places of each two Records, the launches of the second in this order."""
    products: Values = np.tensordot(values, values[:, :, list(order)], ([1, 2], [1, 2]))
    return np.maximum(products, products.T)


def _orders(launches: int) -> Iterable[Sequence[int]]:
    if launches > MOST_LAUNCHES_IN_ANY_ORDER:
        return [range(launches)]
    return permutations(range(launches))


def _most_frequent(sets: Iterable[frozenset[int]]) -> list[int]:
    counts = Counter(sets)
    return sorted(max(counts, key=lambda each: (counts[each], len(each), sorted(each)), default=()))
