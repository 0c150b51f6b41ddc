"""Does the rubric of lab 02 hold every answer against the learner's own nodes, and know a row that cannot be?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from autograder.evidence.variants import Own
from beowulf.course import personal_code
from beowulf.labs.lab_02 import array_sweep, by_lot
from beowulf.labs.lab_02.node_comparison import OVER_IP
from beowulf.record import Record
from tests import timing_loops
from tests.autograder.marked import Marked, earned, points
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


@pytest.mark.parametrize(
    ("loop", "worth"),
    [
        (timing_loops.one_mean, 3),
        # A long call on a fine clock needs no more than that; the real call is timed rightly in this Record.
        (timing_loops.one_call, 2 / 3 + 1),
        (timing_loops.clock_in_the_loop, 4 / 3 + 1),
        (timing_loops.own_clock, 1),
        (None, 0),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_timing_loop_is_worth_what_it_finds_out(loop: Any, worth: float) -> None:
    assert one("timing-loop", instead(timing(loop))).points == pytest.approx(worth)


def test_a_timing_loop_with_fewer_calls_than_were_asked_for_is_worth_nothing() -> None:
    cut = timing()
    cut.points = [point for point in cut.points if point.at.get("trial") != 1]
    assert one("timing-loop", instead(cut)).points == 0


def of_nothing() -> Record:
    """A sweep in which nothing is copied."""
    kept = sweep()
    for point in array_sweep.copies(kept):
        point.samples[:] = [0.3] * len(point.samples)
    return kept


@pytest.mark.parametrize(
    ("kept", "worth", "said"),
    [
        (sweep(samples=5), 0, "a size has 5 samples"),
        (sweep(SIZES[:8]), 0, "8 sizes are too few"),
        (sweep(times=8), 1, "numbers of 8 bytes"),
        (of_nothing(), 1, "is anything copied?"),
    ],
)
def test_a_sweep_is_worth_its_sizes_and_its_times(kept: Record, worth: float, said: str) -> None:
    found = one("sweep", instead(kept))
    assert (found.points, said in found.found) == (worth, True), found.found


def test_a_plot_without_caches_loses_a_point_and_an_empty_one_is_none() -> None:
    assert 2.5 <= one("bandwidth-plot", instead(drawn(legend=["copy, median"]))).points <= 2.6
    assert one("bandwidth-plot", instead(drawn(lines=[]))).points == 0


def test_a_plot_of_the_best_counts_as_one_of_the_median() -> None:
    kept = sweep()
    for point in array_sweep.copies(kept):
        point.samples[:20] = [1.2 * sample for sample in point.samples[:20]]
    assert one("bandwidth-plot", instead(kept)).points == 3  # of what is the best there
    assert one("bandwidth-plot", instead(kept, drawn(1 / 1.2))).points == 3


@pytest.mark.parametrize(
    ("kept", "worth", "said"),
    [
        (steps({"step_loops": "row 1 is wrong"}), 3, "row 1 is wrong"),
        (steps({"heat_step": "it is not written yet"}), 2, "it is not written yet"),
    ],
)
def test_each_step_of_the_plate_counts_by_itself(kept: Record, worth: float, said: str) -> None:
    found = one("heat-step", instead(kept))
    assert (found.points, said in found.found) == (worth, True), found.found


def test_rows_are_drawn_by_the_word_of_the_course() -> None:
    words = [personal_code.of("a key", f"student {number}") for number in range(40)]
    assert {by_lot.kernel_row(word) for word in words} == set(by_lot.KERNEL_ROWS)
    assert {by_lot.round_trip(word) for word in words} == set(by_lot.ROUND_TRIPS)
    word = next(each for each in words if by_lot.kernel_row(each) == "stat")
    submission = replace(LAB.submission(), own=Own("ada", word, {}))
    assert LAB.score(submission, "kernel-rows")["kernel-rows"].points == 0
    right = {**RIGHT, "kernel_row_us": 1.78, "null_calls_in_it": 1.78 / 0.45}
    right["grendel_faster_in"] = {1: 4, 2: 3}[by_lot.table(word)]
    found = LAB.score(replace(submission, answers=right), "kernel-rows", "paper-tables")
    assert (found["kernel-rows"].points, found["paper-tables"].points) == (2, 1)


def on_cables(rate: str) -> Record:
    return replace(nodes(*TWO), cluster={"rate": rate})


OTHER_TCP = nodes(*TWO, times={("node00", "TCP"): 2.0})
FORKS = nodes(*TWO, times={("node00", "fork proc"): 1.95})  # nearly the extreme


@pytest.mark.parametrize(
    ("question", "made", "answers", "worth"),
    [
        ("kernel-rows", [], {"kernel_row_us": 97}, 2),  # read off with two digits
        ("round-trips", [OTHER_TCP], {}, 0),
        ("round-trips", [OTHER_TCP], {"full_round_trip_us": 28.2, "beside_mpi_us": 14.1}, 1),
        ("caches", [], {"l1_ends_at_kib": 48}, 2),  # a size further on
        ("caches", [], {"main_memory_ns": float("nan")}, 1),
        ("not-faster", [], {"most_faster_row": "MEM WRITE"}, 1),
        ("not-faster", [], {"most_faster_row": "", "least_faster_row": ""}, 0),
        ("not-faster", [FORKS], {"least_faster_row": "fork proc"}, 1),
        ("not-faster", [FORKS], {}, 1),
        ("paper-tables", [], {"grendel_faster_in": 6}, 0.5),
        ("odd-node", [], {"slow_rows_share": "processes"}, 1),
        ("odd-node", [odd("node02", rows=(*OVER_IP, "pipe"))], {}, 2),
        ("prediction", [], {"predicted_read_meanwhile_bytes": 1522 * 14.1}, 0.5),
        ("prediction", [on_cables("10mbit")], {"predicted_cable_mb_per_s": 1.25}, 1),
        ("prediction", [on_cables("off")], {"predicted_cable_mb_per_s": 7000}, 1),
        ("own-rows", [], {"library_clock_asks_the_kernel": "yes"}, 1.5),
        (
            "own-rows",
            [own(**GOOD | {"library": 0.25})],
            {"library_clock_asks_the_kernel": "yes"},
            2,
        ),
        ("timing-loop", [timing(own_us=0.5)], {}, 3),  # the real call takes too long
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_is_held_against_the_learners_own_records(
    question: str, made: list[Record], answers: dict[str, Any], worth: float
) -> None:
    assert one(question, instead(*made), **answers).points == pytest.approx(worth)


@pytest.mark.parametrize("blind", [0, True, "node"])
def test_blind_answers_earn_next_to_nothing_beside_records(blind: object) -> None:
    found = scores(**dict.fromkeys(RIGHT, blind))
    assert earned(found) <= MEASURED


def test_only_the_first_node_is_asked_for() -> None:
    mine = instead(nodes(*TWO, times={("node01", "TCP"): 9.0, ("node01", "null call"): 9.0}))
    assert points(scores(mine)) == LAB.worth


@pytest.mark.parametrize(
    "kept",
    [
        odd(),  # all alike
        odd("node01", "node02"),
        odd("node02", rows=("UDP", "TCP")),
    ],
    ids=["none", "two", "half"],
)
def test_a_record_without_one_odd_node_decides_nothing(kept: Record) -> None:
    found = one("odd-node", instead(kept))
    assert (found.points, "does not show exactly one odd node" in found.found) == (0, True)


@pytest.mark.parametrize(
    ("us", "worth", "said"),
    [
        (GOOD | {"library": 0.23}, 1.5, "right"),  # no vDSO here: the answer would be yes
        (GOOD | {"system": 0.022}, 1, "no system call takes less than the null call"),
        (GOOD | {"pipe": 0.17}, 1.5, "two system calls take longer"),
        (GOOD | {"library": 1e-6}, 1, "nothing takes so little"),
        ({"null": 0.16, "pipe": 0.66}, 0.5, "not written yet"),
    ],
)
def test_a_row_of_ones_own_has_to_be_possible(
    us: dict[str, float], worth: float, said: str
) -> None:
    found = one("own-rows", instead(own(**us)))
    assert (found.points, said in found.found) == (worth, True)


def test_an_answer_may_fit_any_of_the_learners_records() -> None:
    later = nodes(*TWO, times={("node00", "TCP"): 2.0}, started="2099-01-01T00:00:00.000Z")
    kept = [*records(), later]
    assert one("round-trips", kept).points == 1
    # Not one figure of one Record and one of another.
    assert one("round-trips", kept, full_round_trip_us=28.2).points == 0.5


def test_a_record_that_lacks_a_row_is_no_whole_one() -> None:
    found = one("a3-record", instead(nodes(*TWO, without="stat")))
    assert (found.points, "stat" in found.found) == (0, True)


def test_a_machine_that_shows_no_second_cache_loses_nothing() -> None:
    assert points(scores(instead(nodes(*TWO, without="L2 cache")))) == LAB.worth


@pytest.mark.parametrize("value", [0.0, 1e300])
def test_times_that_cannot_be_earn_nothing(value: float) -> None:
    tampered = nodes(*TWO)
    for point in tampered.points:
        point.samples[:] = [value] * len(point.samples)
    found = scores(instead(tampered))
    assert earned(found) <= OF_THE_PAPER | MEASURED | {"odd-node", "caches", "prediction"}
    assert all(math.isfinite(score.points) for score in found.values())
