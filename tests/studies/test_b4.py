"""B4: is what calls cost the processor judged both ways?"""

from __future__ import annotations

from collections.abc import Callable

import made
import pytest
from lab_04_records import At, b4, noisy
from null_records import Noise, assert_mostly_holds, assert_rarely_holds, outcome_of

from beowulf.labs.lab_04 import b4_cpu_use
from beowulf.verdict import Outcome

CLAIMS = (
    "nonblocking-uses-more",
    "nonblocking-peaks-higher",
    "rises-with-size",
    "peak-rises-with-size",
)


def rising(at: At) -> float:
    return 20.0 + b4_cpu_use.SIZES.index(at["size_bytes"]) * 5


def seen(at: At) -> float:
    """An effect so large that peaks, which a burst of noise more than doubles, do not hide it."""
    first = at["size_bytes"] == b4_cpu_use.SIZES[0]
    return (3 if first else 25) * (1 if at["protocol"] == "blocking" else 4)


def test_b4_holds_where_asking_costs_more_and_length_too() -> None:
    results = b4_cpu_use.STUDY.claims(
        b4(lambda at: rising(at) + 10 * (at["protocol"] == "nonblocking"), launches=3)
    )
    assert made.outcomes(results) == dict.fromkeys(CLAIMS, "holds")


def test_b4_contradicts_where_calls_are_equal_and_long_messages_let_the_rank_sleep() -> None:
    results = b4_cpu_use.STUDY.claims(b4(lambda at: 80 - rising(at), launches=3, noise=0.005))
    assert made.outcomes(results) == dict.fromkeys(CLAIMS, "contradicted")
    assert "spinning, any rank uses" in results[0].evidence


def test_b4_one_size_at_which_nonblocking_does_not_use_more_contradicts() -> None:
    """Paper B: consistently."""

    def but_at_one(at: At) -> float:
        more = at["protocol"] == "nonblocking" and at["size_bytes"] != 1024
        return rising(at) + 10 * more

    results = made.outcomes(b4_cpu_use.STUDY.claims(b4(but_at_one, launches=3, noise=0.005)))
    assert results["nonblocking-uses-more"] == results["nonblocking-peaks-higher"] == "contradicted"


def test_b4_medians_and_peaks_may_differ() -> None:
    record = b4(lambda at: 50.0, launches=3, noise=0.001)
    for point in record.select(protocol="nonblocking"):
        point.samples[3] = 90.0
    results = made.outcomes(b4_cpu_use.STUDY.claims(record))
    assert results["nonblocking-uses-more"] == "contradicted"
    assert results["nonblocking-peaks-higher"] == "holds"


def test_b4_two_peaks_are_too_few() -> None:
    results = made.outcomes(b4_cpu_use.STUDY.claims(b4(lambda at: 80 - rising(at))))
    assert results["nonblocking-peaks-higher"] == results["peak-rises-with-size"] == "inconclusive"


def test_b4_is_inconclusive_where_the_difference_is_within_the_noise() -> None:
    noisy = b4(lambda at: 50 + 2 * (at["protocol"] == "nonblocking"), noise=0.05)
    assert set(made.outcomes(b4_cpu_use.STUDY.claims(noisy)).values()) == {"inconclusive"}


@pytest.mark.nightly
@pytest.mark.parametrize("claim", CLAIMS)
def test_b4_noise_alone_rarely_uses_more(claim: str) -> None:
    def judged(percent: Callable[[At], float]) -> Callable[[Noise], Outcome]:
        record = b4(percent, launches=3, noise=0)
        ends = (b4_cpu_use.SIZES[0], b4_cpu_use.SIZES[-1])
        record.points = [
            p for p in record.points if p.at["size_bytes"] in ends and p.at["polling"] == "patient"
        ]
        return lambda noise: outcome_of(b4_cpu_use.STUDY, noisy(record, noise), claim)

    assert_rarely_holds(judged(lambda at: 40.0))
    assert_mostly_holds(judged(seen))


def test_b4_suggests_no_course_between_its_few_sizes() -> None:
    axes = b4_cpu_use.STUDY.picture(b4(rising)).drawing.axes[0]
    assert all(line.get_linewidth() < 1 < line.get_markersize() for line in axes.lines)
    assert {*axes.get_xticks(), *axes.get_xticks(minor=True)} == set(b4_cpu_use.SIZES)
