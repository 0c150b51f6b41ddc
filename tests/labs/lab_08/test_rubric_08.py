"""Does the rubric of lab 08 hold every answer and program against the learner's own Records, with a reason?"""

from __future__ import annotations

import pytest

from autograder.evidence import clock
from beowulf.exercises import gas
from beowulf.record import Point, Record
from tests.autograder.marked import Marked
from tests.gold import lab_08
from tests.gold.lab_08 import c1, own_galaxy, own_gas

LAB = Marked(lab_08)
one, instead, scores = LAB.one, LAB.instead, LAB.scores


def test_on_one_network_what_a_second_one_gains_is_not_known() -> None:
    found = scores(instead(c1(networks=(1,))))
    assert {found[name].points for name in ("c1-record", "saturation", "second-network")} == {0}
    assert "Only one network was measured" in found["c1-record"].found


@pytest.mark.parametrize(
    ("question", "record", "points", "said"),
    [
        ("ghosts", own_gas("row 116 is not there"), 0, "row 116 is not there"),
        ("ghosts", own_gas(bits=("12ab", "34cd")), 0, "other bits on four ranks"),
        ("galaxy", own_galaxy(1.01), 3, "1.010 times the mean"),
        ("galaxy", own_galaxy(1.1), 1.5, "1.100 times the mean"),
        ("galaxy", own_galaxy(1.25), 0, "1.250 times the mean"),
        ("galaxy", own_galaxy(why="rank 0 owns particles twice"), 0, "owns particles twice"),
    ],
)
def test_an_own_program_earns_by_what_it_does_and_the_reason_is_said(
    question: str, record: Record, points: float, said: str
) -> None:
    found = one(question, instead(record))
    assert found.points == points
    assert said in found.found


def test_an_exchange_that_was_not_run_on_both_is_none() -> None:
    record = own_gas()
    record.points = [point for point in record.points if point.at.get("ranks") != gas.RANKS]
    assert one("ghosts", instead(record)).points == 0


def test_simulated_time_may_be_longer_than_the_simulation_took() -> None:
    record = lab_08.machine(ended="2024-01-05T10:00:00.100Z")
    record.points.append(Point({"ranks": 1, "cables": 3}, "step_s", [500.0]))
    assert not clock.duration(record)
    record.study = "C7"
    assert clock.duration(record)
