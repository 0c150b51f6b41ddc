"""B1: does the time of short messages vary little, and with the kind of call, where it does?"""

from __future__ import annotations

from collections.abc import Callable

import made
import pytest
from lab_04_records import US_PER_BYTE, At, b1, noisy
from null_records import Noise, assert_mostly_holds, assert_rarely_holds, outcome_of

from beowulf.labs.lab_04 import b1_round_trip
from beowulf.measure.sweep import PAPER_A_SMALL
from beowulf.record import Record
from beowulf.verdict import Outcome


def test_b1_a_latency_that_hides_the_size_varies_little() -> None:
    found = b1_round_trip.STUDY.claims(b1(lambda at: 500 + at["size_bytes"] * US_PER_BYTE))
    assert made.outcomes(found) == {
        "little-variation": "holds",
        "blocking-alike": "holds",
        "mpptest-little-variation": "holds",
        "mpptest-similar-calls": "holds",
    }


@pytest.mark.parametrize(
    ("record", "claim", "outcome"),
    [
        (b1(lambda at: 5 + at["size_bytes"] * US_PER_BYTE), "little-variation", "contradicted"),
        (
            b1(lambda at: 300 + at["size_bytes"] * US_PER_BYTE, noise=0.3),
            "little-variation",
            "inconclusive",
        ),
        (
            b1(lambda at: 650 if at["protocol"] == "nonblocking" else 500),
            "blocking-alike",
            "contradicted",
        ),
    ],
    ids=["a short latency", "noise", "calls that differ"],
)
def test_b1_otherwise(record: Record, claim: str, outcome: str) -> None:
    assert made.outcomes(b1_round_trip.STUDY.claims(record))[claim] == outcome


def test_b1_calls_whose_intervals_are_wide_are_not_known_to_be_equal() -> None:
    found = b1_round_trip.STUDY.claims(b1(lambda at: 500.0, n=12, noise=0.3))[1]
    assert found.outcome == "inconclusive"
    assert f"undecided at {found.numbers['undecided']}" in found.evidence


def working(us_a_byte: float) -> Callable[[At], float]:
    """Half round trips that grow with the work."""
    return lambda at: 20 + at["overlap_bytes"] * us_a_byte


@pytest.mark.parametrize(
    ("us_a_byte", "noise", "outcome"),
    [(0.0002, 0.001, "holds"), (0.02, 0.001, "contradicted"), (0.005, 0.5, "inconclusive")],
)
def test_b1_the_work_is_swept_in_mpptests_way(us_a_byte: float, noise: float, outcome: str) -> None:
    record = b1(lambda at: 500.0, working(us_a_byte), noise=noise)
    assert made.outcomes(b1_round_trip.STUDY.claims(record))["mpptest-little-variation"] == outcome


@pytest.mark.nightly
def test_b1_a_time_that_grows_with_the_work_rarely_varies_little() -> None:
    def judged(us_a_byte: float) -> Callable[[Noise], Outcome]:
        record = b1(lambda at: 500.0, working(us_a_byte), noise=0)
        ends = (min(PAPER_A_SMALL), max(PAPER_A_SMALL))
        record.points = [p for p in record.points if p.at["overlap_bytes"] in ends]
        return lambda noise: outcome_of(
            b1_round_trip.STUDY, noisy(record, noise), "mpptest-little-variation"
        )

    assert_rarely_holds(judged(0.0075))
    assert_mostly_holds(judged(0.0))


def test_b1_draws_the_message_and_the_work() -> None:
    table = b1_round_trip.STUDY.picture(b1(lambda at: 500.0)).table
    assert set(table["way"]) == {"message", "mpptest"}
    assert set(table.loc[table["way"] == "mpptest", "length_bytes"]) == set(PAPER_A_SMALL)
