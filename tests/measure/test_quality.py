from __future__ import annotations

import numpy as np
import pytest

from beowulf.measure.quality import trouble
from beowulf.record import Point, Record

QUIET = {"load_1min": 0.2, "cores": 2, "waiting_for_a_core_percent_10s": 1.0}


def record(*points: Point, quick: bool = False, complete: bool = True, **before: float) -> Record:
    return Record(
        study="A7",
        points=list(points),
        sweep={"quick": quick},
        circumstances={"before": QUIET | before, "after": {}},
        complete=complete,
    )


def launch(number: int, around: float, n: int = 30, size: int = 1) -> Point:
    at = {"size_bytes": size, "launch": number}
    return Point(at, "half_round_trip_us", [around * (1 + 0.001 * (i % 5)) for i in range(n)])


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (record(launch(0, 10.0)), ""),
        (record(launch(0, 1.0), load_1min=3.5), "load before the start was 3.5 on 2 cores"),
        (record(launch(0, 1.0), waiting_for_a_core_percent_10s=60.0), "waited for a core 60 %"),
        (record(launch(0, 1.0, n=12)), "a point has 12 samples, and 30 are needed"),
        (record(launch(0, 1.0, n=12), quick=True), ""),
        (record(launch(0, 1.0, n=15), launch(1, 1.0, n=15)), ""),
        (record(launch(0, 1.0), complete=False), "the measurement was cut short"),
        (record(), "there are no samples"),
        (record(launch(0, 1.0), launch(1, 1.3)), "differ at 1 of 1 points"),
    ],
)
def test_what_a_measurement_suffers_from_is_said(kept: Record, said: str) -> None:
    found = trouble(kept)
    assert len(found) == bool(said)
    assert said in "".join(found)


def differ(*launches: list[float], similar_within: float = 0.0) -> bool:
    points = [
        Point({"size_bytes": 1, "launch": number}, "half_round_trip_us", values)
        for number, values in enumerate(launches)
    ]
    found = trouble(record(*points), similar_within=similar_within)
    return any("launches of the same program differ" in each for each in found)


def drawn(seed: int, middle: float, spread: float, n: int = 20) -> list[float]:
    return list(np.random.default_rng(seed).normal(middle, spread, n))


@pytest.mark.parametrize(
    ("launches", "apart"),
    [
        ([drawn(1, 10.0, 3.0), drawn(2, 12.0, 3.0)], False),
        ([drawn(1, 10.0, 0.05), drawn(2, 12.0, 0.05), drawn(3, 11.0, 5.0)], True),
        ([drawn(1, 10.0, 0.1), [*drawn(2, 10.0, 0.1), 90.0, 95.0, 99.0]], False),
        ([[10.0 + number % 2] for number in range(30)], False),
        ([drawn(number, 10.0 + number / 2, 0.05) for number in range(5)], True),
        ([drawn(number, 10.0 + number / 2, 0.05) for number in range(6)], False),
    ],
    ids=[
        "within their spread",
        "a noisy third hides nothing",
        "far away",
        "single samples",
        "five",
        "six",
    ],
)
def test_launches_differ_where_their_own_spread_does_not_explain_it(
    launches: list[list[float]], apart: bool
) -> None:
    assert differ(*launches) == apart
    assert not differ(*launches, similar_within=3.0), "a difference that changes no claim"


@pytest.mark.parametrize(("passes", "launches"), [(5, 2), (10, 3)])
def test_launches_that_are_similar_are_rarely_taken_for_different(
    passes: int, launches: int
) -> None:
    draw = np.random.default_rng(7)
    shapes = (draw.lognormal(0, 0.5, (200, launches, passes)) for _ in range(2))
    taken = [differ(*map(list, each)) for shape in shapes for each in shape]
    assert sum(taken) < 0.08 * len(taken)


def test_one_size_of_many_that_differs_is_a_burst_of_noise() -> None:
    points = [
        launch(n, 1.0 + (n if size == 1 else 0), size=size) for size in range(10) for n in (0, 1)
    ]
    assert trouble(record(*points)) == []
