"""Does the rubric of lab 03 hold every answer, program and plot against the learner's own Records, with a reason?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autograder.evidence.variants import Own
from beowulf.labs.lab_03 import by_lot
from beowulf.record import Record
from tests.autograder.marked import Marked, earned, points
from tests.gold import lab_03
from tests.gold.lab_03 import (
    MEASURED,
    RIGHT,
    WORTH,
    asked,
    eight,
    plate,
    records,
)

LAB = Marked(lab_03)
one, instead, scores = LAB.one, LAB.instead, LAB.scores


def test_another_machine_has_other_answers() -> None:
    mine = instead(eight(cores=8, EP=(0.8, 0.2, 0.2), LU=(0.01, 0.1, 0.99)), plate(cores=8))
    found = scores(mine)
    assert (found["four-from-one"].points, found["cores-bound"].points) == (1, 0)
    other = {
        "ep_mops": 2**25 / 0.8e6,
        "ep_predicted_s": 0.2,
        "ft_predicted_s": 0.01 + 7 * 786_432 / 12.5e6,
        "largest_share_has": " lu",
        "computing_s": 0.001,
        "most_times": 4,
        "reached_percent": 45.0,
    }
    assert points(scores(mine, **other)) == LAB.worth


def test_nodes_that_are_machines_of_their_own_are_all_workers() -> None:
    kept = instead(plate(cluster={"kind": "pcs"}))
    assert one("cores-bound", kept, most_times=4).points == WORTH["cores-bound"] / 2
    found = one("cores-bound", kept, most_times=4, reached_percent=45.0)
    assert found.points == WORTH["cores-bound"]


def test_class_w_has_its_own_sizes() -> None:
    mine = instead(eight(letter="W"))
    assert one("ep-count", mine).points == 0
    other = {"ep_mops": 2**26 / 0.2e6, "ft_predicted_s": 0.02 + 7 * 1_572_864 / 12.5e6}
    assert points(scores(mine, **other)) == LAB.worth


@pytest.mark.parametrize(
    ("question", "answers", "share"),
    [
        ("karp-flatt", {"serial_share_2": 0.6}, 1 / 2),  # the time, and not the share
        ("karp-flatt", {"serial_share_2": 0.265, "serial_share_4": 0.42}, 1),
        ("karp-flatt", {"serial_share_4": 0.45}, 1 / 2),  # the efficiency
        ("cores-bound", {"most_times": 4, "reached_percent": 45.0}, 0),
        ("cores-bound", {"reached_percent": 0.9}, 1 / 2),
        ("ep-count", {"ep_mops": 84.0}, 0),  # pairs for numbers
        ("four-from-one", {"ft_predicted_s": 0.02 + 7 * 1_048_576 / 12.5e6}, 1 / 2),
        ("shares", {"largest_share_has": "FT"}, 1 / 2),
        ("shares", {"computing_s": 0.049}, 1 / 2),  # what is spent in MPI
        ("message-length", {"bytes_a_call": 960}, 1 / 2),
        ("cable-bound", {"ft_cable_s": 18.8}, 1 / 2),
        ("paper-hpl", {"hpl_matrix_gb": 1.39}, 1 / 2),
    ],
)
def test_what_is_half_right_earns_half(
    question: str, answers: dict[str, Any], share: float
) -> None:
    assert one(question, **answers).points == share * WORTH[question]


@pytest.mark.parametrize("blind", [1, float("nan")])
def test_one_number_everywhere_earns_nothing_beside_the_records(blind: float) -> None:
    answers = {name: blind for name, value in RIGHT.items() if not isinstance(value, str)}
    assert earned(scores(**answers)) <= {*MEASURED, "shares", "message-length", "timeline"}


def word_for(draw: Any, wanted: object) -> str:
    """A word for which this is drawn."""
    words = (f"{number:016d}".translate(str.maketrans("0189", "ABCD")) for number in range(999))
    return next(word for word in words if draw(word) == wanted)


@pytest.mark.parametrize("rows", by_lot.PLATES)
def test_the_serial_share_is_of_the_plate_that_is_drawn(rows: int) -> None:
    own = Own("ada", word_for(by_lot.plate_rows, rows), {})
    two, four = (lab_03.SPEED_UPS[rows][ranks - 1] for ranks in (2, 4))
    right = {
        "serial_share_2": (1 / two - 1 / 2) / (1 - 1 / 2),
        "serial_share_4": (1 / four - 1 / 4) / (1 - 1 / 4),
    }
    asked_for = replace(LAB.submission(answers=right), own=own)
    found = LAB.score(asked_for, "karp-flatt")["karp-flatt"]
    assert found.points == WORTH["karp-flatt"]
    assert f"the plate of {rows} rows" in found.expected
    usual = LAB.score(replace(LAB.submission(), own=own), "karp-flatt")["karp-flatt"]
    assert (usual.points > 0) is (rows == by_lot.USUAL_PLATE)


@pytest.mark.parametrize(("name", "size", "paid"), [("MG", 240, "piece"), ("SP", 5600, "byte")])
def test_the_length_of_a_message_is_of_the_benchmark_that_is_drawn(
    name: str, size: float, paid: str
) -> None:
    own = Own("ada", word_for(by_lot.sender, name), {})
    answers = {"bytes_a_call": size, "paid_by": paid}
    asked_for = replace(LAB.submission(answers=answers), own=own)
    found = LAB.score(asked_for, "message-length")["message-length"]
    assert found.points == WORTH["message-length"]
    assert f"{name}'s {by_lot.CALLS[name]}" in found.expected


def test_a_plate_that_was_hardly_measured_earns_nothing_for_its_steps() -> None:
    few = plate()
    few.points = [replace(p, samples=p.samples[:1]) for p in few.points]
    found = one("heat-run", instead(few))
    assert found.points == 2
    assert "is not measured" in found.found


def test_a_law_is_worked_out_again_and_the_record_not_believed() -> None:
    easy = asked()
    easy.points[0].facts.update(asked=[], yours=[])
    assert one("laws", instead(easy)).points == 2


def test_laws_and_counts_are_no_measurement_that_makes_a_prediction_late() -> None:
    early = [
        replace(each, started="2020-01-01T00:00:00.000Z")
        if each.variant in ("laws", "sizes")
        else each
        for each in records()
    ]
    assert one("predict-ft", early).points == WORTH["predict-ft"]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (replace(eight(), points=[p for p in eight().points if p.at["benchmark"] != "CG"]), "CG"),
        (replace(eight(), points=[p for p in eight().points if p.at["ranks"] == 1]), "EP"),
        (eight(verified=False), "not verified"),
        (eight(letter="Z"), "unless it was edited"),
    ],
    ids=["one missing", "one node", "wrong", "no such class"],
)
def test_an_a4_that_is_not_whole_or_not_verified_counts_for_nothing(
    other: Record, said: str
) -> None:
    found = scores(instead(other))
    assert found["a4-record"].points == 0
    assert said in found["a4-record"].found
    assert earned(found).isdisjoint({"ep-count", "four-from-one", "shares", "message-length"})


def test_a_plate_of_one_size_has_no_serial_share() -> None:
    small = plate()
    small.points = [p for p in small.points if p.at.get("rows") != 400]
    found = one("karp-flatt", instead(small))
    assert found.points == 0
    assert "the plate of 400 rows was not measured" in found.found
