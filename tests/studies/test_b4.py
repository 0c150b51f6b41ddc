"""B4: is what calls cost the processor judged both ways?"""

from __future__ import annotations

import made
from lab_04_records import At, b4

from beowulf.studies.lab_04 import b4_cpu_use


def rising(at: At) -> float:
    return 20.0 + b4_cpu_use.SIZES.index(at["size_bytes"]) * 5


def test_b4_holds_where_asking_costs_more_and_length_too() -> None:
    found = b4_cpu_use.STUDY.claims(
        b4(lambda at: rising(at) + 10 * (at["protocol"] == "nonblocking"))
    )
    assert made.outcomes(found) == {"nonblocking-uses-more": "holds", "rises-with-size": "holds"}


def test_b4_contradicts_where_calls_are_equal_and_long_messages_let_the_rank_sleep() -> None:
    found = b4_cpu_use.STUDY.claims(b4(lambda at: 80 - rising(at)))
    assert made.outcomes(found) == {
        "nonblocking-uses-more": "contradicted",
        "rises-with-size": "contradicted",
    }
    assert "spinning, any rank uses" in found[0].evidence


def test_b4_is_inconclusive_where_the_difference_is_within_the_noise() -> None:
    noisy = b4(lambda at: 50 + 2 * (at["protocol"] == "nonblocking"), noise=0.05)
    assert set(made.outcomes(b4_cpu_use.STUDY.claims(noisy)).values()) == {"inconclusive"}


def test_b4_suggests_no_course_between_its_few_sizes() -> None:
    axes = b4_cpu_use.STUDY.picture(b4(rising)).drawing.axes[0]
    assert all(line.get_linewidth() < 1 < line.get_markersize() for line in axes.lines)
    assert {*axes.get_xticks(), *axes.get_xticks(minor=True)} == set(b4_cpu_use.SIZES)
