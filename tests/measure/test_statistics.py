from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beowulf.errors import LabError
from beowulf.measure import statistics
from beowulf.measure.statistics import Pairs, ratio, summary

times = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=60)


@settings(max_examples=40)
@given(times)
def test_a_summary_is_in_order(samples: list[float]) -> None:
    found = summary(samples)
    assert found.n == len(samples)
    assert found.min == min(samples)
    assert found.min <= found.q1 <= found.median <= found.q3
    assert found.low <= found.high
    assert found.min <= found.low
    assert found.high <= max(samples)


def test_the_same_samples_are_drawn_from_once_also_for_a_wider_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples = np.random.default_rng(7).uniform(1, 2, 30)
    first = summary(samples)
    monkeypatch.setattr(statistics, "redrawn", None)
    assert summary(list(samples)) == first
    wide = summary(samples, busy=True)
    assert wide.high - wide.median == pytest.approx(3 * (first.high - first.median))
    with pytest.raises(TypeError):
        summary(samples, 2)


def test_on_a_busy_machine_a_difference_is_known_to_a_share_of_what_it_compares() -> None:
    """No difference at all is a tenth of nothing, and would be known exactly."""
    same = Pairs([(100.0, 100.0)] * 8, busy=True)
    alone, beside = (same.summary(lambda a, b: a - b, compared) for compared in (0.0, 100.0))
    assert (alone.low, alone.high) == (0, 0)
    assert (beside.low, beside.high) == (-10, 10)
    same.busy = False
    assert same.summary(lambda a, b: a - b, 100.0).high == 0


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9), min_size=2, max_size=9),
    st.floats(0, 100),
)
def test_rows_of_different_length_have_the_percentiles_that_numpy_gives_them(
    rows: list[list[float]], percentile: float
) -> None:
    most = max(map(len, rows))
    table = np.array([row + [math.nan] * (most - len(row)) for row in rows])
    expected = np.nanpercentile(table, percentile, axis=1)
    assert statistics._percentile(table, percentile) == pytest.approx(expected, rel=1e-12)


def test_the_interval_holds_the_true_median_in_nearly_all_cases() -> None:
    draw = np.random.default_rng(3)
    held = 0
    for seed in range(200):
        found = summary(draw.lognormal(0.0, 0.5, 40), seed)
        held += found.low <= 1.0 <= found.high
    assert held >= 180  # 95 % of 200, and what chance takes away


def test_an_empty_list_of_samples_is_refused_with_a_sentence() -> None:
    with pytest.raises(LabError, match="There are no samples"):
        summary([])
    with pytest.raises(LabError, match="no pairs"):
        ratio([])


def launched(draw: np.random.Generator, launches: int, each: int) -> tuple[list[float], list[int]]:
    """Samples around 1 of launches that differ by more than their own samples do."""
    values, of = [], []
    for launch, offset in enumerate(draw.normal(0.0, 0.1, launches)):
        values += list(1 + offset + draw.normal(0.0, 0.02, each))
        of += [launch] * each
    return values, of


def test_where_launches_differ_the_interval_is_that_of_launches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 200)
    draw = np.random.default_rng(7)
    alone = by_launch = 0
    for seed in range(100):
        values, launches = launched(draw, 8, 20)
        taken_for_equal = summary(values, seed)
        found = summary(values, seed, launches)
        assert found.median == taken_for_equal.median
        alone += taken_for_equal.low <= 1.0 <= taken_for_equal.high
        by_launch += found.low <= 1.0 <= found.high
    assert alone < 70  # what it would be to take all samples for equal
    assert by_launch >= 85


def test_launches_of_different_length_are_drawn_as_long_as_each_is() -> None:
    values = [1.0] * 30 + [2.0] * 2
    found = summary(values, launches=[0] * 30 + [1] * 2)
    assert (found.low, found.high) == (1.0, 2.0)  # each launch may be drawn twice
    one_each = [1.0, 1.2, 0.9, 1.1, 1.05]
    assert summary(one_each, launches=[0, 1, 2, 3, 4]) == summary(one_each)


def test_pairs_of_several_launches_stay_together() -> None:
    pairs = Pairs()
    pairs.add(0, [2.0, 4.0, 6.0], [1.0, 2.0])  # a third one is missing
    pairs.add(1, [3.0], [1.0])
    assert pairs.values == [(2.0, 1.0), (4.0, 2.0), (3.0, 1.0)]
    assert pairs.launches == [0, 0, 1]
    assert pairs.ratio().median == 2.0
    assert pairs.summary(lambda one, other: one - other).median == 2.0
