"""From what a Record shows to a Verdict: does an outcome say what the intervals say?"""

from __future__ import annotations

import pytest

from beowulf.measure.judgement import MEND, rising, unjudged
from beowulf.record import Record


@pytest.mark.parametrize(
    ("intervals", "outcome"),
    [
        ([(1, 2), (3, 4), (5, 6)], "holds"),
        ([(1, 3), (2, 4), (5, 6)], "inconclusive"),
        ([(1, 2), (5, 6), (3, 4)], "contradicted"),
        ([(1, 3), (2, 4), (0, 1)], "contradicted"),
        ([(1, 2)], "holds"),
    ],
)
def test_what_rises_lies_above_what_came_before(
    intervals: list[tuple[float, float]], outcome: str
) -> None:
    assert rising(intervals) == outcome


def test_claims_with_nothing_to_look_at_are_inconclusive_and_say_what_helps() -> None:
    found = unjudged(Record(study="A7"), {"one": "First", "two": "Second"}, ["there is nothing"])
    assert [(each.claim, each.says) for each in found] == [("one", "First"), ("two", "Second")]
    assert {each.outcome for each in found} == {"inconclusive"}
    assert {each.evidence for each in found} == {"there is nothing"}
    assert {each.advice for each in found} == {MEND}
