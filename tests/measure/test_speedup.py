"""Do Amdahl's law and its solution for the serial part agree with each other, and refuse what is no speed-up?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beowulf.errors import UsageError
from beowulf.measure.speedup import amdahl, efficiency, karp_flatt, most, speedup

parts = st.floats(0, 1)
processors = st.integers(2, 1024)
times = st.floats(1e-3, 1e3)


@given(parts, processors)
def test_karp_flatt_finds_the_part_that_amdahl_was_given(serial: float, count: int) -> None:
    assert karp_flatt(amdahl(serial, count), count) == pytest.approx(serial, abs=1e-9)


@given(times, processors)
def test_a_measured_speed_up_comes_back_from_its_serial_part(measured: float, count: int) -> None:
    serial = karp_flatt(measured, count)
    assert (serial > 1) == (measured < 1) or measured == pytest.approx(1)
    assert (serial < 0) == (measured > count) or measured == pytest.approx(count)
    if 0 <= serial <= 1:
        assert amdahl(serial, count) == pytest.approx(measured)


@given(parts, processors)
def test_no_number_of_processors_exceeds_the_limit_or_itself(serial: float, count: int) -> None:
    found = amdahl(serial, count)
    assert 1 - 1e-12 <= found <= min(most(serial), count) * (1 + 1e-12)
    assert amdahl(serial, count + 1) >= found * (1 - 1e-12)
    assert efficiency(found, count) <= 1 + 1e-12


@given(times, st.floats(1.001, 100))
def test_twice_the_time_is_half_the_speed_up(one_s: float, longer: float) -> None:
    assert speedup(one_s, one_s) == 1
    assert speedup(one_s, one_s * longer) < 1 < speedup(one_s * longer, one_s)


def test_known_values() -> None:
    assert amdahl(0, 4) == 4
    assert amdahl(1, 4) == 1
    assert amdahl(0.5, 2) == pytest.approx(4 / 3)
    assert most(0.05) == pytest.approx(20)
    assert most(0) == math.inf
    assert efficiency(3, 4) == 0.75
    assert karp_flatt(2, 4) == pytest.approx(1 / 3)


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.inf, math.nan])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="A time is more than 0 s"):
        speedup(seconds, 1.0)
    with pytest.raises(UsageError, match="A time is more than 0 s"):
        speedup(1.0, seconds)


def test_what_is_no_part_no_speed_up_and_no_number_of_processors_is_refused() -> None:
    for serial in (-0.1, 1.1, math.nan):
        with pytest.raises(UsageError, match="The serial part is from 0 to 1"):
            amdahl(serial, 4)
    for measured in (0.0, -2.0, math.nan, math.inf):
        with pytest.raises(UsageError, match="A speed-up is more than 0"):
            karp_flatt(measured, 4)
    with pytest.raises(UsageError, match="2 or more processors, not 1"):
        karp_flatt(1.0, 1)
    with pytest.raises(UsageError, match="1 or more processors, not 0"):
        efficiency(1.0, 0)
