"""B1: does the time of short messages vary little, and with the kind of call, where it does?"""

from __future__ import annotations

import made
from lab_04_records import US_PER_BYTE, b1

from beowulf.studies.lab_04 import b1_round_trip


def test_b1_a_latency_that_hides_the_size_varies_little() -> None:
    found = b1_round_trip.STUDY.claims(b1(lambda at: 500 + at["size_bytes"] * US_PER_BYTE))
    assert made.outcomes(found) == {"little-variation": "holds", "blocking-alike": "holds"}


def test_b1_a_short_latency_shows_the_size() -> None:
    found = b1_round_trip.STUDY.claims(b1(lambda at: 5 + at["size_bytes"] * US_PER_BYTE))
    assert made.outcomes(found)["little-variation"] == "contradicted"


def test_b1_a_variation_within_the_noise_is_inconclusive() -> None:
    found = b1_round_trip.STUDY.claims(
        b1(lambda at: 300 + at["size_bytes"] * US_PER_BYTE, noise=0.3)
    )
    assert made.outcomes(found)["little-variation"] == "inconclusive"


def test_b1_calls_that_differ_are_not_equal() -> None:
    found = b1_round_trip.STUDY.claims(
        b1(lambda at: 500 * (1.3 if at["protocol"] == "nonblocking" else 1))
    )
    assert made.outcomes(found)["blocking-alike"] == "contradicted"


def test_b1_calls_whose_intervals_are_wide_are_not_known_to_be_equal() -> None:
    found = b1_round_trip.STUDY.claims(b1(lambda at: 500.0, n=12, noise=0.3))[1]
    assert found.outcome == "inconclusive"
    assert f"undecided at {found.numbers['undecided']}" in found.evidence
