"""Does the rubric of lab 05 hold every answer against the learner's own Records, with a reason?"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from marked import Marked, points

from beowulf.record import Point, Record
from beowulf.studies.lab_05.overlap import ONE_USER
from tests.gold import lab_05
from tests.gold.lab_05 import PASSES, one_message, own, records, sweep

LAB = Marked(lab_05)
instead, scores = LAB.instead, LAB.scores


def test_an_empty_hand_in_is_answered_which_record_is_missing() -> None:
    found = LAB.scores([])["d1-record"].found
    assert "There is no Record D1" in found


def test_records_without_answers_earn_only_what_was_measured() -> None:
    found = points(LAB.unanswered())
    assert {name for name, earned in found.items() if earned} == {
        *("d1-record", "d2-record", "d4-record", "d5-record", "exchange-record", "exchange-gain")
    }


def test_answers_without_records_earn_only_what_the_paper_tells() -> None:
    found = points(scores([]))
    assert {name for name, earned in found.items() if earned} == {"table-9-minimum", "misprint"}


def test_support_is_what_the_learners_own_record_shows() -> None:
    never_late = instead(one_message(waits=False))
    assert scores(never_late)["d1-support"].points == 2
    assert scores(never_late, one_user_39_kb=" Supported")["d1-support"].points == 3


@pytest.mark.parametrize(
    ("jump_kb", "last", "first", "earned"),
    [
        (15, 10, 20, 2),
        (15, 10.0, 30, 1),
        (15, 20, 10, 0),
        (15, "10", None, 0),
        (15, 10_240, 20_480, 0),
        (65, 60, 70, 2),
        (65, 10, 20, 0),
    ],
)
def test_the_limit_is_that_of_the_learners_own_sweep(
    jump_kb: int, last: object, first: object, earned: int
) -> None:
    found = scores(instead(sweep(jump_kb)), last_by_itself_kb=last, first_that_waits_kb=first)
    assert found["eager-limit"].points == earned


def test_a_sweep_without_one_jump_asks_for_another() -> None:
    found = scores(instead(sweep(90)), last_by_itself_kb=80, first_that_waits_kb=0)["eager-limit"]
    assert found.points <= 1
    kept = instead(sweep())
    noisy = sweep()
    noisy.points[3] = replace(noisy.points[3], samples=[0.05] * PASSES)
    noisy.started = "2099-01-01T00:00:00.000Z"
    assert scores([*kept, noisy])["eager-limit"].points == 2  # an earlier sweep is clear
    only = scores(instead(noisy))["eager-limit"]
    assert (only.points, "measure it again" in only.expected) == (0, True)


@pytest.mark.parametrize(("answer", "earned"), [(4.4, 2), (3.5, 2), (-4.0, 0), (5.0, 0), ("4", 0)])
def test_a_percentage_has_its_sign_and_some_room(answer: object, earned: int) -> None:
    found = scores(d3_percent=answer)["d3-percent"]
    assert found.points == earned
    assert ("positive sign" in found.expected) == (answer == -4.0)


def test_an_answer_may_fit_any_of_the_learners_records() -> None:
    later = sweep(65)
    later.started = "2099-01-01T00:00:00.000Z"
    kept = [*records(), later]
    assert scores(kept)["eager-limit"].points == 2
    now = scores(kept, last_by_itself_kb=60, first_that_waits_kb=70)["eager-limit"]
    assert (now.points, later.file_name in now.expected) == (2, True)
    assert scores(kept, last_by_itself_kb=30, first_that_waits_kb=40)["eager-limit"].points == 0


def test_each_of_two_gains_is_a_point() -> None:
    assert scores(plain_percent=0.9)["lost-gain"].points == 2
    assert scores(plain_percent=-40, tested_percent=40)["lost-gain"].points == 0
    assert scores(tested_percent=float("nan"))["lost-gain"].points == 1


@pytest.mark.parametrize(
    ("mine", "earned"),
    [(own(-0.4), 4), (own(-0.16), 4), (own(-0.05), 2), (own(0.0), 0), (own(0.2), 0)],
)
def test_an_exchange_earns_by_what_it_gains(mine: Record, earned: int) -> None:
    found = scores(instead(mine))
    assert (found["exchange-record"].points, found["exchange-gain"].points) == (2, earned)


def test_the_best_of_several_exchanges_counts() -> None:
    assert scores([*instead(own(-0.4)), own(0.0)])["exchange-gain"].points == 4


def test_an_exchange_that_is_held_against_a_slowed_down_one_earns_nothing() -> None:
    slowed = scores(instead(own(before=0.2, during=0.037)))["exchange-gain"]
    assert slowed.points == 0
    assert "far longer" in slowed.found


@pytest.mark.parametrize("study", ["D1", "D2", "D4", "D5"])
def test_a_record_that_was_cut_short_or_emptied_is_no_whole_one(study: str) -> None:
    whole = next(each for each in records() if each.study == study)
    for other in (replace(whole, complete=False), replace(whole, points=[])):
        found = scores(instead(other))[f"{study.lower()}-record"]
        assert found.points == 0
        assert other.file_name in found.found


def test_the_record_of_the_exercise_is_not_taken_for_d4() -> None:
    kept = [each for each in records() if (each.study, each.variant) != ("D4", "")]
    assert scores(kept)["d4-record"].points == 0


@pytest.mark.parametrize(
    "junk",
    [
        Point({"n": 1}, "duration_s", [1.0]),
        Point({"n": 1}, "since_barrier_s", [1.0] * 5),
        Point({**ONE_USER.at, "size_bytes": "many", "rank": [], "part": {}}, "duration_s", [1.0]),
        Point({"rank": 0, "launch": 0, "part": "comm"}, "duration_s", [0.0]),
    ],
)
def test_records_of_junk_never_raise_and_never_earn(junk: Point) -> None:
    kept = [replace(each, points=[junk, junk]) for each in records()]
    for name, score in scores(kept).items():
        assert math.isfinite(score.points)
        assert score.found, name
        assert not score.points or name in ("table-9-minimum", "misprint")


def test_a_record_with_far_too_many_samples_is_refused_and_not_worked_on() -> None:
    huge = sweep()
    huge.points[0] = replace(huge.points[0], samples=[0.1] * (LAB.rubric.MOST_SAMPLES + 1))
    found = scores(instead(huge))["d2-record"]
    assert found.points == 0
    assert "more than" in found.found
