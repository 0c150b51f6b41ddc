from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beowulf.errors import LabError
from beowulf.measure.fit import alpha_beta, eager_limit
from beowulf.measure.sweep import powers_of_two, steps


def made(
    sizes: list[int],
    alpha_us: float,
    bandwidth_bytes_per_s: float,
    *,
    noise: float = 0.003,
    limit: int | None = None,
    jump_us: float = 0.0,
) -> dict[int, list[float]]:
    draw = np.random.default_rng(11)
    times = {}
    for size in sizes:
        us = alpha_us + size / bandwidth_bytes_per_s * 1e6
        us += jump_us if limit is not None and size > limit else 0.0
        times[size] = (us * (1 + noise * draw.standard_normal(30))).tolist()
    return times


@settings(max_examples=10, deadline=None)
@given(st.floats(1.0, 500.0), st.floats(1e6, 1e10))
def test_known_alpha_and_beta_are_found_back(alpha: float, bandwidth: float) -> None:
    found = alpha_beta(made(powers_of_two(0, 2**22), alpha, bandwidth))
    assert found.alpha_us.value == pytest.approx(alpha, rel=0.02)
    beta = found.beta_us_per_byte
    assert beta.value == pytest.approx(1e6 / bandwidth, rel=0.05)
    assert found.bandwidth_bytes_per_s == pytest.approx(1e6 / beta.value)
    assert found.time_us(1000) == pytest.approx(found.alpha_us.value + 1000 * beta.value)
    assert found.alpha_us.low <= found.alpha_us.value <= found.alpha_us.high
    assert beta.low <= beta.value <= beta.high
    assert max(map(abs, found.residuals.values())) < 0.05


@settings(max_examples=10, deadline=None)
@given(st.integers(20_000, 140_000), st.floats(40.0, 2000.0))
def test_a_step_is_found_between_the_sizes_around_the_limit(limit: int, jump: float) -> None:
    sizes = steps(8192, 163_840, 8192)
    found = eager_limit(made(sizes, 30.0, 11.5e6, noise=0.0005, limit=limit, jump_us=jump))
    assert found is not None
    assert found.below - 8192 <= limit <= found.above + 8192
    assert found.jump_us.low <= jump <= found.jump_us.high or found.jump_us.value == pytest.approx(
        jump, rel=0.25
    )


@settings(max_examples=10, deadline=None)
@given(st.floats(1.0, 200.0), st.floats(1e7, 1e9))
def test_no_step_is_found_where_there_is_none(alpha: float, bandwidth: float) -> None:
    assert eager_limit(made(steps(8192, 163_840, 8192), alpha, bandwidth)) is None


def test_a_residual_says_how_far_a_size_is_off_the_line() -> None:
    times = made(powers_of_two(0, 2**20), 50.0, 1e7, noise=0.0)
    times[4096] = [1.3 * each for each in times[4096]]
    found = alpha_beta(times)
    assert max(found.residuals, key=lambda size: found.residuals[size]) == 4096
    assert found.time_us(0) == found.alpha_us.value


@pytest.mark.parametrize(
    ("look", "times", "said"),
    [
        (alpha_beta, {1024: [1.0, 2.0]}, "two sizes"),
        (alpha_beta, {0: [100.0] * 5, 1000: [50.0] * 5, 100_000: [10.0] * 5}, "do not rise"),
        (eager_limit, {1: [1.0], 2: [2.0]}, "8 sizes are needed"),
    ],
)
def test_times_of_which_nothing_can_be_fitted_are_refused(
    look: Callable[[dict[int, list[float]]], object], times: dict[int, list[float]], said: str
) -> None:
    with pytest.raises(LabError, match=said):
        look(times)
