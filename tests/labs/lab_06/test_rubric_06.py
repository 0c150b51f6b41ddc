"""Does the rubric of lab 06 hold every answer, loop and plot against the learner's own captures, with a reason?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autograder.evidence.variants import Own
from beowulf.labs.lab_06 import a11_long_messages as a11
from beowulf.labs.lab_06 import by_lot
from beowulf.record import Record
from tests.autograder.marked import Marked
from tests.gold import lab_06
from tests.gold.lab_06 import RIGHT, cards, loop, operations, plate, sealed, talks

LAB = Marked(lab_06)
one, instead = LAB.one, LAB.instead
LATER = {"started": "2099-01-01T00:00:00.000Z", "ended": "2099-01-01T00:01:00.000Z"}


def test_cards_of_other_sizes_are_no_measurement_of_the_one_card() -> None:
    early = sealed("card", 100, 60, 200, "A10-postcard", **LATER)
    kept = [each for each in instead(early) if each.variant != "postcard"]
    assert one("predict-card", kept).points == 0.5


def limit(largest: int, smallest: int) -> dict[str, int]:
    return {"largest_eager_bytes": largest, "smallest_rendezvous_bytes": smallest}


OTHER_WIRE = talks("A11", a11.talks(a11.QUICK_OVERLAPS), overhead_change=-0.01)
OF_IT = {"wire_bytes_for_100": 106.38, "payload_times": 1.01}


@pytest.mark.parametrize(
    ("question", "made", "answers", "worth"),
    [
        ("postcard", [], {"longer_frame_bytes": 366}, 0.5),  # without MPICH's header
        # A text within the header; and whatever its length, the headers are the same.
        ("postcard", [cards("postcard", 9)], {}, 1),
        ("headers", [], {"mpich_bytes": 320, "ip_bytes": 20}, 0.5),  # in each packet, and in one
        ("headers", [cards("postcard", 9)], {}, 1),
        ("headers", [cards("postcard", 3000)], {}, 1),
        ("row-cost", [], {"packets_a_step": 54.3, "wire_bytes_a_row": 8560}, 2),
        ("row-cost", [], {"packets_a_step": 36}, 4 / 3),  # without the ACKs
        ("row-cost", [], {"row_overhead_percent": 6.25}, 4 / 3),  # of the row, not of its bytes
        ("row-cost", [plate(2000)], {}, 2 / 3),
        ("row-cost", [plate(2000)], {"wire_bytes_a_row": 16_500, "row_overhead_percent": 3.03}, 2),
        ("eager-limit", [cards("limit", 131_000, 131_072)], limit(131_000, 131_072), 0.5),
        # Right, but never captured.
        ("eager-limit", [cards("limit", 131_000, 131_072)], limit(131_040, 131_041), 0),
        ("eager-limit", [cards("limit", 100_000, 131_072)], limit(100_000, 131_072), 0),
        ("overlap-gain", [], {"payload_times": 0.9, "rate_times": 0.904}, 4 / 3),
        # An overhead of the payload; nor is the last number drawn from it.
        ("overlap-gain", [], {"wire_bytes_for_100": 107}, 2 / 3),
        ("overlap-gain", [], dict.fromkeys(LAB.rubric.OF_OVERLAP, 0), 0),
        ("overlap-gain", [OTHER_WIRE], {}, 2 / 3),
        ("overlap-gain", [OTHER_WIRE], OF_IT, 2),
        ("collectives", [operations(scatter_call=3072)], {}, 0.25),
        ("collectives", [operations(scatter_call=3072)], {"scatter_call_bytes": 3072}, 0.5),
        ("timeline", [], {"data_ms": 0.12, "data_in": "MPI_Isend"}, 1 / 3),
        ("swapped", [], {"bytes_a_packet": 62.8, "no_overlap_bytes_per_s": 145_017.58}, 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_is_held_against_the_learners_own_captures(
    question: str, made: list[Record], answers: dict[str, Any], worth: float
) -> None:
    assert one(question, instead(*made), **answers).points == pytest.approx(worth)


def test_a_plate_is_the_one_that_was_drawn_for_the_learner() -> None:
    words = [letter * 16 for letter in "ABCDEFGHIJKLMNOP"]
    own = next(word for word in words if by_lot.columns(word) == 2000)
    for columns, worth in ((2000, 0.5), (1200, 0)):
        submission = replace(
            LAB.submission(instead(plate(columns)), RIGHT), own=Own("ada", own, {})
        )
        found = LAB.score(submission, "plate-record", "row-cost")
        assert found["plate-record"].points == worth
        assert ("Your plate has 2,000 columns" in found["row-cost"].found) == (not worth)


def test_no_row_and_no_card_that_is_drawn_fills_its_last_segment() -> None:
    sizes = [8 * columns for columns in (*by_lot.COLUMNS, by_lot.USUAL_COLUMNS)]
    sizes += [*by_lot.LONG_LETTERS, by_lot.USUAL_LONG_LETTERS]
    assert all(150 < (80 + size) % 1448 < 1448 - 150 for size in sizes), sizes
    assert max(sizes) < 131_040


def test_each_right_count_is_worth_the_same_the_best_record_counts_and_none_is_believed() -> None:
    half = loop(data=None, ghost_rows=720)
    found = one("packet-loop", instead(half))
    assert (found.points, "ghost_rows: 720, ours is 120" in found.found) == (4, True)
    assert one("packet-loop", [*instead(half), loop()]).points == 8
    wrong, empty = loop(), loop()
    wrong.points[0].facts["yours"] = 7  # its `right` says True
    empty.points[-1].facts.update({"yours": 0, "ours": 0})  # no row is found where there is none
    for made in (wrong, empty):
        assert one("packet-loop", instead(made)).points == 8 * 3 / 4


def test_several_captures_tell_the_limit_together_and_without_one_side_it_is_open() -> None:
    kept = [*instead(cards("limit", 131_040)), cards("limit", 131_041, 131_072)]
    assert one("eager-limit", kept).points == 1
    found = one("eager-limit", [cards("postcard", 21)])
    assert (found.points, "rendezvous" in found.found) == (0, True)


def test_a_plate_with_far_too_many_lengths_is_no_data_of_a_plot() -> None:
    huge = plate()
    huge.select(capture="steps")[0].facts["lengths"] = [[number, 1] for number in range(5000)]
    assert one("length-plot", instead(huge)).points == 0.5
