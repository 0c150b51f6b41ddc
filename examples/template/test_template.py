"""Does the claim hold on a Record in which it should, and fail on one in which it should not?"""

from __future__ import annotations

import pytest

from beowulf.record import Point, Record
from beowulf.studies import judge


@pytest.mark.parametrize(("four_s", "outcome"), [(2e-4, "holds"), (5e-5, "contradicted")])
def test_a_sum_over_four_nodes_takes_longer(four_s: float, outcome: str) -> None:
    points = [
        Point(
            {"ranks": nodes, "launch": launch},
            "sum_s",
            [seconds * (1 + i / 1000) for i in range(20)],
        )
        for nodes, seconds in ((2, 1e-4), (4, four_s))
        for launch in range(2)
    ]
    (verdict,) = judge(Record("X1", points=points))
    assert verdict.outcome == outcome
