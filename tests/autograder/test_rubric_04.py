"""Does the rubric of lab 04 hold every answer against the learner's own Records, with a reason?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from marked import Marked, points

from autograder.course import release
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record
from tests.gold import lab_04
from tests.gold.lab_04 import CLUSTER, RIGHT, SLUG, a7, e1, patience, records

LAB = Marked(lab_04)
instead, scores = LAB.instead, LAB.scores


def test_the_notebook_asks_for_the_size_that_the_rubric_computes_with() -> None:
    notebook = release.student_version(release.sources()[SLUG])
    assert any(f"{LAB.rubric.ASKED_BYTES:,} bytes" in cell.source for cell in notebook.cells)


def test_an_empty_hand_in_is_answered_that_every_record_is_missing() -> None:
    found = LAB.score(LAB.submission([], {}))
    assert all("There is no Record" in score.found for score in found.values())


def test_records_without_answers_earn_only_the_records() -> None:
    found = LAB.unanswered()
    earned = {name: score.points for name, score in found.items() if score.points}
    assert earned == {"a7-record": 2, "e1-record": 2, "patience-record": 2}
    assert "no answer" in found["saturation-bytes"].found


@pytest.mark.parametrize(
    ("name", "answer", "question", "earned"),
    [
        ("eager_limit_bytes", 131_072, "eager-limit", 2),
        ("eager_limit_bytes", 130_900, "eager-limit", 2),
        ("eager_limit_bytes", 131_500, "eager-limit", 0),
        ("eager_limit_bytes", 100_000, "eager-limit", 0),
        ("eager_limit_bytes", "131040", "eager-limit", 0),
        ("saturation_bytes", 1024, "saturation-bytes", 2),
        ("saturation_bytes", 65_536, "saturation-bytes", 2),
        ("saturation_bytes", 262_144, "saturation-bytes", 0),
        ("saturation_bytes", True, "saturation-bytes", 0),
        ("four_nodes_times", 1.6, "four-nodes", 2),
        ("four_nodes_times", 2.0, "four-nodes", 0),
        ("model_time_us", 40_000, "model-time", 2),
        ("model_time_us", 0.04002, "model-time", 0),
        ("model_time_us", float("nan"), "model-time", 0),
        ("half_rate_bytes", 230, "half-rate", 1),
        ("half_rate_bytes", 20, "half-rate", 0),
        ("impatience_times", 43, "patience-times", 1),
        ("impatience_times", 1 / 40, "patience-times", 0),
        ("impatience_times", None, "patience-times", 0),
    ],
)
def test_an_answer_may_be_off_by_what_reading_a_figure_costs(
    name: str, answer: object, question: str, earned: int
) -> None:
    assert scores(**{name: answer})[question].points == earned


def test_an_answer_is_held_against_the_learners_own_times() -> None:
    slow = e1()
    slow.points = [replace(p, samples=[2 * s for s in p.samples]) for p in slow.points]
    assert scores(instead(slow))["model-time"].points == 0
    found = scores(instead(slow), model_time_us=2 * RIGHT["model_time_us"], half_rate_bytes=250)
    assert (found["model-time"].points, found["half-rate"].points) == (2, 1)


def test_an_answer_may_be_that_of_an_earlier_record() -> None:
    later = e1()
    later.started = "2026-02-01T00:00:00.000Z"
    later.points = [replace(p, samples=[2 * s for s in p.samples]) for p in later.points]
    assert points(scores([*records(), later])) == LAB.worth


def test_another_library_has_another_limit_and_the_reason_says_so() -> None:
    modern = [replace(each, cluster={**CLUSTER, "mpi": "modern"}) for each in records()]
    found = scores(modern)["eager-limit"]
    assert found.points == 0
    assert "modern" in found.expected
    assert "instructor" in found.expected


@pytest.mark.parametrize("kept", records(), ids=lambda each: f"{each.study}-{each.variant}")
def test_the_limit_needs_no_record_but_one_that_names_the_library(kept: Record) -> None:
    assert scores([kept])["eager-limit"].points == 2
    assert scores([replace(kept, cluster={})])["eager-limit"].points == 0
    assert scores([])["eager-limit"].points == 0


@pytest.mark.parametrize(
    ("broken", "question", "said"),
    [
        (replace(a7(), complete=False), "a7-record", "cut short"),
        (replace(a7(), points=[]), "a7-record", "no rates"),
        (
            replace(a7(), points=[p for p in a7().points if p.at["ranks"] != 3]),
            "a7-record",
            "np 3",
        ),
        (replace(e1(), complete=False), "e1-record", "cut short"),
        (replace(e1(), points=e1().points[:1]), "e1-record", "no line"),
        (replace(patience(), complete=False), "patience-record", "cut short"),
        (replace(patience(), points=patience().points[:1]), "patience-record", "without"),
    ],
)
def test_a_record_from_which_something_is_missing_earns_one_point_and_says_what(
    broken: Record, question: str, said: str
) -> None:
    found = scores(instead(broken))[question]
    assert found.points == 1
    assert said in found.found


@pytest.mark.parametrize("junk", [{}, {"sweep": "wide"}, {"size_bytes": "many", "sweep": "wide"}])
def test_records_of_junk_never_raise_and_never_earn_too_much(junk: dict[str, Any]) -> None:
    kept = [replace(each, cluster={}, points=[Point(junk, HALF, [1.0])]) for each in records()]
    for name, score in scores(kept).items():
        assert 0 <= score.points <= 1
        assert math.isfinite(score.points)
        assert score.found, name
