"""A6: is a program that agrees with others distinguished from one that does not?"""

from __future__ import annotations

from collections.abc import Callable

import made
import pytest
from lab_04_records import a6, noisy
from null_records import Noise, assert_mostly_holds, assert_rarely_holds, outcome_of

from beowulf.labs.lab_04 import a6_measuring_program
from beowulf.measure.roundtrips import HALF
from beowulf.verdict import Outcome


def test_a6_holds_for_a_program_that_agrees() -> None:
    results = a6_measuring_program.STUDY.claims(a6())
    assert made.outcomes(results) == {"clock": "holds", "agrees": "holds"}


def test_a6_a_coarse_clock_and_another_time_contradict() -> None:
    """A clock of a microsecond cannot time one round trip of 40 µs, though it can time ten of them."""
    results = a6_measuring_program.STUDY.claims(a6(imb=1.3, tick_s=1e-6))
    assert set(made.outcomes(results).values()) == {"contradicted"}


def test_a6_without_the_other_ways_it_cannot_be_compared() -> None:
    record = a6()
    record.points = [p for p in record.points if p.at.get("mode") != "imb"]
    assert made.outcomes(a6_measuring_program.STUDY.claims(record))["agrees"] == "inconclusive"


def test_a6_a_chunk_that_meets_an_idle_cable_is_no_disagreement() -> None:
    # The first packets after a pause pass a shaped cable at once; a thousand in a row do not.
    record = a6()
    for point in record.points:
        if point.at.get("mode") == "ours" and point.quantity == HALF:
            point.samples[0] /= 2
    results = a6_measuring_program.STUDY.claims(record)
    assert made.outcomes(results)["agrees"] == "holds"


def test_a6_two_slow_launches_decide_nothing() -> None:
    record = a6()
    for point in record.points:
        at = point.at
        if point.quantity == HALF and at["mode"] == "ours" and at["size_bytes"] == 128:
            factor = {4: 1.7, 5: 1.6}.get(at["launch"], 1.0)
            point.samples[:] = [factor * each for each in point.samples]
    (results,) = [
        each for each in a6_measuring_program.STUDY.claims(record) if each.claim == "agrees"
    ]
    assert results.outcome == "inconclusive"
    assert "at 128 bytes" in results.evidence


def test_a6_fewer_launches_than_six_decide_nothing() -> None:
    agrees = made.outcomes(a6_measuring_program.STUDY.claims(a6(launches=3)))["agrees"]
    assert agrees == "inconclusive"


@pytest.mark.nightly
def test_a6_another_program_that_differs_by_more_rarely_agrees_and_one_that_does_not_mostly_does() -> (
    None
):
    def judged(imb: float) -> Callable[[Noise], Outcome]:
        record = a6(imb, n=100)
        record.points = [p for p in record.points if p.at.get("size_bytes") == 128]
        return lambda noise: outcome_of(a6_measuring_program.STUDY, noisy(record, noise), "agrees")

    assert_rarely_holds(judged(1 / (1 + 1.1 * a6_measuring_program.AGREE)))
    assert_mostly_holds(judged(1.0))
