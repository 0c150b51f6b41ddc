"""Do the claims hold where latency and bandwidth are as the paper's model has them, and fail where they are not?"""

from __future__ import annotations

import pytest
from beowulf_collectives.g1_rounds import LONG, SHORT

from beowulf import papers
from beowulf.record import Point, Record
from beowulf.studies import judge

LATENCY_S, BYTE_S = 1e-4, 8e-8
# Latencies and bytes of each way on four nodes.
COSTS = {"tree": (2, 2), "scatter": (5, 1.5), "doubling": (2, 0.75), "ring": (3, 0.75)}


def record(latency_s: float, byte_s: float) -> Record:
    points = [
        Point(
            {"way": way, "size_bytes": size, "ranks": 4, "launch": launch},
            "operation_s",
            [(rounds * latency_s + share * size * byte_s) * (1 + i / 1000) for i in range(10)],
        )
        for way, (rounds, share) in COSTS.items()
        for size in (SHORT, LONG)
        for launch in range(6)
    ]
    return Record("G1", points=points)


@pytest.mark.parametrize(
    ("latency_s", "byte_s", "outcomes"),
    [
        (LATENCY_S, BYTE_S, ["holds", "holds", "holds"]),
        (LATENCY_S, 1e-12, ["holds", "contradicted", "holds"]),
        (1e-9, BYTE_S, ["contradicted", "holds", "holds"]),
    ],
    ids=["as the model", "no bytes", "no latency"],
)
def test_the_claims_follow_latency_and_bandwidth(
    latency_s: float, byte_s: float, outcomes: list[str]
) -> None:
    assert [each.outcome for each in judge(record(latency_s, byte_s))] == outcomes


def test_the_paper_is_cited() -> None:
    assert "Thakur" in papers.cite("G")
    assert papers.table("G-costs").way[0] == "binomial tree"
