"""Does the rubric of lab 04 hold every answer, program and plot against the learner's own Records, with a reason?"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest
from marked import Marked, points

from autograder.course import release
from beowulf.record import Record
from tests.gold import lab_04
from tests.gold.lab_04 import (
    BLOCKING,
    CLUSTER,
    NONBLOCKING,
    RIGHT,
    SLUG,
    WORTH,
    a7,
    exchanges,
    own,
    patience,
    rates_plot,
    records,
    times_plot,
)

LAB = Marked(lab_04)
instead, scores = LAB.instead, LAB.scores


def notebook() -> Any:
    return release.student_version(release.sources()[SLUG])


def test_the_notebook_asks_for_the_size_that_the_rubric_computes_with() -> None:
    assert any(f"{LAB.rubric.ASKED_BYTES:,} bytes" in cell.source for cell in notebook().cells)


@pytest.mark.parametrize(
    ("name", "answer", "question", "share"),
    [
        ("eager_limit_bytes", 131_072, "eager-limit", 1),
        ("eager_limit_bytes", 130_900, "eager-limit", 1),
        ("eager_limit_bytes", 131_500, "eager-limit", 0),
        ("eager_limit_bytes", 100_000, "eager-limit", 0),
        ("eager_limit_bytes", "131040", "eager-limit", 0),
        ("most_columns", 8192, "other-limit", 1),
        ("most_columns", 8120, "other-limit", 1),
        ("most_columns", 65_504, "other-limit", 0),
        ("most_columns", 16_380, "other-limit", 0),
        ("plain_alpha_us", abs(RIGHT["plain_alpha_us"]), "fit", 0.75),
        (
            "weighted_bandwidth_bytes_per_us",
            1 / RIGHT["weighted_bandwidth_bytes_per_us"],
            "fit",
            0.75,
        ),
        ("weighted_bandwidth_bytes_per_us", 100.0, "fit", 0.75),
        ("half_rate_bytes", None, "fit", 0.75),
        ("model_time_us", 0.98 * RIGHT["model_time_us"], "model-time", 1),
        ("model_time_us", 1e-6 * RIGHT["model_time_us"], "model-time", 0),
        ("model_time_us", float("nan"), "model-time", 0),
        ("saturation_bytes", 1024, "saturation-bytes", 1),
        ("saturation_bytes", 65_536, "saturation-bytes", 1),
        ("saturation_bytes", 262_144, "saturation-bytes", 0),
        ("saturation_bytes", True, "saturation-bytes", 0),
        ("four_nodes_times", 1.6, "four-nodes", 1),
        ("four_nodes_times", 2.0, "four-nodes", 0),
        ("impatience_times", 43, "patience-times", 1),
        ("impatience_times", 1 / 40, "patience-times", 0),
        ("impatience_times", None, "patience-times", 0),
    ],
)
def test_an_answer_may_be_off_by_what_reading_a_figure_costs(
    name: str, answer: object, question: str, share: float
) -> None:
    assert LAB.one(question, **{name: answer}).points == share * WORTH[question]


def test_an_answer_is_held_against_the_learners_own_times() -> None:
    slow = own()
    slow.points = [replace(p, samples=[2 * s for s in p.samples]) for p in slow.points]
    assert LAB.one("model-time", instead(slow)).points == 0
    found = LAB.one("model-time", instead(slow), model_time_us=2 * RIGHT["model_time_us"])
    assert found.points == WORTH["model-time"]
    # The size that travels at half of the rate is the same.
    assert LAB.one("fit", instead(slow)).points == WORTH["fit"] / 4


def test_an_answer_may_be_that_of_an_earlier_record() -> None:
    later = own()
    later.started = "2026-02-01T00:00:00.000Z"
    later.points = [replace(p, samples=[2 * s for s in p.samples]) for p in later.points]
    assert points(scores([*records(), later])) == LAB.worth


def test_another_library_has_another_limit_and_the_reason_says_so() -> None:
    modern = [replace(each, cluster={**CLUSTER, "mpi": "modern"}) for each in records()]
    found = LAB.one("eager-limit", modern)
    assert found.points == 0
    assert "modern" in found.expected
    assert "instructor" in found.expected


@pytest.mark.parametrize("kept", records(), ids=lambda each: f"{each.study}-{each.variant}")
def test_the_limit_needs_no_record_but_one_that_names_the_library(kept: Record) -> None:
    assert LAB.one("eager-limit", [kept]).points == WORTH["eager-limit"]
    assert LAB.one("eager-limit", [replace(kept, cluster={})]).points == 0
    assert LAB.one("eager-limit", []).points == 0


# ------------------------------------------------------------ programs


def times(record: Record, language: str, factor: float) -> Record:
    """The Record with times of one language so many times as long."""
    record.points = [
        replace(p, samples=[factor * s for s in p.samples])
        if p.at.get("language") == language
        else p
        for p in record.points
    ]
    return record


def silent(record: Record) -> Record:
    """The Record of a function that gave no time at all."""
    record.points = record.points[:1]
    return record


@pytest.mark.parametrize(
    ("record", "share", "said"),
    [
        (own(faults=["With 8 bytes it returned nan."]), 0.5, "it returned nan"),
        (
            silent(own(faults=["With 8 bytes it returned nothing on rank 0."])),
            0,
            "nothing on rank 0",
        ),
        (silent(own()), 0, "no times of yours"),
        (own(source=NONBLOCKING), 0.5, "does not call recv and send"),
        (own(source=BLOCKING.replace("Recv", "Sendrecv")), 0.5, "sendrecv"),
        (times(own(), "own", 0.5), 0.5, "times as long as C"),
        (times(own(), "own", 1e-6), 0.5, "times as long as C"),
        (times(own(), "own", 8), 0.5, "times as long as C"),
        (replace(own(), complete=False), 0.5, "cut short"),
        (own(source="no Python ("), 0.5, "does not call"),
        (own(source=BLOCKING + "# longer than a Record keeps" * 1_000), 0.5, "does not call"),
    ],
)
def test_a_round_trip_that_is_not_right_says_why(record: Record, share: float, said: str) -> None:
    found = LAB.one("own-blocking", instead(record))
    assert found.points == share * WORTH["own-blocking"]
    assert said in found.found


def test_a_round_trip_that_waits_at_once_for_each_call_is_not_blocking_and_not_the_reverse() -> (
    None
):
    found = LAB.one("own-nonblocking", instead(own("nonblocking", source=BLOCKING)))
    assert found.points == WORTH["own-nonblocking"] / 2
    assert "does not call irecv and isend" in found.found
    mixed = BLOCKING.replace("world.Send(buffer, dest=1)", "world.Isend(buffer, dest=1).Wait()")
    found = LAB.one("own-nonblocking", instead(own("nonblocking", source=mixed)))
    assert found.points == WORTH["own-nonblocking"] / 2


def test_the_best_of_several_round_trips_counts() -> None:
    bad = own(faults=["With 8 bytes it returned nan."])
    bad.started = "2026-02-01T00:00:00.000Z"
    assert LAB.one("own-blocking", [*records(), bad]).points == WORTH["own-blocking"]


def test_a_small_message_may_cost_more_in_python_but_not_ten_times_as_much() -> None:
    slow = own()
    slow.points = [
        replace(p, samples=[9.5 * 20.64] * 30)
        if p.at.get("language") == "own" and p.at["size_bytes"] == 8
        else p
        for p in slow.points
    ]
    assert LAB.one("own-blocking", instead(slow)).points == WORTH["own-blocking"]


@pytest.mark.parametrize(
    ("way", "share"), [("send_first", 3 / 4), ("in_turns", 5 / 8), ("nonblocking", 5 / 8)]
)
def test_each_exchange_has_its_share_and_its_reason(way: str, share: float) -> None:
    found = LAB.one("exchange", instead(exchanges(wrong={way: "node01 (rank 1): off by one"})))
    assert found.points == share * WORTH["exchange"]
    assert "off by one" in found.found
    given = exchanges(sources={way: given_source(f"exchange_{way}")})
    found = LAB.one("exchange", instead(given))
    assert found.points == share * WORTH["exchange"]
    assert f"exchange_{way}: it is as it was given" in found.found


def given_source(name: str) -> str:
    """A function as the course gives it to a learner who skipped this lab."""
    from beowulf import paths

    text = (paths.root() / "labs" / "heat" / "given.py").read_text()
    (found,) = [
        each
        for each in ast.parse(text).body
        if isinstance(each, ast.FunctionDef) and each.name == name
    ]
    return str(ast.get_source_segment(text, found))


def test_an_exchange_that_was_not_measured_earns_nothing() -> None:
    bare = exchanges()
    bare.points = [p for p in bare.points if "function" in p.at]
    assert LAB.one("exchange", instead(bare)).points == 0
    assert LAB.one("exchange", instead(replace(exchanges(), points=[]))).points == 0
    assert set(lab_04.WAYS) == set(LAB.rubric.EXCHANGES)


# ------------------------------------------------------------ predictions, plots and Records


@pytest.mark.parametrize(
    ("plot", "share", "said"),
    [
        (times_plot(y_scale="linear"), 5 / 6, "linear"),
        (times_plot(y_label="half round trip"), 5 / 6, "no unit"),
        (times_plot(legend=[]), 5 / 6, "no legend"),
        (times_plot(lines=[]), 0, "nothing is drawn"),
        (rates_plot(y_label="Mbit/s", x_scale="linear"), 5 / 6, "linear"),
        (rates_plot(lines=rates_plot().points[0].facts["lines"][:2]), (2 + 2) / 6, "2 of 3 lines"),
    ],
)
def test_a_plot_is_scored_by_what_it_shows(plot: Record, share: float, said: str) -> None:
    question = f"{plot.variant}-plot"
    found = LAB.one(question, instead(plot))
    assert found.points == pytest.approx(share * WORTH[question])
    assert said in found.found


def test_a_plot_of_other_numbers_earns_a_quarter() -> None:
    faster = a7()
    faster.points = [replace(p, samples=[s / 2 for s in p.samples]) for p in faster.points]
    assert LAB.one("rates-plot", instead(faster)).points == WORTH["rates-plot"] / 4
    assert LAB.one("times-plot", instead(times(own(), "own", 2))).points == pytest.approx(
        0.75 * WORTH["times-plot"]
    )


@pytest.mark.parametrize(
    ("broken", "questions", "said"),
    [
        (replace(a7(), complete=False), ("a7-record", "four-nodes"), "cut short"),
        (replace(a7(), points=[]), ("a7-record", "four-nodes"), "no times of messages"),
        (
            replace(a7(), points=[p for p in a7().points if p.at["ranks"] != 3]),
            ("a7-record", "saturation-bytes"),
            "np 3",
        ),
        (replace(own(), points=own().points[:1]), ("fit", "model-time"), "fewer than 3 sizes"),
        (replace(patience(), complete=False), ("patience-times",), "cut short"),
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
        found = LAB.one(question, instead(broken))
        assert found.points == 0
        assert said in found.found
