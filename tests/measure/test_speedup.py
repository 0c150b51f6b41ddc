"""Do Amdahl's law and its solution for the serial part agree with each other?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beowulf.measure.speedup import amdahl, efficiency, karp_flatt

parts = st.floats(0, 1)
processors = st.integers(2, 1024)


@given(parts, processors)
def test_karp_flatt_finds_the_part_that_amdahl_was_given(serial: float, count: int) -> None:
    assert karp_flatt(amdahl(serial, count), count) == pytest.approx(serial, abs=1e-9)


def test_known_values() -> None:
    assert amdahl(0, 4) == 4
    assert amdahl(1, 4) == 1
    assert amdahl(0.5, 2) == pytest.approx(4 / 3)
    assert efficiency(3, 4) == 0.75
    assert karp_flatt(2, 4) == pytest.approx(1 / 3)
