"""B2 and B3: are differences between calls seen where they are, and not where there are none?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import made
import pytest
from lab_04_records import At, noisy, rings
from null_records import Noise, assert_mostly_holds, assert_rarely_holds, outcome_of

from beowulf.labs.lab_04 import b2_time_difference, b3_bandwidth_difference
from beowulf.verdict import Outcome


def jumping(at: At) -> float:
    """Non-blocking takes longer, less so with more nodes, and much longer at 100,000 bytes."""
    return 1 + (0.5 if at["size_bytes"] >= 100_000 else 0.4 / at["ranks"])


def rising(at: At) -> float:
    """Above 100,000 bytes, non-blocking has more rate with 4 nodes."""
    return 0.8 if at["ranks"] == 4 else 1.0


def test_b2_a_difference_that_falls_and_jumps_is_seen() -> None:
    results = b2_time_difference.STUDY.claims(rings("B2", jumping))
    assert made.outcomes(results) == {"falls-with-nodes": "holds", "jumps-at-100000": "holds"}
    assert "from 75,000 to 100,000 bytes" in results[1].evidence


def test_b2_a_difference_that_rises_and_does_not_jump_contradicts() -> None:
    results = b2_time_difference.STUDY.claims(rings("B2", lambda at: 1 + 0.1 * at["ranks"]))
    assert made.outcomes(results) == {
        "falls-with-nodes": "contradicted",
        "jumps-at-100000": "contradicted",
    }


def test_b2_no_difference_neither_falls_nor_jumps() -> None:
    results = b2_time_difference.STUDY.claims(rings("B2", lambda at: 1.0))
    assert set(made.outcomes(results).values()) == {"contradicted"}


def test_b2_a_difference_within_the_noise_is_inconclusive() -> None:
    results = b2_time_difference.STUDY.claims(rings("B2", lambda at: 1.0, noise=0.1))
    assert set(made.outcomes(results).values()) == {"inconclusive"}


@pytest.mark.parametrize(
    "longer",
    [
        lambda at: 0.5 if at["size_bytes"] >= 100_000 else 1.0,
        lambda at: 1.5 if at["size_bytes"] > 100_000 else 1.0,
        lambda at: 1.5 if at["size_bytes"] >= 100_000 and at["ranks"] == 2 else 1.0,
    ],
    ids=["downwards", "at a larger size", "in one ring alone"],
)
def test_b2_another_jump_contradicts_the_papers(longer: Callable[[At], float]) -> None:
    results = b2_time_difference.STUDY.claims(rings("B2", longer))
    assert made.outcomes(results)["jumps-at-100000"] == "contradicted"


@pytest.mark.parametrize("left_out", [lambda size: size == 100_000, lambda size: size < 100_000])
def test_b2_without_100000_bytes_and_a_size_before_no_jump_can_be_seen(
    left_out: Callable[[int], bool],
) -> None:
    record = rings("B2", lambda at: 1.0)
    record.points = [p for p in record.points if not left_out(p.at["size_bytes"])]
    results = made.outcomes(b2_time_difference.STUDY.claims(record))
    assert results["jumps-at-100000"] == "inconclusive"


@pytest.mark.parametrize(
    ("share", "noise", "outcome"),
    [
        ({3: 1.0, 4: 0.8}, 0.01, "holds"),
        ({3: 0.8, 4: 1.0}, 0.01, "contradicted"),
        ({3: 1.0, 4: 1.0}, 0.01, "contradicted"),
        ({3: 1.0, 4: 1.0}, 0.1, "inconclusive"),
    ],
)
def test_b3_every_outcome(share: dict[int, float], noise: float, outcome: str) -> None:
    results = b3_bandwidth_difference.STUDY.claims(
        rings("B3", lambda at: share.get(at["ranks"], 1.0), noise=noise)
    )
    assert made.outcomes(results) == {"rises-from-3-to-4": outcome}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("module", "claim", "sizes", "longer"),
    [
        (b2_time_difference, "falls-with-nodes", (50_000,), jumping),
        (b2_time_difference, "jumps-at-100000", (75_000, 100_000), jumping),
        (b3_bandwidth_difference, "rises-from-3-to-4", (150_000,), rising),
    ],
)
def test_noise_alone_rarely_falls_jumps_or_rises(
    module: Any,
    claim: str,
    sizes: tuple[int, ...],
    longer: Callable[[At], float],
) -> None:
    def judged(longer: Callable[[At], float]) -> Callable[[Noise], Outcome]:
        record = rings(module.STUDY.id, longer, noise=0)
        record.points = [p for p in record.points if p.at["size_bytes"] in sizes]
        return lambda noise: outcome_of(module.STUDY, noisy(record, noise), claim)

    assert_rarely_holds(judged(lambda at: 1.0))
    assert_mostly_holds(judged(longer))
