"""Does the rubric of lab 06 hold every answer, loop and plot against the learner's own captures, with a reason?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from marked import Marked, earned

from autograder.evidence.variants import Own
from beowulf.labs.lab_06 import a11_long_messages as a11
from beowulf.labs.lab_06 import by_lot
from tests.gold import lab_06
from tests.gold.lab_06 import (
    RIGHT,
    SIZES,
    cards,
    cost_plot,
    length_plot,
    loop,
    operations,
    plate,
    records,
    sealed,
    talks,
)

LAB = Marked(lab_06)
instead, scores = LAB.instead, LAB.scores
OF_THE_PAPER = {"smpp", "swapped"}
LATER = {"started": "2099-01-01T00:00:00.000Z", "ended": "2099-01-01T00:01:00.000Z"}


def test_answers_without_records_earn_only_what_the_paper_tells() -> None:
    assert earned(scores([])) == OF_THE_PAPER


def test_cards_of_other_sizes_are_no_measurement_of_the_one_card() -> None:
    early = sealed("card", 100, 60, 200, "A10-postcard", **LATER)
    kept = [each for each in instead(early) if each.variant != "postcard"]
    assert scores(kept)["predict-card"].points == 0.5


def test_a_card_is_the_learners_own() -> None:
    mine = instead(cards("postcard", 30))
    assert scores(mine)["postcard"].points == 0
    assert scores(mine, card_message_bytes=30, card_frame_bytes=176)["postcard"].points == 1
    assert scores(mine)["headers"].points == 1  # a longer text has the same headers


def test_a_short_text_lies_within_the_header() -> None:
    mine = instead(cards("postcard", 9))
    found = scores(mine, card_message_bytes=9, card_frame_bytes=146)
    assert (found["postcard"].points, found["headers"].points) == (1, 1)


def test_a_text_of_several_segments_has_the_same_header() -> None:
    assert scores(instead(cards("postcard", 3000)))["headers"].points == 1


@pytest.mark.parametrize(("answers", "worth"), [({}, 1), ({"mpich_bytes": 101}, 0.75)])
def test_each_header_counts_by_itself(answers: dict[str, Any], worth: float) -> None:
    assert scores(**answers)["headers"].points == worth


@pytest.mark.parametrize(
    ("answers", "right"),
    [
        ({}, 3),
        ({"packets_a_step": 54.3, "wire_bytes_a_row": 8560, "row_overhead_percent": 6.1}, 3),
        ({"packets_a_step": 36}, 2),  # without the ACKs
        ({"packets_a_step": 1080}, 2),  # of all steps
        ({"wire_bytes_a_row": 8080}, 2),
        ({"row_overhead_percent": 6.25}, 2),  # of the row, and not of its bytes on the wire
        ({"row_overhead_percent": 0.0588}, 2),
        ({"packets_a_step": "54", "wire_bytes_a_row": math.nan, "row_overhead_percent": None}, 0),
    ],
)
def test_what_a_row_costs_is_the_learners_own(answers: dict[str, Any], right: int) -> None:
    assert scores(**answers)["row-cost"].points == pytest.approx(2 * right / 3)


def test_a_longer_row_costs_more() -> None:
    mine = instead(plate(2000))
    assert scores(mine)["row-cost"].points == pytest.approx(2 / 3)
    answers = {"wire_bytes_a_row": 16_500, "row_overhead_percent": 100 * 500 / 16_500}
    assert scores(mine, **answers)["row-cost"].points == 2


def test_a_plate_is_the_one_that_was_drawn_for_the_learner() -> None:
    words = [letter * 16 for letter in "ABCDEFGHIJKLMNOP"]
    own = next(word for word in words if by_lot.columns(word) == 2000)
    for columns, worth in ((2000, 0.5), (1200, 0)):
        submission = replace(
            LAB.submission(instead(plate(columns)), RIGHT), own=Own("ada", own, {})
        )
        found = LAB.score(submission)
        assert found["plate-record"].points == worth
        assert ("Your plate has 2,000 columns" in found["row-cost"].found) == (not worth)


def test_no_row_that_is_drawn_fills_its_last_segment() -> None:
    sizes = [8 * columns for columns in (*by_lot.COLUMNS, by_lot.USUAL_COLUMNS)]
    assert all(150 < (80 + size) % 1448 < 1448 - 150 for size in sizes), sizes
    assert max(sizes) < 131_040


def test_each_right_count_is_worth_the_same_and_the_best_record_counts() -> None:
    half = loop(handshake=12, data=None, ghost_rows=720)
    assert scores(instead(half))["packet-loop"].points == 4
    assert scores([*instead(half), loop()])["packet-loop"].points == 8
    assert "ghost_rows: 720, ours is 120" in scores(instead(half))["packet-loop"].found


def test_a_count_is_held_against_ours_and_not_believed() -> None:
    wrong = loop()
    wrong.points[0].facts["yours"] = 7  # its `right` says True
    assert scores(instead(wrong))["packet-loop"].points == pytest.approx(8 * 5 / 6)


def test_a_loop_over_packets_without_any_row_finds_none() -> None:
    empty = loop()
    empty.points[-1].facts.update({"yours": 0, "ours": 0})
    assert scores(instead(empty))["packet-loop"].points == pytest.approx(8 * 5 / 6)


@pytest.mark.parametrize(
    ("facts", "share", "says"),
    [
        ({}, 1, "1 of 1 lines show"),
        ({"y_scale": "linear"}, 5 / 6, "linear"),
        ({"x_label": "length"}, 5 / 6, "no unit"),
        ({"lines": []}, 0, "nothing is drawn"),
    ],
)
def test_a_plot_of_lengths_shows_the_learners_own_packets(
    facts: dict[str, Any], share: float, says: str
) -> None:
    found = scores(instead(length_plot(**facts)))["length-plot"]
    assert found.points == pytest.approx(2 * share)
    assert says in found.found


def test_a_plot_of_somebody_elses_packets_is_hardly_one() -> None:
    other = {"kind": "line", "label": "", "points": 4, "x": [66, 146, 906, 1514], "y": [1, 2, 3, 4]}
    assert scores(instead(length_plot(lines=[other])))["length-plot"].points == 0.5
    kept = [each for each in records() if each.study != "H6"]
    assert scores(kept)["length-plot"].points == 0.5


def test_a_plot_of_costs_shows_both_measures_of_the_learners_own_cards() -> None:
    (point,) = cost_plot().points
    both = point.facts["lines"]
    for lines, share, says in (
        (both, 1, "2 of 2"),
        # Shares of 1 and not per cent; one line alone, without a second to distinguish it from.
        ([{**each, "y": [y / 100 for y in each["y"]]} for each in both], 0.25, "0 of 2"),
        (both[:1], (2 + 1.5) / 6, "1 of 2"),
    ):
        found = scores(instead(cost_plot(lines=lines)))["cost-plot"]
        assert found.points == pytest.approx(3 * share), says
        assert says in found.found
    few = instead(cards("sizes", *SIZES[:3]))
    assert scores([*few, cards("sizes", *SIZES)])["cost-plot"].points == 3


@pytest.mark.parametrize(
    ("sizes", "largest", "smallest", "worth"),
    [
        ((131_040, 131_041), 131_040, 131_041, 1),
        ((131_000, 131_072), 131_000, 131_072, 0.5),
        ((131_000, 131_072), 131_040, 131_041, 0),  # right, but never captured
        ((100_000, 131_072), 100_000, 131_072, 0),
        ((131_040, 131_041), "131040", None, 0),
    ],
)
def test_the_limit_is_given_by_the_learners_own_cards(
    sizes: tuple[int, ...], largest: object, smallest: object, worth: float
) -> None:
    found = scores(
        instead(cards("limit", *sizes)),
        largest_eager_bytes=largest,
        smallest_rendezvous_bytes=smallest,
    )
    assert found["eager-limit"].points == worth


def test_several_captures_tell_the_limit_together() -> None:
    kept = [*instead(cards("limit", 131_040)), cards("limit", 131_041, 131_072)]
    assert scores(kept)["eager-limit"].points == 1


def test_without_cards_on_one_side_the_limit_is_open() -> None:
    found = scores([cards("postcard", 21)])["eager-limit"]
    assert (found.points, "rendezvous" in found.found) == (0, True)


@pytest.mark.parametrize(
    ("answers", "right"),
    [
        ({}, 3),
        ({"rate_with_mbit_per_s": 54.4}, 3),
        ({"rate_with_mbit_per_s": 60}, 2),
        ({"overhead_change_points": 0.5}, 2),
        ({"overhead_with_percent": 6.9}, 1),  # nor is the change drawn from this figure
        ({"overhead_with_percent": float("nan"), "rate_with_mbit_per_s": "54"}, 0),
    ],
)
def test_what_overlap_changes_is_the_learners_own(answers: dict[str, Any], right: int) -> None:
    assert scores(**answers)["overlap-gain"].points == pytest.approx(2 * right / 3)


@pytest.mark.parametrize("blind", [0, 1])
def test_blind_numbers_earn_nothing_beside_a_record(blind: int) -> None:
    names = LAB.rubric.OF_OVERLAP
    assert scores(**dict.fromkeys(names, blind))["overlap-gain"].points == 0


def test_another_wire_has_another_answer() -> None:
    mine = instead(talks("A11", a11.talks(a11.QUICK_OVERLAPS), overhead_change=-0.01))
    assert scores(mine)["overlap-gain"].points == pytest.approx(2 / 3)
    other = {"overhead_with_percent": 6.0, "overhead_change_points": -1.0}
    assert scores(mine, **other)["overlap-gain"].points == 2
    turned = {**other, "overhead_change_points": 1.0}
    assert scores(mine, **turned)["overlap-gain"].points == pytest.approx(4 / 3)


def test_a_collectives_bytes_are_the_records() -> None:
    mine = instead(operations(scatter_call=3072))
    assert scores(mine)["collectives"].points == 0.25
    assert scores(mine, scatter_call_bytes=3072)["collectives"].points == 0.5


def test_what_left_when_is_the_records() -> None:
    assert scores(data_ms=31.42)["timeline"].points == 1
    wrong = scores(data_ms=0.12, data_in="MPI_Isend")["timeline"]
    assert wrong.points == pytest.approx(1 / 3)


def test_an_answer_may_fit_any_of_the_learners_records() -> None:
    kept = [*records(), replace(cards("postcard", 40), **LATER)]
    assert scores(kept)["postcard"].points == 1
    assert scores(kept, card_message_bytes=40, card_frame_bytes=186)["postcard"].points == 1
    # Not one number of one capture and one of another.
    assert scores(kept, card_message_bytes=40)["postcard"].points == 0.5


@pytest.mark.parametrize(
    ("answers", "worth"),
    [
        ({}, 0.5),
        ({"bytes_a_packet": 255664.28 / 2309.16}, 0.5),
        ({"bytes_a_packet": 62.8, "no_overlap_bytes_per_s": 145_017.58}, 0),
        ({"no_overlap_bytes_per_s": 255_664}, 0.5),
    ],
)
def test_the_swapped_rates_are_found_by_dividing(answers: dict[str, Any], worth: float) -> None:
    assert scores(**answers)["swapped"].points == worth


def test_a_learners_own_captures_are_not_taken_for_a_study() -> None:
    kept = [each for each in records() if each.variant]
    found = earned(scores(kept))
    assert not [name for name in found if name.endswith("-record") and name != "plate-record"]


def test_a_record_with_far_too_many_points_is_refused_and_not_worked_on() -> None:
    huge = operations()
    huge.points = huge.points * 5000
    found = scores(instead(huge))["a13-record"]
    assert found.points == 0
    assert "more than" in found.found


def test_a_plate_with_far_too_many_lengths_is_no_data_of_a_plot() -> None:
    huge = plate()
    huge.select(capture="steps")[0].facts["lengths"] = [[number, 1] for number in range(5000)]
    assert scores(instead(huge))["length-plot"].points == 0.5
