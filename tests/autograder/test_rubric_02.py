"""Does the rubric of lab 02 hold every answer against the learner's own nodes, and know a row that cannot be?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from marked import Marked, earned, points

from autograder.evidence.variants import Own
from beowulf import variant
from beowulf.labs.lab_02 import array_sweep, by_lot
from beowulf.labs.lab_02.node_comparison import OVER_IP
from beowulf.record import Record
from tests import timing_loops
from tests.gold import lab_02
from tests.gold.lab_02 import (
    GOOD,
    RIGHT,
    SIZES,
    TWO,
    drawn,
    nodes,
    odd,
    own,
    records,
    steps,
    sweep,
    timing,
)

LAB = Marked(lab_02)
one, instead, scores = LAB.one, LAB.instead, LAB.scores
OF_THE_PAPER = {"paper-tables"}
PROGRAMS = {"timing-loop", "sweep", "bandwidth-plot", "heat-step"}
# What gives points without an answer: programs, a plot, a prediction, and a Record.
MEASURED = {"a3-record", "own-rows", "heat-prediction", *PROGRAMS}


def test_an_empty_hand_in_is_answered_which_record_is_missing() -> None:
    found = LAB.scores([])
    assert "There is no Record A3, variant odd," in found["odd-node"].found
    assert "There is no Record A3, variant timing," in found["timing-loop"].found
    assert "There is no plot bandwidth." in found["bandwidth-plot"].found


def test_answers_without_records_earn_only_what_the_paper_tells() -> None:
    assert earned(scores([])) == OF_THE_PAPER


@pytest.mark.parametrize(
    ("loop", "worth"),
    [
        (timing_loops.right, 4),
        (timing_loops.fixed_calls, 3),
        (timing_loops.one_mean, 3),
        (timing_loops.equal_means, 3),
        # A long call on a fine clock needs no more than that; the real call is timed rightly in this Record.
        (timing_loops.ten_steps, 2 / 3 + 1),
        (timing_loops.one_call, 2 / 3 + 1),
        (timing_loops.clock_in_the_loop, 4 / 3 + 1),
        (timing_loops.own_clock, 1),
        (timing_loops.seconds, 1),
        (timing_loops.negative, 0),
        (timing_loops.text, 0),
        (None, 0),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_timing_loop_is_worth_what_it_finds_out(loop: Any, worth: float) -> None:
    assert one("timing-loop", instead(timing(loop))).points == pytest.approx(worth)


def test_a_real_call_that_takes_too_long_costs_a_point() -> None:
    assert one("timing-loop", instead(timing(own_us=0.5))).points == 3


def test_a_timing_loop_with_fewer_calls_than_were_asked_for_is_worth_nothing() -> None:
    cut = timing()
    cut.points = [point for point in cut.points if point.at.get("trial") != 1]
    assert one("timing-loop", instead(cut)).points == 0


@pytest.mark.parametrize(
    ("kept", "worth", "said"),
    [
        (sweep(), 2, "copies of 15 sizes: right"),
        (sweep(samples=5), 0, "a size has 5 samples"),
        (sweep(SIZES[:8]), 0, "8 sizes are too few"),
        (sweep(SIZES[:13]), 0, "the largest size is"),
        (sweep([*SIZES[:3], *SIZES[6:]]), 0, "a factor of 4"),
        (sweep(times=8), 1, "numbers of 8 bytes"),
        (sweep(times=2.5), 1, "is an array made within what is timed?"),
        (sweep(times=0.3), 1, "how large are the arrays?"),
    ],
)
def test_a_sweep_is_worth_its_sizes_and_its_times(kept: Record, worth: float, said: str) -> None:
    found = one("sweep", instead(kept))
    assert (found.points, said in found.found) == (worth, True), found.found


def test_copies_of_nothing_are_none() -> None:
    kept = sweep()
    for point in array_sweep.copies(kept):
        point.samples[:] = [0.3] * len(point.samples)
    found = one("sweep", instead(kept))
    assert (found.points, "is anything copied?" in found.found) == (1, True), found.found


@pytest.mark.parametrize(
    ("plot", "least", "most"),
    [
        (drawn(), 3, 3),
        (drawn(legend=["copy, median"]), 2.5, 2.6),  # no caches
        (drawn(x_scale="linear"), 2.5, 2.6),
        (drawn(y_label="rate"), 2.5, 2.6),
        (drawn(8.0), 0.5, 1.1),  # bits: none of the numbers is what was measured
        (drawn(lines=[]), 0, 0),
    ],
    ids=["right", "no caches", "linear", "no unit", "bits", "empty"],
)
def test_a_plot_is_worth_what_it_shows(plot: Record, least: float, most: float) -> None:
    assert least <= one("bandwidth-plot", instead(plot)).points <= most


def test_a_plot_of_the_best_counts_as_one_of_the_median() -> None:
    kept = sweep()
    for point in array_sweep.copies(kept):
        point.samples[:20] = [1.2 * sample for sample in point.samples[:20]]
    assert one("bandwidth-plot", instead(kept)).points == 3  # of what is the best there
    assert one("bandwidth-plot", instead(kept, drawn(1 / 1.2))).points == 3


@pytest.mark.parametrize(
    ("kept", "worth", "said"),
    [
        (steps(), 4, "heat_step: right"),
        (steps({"step_loops": "row 1 is wrong"}), 3, "row 1 is wrong"),
        (steps({"heat_step": "it is not written yet"}), 2, "it is not written yet"),
        (steps(step_numpy="def step_numpy(old, new):\n    ...\n"), 3, "as it was given"),
    ],
)
def test_each_step_of_the_plate_counts_by_itself(kept: Record, worth: float, said: str) -> None:
    found = one("heat-step", instead(kept))
    assert (found.points, said in found.found) == (worth, True), found.found


def test_a_step_without_samples_is_none() -> None:
    kept = steps()
    kept.points = [point for point in kept.points if point.at.get("way") != "C"]
    assert one("heat-step", instead(kept)).points == 2


def test_rows_are_drawn_by_the_word_of_the_course() -> None:
    words = [variant.of("a key", f"student {number}") for number in range(40)]
    assert {by_lot.kernel_row(word) for word in words} == set(by_lot.KERNEL_ROWS)
    assert {by_lot.round_trip(word) for word in words} == set(by_lot.ROUND_TRIPS)
    word = next(each for each in words if by_lot.kernel_row(each) == "stat")
    submission = replace(LAB.submission(), own=Own("ada", word, {}))
    assert LAB.score(submission)["kernel-rows"].points == 0
    right = {**RIGHT, "kernel_row_us": 1.78, "null_calls_in_it": 1.78 / 0.45}
    right["grendel_faster_in"] = {1: 4, 2: 3}[by_lot.table(word)]
    found = LAB.score(replace(submission, answers=right))
    assert (found["kernel-rows"].points, found["paper-tables"].points) == (2, 1)


@pytest.mark.parametrize(
    ("question", "answers", "worth"),
    [
        ("kernel-rows", {"kernel_row_us": 97}, 2),  # read off with two digits
        ("kernel-rows", {"kernel_row_us": 99_000}, 1),  # nanoseconds
        ("kernel-rows", {"null_calls_in_it": 99}, 1),
        ("round-trips", {"beside_mpi_us": 14.1}, 0.5),  # the usual mistake
        ("caches", {"l1_ends_at_kib": 48}, 2),  # a size further on
        ("caches", {"l1_ends_at_kib": 512}, 1),
        ("caches", {"main_memory_ns": float("nan")}, 1),
        ("not-faster", {"most_faster_row": "MEM WRITE"}, 1),
        ("not-faster", {"most_faster_row": "mem read"}, 0.5),
        ("not-faster", {"most_faster_row": "", "least_faster_row": ""}, 0),
        ("paper-tables", {"grendel_faster_in": 6}, 0.5),
        ("paper-tables", {"grendel_faster_in": True}, 0.5),
        ("odd-node", {"odd_one_out": "node01"}, 1),
        ("odd-node", {"slow_rows_share": "processes"}, 1),
        ("prediction", {"predicted_cable_mb_per_s": 100}, 0.5),  # bits
        ("prediction", {"predicted_read_meanwhile_bytes": 1522 * 14.1}, 0.5),
        ("own-rows", {"library_clock_asks_the_kernel": "yes"}, 1.5),
    ],
)
def test_each_answer_counts_by_itself(question: str, answers: dict[str, Any], worth: float) -> None:
    assert one(question, **answers).points == worth


@pytest.mark.parametrize("blind", [0, 1, True, "node"])
def test_blind_answers_earn_next_to_nothing_beside_records(blind: object) -> None:
    found = scores(**dict.fromkeys(RIGHT, blind))
    assert earned(found) <= MEASURED


def test_another_node_has_other_answers() -> None:
    mine = instead(nodes(*TWO, times={("node00", "TCP"): 2.0}))
    assert one("round-trips", mine).points == 0
    assert one("round-trips", mine, full_round_trip_us=28.2, beside_mpi_us=14.1).points == 1


def test_only_the_first_node_is_asked_for() -> None:
    mine = instead(nodes(*TWO, times={("node01", "TCP"): 9.0, ("node01", "null call"): 9.0}))
    assert points(scores(mine)) == LAB.worth


def test_rows_that_are_nearly_the_extreme_count_as_well() -> None:
    mine = instead(nodes(*TWO, times={("node00", "fork proc"): 1.95}))
    assert one("not-faster", mine, least_faster_row="fork proc").points == 1
    assert one("not-faster", mine).points == 1


@pytest.mark.parametrize(("rate", "cable"), [("10mbit", 1.25), ("1gbit", 125), ("off", 7000)])
def test_a_cable_is_the_clusters_own(rate: str, cable: float) -> None:
    mine = instead(replace(nodes(*TWO), cluster={"rate": rate}))
    assert one("prediction", mine, predicted_cable_mb_per_s=cable).points == 1


@pytest.mark.parametrize(
    "kept",
    [
        odd(),  # all alike
        odd("node01", "node02"),
        odd("node02", rows=("UDP", "TCP")),
        odd("node02", rows=("mem read",)),
    ],
    ids=["none", "two", "half", "another row"],
)
def test_a_record_without_one_odd_node_decides_nothing(kept: Record) -> None:
    found = one("odd-node", instead(kept))
    assert (found.points, "does not show one odd node" in found.found) == (0, True)


def test_a_node_that_is_odd_in_other_rows_too_is_still_the_one() -> None:
    kept = odd("node02", rows=(*OVER_IP, "pipe"))
    assert one("odd-node", instead(kept)).points == 2


@pytest.mark.parametrize(
    ("us", "worth", "said"),
    [
        (GOOD, 2, "right"),
        (GOOD | {"library": 0.23}, 1.5, "right"),  # no vDSO here: the answer would be yes
        (GOOD | {"system": 0.022}, 1, "no system call takes less than the null call"),
        (GOOD | {"pipe": 0.17}, 1.5, "two system calls take longer"),
        (GOOD | {"library": 1e-6}, 1, "nothing takes so little"),
        ({"null": 0.16}, 0, "not written yet"),
        ({"null": 0.16, "pipe": 0.66}, 0.5, "not written yet"),
    ],
)
def test_a_row_of_ones_own_has_to_be_possible(
    us: dict[str, float], worth: float, said: str
) -> None:
    found = one("own-rows", instead(own(**us)))
    assert (found.points, said in found.found) == (worth, True)


def test_where_the_library_asks_the_kernel_the_answer_is_yes() -> None:
    mine = instead(own(**GOOD | {"library": 0.25}))
    assert one("own-rows", mine, library_clock_asks_the_kernel="yes").points == 2


def test_an_answer_may_fit_any_of_the_learners_records() -> None:
    later = nodes(*TWO, times={("node00", "TCP"): 2.0}, started="2099-01-01T00:00:00.000Z")
    kept = [*records(), later]
    assert one("round-trips", kept).points == 1
    # Not one figure of one Record and one of another.
    assert one("round-trips", kept, full_round_trip_us=28.2).points == 0.5


def test_a_record_that_was_cut_short_or_lacks_a_row_is_no_whole_one() -> None:
    for other in (nodes(*TWO, complete=False), nodes(*TWO, without="stat")):
        found = one("a3-record", instead(other))
        assert found.points == 0
        assert other.file_name in found.found


def test_a_machine_that_shows_no_second_cache_loses_nothing() -> None:
    assert points(scores(instead(nodes(*TWO, without="L2 cache")))) == LAB.worth


def test_own_rows_and_odd_nodes_are_not_taken_for_the_study() -> None:
    kept = [each for each in records() if each.variant]
    others = {"own-rows", "odd-node", "timing-loop", "sweep", "bandwidth-plot", "heat-prediction"}
    assert earned(scores(kept)) == OF_THE_PAPER | others


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e300])
def test_times_that_cannot_be_earn_nothing(value: float) -> None:
    tampered = nodes(*TWO)
    for point in tampered.points:
        point.samples[:] = [value] * len(point.samples)
    found = scores(instead(tampered))
    assert earned(found) <= OF_THE_PAPER | MEASURED | {"odd-node", "caches", "prediction"}
    assert all(math.isfinite(score.points) for score in found.values())


def test_a_record_with_far_too_many_points_is_refused_and_not_worked_on() -> None:
    huge = nodes("node00")
    huge.points = huge.points * 1000
    found = one("a3-record", instead(huge))
    assert (found.points, "more than" in found.found) == (0, True)
