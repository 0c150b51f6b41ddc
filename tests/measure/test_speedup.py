"""Do Amdahl's law and its solution for the serial part have their known values?"""

from __future__ import annotations

import pytest

from beowulf.measure.speedup import amdahl, efficiency, karp_flatt


def test_known_values() -> None:
    assert amdahl(0, 4) == 4
    assert amdahl(1, 4) == 1
    assert amdahl(0.5, 2) == pytest.approx(4 / 3)
    assert efficiency(3, 4) == 0.75
    assert karp_flatt(2, 4) == pytest.approx(1 / 3)
