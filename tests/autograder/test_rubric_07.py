"""Does the rubric of lab 07 hold every answer against the learner's own Records, with a reason?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from marked import Marked, earned, points

from beowulf.record import Point, Record
from beowulf.studies.lab_07 import e7_procedure as e7
from beowulf.tuning.paper_e_baseline import FIREWALL, MODERATION
from tests.gold import lab_07
from tests.gold.lab_07 import (
    applications,
    asked,
    knobs,
    null,
    own,
    posted,
    procedure,
    records,
    steps,
)

LAB = Marked(lab_07)
instead, scores = LAB.instead, LAB.scores
BY_HAND = {
    *("wire-time", "not-observable", "forty-ms"),
    *("waiting-share", "sixty-percent", "nanoseconds"),
}
MEASURED = {
    *("l1-record", "e6-record", "e7-record", "l2-record"),
    *("own-knob", "letters-record", "letters-gain"),
}


def test_an_empty_hand_in_is_answered_which_record_is_missing() -> None:
    found = LAB.scores([])["l1-record"].found
    assert "There is no Record L1" in found


def test_records_without_answers_earn_only_what_was_measured() -> None:
    assert earned(LAB.unanswered()) == MEASURED


def test_answers_without_records_earn_only_what_the_papers_and_the_pencil_tell() -> None:
    assert earned(scores([])) == BY_HAND


@pytest.mark.parametrize(
    ("answers", "points_earned"),
    [
        ({"largest_step": " tcp/ip ", "largest_step_us": 4.55}, 2),
        ({"largest_step": "wake-up", "largest_step_us": 4.6}, 0),
        ({"largest_step": "TCP/IP", "largest_step_us": 2.0}, 1),
        ({"largest_step": "TCP/IP", "largest_step_us": "4.6"}, 1),
    ],
)
def test_the_largest_step_is_that_of_the_learners_own_budget(
    answers: dict[str, Any], points_earned: int
) -> None:
    assert scores(**answers)["largest-step"].points == points_earned


def test_two_steps_that_are_nearly_equal_may_each_be_called_the_largest() -> None:
    kept = instead(steps(nodes_waiting=6.5 + 4.4))
    for step, us in (("wake-up", 4.4), ("TCP/IP", 4.6)):
        assert scores(kept, largest_step=step, largest_step_us=us)["largest-step"].points == 2


def test_prediction_and_measurement_are_a_point_each() -> None:
    assert scores(predicted_mpi_us=7.1)["budget-sum"].points == 2
    assert scores(predicted_mpi_us=9.0)["budget-sum"].points == 1
    assert scores(predicted_mpi_us=9.0, measured_mpi_us=9.0)["budget-sum"].points == 0


def test_a_node_that_differs_is_the_one_of_the_learners_record() -> None:
    kept = instead(asked("node03", MODERATION))
    assert scores(kept)["unlike"].points == 0
    found = scores(kept, unlike_node="node03", unlike_question="moderation")
    assert found["unlike"].points == 2
    assert scores(unlike_node="node01")["unlike"].points == 1


def test_nodes_that_are_all_equal_are_no_puzzle() -> None:
    found = scores(instead(asked("")))["unlike"]
    assert (found.points, "one different answer" in found.found) == (0, True)


def test_what_a_cycle_of_nothing_decides_is_what_the_record_shows() -> None:
    kept = instead(null(1.2))
    assert scores(kept)["null"].points == 0
    assert scores(kept, null_decision="slower")["null"].points == 1


def test_gains_have_some_room_and_their_sign() -> None:
    assert scores(sum_percent=-63.6)["not-additive"].points == 2
    assert scores(sum_percent=64.0)["not-additive"].points == 1
    assert scores(firewall_later_percent=-4.0)["same-microseconds"].points == 0.5
    assert scores(together_percent=-60.0)["e6-table"].points == 1
    assert scores(deviation_times=2.7)["e6-table"].points == 1


def test_where_the_moderation_cannot_be_turned_that_is_the_answer() -> None:
    kept = instead(knobs(root=False), procedure(firewall=e7.KEPT))
    asked_for = ("e6-record", "e6-table", "not-additive", "same-microseconds", "e7-record", "fates")
    names = ("together_percent", "deviation_times", "sum_percent", "both_percent")
    said = dict.fromkeys((*names, "firewall_later_percent", "moderation_fate"), "Not observable")
    found = scores(kept, firewall_fate="kept", **said)
    assert {name: found[name].points for name in asked_for} == {
        name: LAB.worth[name] for name in asked_for
    }
    numbers = scores(kept)
    assert numbers["e6-table"].points == numbers["not-additive"].points == 0


def test_where_it_can_be_turned_not_observable_is_no_answer() -> None:
    assert scores(together_percent="not observable")["e6-table"].points == 1


@pytest.mark.parametrize(("version", "right"), [(4.14, 2), ("4.14", 2), (4.1, 1), (5.0, 1)])
def test_the_version_is_that_of_the_knobs_own_text(version: object, right: int) -> None:
    assert scores(kernel_without_prequeue=version)["not-observable"].points == right


def test_fates_are_those_of_the_learners_procedure() -> None:
    kept = instead(procedure(**{MODERATION: e7.REVERTED, FIREWALL: e7.KEPT}))
    assert scores(kept)["fates"].points == 0
    found = scores(kept, moderation_fate="reverted", firewall_fate="kept")
    assert found["fates"].points == 1


@pytest.mark.parametrize(
    ("mine", "points_earned"),
    [
        (own(), 3),
        (own(exact=False), 2),
        (own(cycle=False), 2),
        (own(exact=False, cycle=False), 1),
        (own(takes=False), 0),
        (own(values=("1", "1")), 0),
    ],
)
def test_a_knob_earns_by_what_was_read_of_it(mine: Record, points_earned: int) -> None:
    found = scores(instead(mine))["own-knob"]
    assert (found.points, mine.file_name in found.found) == (points_earned, True)


def test_a_knob_of_which_nothing_was_read_earns_nothing() -> None:
    mine = own()
    mine.points = [
        replace(p, facts={"before": {}, "now": {}, "again": {}}) if "turn" in p.at else p
        for p in mine.points
    ]
    assert scores(instead(mine))["own-knob"].points == 0


def test_the_best_of_several_records_counts() -> None:
    kept = [*records(), own(takes=False), posted(44.0)]
    assert points(scores(kept)) == LAB.worth


@pytest.mark.parametrize(
    ("mine", "points_earned"),
    [(posted(0.05), 3), (posted(4.0), 3), (posted(20.0), 0), (posted(44.0), 0)],
)
def test_letters_earn_by_the_share_of_the_time(mine: Record, points_earned: int) -> None:
    found = scores(instead(mine))
    assert (found["letters-record"].points, found["letters-gain"].points) == (1, points_earned)


def test_letters_that_are_held_against_slowed_down_ones_earn_nothing() -> None:
    found = scores(instead(posted(44.0, given_ms=2000.0)))["letters-gain"]
    assert (found.points, "no acknowledgement explains" in found.found) == (0, True)


def test_the_kernel_that_gains_most_is_the_records() -> None:
    kept = instead(applications(MG=0.3))
    assert scores(kept)["limit"].points == 1
    found = scores(kept, best_kernel="mg", best_kernel_percent=-70.2)
    assert found["limit"].points == 2
    assert scores(pingpong_percent=-50)["limit"].points == 1


@pytest.mark.parametrize("study", ["L1", "E6", "E7", "L2"])
def test_a_record_that_was_cut_short_or_emptied_is_no_whole_one(study: str) -> None:
    whole = next(each for each in records() if (each.study, each.variant) == (study, ""))
    for other in (replace(whole, complete=False), replace(whole, points=[])):
        found = scores(instead(other))[f"{study.lower()}-record"]
        assert found.points == 0
        assert other.file_name in found.found


def test_the_records_of_the_exercises_are_not_taken_for_the_studies() -> None:
    exercises = [each for each in records() if each.variant]
    found = scores(exercises)
    assert found["e7-record"].points == found["l1-record"].points == 0


@pytest.mark.parametrize(
    "junk",
    [
        Point({"n": 1}, "half_round_trip_us", [1.0]),
        Point({"turn": "1"}, facts={"before": 3, "now": [], "again": None}),
        Point({"question": "driver", "when": "asked"}, facts={"answers": []}),
        Point({"knob": "firewall", "way": "alone", "launch": 0}, "half_round_trip_us", [0.0]),
        Point({"knob": [], "way": {}, "launch": "x", "state": 7}, "half_round_trip_us", [2.0]),
    ],
)
def test_records_of_junk_never_raise_and_never_earn(junk: Point) -> None:
    kept = [replace(each, points=[junk, junk]) for each in records()]
    for name, score in scores(kept).items():
        assert math.isfinite(score.points)
        assert score.found, name
        assert not score.points or name in BY_HAND
