"""Does the rubric of lab 02 hold every answer against the learner's own nodes, and know a row that cannot be?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from marked import Marked, earned, points

from beowulf.exercises.lab_02 import own_rows
from beowulf.record import Point, Record
from beowulf.studies.lab_02.node_comparison import OVER_IP
from beowulf.studies.lab_02.node_rows import RESULT
from tests.gold import lab_02
from tests.gold.lab_02 import GOOD, RIGHT, TWO, nodes, odd, own, records

LAB = Marked(lab_02)
one, instead, scores = LAB.one, LAB.instead, LAB.scores
OF_THE_PAPER = {"paper-tables"}


def test_an_empty_hand_in_is_answered_which_record_is_missing() -> None:
    found = LAB.scores([])["odd-node"].found
    assert "There is no Record A3, variant odd," in found


def test_a_wrong_hand_in_gets_none_but_for_its_record_and_its_rows() -> None:
    wrong = {
        name: "wrong" if isinstance(value, str) else 1.3 * value + 1
        for name, value in RIGHT.items()
        if name != "l1_ends_at_kib"
    }
    found = scores(**wrong, l1_ends_at_kib=128)
    assert earned(found) == {"a3-record", "own-rows"}
    assert found["own-rows"].points == 3


def test_records_without_answers_earn_only_what_was_measured() -> None:
    found = LAB.unanswered()
    assert earned(found) == {"a3-record", "own-rows"}


def test_answers_without_records_earn_only_what_the_paper_tells() -> None:
    assert earned(scores([])) == OF_THE_PAPER


@pytest.mark.parametrize(
    ("question", "answers", "worth"),
    [
        ("null-call", {"null_call_us": 0.44}, 2),  # read off with two digits
        ("null-call", {"null_call_us": 450}, 1),  # nanoseconds
        ("starting", {"program_alone_us": 688}, 1),  # with its fork
        ("round-trips", {"tcp_beside_mpi_us": 14.1}, 1),  # the usual mistake
        ("bytes-copied", {"hand_crossing_mb_per_s": 2 * 387.9}, 1),
        ("reread", {"faster_reread": " MMAP", "file_reread_also_does": "disk"}, 1),
        ("caches", {"l1_ends_at_kib": 48}, 3),  # a size further on
        ("caches", {"l1_ends_at_kib": 512}, 2),
        ("caches", {"l1_ns": "1.0", "main_memory_ns": float("nan")}, 1),
        ("not-faster", {"most_faster_row": "MEM WRITE"}, 2),
        ("not-faster", {"most_faster_row": "mem read"}, 1),
        ("not-faster", {"most_faster_row": "", "least_faster_row": ""}, 0),
        ("paper-tables", {"grendel_faster_in_table_1": 6}, 2),
        ("paper-tables", {"grendel_faster_in_table_1": True}, 2),
        ("odd-node", {"odd_one_out": "node01"}, 1),
        ("odd-node", {"slow_rows_share": "processes"}, 1),
        ("prediction", {"predicted_cable_mb_per_s": 100}, 2),  # bits
        ("prediction", {"predicted_half_round_trip_us": 14.1}, 2),
        ("own-rows", {"library_clock_asks_the_kernel": "yes"}, 3),
    ],
)
def test_each_answer_counts_by_itself(question: str, answers: dict[str, Any], worth: float) -> None:
    assert one(question, **answers).points == worth


@pytest.mark.parametrize("blind", [0, 1, True, "node"])
def test_blind_answers_earn_next_to_nothing_beside_records(blind: object) -> None:
    found = scores(**dict.fromkeys(RIGHT, blind))
    assert earned(found) <= {"a3-record", "own-rows", "caches"}
    assert found["caches"].points <= 1  # a load of 1 ns is the made node's own


def test_another_node_has_other_answers() -> None:
    mine = instead(nodes(*TWO, times={("node00", "TCP"): 2.0, ("node00", "file reread"): 0.1}))
    found = scores(mine)
    assert (found["round-trips"].points, found["reread"].points) == (0, 1)
    other = scores(mine, tcp_full_us=28.2, tcp_beside_mpi_us=14.1, faster_reread="file")
    assert (other["round-trips"].points, other["reread"].points) == (2, 2)


def test_only_the_first_node_is_asked_for() -> None:
    mine = instead(nodes(*TWO, times={("node01", "TCP"): 9.0, ("node01", "null call"): 9.0}))
    assert points(scores(mine)) == LAB.worth


def test_rows_that_are_nearly_the_extreme_count_as_well() -> None:
    mine = instead(nodes(*TWO, times={("node00", "fork proc"): 1.95}))
    assert one("not-faster", mine, least_faster_row="fork proc").points == 2
    assert one("not-faster", mine).points == 2


@pytest.mark.parametrize(("rate", "cable"), [("10mbit", 1.25), ("1gbit", 125), ("off", 7000)])
def test_a_cable_is_the_clusters_own(rate: str, cable: float) -> None:
    mine = instead(replace(nodes(*TWO), cluster={"rate": rate}))
    assert one("prediction", mine, predicted_cable_mb_per_s=cable).points == 3


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
        (GOOD, 4, "right"),
        (GOOD | {"library": 0.23}, 3, "right"),  # no vDSO here: the answer would be yes
        (GOOD | {"system": 0.022}, 2, "no system call takes less than the null call"),
        (GOOD | {"pipe": 0.17}, 3, "two system calls take longer"),
        (GOOD | {"library": 1e-6}, 2, "nothing takes so little"),
        ({"null": 0.16}, 0, "not written yet"),
        ({"null": 0.16, "pipe": 0.66}, 1, "not written yet"),
    ],
)
def test_a_row_of_ones_own_has_to_be_possible(us: dict[str, float], worth: int, said: str) -> None:
    found = one("own-rows", instead(own(**us)))
    assert (found.points, said in found.found) == (worth, True)


def test_where_the_library_asks_the_kernel_the_answer_is_yes() -> None:
    mine = instead(own(**GOOD | {"library": 0.25}))
    assert one("own-rows", mine, library_clock_asks_the_kernel="yes").points == 4


def test_an_answer_may_fit_any_of_the_learners_records() -> None:
    later = nodes(*TWO, times={("node00", "TCP"): 2.0}, started="2099-01-01T00:00:00.000Z")
    kept = [*records(), later]
    assert one("round-trips", kept).points == 2
    # Not one figure of one Record and one of another.
    assert one("round-trips", kept, tcp_full_us=28.2).points == 1


def test_a_record_that_was_cut_short_or_lacks_a_row_is_no_whole_one() -> None:
    for other in (nodes(*TWO, complete=False), nodes(*TWO, without="stat")):
        found = one("a3-record", instead(other))
        assert found.points == 0
        assert other.file_name in found.found


def test_a_machine_that_shows_no_second_cache_loses_nothing() -> None:
    assert points(scores(instead(nodes(*TWO, without="L2 cache")))) == LAB.worth


def test_own_rows_and_odd_nodes_are_not_taken_for_the_study() -> None:
    kept = [each for each in records() if each.variant]
    assert earned(scores(kept)) == OF_THE_PAPER | {"own-rows", "odd-node"}


@pytest.mark.parametrize(
    "junk",
    [
        Point({"n": 1}, "duration_s", [1.0]),
        Point({"node": "node00", "program": "processes", RESULT: "null call"}, facts={}),
        Point({"node": "node00", "program": [], RESULT: {}}, facts={"less": 3}),
        Point({"row": "null call", "node": "node00"}, own_rows.QUANTITY, [0.0]),
        Point({"row": "clock, library"}, own_rows.QUANTITY, [float("nan")]),
        Point({"node": "node00", "program": "memory", RESULT: "L1 cache"}, facts={"to_bytes": "x"}),
    ],
)
def test_records_of_junk_never_raise_and_never_earn(junk: Point) -> None:
    kept = [replace(each, points=[junk, junk]) for each in records()]
    kept.append(replace(kept[0], sweep={"nodes": "node00"}))
    kept.append(replace(kept[0], sweep={}))
    for name, score in scores(kept).items():
        assert math.isfinite(score.points)
        assert score.found, name
        assert not score.points or name in OF_THE_PAPER, name


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e300])
def test_times_that_cannot_be_earn_nothing(value: float) -> None:
    tampered = nodes(*TWO)
    for point in tampered.points:
        point.samples[:] = [value] * len(point.samples)
    found = scores(instead(tampered))
    assert earned(found) <= OF_THE_PAPER | {
        "a3-record",
        "own-rows",
        "odd-node",
        "reread",
        "caches",
    } | {"prediction"}
    assert all(math.isfinite(score.points) for score in found.values())


def test_a_record_with_far_too_many_points_is_refused_and_not_worked_on() -> None:
    huge = nodes("node00")
    huge.points = huge.points * 1000
    found = one("a3-record", instead(huge))
    assert (found.points, "more than" in found.found) == (0, True)
