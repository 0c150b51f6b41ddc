"""B2 and B3: are differences between calls found where they are, and not where there are none?"""

from __future__ import annotations

import made
import pytest
from lab_04_records import At, rings

from beowulf.studies.lab_04 import b2_time_difference, b3_bandwidth_difference


def test_b2_a_difference_that_falls_and_jumps_is_found() -> None:
    def longer(at: At) -> float:
        return 1 + (0.5 if at["size_bytes"] > 100_000 else 0.04 / at["ranks"])

    found = b2_time_difference.STUDY.claims(rings("B2", longer))
    assert made.outcomes(found) == {"falls-with-nodes": "holds", "jumps-at-100000": "holds"}


def test_b2_a_difference_that_rises_and_does_not_jump_contradicts() -> None:
    found = b2_time_difference.STUDY.claims(rings("B2", lambda at: 1 + 0.1 * at["ranks"]))
    assert made.outcomes(found) == {
        "falls-with-nodes": "contradicted",
        "jumps-at-100000": "contradicted",
    }


def test_b2_where_there_is_no_difference_nothing_can_fall() -> None:
    found = b2_time_difference.STUDY.claims(rings("B2", lambda at: 1.0))
    assert made.outcomes(found)["falls-with-nodes"] == "inconclusive"
    assert "hardly a difference" in found[0].advice


def test_b2_a_jump_of_one_ring_alone_is_inconclusive() -> None:
    def longer(at: At) -> float:
        return 1.5 if at["size_bytes"] > 100_000 and at["ranks"] == 2 else 1.0

    assert (
        made.outcomes(b2_time_difference.STUDY.claims(rings("B2", longer)))["jumps-at-100000"]
        == "inconclusive"
    )


def test_b2_without_sizes_on_both_sides_no_jump_can_be_seen() -> None:
    record = rings("B2", lambda at: 1.0)
    record.points = [p for p in record.points if p.at["size_bytes"] <= 100_000]
    assert (
        made.outcomes(b2_time_difference.STUDY.claims(record))["jumps-at-100000"] == "inconclusive"
    )


@pytest.mark.parametrize(
    ("share", "outcome"),
    [
        ({3: 1.0, 4: 0.8}, "holds"),
        ({3: 0.8, 4: 1.0}, "contradicted"),
        ({3: 1.0, 4: 1.0}, "inconclusive"),
    ],
)
def test_b3_every_outcome(share: dict[int, float], outcome: str) -> None:
    found = b3_bandwidth_difference.STUDY.claims(
        rings("B3", lambda at: share.get(at["ranks"], 1.0), noise=0.01)
    )
    assert made.outcomes(found) == {"rises-from-3-to-4": outcome}
