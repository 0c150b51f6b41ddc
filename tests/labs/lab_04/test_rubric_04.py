"""Does the rubric of lab 04 hold every answer, program and plot against the learner's own Records, with a reason?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beowulf.record import Record
from tests.autograder.marked import Marked
from tests.gold import lab_04
from tests.gold.lab_04 import (
    CLUSTER,
    RIGHT,
    WORTH,
    a7,
    own,
    patience,
    records,
)

LAB = Marked(lab_04)
one, instead = LAB.one, LAB.instead


@pytest.mark.parametrize(
    ("name", "answer", "question", "share"),
    [
        ("eager_limit_bytes", 130_900, "eager-limit", 1),
        ("eager_limit_bytes", 131_500, "eager-limit", 0),
        ("most_columns", 8120, "other-limit", 1),
        ("most_columns", 65_504, "other-limit", 0),
        ("most_columns", 16_380, "other-limit", 0),
        ("plain_alpha_us", abs(RIGHT["plain_alpha_us"]), "fit", 0.75),
        ("weighted_bandwidth_bytes_per_us", 100.0, "fit", 0.75),
        ("model_time_us", 0.98 * RIGHT["model_time_us"], "model-time", 1),
        ("model_time_us", float("nan"), "model-time", 0),
        ("saturation_bytes", 1024, "saturation-bytes", 1),
        ("saturation_bytes", 65_536, "saturation-bytes", 1),
        ("saturation_bytes", 262_144, "saturation-bytes", 0),
        ("four_nodes_times", 1.6, "four-nodes", 1),
        ("four_nodes_times", 2.0, "four-nodes", 0),
        ("impatience_times", 43, "patience-times", 1),
    ],
)
def test_an_answer_may_be_off_by_what_reading_a_figure_costs(
    name: str, answer: object, question: str, share: float
) -> None:
    assert one(question, **{name: answer}).points == share * WORTH[question]


def test_an_answer_is_held_against_the_learners_own_times() -> None:
    slow = own()
    slow.points = [replace(p, samples=[2 * s for s in p.samples]) for p in slow.points]
    assert one("model-time", instead(slow)).points == 0
    found = one("model-time", instead(slow), model_time_us=2 * RIGHT["model_time_us"])
    assert found.points == WORTH["model-time"]
    # The size that travels at half of the rate is the same.
    assert one("fit", instead(slow)).points == WORTH["fit"] / 4


def test_another_library_has_another_limit_and_the_reason_says_so() -> None:
    modern = [replace(each, cluster={**CLUSTER, "mpi": "modern"}) for each in records()]
    found = one("eager-limit", modern)
    assert found.points == 0
    assert "modern" in found.expected
    assert "instructor" in found.expected


def times(record: Record, language: str, factor: float) -> Record:
    """The Record with times of one language so many times as long."""
    record.points = [
        replace(p, samples=[factor * s for s in p.samples])
        if p.at.get("language") == language
        else p
        for p in record.points
    ]
    return record


def unmeasured(**what: Any) -> Record:
    """The Record of a function that gave no time at all."""
    return replace(own(**what), points=own(**what).points[:1])


@pytest.mark.parametrize(
    ("record", "share", "said"),
    [
        (unmeasured(faults=["it returned nothing on rank 0."]), 0, "nothing on rank 0"),
        (unmeasured(), 0, "no times of yours"),
        (own(calls=["MPI_Sendrecv"]), 0.5, "MPI_Sendrecv"),
        (own(source="no Python (", calls=["MPI_Mrecv", "MPI_Ssend"]), 1, "as fast as Python"),
        (times(own(), "own", 0.5), 0.5, "times as long as C"),
        (times(own(), "own", 2), 0.5, "times as long as C"),
        (replace(own(), complete=False), 0.5, "cut short"),
    ],
)
def test_a_round_trip_that_is_not_right_says_why(record: Record, share: float, said: str) -> None:
    found = one("own-blocking", instead(record))
    assert found.points == share * WORTH["own-blocking"]
    assert said in found.found


def test_a_small_message_may_cost_far_more_in_python() -> None:
    slow = own()
    slow.points = [
        replace(p, samples=[45 * 20.64] * 30)
        if p.at.get("language") == "own" and p.at["size_bytes"] == 8
        else p
        for p in slow.points
    ]
    assert one("own-blocking", instead(slow)).points == WORTH["own-blocking"]


@pytest.mark.parametrize(
    ("broken", "questions", "said"),
    [
        (
            replace(a7(), points=[p for p in a7().points if p.at["ranks"] != 3]),
            ("a7-record", "saturation-bytes"),
            "np 3",
        ),
        (replace(own(), points=own().points[:1]), ("fit", "model-time"), "fewer than 3 sizes"),
        (
            replace(patience(), points=patience().points[:1]),
            ("patience-times",),
            "without patience",
        ),
    ],
)
def test_a_record_from_which_something_is_missing_earns_nothing_and_says_what(
    broken: Record, questions: tuple[str, ...], said: str
) -> None:
    for question in questions:
        found = one(question, instead(broken))
        assert found.points == 0
        assert said in found.found
