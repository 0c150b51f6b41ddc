from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beowulf.measure.sweep import adaptive, refine

ALPHA_US, US_PER_BYTE = 50.0, 0.08


def line(size: int) -> float:
    return ALPHA_US + US_PER_BYTE * size


EVENLY = [0, 1000, 2000, 3000, 4000]


@pytest.mark.parametrize(
    ("times_as_long", "between", "again"),
    [(1, set(), []), (1.05, {1500, 2500}, []), (1.2, {1500, 2500}, [2000])],
    ids=["a straight line", "off the line", "ten per cent above its neighbours"],
)
def test_a_size_that_leaves_the_line_gets_midpoints_on_both_sides_or_is_measured_again(
    times_as_long: float, between: set[int], again: list[int]
) -> None:
    found = refine(EVENLY, [line(n) * (times_as_long if n == 2000 else 1) for n in EVENLY])
    assert between <= set(found.between)
    assert bool(between) == bool(found.between)
    assert found.again == again
    assert refine([0, 8, 16], [10, 20, 10], closest=8).between == [], "close to each other"


def test_an_adaptive_sweep_forgets_a_burst_of_noise() -> None:
    asked: list[list[int]] = []

    def measured(sizes: list[int]) -> dict[str, dict[int, float]]:
        asked.append(sizes)
        return {"": {s: line(s) * (1.5 if len(asked) == 1 and s == 2000 else 1) for s in sizes}}

    found = adaptive(EVENLY, measured)[""]
    assert len(asked) == 2, "a straight line is measured once"
    assert found[2000] == pytest.approx(line(2000))
    assert 2000 in asked[1]


@given(limit=st.integers(3_000, 60_000))
def test_an_adaptive_sweep_closes_in_on_a_step(limit: int) -> None:
    def measured(sizes: list[int]) -> dict[str, dict[int, float]]:
        return {"": {s: line(s) + (1000.0 if s > limit else 0.0) for s in sizes}}

    coarse = list(range(0, 64_001, 8_000))
    found = list(adaptive(coarse, measured, rounds=8)[""])
    below = max(size for size in found if size <= limit)
    above = min(size for size in found if size > limit)
    assert above - below <= 1_000  # from 8,000


def test_a_size_that_one_curve_asks_for_is_measured_for_all() -> None:
    def measured(sizes: list[int]) -> dict[str, dict[int, float]]:
        straight = {s: line(s) for s in sizes}
        return {"straight": straight, "bent": {s: line(s) + max(0, s - 2_000) for s in sizes}}

    found = adaptive(EVENLY, measured, rounds=1)
    assert list(found["straight"]) == list(found["bent"])
    assert {1500, 2500} <= set(found["straight"])


def test_an_adaptive_sweep_ends_when_there_are_enough_sizes() -> None:
    asked: list[list[int]] = []

    def noisy(sizes: list[int]) -> dict[str, dict[int, float]]:
        asked.append(sizes)
        return {"": {s: line(s) * (1.05 if s % 2000 else 1) for s in sizes}}

    found = adaptive(EVENLY, noisy, rounds=50, most=12)[""]
    assert len(found) <= 12
    assert len(asked) == 2
