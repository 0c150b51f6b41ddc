"""Does the rubric of lab 06 hold every answer against the learner's own captures, with a reason?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from marked import Marked, earned

from beowulf.measure.roundtrips import HALF
from beowulf.record import Point
from beowulf.studies.lab_06 import a10_short_messages as a10
from beowulf.studies.lab_06 import a11_long_messages as a11
from beowulf.studies.lab_06 import a12_side_by_side as a12
from beowulf.studies.lab_06 import collectives
from tests.gold import lab_06
from tests.gold.lab_06 import RIGHT, cards, counted, operations, records, talks

LAB = Marked(lab_06)
instead, scores = LAB.instead, LAB.scores
OF_THE_PAPER = {"smpp", "swapped", "turned-round", "unit"}
RECORDS = {"a10-record", "a11-record", "a12-record", "a13-record"}


def test_an_empty_hand_in_is_answered_which_record_is_missing() -> None:
    found = LAB.scores([])["postcard"].found
    assert "There is no Record A10, variant postcard," in found


def test_records_without_answers_earn_only_what_was_measured() -> None:
    assert earned(LAB.unanswered()) == RECORDS | {"tally"}


def test_answers_without_records_earn_only_what_the_paper_tells() -> None:
    assert earned(scores([])) == OF_THE_PAPER


def test_a_card_is_the_learners_own() -> None:
    mine = instead(cards("postcard", 30))
    assert scores(mine)["postcard"].points == 0
    assert scores(mine, card_message_bytes=30, card_frame_bytes=176)["postcard"].points == 2
    assert scores(mine)["headers"].points == 2  # a longer text has the same headers


def test_a_short_text_lies_within_the_header() -> None:
    mine = instead(cards("postcard", 9))
    found = scores(mine, card_message_bytes=9, card_frame_bytes=146)
    assert (found["postcard"].points, found["headers"].points) == (2, 2)


def test_a_text_of_several_segments_has_the_same_header() -> None:
    assert scores(instead(cards("postcard", 3000)))["headers"].points == 2


@pytest.mark.parametrize(("answers", "worth"), [({}, 2), ({"mpich_bytes": 101}, 1.5)])
def test_each_header_counts_by_itself(answers: dict[str, Any], worth: float) -> None:
    assert scores(**answers)["headers"].points == worth


@pytest.mark.parametrize(
    ("sizes", "largest", "smallest", "worth"),
    [
        ((131_040, 131_041), 131_040, 131_041, 2),
        ((131_000, 131_072), 131_000, 131_072, 1),
        ((131_000, 131_072), 131_040, 131_041, 0),  # right, but never captured
        ((100_000, 131_072), 100_000, 131_072, 0),
        ((131_040, 131_041), "131040", None, 0),
    ],
)
def test_the_limit_is_given_by_the_learners_own_cards(
    sizes: tuple[int, ...], largest: object, smallest: object, worth: int
) -> None:
    found = scores(
        instead(cards("limit", *sizes)),
        largest_eager_bytes=largest,
        smallest_rendezvous_bytes=smallest,
    )
    assert found["eager-limit"].points == worth


def test_several_captures_tell_the_limit_together() -> None:
    kept = [*instead(cards("limit", 131_040)), cards("limit", 131_041, 131_072)]
    assert scores(kept)["eager-limit"].points == 2


def test_without_cards_on_one_side_the_limit_is_open() -> None:
    kept = [cards("postcard", 21)]
    found = scores(kept)["eager-limit"]
    assert (found.points, "rendezvous" in found.found) == (0, True)


@pytest.mark.parametrize(
    ("answers", "worth"),
    [
        ({}, 2),
        ({"overhead_changes": " No"}, 2),
        ({"rate_with_mbit_per_s": 54.4}, 2),
        ({"rate_with_mbit_per_s": 60}, 1.5),
        ({"overhead_changes": "yes"}, 1.5),
        ({"overhead_with_percent": 6.9}, 1),  # nor is the word drawn from these figures
        ({"overhead_with_percent": float("nan"), "rate_with_mbit_per_s": "54"}, 0.5),
    ],
)
def test_what_overlap_changes_is_the_learners_own(answers: dict[str, Any], worth: float) -> None:
    assert scores(**answers)["overlap-gain"].points == worth


@pytest.mark.parametrize("blind", [0, 1])
def test_blind_numbers_earn_nothing_beside_a_record(blind: int) -> None:
    names = [name for name in RIGHT if name.startswith(("overhead_with", "rate_with"))]
    assert scores(**dict.fromkeys(names, blind))["overlap-gain"].points == 0


def test_another_wire_has_another_answer() -> None:
    mine = instead(talks("A11", a11.talks(a11.QUICK_OVERLAPS), overhead_change=-0.01))
    assert scores(mine)["overlap-gain"].points == 1
    other = {"overhead_with_percent": 6.0, "overhead_changes": "yes"}
    assert scores(mine, **other)["overlap-gain"].points == 2


def test_the_two_measures_are_judged_by_the_record_and_not_by_what_is_usual() -> None:
    mine = instead(talks("A12", a12.TALKS, overhead={8192: 0.6}))
    assert scores(mine)["two-measures"].points == 1
    assert scores(mine, overhead_moves=" Rises")["two-measures"].points == 2


def test_a_collectives_bytes_are_the_records() -> None:
    mine = instead(operations(scatter_call=3072))
    assert scores(mine)["collectives"].points == 1
    assert scores(mine, scatter_call_bytes=3072)["collectives"].points == 2


def test_an_answer_may_fit_any_of_the_learners_records() -> None:
    kept = [*records(), replace(cards("postcard", 40), started="2099-01-01T00:00:00.000Z")]
    assert scores(kept)["postcard"].points == 2
    assert scores(kept, card_message_bytes=40, card_frame_bytes=186)["postcard"].points == 2
    # Not one number of one capture and one of another.
    assert scores(kept, card_message_bytes=40)["postcard"].points == 1


def test_each_right_count_is_a_point_and_the_best_record_counts() -> None:
    half = counted(overhead=0.5, bytes_a_message=None)
    assert scores(instead(half))["tally"].points == 1
    assert scores([*instead(half), counted()])["tally"].points == 3
    assert "ours is 0.0715" in scores(instead(half))["tally"].found


def test_a_count_is_held_against_ours_and_not_believed() -> None:
    wrong = counted(ack_share=0.2)  # its `right` says True
    assert scores(instead(wrong))["tally"].points == 2


@pytest.mark.parametrize(
    ("answers", "worth"),
    [
        ({}, 2),
        ({"bytes_a_packet": 255664.28 / 2309.16}, 2),
        ({"bytes_a_packet": 62.8, "no_overlap_bytes_per_s": 145_017.58}, 0),
        ({"no_overlap_bytes_per_s": 255_664}, 2),
    ],
)
def test_the_swapped_rates_are_found_by_dividing(answers: dict[str, Any], worth: int) -> None:
    assert scores(**answers)["swapped"].points == worth


@pytest.mark.parametrize(("most", "worth"), [(148_809.5, 1), (149_000, 1), (1_388_106, 0)])
def test_a_cable_carries_so_many_packets(most: float, worth: int) -> None:
    assert scores(most_packets_per_s=most)["unit"].points == worth


@pytest.mark.parametrize("study", ["A10", "A11", "A12", "A13"])
def test_a_record_that_was_cut_short_or_emptied_is_no_whole_one(study: str) -> None:
    whole = next(each for each in records() if each.study == study and not each.variant)
    for other in (replace(whole, complete=False), replace(whole, points=[])):
        found = scores(instead(other))[f"{study.lower()}-record"]
        assert found.points == 0
        assert other.file_name in found.found


def test_a_learners_own_captures_are_not_taken_for_a_study() -> None:
    kept = [each for each in records() if each.variant]
    assert earned(scores(kept)).isdisjoint(RECORDS)


@pytest.mark.parametrize(
    "junk",
    [
        Point({"n": 1}, "duration_s", [1.0]),
        Point({"from_rank": 0, "message": []}, facts={"bytes": "many", "protocol": {}}),
        Point({"from_rank": 0}, facts={"kind": "eager", "bytes": float("nan"), "frame_bytes": 1}),
        Point({**a10.TALKS[0].at, "launch": 0}, HALF, [1.0], {"talking": {"elapsed_s": "x"}}),
        Point({"count": "overhead"}, facts={"yours": "1", "ours": []}),
        Point({"part": "collectives", "size_bytes": "x"}, collectives.OPERATION, [1.0]),
    ],
)
def test_records_of_junk_never_raise_and_never_earn(junk: Point) -> None:
    kept = [replace(each, points=[junk, junk]) for each in records()]
    for name, score in scores(kept).items():
        assert math.isfinite(score.points)
        assert score.found, name
        assert not score.points or name in OF_THE_PAPER, name


def test_a_record_with_far_too_many_points_is_refused_and_not_worked_on() -> None:
    huge = operations()
    huge.points = huge.points * 5000
    found = scores(instead(huge))["a13-record"]
    assert found.points == 0
    assert "more than" in found.found
