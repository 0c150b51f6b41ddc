"""B5: does the slowest of unlike nodes set the pace, or not?"""

from __future__ import annotations

import made
import pytest
from lab_04_records import b5

from beowulf.labs.lab_04 import b5_unlike_nodes


@pytest.mark.parametrize(
    ("times", "noise", "outcome"),
    [
        (2.0, 0.01, "holds"),
        (1.0, 0.01, "contradicted"),
        (3.0, 0.01, "contradicted"),
        (1.35, 0.3, "inconclusive"),
    ],
)
def test_b5_every_outcome(times: float, noise: float, outcome: str) -> None:
    found = b5_unlike_nodes.STUDY.claims(b5(times, noise=noise, n=30))
    assert made.outcomes(found) == {"slowest-sets-the-pace": outcome}
