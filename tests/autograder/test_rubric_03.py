"""Does the rubric of lab 03 hold every answer against the learner's own A4, E4, laws and counts, with a reason?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from marked import Marked, earned, points

from beowulf.record import Point, Record
from beowulf.suites import npb
from tests.gold import lab_03
from tests.gold.lab_03 import RIGHT, TIMES, asked, counted, eight, record, suite

LAB = Marked(lab_03)
instead, scores = LAB.instead, LAB.scores
OF_THE_PAPERS = {
    *("wrong-seed", "operations", "kernel-word", "cable-bound", "hpl-size", "hpl-ratio"),
}


def test_records_without_answers_earn_only_what_was_measured_and_written() -> None:
    found = LAB.unanswered()
    assert earned(found) == {"a4-record", "e4-record", "laws", "sizes"}


def test_answers_without_records_earn_only_what_the_papers_tell() -> None:
    assert earned(scores([])) == OF_THE_PAPERS


def test_another_machine_has_other_answers() -> None:
    mine = instead(eight(cores=8, EP=(0.8, 0.2, 0.2), LU=(0.01, 0.1, 0.99)))
    found = scores(mine)
    assert (found["predict"].points, found["shares"].points) == (1, 1)
    other = {
        "ep_mops": 2**25 / 0.8e6,
        "ep_speed_up": 4.0,
        "ep_serial_share": 0.0,
        "ep_predicted_s": 0.2,
        "ft_predicted_s": 0.01 + 7 * 786_432 / 12.5e6,
        "largest_share_has": " lu",
        "largest_share_percent": 99,
    }
    assert points(scores(mine, **other)) == LAB.worth


def test_class_w_has_its_own_sizes() -> None:
    mine = instead(eight(letter="W"))
    assert scores(mine)["ft-bytes"].points == 0
    other = {"ep_operations": 2**26, "ft_bytes": 1_572_864, "ep_mops": 2**26 / 0.2e6}
    found = scores(mine, **other, ft_predicted_s=0.02 + 7 * 1_572_864 / 12.5e6)
    assert points(found) == LAB.worth


@pytest.mark.parametrize(
    ("question", "answers", "worth"),
    [
        ("ep-count", {"ep_mops": 84.0}, 1),
        ("ep-count", {"ep_operations": 16_777_216, "ep_mops": 83.9}, 0),
        ("ft-bytes", {"ft_bytes": 1_048_576}, 0),
        ("predict", {"ep_predicted_s": 0.05}, 1),  # four workers, on two cores
        ("predict", {"ft_predicted_s": 0.45}, 2),
        ("karp-flatt", {"ft_serial_share": "large"}, 1),
        ("shares", {"largest_share_has": "FT"}, 1),
        ("message-length", {"lu_send_bytes": 960_000}, 0.5),
        ("wrong-seed", {"checks_that_pass": 2}, 0),
        ("kernel-word", {"kernel_means": "operating system"}, 0),
        ("operations", {"lu_b_over_a": 4.0}, 0),
        ("cable-bound", {"ft_cable_s": 18.8}, 1),
        ("hpl-percent", {"hpl_percent_of_dgemm": 50}, 0),  # one rank's DGEMM
        ("hpl-size", {"hpl_matrix_gb": 1.39}, 1),
        ("hpl-ratio", {"hpl_times_the_performance": 2.5}, 0),
        ("hpl-ratio", {"hpl_times_the_performance": True}, 0),
    ],
)
def test_what_is_half_right_earns_half(
    question: str, answers: dict[str, Any], worth: float
) -> None:
    assert points(scores(**answers)) == LAB.worth | {question: worth}


@pytest.mark.parametrize("blind", [0, 1, float("nan"), float("inf")])
def test_one_number_everywhere_earns_nothing_beside_the_records(blind: float) -> None:
    numbers = {name: blind for name, value in RIGHT.items() if not isinstance(value, str)}
    kept = {"a4-record", "e4-record", "laws", "sizes", "kernel-word", "shares"}
    assert earned(scores(**numbers)) <= kept


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (replace(eight(), complete=False), "it was cut short"),
        (replace(eight(), points=[]), "no samples"),
        (replace(eight(), points=[p for p in eight().points if p.at["benchmark"] != "CG"]), "CG"),
        (replace(eight(), points=[p for p in eight().points if p.at["ranks"] == 1]), "EP"),
        (eight(verified=False), "not verified"),
        (eight(letter="Z"), "something is missing"),
    ],
    ids=["cut short", "emptied", "one missing", "one node", "wrong", "no such class"],
)
def test_an_a4_that_is_not_whole_or_not_verified_counts_for_nothing(
    other: Record, said: str
) -> None:
    found = scores(instead(other))
    assert found["a4-record"].points == 0
    assert said in found["a4-record"].found
    assert earned(found).isdisjoint({"ep-count", "predict", "shares", "speed-up"})


def test_the_exercises_are_not_taken_for_a_measurement() -> None:
    assert "a4-record" not in earned(scores([asked(), counted(), suite()]))


def test_each_right_law_is_a_point_and_one_wrong_answer_loses_it() -> None:
    found = scores(instead(asked(amdahl=1.0)))["laws"]
    assert found.points == 2
    assert "amdahl: 4 of 5 right" in found.found
    assert scores([*instead(asked(amdahl=1.0)), asked()])["laws"].points == 3


def test_a_law_is_worked_out_again_and_the_record_not_believed() -> None:
    easy = asked()
    easy.points[0].facts.update(asked=[], yours=[])
    assert scores(instead(easy))["laws"].points == 2


def test_each_right_count_is_a_point() -> None:
    assert scores(instead(counted(one_packet=0, bytes=1)))["sizes"].points == 1


@pytest.mark.parametrize("study", ["A4", "E4"])
@pytest.mark.parametrize(
    "junk",
    [
        Point({"benchmark": "EP"}, "duration_s", [0.0]),
        Point({"result": "hpl_gflops", "ranks": "many"}, "hpl_gflops", [1.0]),
        Point({"law": [], "count": {}}, facts={"yours": "x", "ours": None}),
    ],
    ids=["zero", "many", "no facts"],
)
def test_a_record_of_anything_else_stops_no_question(study: str, junk: Point) -> None:
    kept = [record(study, [junk], variant=name) for name in ("", "laws", "sizes")]
    found = scores(kept)
    assert earned(found) == OF_THE_PAPERS


def test_every_benchmark_is_one_that_the_suite_has() -> None:
    assert set(TIMES) == set(npb.BENCHMARKS)
