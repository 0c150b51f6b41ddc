from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beowulf.errors import UsageError
from beowulf.measure.sweep import PAPER_D, adaptive, checked, powers_of_two, refine, steps

ALPHA_US, US_PER_BYTE = 50.0, 0.08


def line(size: int) -> float:
    return ALPHA_US + US_PER_BYTE * size


def test_powers_of_two_begin_and_end_where_asked() -> None:
    assert powers_of_two(0, 8) == [0, 1, 2, 4, 8]
    assert powers_of_two(4, 20) == [4, 8, 16]
    assert powers_of_two(3, 8) == [3, 4, 8]
    assert powers_of_two(0, 0) == [0]


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_powers_of_two_rise_within_their_bounds(first: int, more: int) -> None:
    sizes = powers_of_two(first, first + more)
    assert sizes[0] == first
    assert sizes == sorted(set(sizes))
    assert sizes[-1] <= first + more
    assert 2 * max(sizes[-1], 1) > first + more


def test_steps_are_paper_as_first_last_and_increment() -> None:
    assert steps(0, 10, 4) == [0, 4, 8]
    assert steps(5, 5, 1) == [5]


def test_paper_ds_sizes_are_kilobytes_of_1024_bytes() -> None:
    assert PAPER_D[0] == 10_240
    assert PAPER_D[-1] == 81_920
    assert len(PAPER_D) == 8


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([], "no size"),
        ([-1], "cannot have -1 bytes"),
        ([1.5], "whole number"),
        (["many"], "whole number of bytes, not 'many'"),
        ([True], "whole number"),
        ([2**31], "at most 2,147,483,647"),
    ],
)
def test_what_is_no_size_is_refused_with_a_sentence(sizes: list[object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        checked(sizes)


def test_messages_larger_than_the_memory_are_refused() -> None:
    assert checked([200_000], free=1_000_000) == [200_000]
    with pytest.raises(UsageError, match=r"300,000 bytes need .* on 2 ranks"):
        checked([300_000], free=1_000_000)
    assert checked([300_000]) == [300_000]  # the program on its nodes will say


def test_nothing_is_refined_on_a_straight_line() -> None:
    sizes = [0, 100, 1000, 5000, 10_000]
    found = refine(sizes, [line(size) for size in sizes])
    assert found.between == []
    assert found.again == []


def test_a_size_that_leaves_the_line_gets_midpoints_on_both_sides() -> None:
    sizes = [0, 1000, 2000, 3000, 4000]
    times = [line(size) * (1.05 if size == 2000 else 1) for size in sizes]
    found = refine(sizes, times)
    assert {1500, 2500} <= set(found.between)
    assert found.again == []


def test_what_stands_ten_percent_above_its_neighbours_is_measured_again() -> None:
    sizes = [0, 1000, 2000, 3000, 4000]
    times = [line(size) * (1.2 if size == 2000 else 1) for size in sizes]
    assert refine(sizes, times).again == [2000]


def test_sizes_close_to_each_other_are_not_divided() -> None:
    assert refine([0, 8, 16], [10, 20, 10], closest=8).between == []


def test_an_adaptive_sweep_forgets_a_burst_of_noise() -> None:
    asked: list[list[int]] = []

    def measured(sizes: list[int]) -> dict[str, dict[int, float]]:
        asked.append(sizes)
        return {"": {s: line(s) * (1.5 if len(asked) == 1 and s == 2000 else 1) for s in sizes}}

    found = adaptive([0, 1000, 2000, 3000, 4000], measured)[""]
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

    found = adaptive([0, 1000, 2000, 3000, 4000], measured, rounds=1)
    assert list(found["straight"]) == list(found["bent"])
    assert {1500, 2500} <= set(found["straight"])


def test_an_adaptive_sweep_ends_when_there_are_enough_sizes() -> None:
    asked: list[list[int]] = []

    def noisy(sizes: list[int]) -> dict[str, dict[int, float]]:
        asked.append(sizes)
        return {"": {s: line(s) * (1.05 if s % 2000 else 1) for s in sizes}}

    found = adaptive([0, 1000, 2000, 3000, 4000], noisy, rounds=50, most=12)[""]
    assert len(found) <= 12
    assert len(asked) == 2


def test_a_straight_line_is_measured_once() -> None:
    asked: list[list[int]] = []

    def measured(sizes: list[int]) -> dict[str, dict[int, float]]:
        asked.append(sizes)
        return {"": {s: line(s) for s in sizes}}

    assert list(adaptive([0, 1000, 2000], measured)[""]) == [0, 1000, 2000]
    assert asked == [[0, 1000, 2000]]
