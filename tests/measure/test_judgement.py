"""From what a Record shows to a Verdict: does an outcome say what the intervals say?"""

from __future__ import annotations

import pytest

from beowulf.measure.judgement import (
    Agreement,
    Span,
    again,
    narrower,
    reaches,
    rising,
    unjudged,
    verdict,
)
from beowulf.measure.statistics import Ratio
from beowulf.record import Record


@pytest.mark.parametrize(
    ("intervals", "outcome"),
    [
        ([(1, 2), (3, 4), (5, 6)], "holds"),
        ([(1, 3), (2, 4), (5, 6)], "inconclusive"),
        ([(1, 2), (5, 6), (3, 4)], "contradicted"),
        ([(1, 2)], "holds"),
    ],
)
def test_what_rises_lies_above_what_came_before(
    intervals: list[tuple[float, float]], outcome: str
) -> None:
    assert rising(intervals) == outcome


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        (Span(0.50, 0.60), "holds"),
        (Span(0.70, 0.80), "inconclusive"),
        (Span(0.90, 0.95), "contradicted"),
        (Span(1.20, 1.30), "contradicted"),
    ],
)
def test_half_of_the_published_effect_decides(measured: Span, outcome: str) -> None:
    assert reaches(measured, published=0.5, none=1) == outcome
    upwards = Span(2 - measured.high, 2 - measured.low)
    assert reaches(upwards, published=1.5, none=1) == outcome


@pytest.mark.parametrize("named", [True, False])
def test_quick_is_named_only_to_whom_measured_with_it(named: bool) -> None:
    record = Record(study="A7", sweep={"quick": named})
    busy = verdict(record, "one", "First", "holds", "10 us", trouble=["the load was 9.0"])
    open_ = verdict(record, "one", "First", "inconclusive", "the intervals touch")
    assert busy.advice == open_.advice
    assert "measure again" in busy.advice
    assert ("--quick" in busy.advice) is named
    assert ("--quick" in narrower(record)) is named
    (nothing,) = unjudged(record, {"one": "First"}, ["there is nothing"])
    assert (nothing.evidence, nothing.advice) == ("there is nothing", again(record))


def test_several_reasons_stand_behind_one_but() -> None:
    record, busy = Record(study="E2"), ["the load was 9.0", "before the start, programs waited"]
    found = verdict(
        record,
        "one",
        "First",
        "holds",
        "10 us",
        undecidable="no card",
        advice="Take PCs.",
        trouble=busy,
    )
    assert found.evidence == (
        "10 us; but no card; the load was 9.0; and before the start, programs waited"
    )
    assert (found.outcome, found.advice) == ("inconclusive", "Take PCs."), "not to measure again"
    assert verdict(record, "one", "First", "holds", "", trouble=busy[:1]).evidence == busy[0]


@pytest.mark.parametrize(
    ("alike", "differ", "undecided", "outcome"),
    [
        (9, 0, 1, "holds"),
        (9, 1, 0, "holds"),
        (6, 0, 4, "holds"),
        (5, 0, 5, "inconclusive"),
        (8, 2, 0, "contradicted"),
    ],
)
def test_places_that_are_undecided_count_for_neither_side(
    alike: int, differ: int, undecided: int, outcome: str
) -> None:
    found = [
        *[Ratio(1.05, 0.95, 1.08, 12)] * alike,
        *[Ratio(1.5, 1.2, 1.6, 12)] * differ,
        *[Ratio(1.0, 0.95, 1.35, 12)] * undecided,
    ]
    agree = Agreement.of(found, 0.1)
    assert (agree.similar, agree.differ, agree.undecided) == (alike, differ, undecided)
    assert agree.outcome(0.9) == outcome
