"""A claim as an expression: do outcome, evidence and numbers come from the intervals that it compares?"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from beowulf.errors import LabError
from beowulf.measure.judgement import Span
from beowulf.measure.statistics import summary
from beowulf.record import Point, Record
from beowulf.studies.one_program import OneProgram
from beowulf.studies.quantity import (
    PERCENT,
    TIMES,
    Judge,
    Quantity,
    Seen,
    all_hold,
    in_order,
    known,
)

SHORT = Quantity("a short message", lambda facts: facts["short"], "µs")
LONG = Quantity("a long message", lambda facts: facts["long"], "µs")
RATE = Quantity("the rate", lambda facts: Span(10, 12), "MB/s")
APART = {"short": summary([1.0, 1.1, 1.2]), "long": Span(2.2, 3.3)}
CHANGES = {"A": (-20.0, -21.0, -19.0), "B": (0.0, -1.0, 1.0)}
TOUCHING = {**APART, "long": Span(1.1, 3.3)}


@pytest.mark.parametrize(
    ("judge", "facts", "outcome"),
    [
        (SHORT < LONG, APART, "holds"),
        (SHORT > LONG, APART, "contradicted"),
        (SHORT < LONG, TOUCHING, "inconclusive"),
        (SHORT < 2, APART, "holds"),
        (LONG / SHORT > 1.5, APART, "holds"),
        (LONG - SHORT < 0.5, APART, "contradicted"),
        (RATE.within(9, 13), APART, "holds"),
        (RATE.within(11, 13), APART, "inconclusive"),
        (all_hold(SHORT < LONG, SHORT < 2), APART, "holds"),
        (all_hold(SHORT < 2, SHORT < LONG), TOUCHING, "inconclusive"),
        (all_hold(SHORT < LONG, SHORT > 2), TOUCHING, "contradicted"),
        (in_order([SHORT], [LONG]), APART, "holds"),
        (in_order([SHORT], [SHORT, LONG]), APART, "inconclusive"),
        (in_order([LONG], [LONG, SHORT]), APART, "contradicted"),
    ],
)
def test_an_expression_judges(judge: object, facts: object, outcome: str) -> None:
    assert judge(facts).outcome == outcome  # type: ignore[operator]


def test_evidence_and_numbers_are_those_of_what_is_compared() -> None:
    seen = (SHORT < LONG)(APART)
    assert seen.evidence == (
        "a short message: 1.1 µs (1 to 1.2); n = 3; a long message: 2.2 to 3.3 µs"
    )
    of_short = {"median": 1.1, "n": 3, "low": 1.0, "high": 1.2}
    assert seen.numbers == {**of_short, "limit_low": 2.2, "limit_high": 3.3}


def test_evidence_has_the_threshold_the_parts_and_the_sign_of_a_change() -> None:
    one, other = (known(name, Seen(*each), PERCENT) for name, each in CHANGES.items())
    seen = (one - other < -2)(None)
    assert seen.evidence == (
        "A: -20 % (-21 to -19); B: +0 % (-1 to +1); their difference: -22 to -18 %, and less than -2 is asked"
    )
    assert (LONG / known("none", Span(0, 1), "µs") > 1)(APART).numbers == {"low": 2.2}


def test_evidence_has_what_is_half_of_a_papers_change() -> None:
    rate = known("the rate", Seen(1.1, 1.0, 1.2), TIMES)
    assert rate.reaches(4.6)(None).evidence == (
        "the rate: 1.1 times (1 to 1.2), and at least 2.8 (half of the paper's change, to 4.6) is asked"
    )
    share = known("the share", Seen(-0.3, -0.4, -0.2), "points")
    seen = share.reaches(-0.54)(None)
    assert seen.evidence.endswith(
        "and at most -0.27 (half of the paper's change, to -0.54) is asked"
    )
    assert (seen.outcome, share.reaches(0.54)(None).outcome) == ("inconclusive", "contradicted")


def test_evidence_says_each_part_and_each_number_once() -> None:
    count = known("a count", Span(27, 27), "µs")
    assert all_hold(count > 1, SHORT / count < 1, count > 1)(APART).evidence == (
        "a count: 27 µs, and more than 1 is asked; a short message: 1.1 µs (1 to 1.2); n = 3; a count: 27 µs;"
        " their quotient: 0.03704 to 0.04444 times, and less than 1 is asked"
    )


@pytest.mark.parametrize("judge", [all_hold(), LONG > 1, all_hold(SHORT < 2, LONG > SHORT)])
def test_what_was_not_measured_decides_nothing(judge: Judge) -> None:
    with pytest.raises(LabError):
        judge({**APART, "long": Span(math.nan, math.nan)})


def test_what_has_different_units_is_not_compared() -> None:
    with pytest.raises(TypeError, match="a short message is in µs and the rate in MB/s"):
        _ = SHORT < RATE
    with pytest.raises(TypeError, match="cannot be compared"):
        _ = SHORT / RATE


@pytest.mark.parametrize(
    ("quantity", "sample"), [("sum_s", 2e-4), ("sum_ms", 0.2), ("sum_us", 200), ("sum_ns", 2e5)]
)
def test_one_program_reads_each_unit_of_time(quantity: str, sample: float) -> None:
    points = [Point({"ranks": nodes}, quantity, [sample] * 6) for nodes in (2, 4)]
    program = OneProgram(Path("sum.c"), quantity, "a sum", (2, 4))
    times = program.times(Record("X1", points=points))
    assert list(program.table(times)["sum_us"]) == pytest.approx([200, 200])
