"""Does the rubric of lab 05 hold every answer, program and plot against the learner's own Records, with a reason?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from marked import Marked, earned

from autograder.evidence.variants import Own
from autograder.rubrics import facts_05, record_facts
from beowulf.errors import LabError
from beowulf.exercises.heat import program
from beowulf.labs.lab_05 import by_lot, own_step
from beowulf.record import Record
from tests import heat_solutions
from tests.gold import lab_05
from tests.gold.lab_05 import (
    PASSES,
    WORTH,
    gain_plot,
    one_message,
    own,
    records,
    sealed,
    source,
    step,
    sweep,
)

LAB = Marked(lab_05)
instead, scores = LAB.instead, LAB.scores
LATER = {"started": "2099-01-01T00:00:00.000Z", "ended": "2099-01-01T00:01:00.000Z"}


def test_answers_without_records_earn_what_everybody_knows_from_the_handout() -> None:
    assert earned(scores([])) == {"who-progresses", "table-minima"}


def test_the_record_of_the_version_in_c_is_no_measurement_of_the_one_in_python() -> None:
    late = sealed("gain", -20, -40, 0, "H5-python", **LATER)
    only_c = [each for each in records() if (each.study, each.variant) != ("H5", "python")]
    kept = [each for each in only_c if each.variant != "gain" or each.study == "F5"]
    assert scores([*kept, late])["predict-gain"].points == 0.5


def test_support_is_what_the_learners_own_record_shows() -> None:
    never_late = instead(one_message(waits=False))
    assert scores(never_late)["d1-support"].points == pytest.approx(2 / 3)
    assert scores(never_late, limit_16_kb=" Supported")["d1-support"].points == 1


@pytest.mark.parametrize("language", ["python", "c"])
def test_a_right_step_of_ones_own_earns_most_and_its_gain_the_rest(language: str) -> None:
    question = f"overlap-{language}"
    right = WORTH[question] - 1

    def points(*these: Record) -> float:
        others = [each for each in records() if (each.study, each.variant) != ("H5", language)]
        return scores([*others, *these])[question].points

    assert points(step(language=language)) == right + 1
    for hidden in (0.0, 0.03, -0.2):
        assert points(step(language=language, hidden=hidden)) == right
    assert points(step(language=language), step(language=language, hidden=0.0)) == right + 1
    assert points() == 0


def test_a_step_that_gains_only_without_its_ghost_rows_at_the_longest_is_not_clear() -> None:
    kept = [each for each in records() if (each.study, each.variant) != ("H5", "python")]
    found = scores([*kept, step(tests=False)])["overlap-python"]
    assert (found.points, "160,000 bytes" in found.found) == (3, True)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (step(why="row 5, a border row, is not filled"), "row 5, a border row"),
        (step(text="def overlapped_step(world, old, new):\n    ...\n"), "not your own"),
        (
            step(text=program.sections((program.ORIGINALS / "given.py").read_text())[5]),
            "not your own",
        ),
        (step(text="no Python ("), "not your own"),
        (step(hidden=0.9), "less than its messages by themselves"),
        (replace(step(), complete=False), "cut short"),
        (replace(step(), points=step().points[:1]), "has no samples"),
        (replace(step(), points=step().points[1:]), "it was not tried"),
    ],
    ids=[
        *("wrong", "a stub", "the course's own", "no Python", "faster than its messages"),
        *("cut short", "no samples", "no function"),
    ],
)
def test_what_is_no_right_step_of_ones_own_earns_nothing(record: Record, said: str) -> None:
    kept = [each for each in records() if (each.study, each.variant) != ("H5", "python")]
    found = scores([*kept, record])["overlap-python"]
    assert (found.points, said in found.found) == (0, True), found.found


def test_the_step_in_c_that_is_handed_out_earns_nothing() -> None:
    text = (program.ORIGINALS / program.OVERLAP_C).read_text()
    found = scores(instead(step(language="c", text=text)))["overlap-c"]
    assert (found.points, "not your own" in found.found) == (0, True)


def test_a_step_against_one_that_was_slowed_down_does_not_gain() -> None:
    parts = {"before": 0.4}
    kept = [each for each in records() if (each.study, each.variant) != ("H5", "python")]
    assert scores([*kept, step(parts=parts, hidden=0.5)])["overlap-python"].points == 3


@pytest.mark.parametrize(
    ("answers", "earned_points"),
    [
        ({}, 1),
        ({"gain_percent": -29.0, "bound_percent": -49.0}, 1),
        ({"gain_percent": 30.0}, 0.5),
        ({"gain_percent": -0.3, "bound_percent": 0.48}, 0),
        ({"gain_percent": float("nan"), "bound_percent": "-48"}, 0),
        # That of the version without MPI_Test, which has a Record, too.
        ({"gain_percent": 0.0}, 0.5),
    ],
)
def test_gain_and_bound_are_those_of_ones_own_step(
    answers: dict[str, Any], earned_points: float
) -> None:
    assert scores(**answers)["gain-bound"].points == earned_points


def test_the_plot_shows_both_versions_and_the_bound() -> None:
    assert scores()["gain-plot"].points == 2
    unlabelled = scores(instead(gain_plot(x_label="", legend=[])))["gain-plot"]
    assert 0 < unlabelled.points < 2
    without_records = [each for each in records() if each.study != "H5"]
    assert scores(without_records)["gain-plot"].points <= 1
    (facts,) = [point.facts for point in gain_plot().points]
    invented = [{**each, "y": [y - 4 for y in each["y"]]} for each in facts["lines"]]
    assert scores(instead(gain_plot(lines=invented)))["gain-plot"].points <= 1


def test_a_version_is_recognized_by_what_its_text_calls() -> None:
    assert own_step.version(step(tests=True)) == own_step.WITH
    assert own_step.version(step(tests=False)) == own_step.WITHOUT
    comment = source(False) + "    # MPI.Request.Testall(requests) would help\n"
    assert own_step.version(step(text=comment)) == own_step.WITHOUT
    assert own_step.version(step(text="no Python (")) == own_step.WITHOUT
    longer_than_kept = source(True) + "# x" * 10_000
    assert own_step.version(step(text=longer_than_kept)) == own_step.WITHOUT
    assert own_step.version(step(language="c")) == own_step.WITH
    plain = heat_solutions.OVERLAP.replace("MPI_Testall(4", "/* MPI_Testall */ nothing(4")
    assert own_step.version(step(language="c", text=plain)) == own_step.WITHOUT


@pytest.mark.parametrize(
    ("jump_kb", "last", "first", "earned_points"),
    [
        (15, 10, 20, 1.5),
        (15, 10.0, 30, 0.75),
        (15, 20, 10, 0),
        (15, "10", None, 0),
        (15, 10_240, 20_480, 0),
        (65, 60, 70, 1.5),
        (65, 10, 20, 0),
    ],
)
def test_the_limit_is_that_of_the_learners_own_sweep(
    jump_kb: int, last: object, first: object, earned_points: float
) -> None:
    found = scores(instead(sweep(jump_kb)), last_by_itself_kb=last, first_that_waits_kb=first)
    assert found["eager-limit"].points == earned_points


def test_a_sweep_without_one_jump_asks_for_another() -> None:
    found = scores(instead(sweep(90)), last_by_itself_kb=80, first_that_waits_kb=0)["eager-limit"]
    assert found.points <= 0.75
    kept = instead(sweep())
    noisy = sweep()
    noisy.points[3] = replace(noisy.points[3], samples=[0.05] * PASSES)
    noisy.started = LATER["started"]
    assert scores([*kept, noisy])["eager-limit"].points == 1.5  # an earlier sweep is clear
    only = scores(instead(noisy))["eager-limit"]
    assert (only.points, "measure it again" in only.expected) == (0, True)


def test_a_learner_with_a_personal_code_is_asked_for_a_limit_and_a_table_of_their_own() -> None:
    words = [letter * 16 for letter in "ABCDEFGH"]
    assert {by_lot.limit_kb(word) for word in words} == set(by_lot.LIMITS_KB)
    assert len({by_lot.table_number(word) for word in words}) > 2
    for word in words:
        hand_in = replace(LAB.submission(), own=Own("ada", word, {}))
        hand_in.answers["table_minima_percent"] = LAB.rubric._of_minima(by_lot.table_number(word))
        found = LAB.score(hand_in)
        assert found["table-minima"].points == 1
        assert (found["eager-limit"].points == 1.5) == (by_lot.limit_kb(word) == 16)
        assert f"limit {by_lot.limit_kb(word)} KB" in found["eager-limit"].expected


def test_the_minima_of_another_table_are_named_and_earn_nothing() -> None:
    found = scores(table_minima_percent=-22.58)["table-minima"]
    assert (found.points, "right for table 10" in found.found) == (0, True)


def test_an_answer_may_fit_any_of_the_learners_records() -> None:
    later = sweep(65)
    later.started = LATER["started"]
    kept = [*records(), later]
    assert scores(kept)["eager-limit"].points == 1.5
    now = scores(kept, last_by_itself_kb=60, first_that_waits_kb=70)["eager-limit"]
    assert (now.points, later.file_name in now.expected) == (1.5, True)
    assert scores(kept, last_by_itself_kb=30, first_that_waits_kb=40)["eager-limit"].points == 0


def test_each_of_two_gains_is_half_a_point_with_its_sign() -> None:
    assert scores(plain_percent=0.9)["lost-gain"].points == 1
    turned = scores(plain_percent=-40, tested_percent=40)["lost-gain"]
    assert (turned.points, "positive sign" in turned.expected) == (0, False)
    turned = scores(tested_percent=40)["lost-gain"]
    assert (turned.points, "positive sign" in turned.expected) == (0.5, True)
    assert scores(tested_percent=float("nan"))["lost-gain"].points == 0.5


@pytest.mark.parametrize(
    ("mine", "earned_points"),
    [(own(-0.4), 3), (own(-0.16), 3), (own(-0.05), 1.5), (own(-0.02), 0), (own(0.2), 0)],
)
def test_an_exchange_earns_by_what_it_gains(mine: Record, earned_points: float) -> None:
    assert scores(instead(mine))["exchange"].points == earned_points


def test_the_best_of_several_exchanges_counts() -> None:
    assert scores([*instead(own(-0.4)), own(0.0)])["exchange"].points == 3


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        (own(before=0.2, during=0.037), "far longer"),
        (own(during=0.01), "less than its messages by themselves"),
    ],
)
def test_an_exchange_that_cannot_be_what_was_asked_earns_nothing(mine: Record, said: str) -> None:
    found = scores(instead(mine))["exchange"]
    assert (found.points, said in found.found) == (0, True)


def test_a_record_with_rows_of_far_too_many_lengths_is_no_data_of_a_plot() -> None:
    huge = step(tests=False)
    parts = huge.points[-4:]
    for more in range(1, 200):
        huge.points += [
            replace(p, at=p.at | {"columns": p.at["columns"] + more})
            for p in parts
            if "columns" in p.at
        ]
    with pytest.raises(LabError, match="more than 20 lengths"):
        facts_05._lines(huge)


def test_a_record_with_far_too_many_samples_is_refused_and_not_worked_on() -> None:
    most = record_facts.MOST_SAMPLES
    huge = sweep()
    huge.points[0] = replace(huge.points[0], samples=[0.1] * (most + 1))
    found = scores(instead(huge))["d2-record"]
    assert found.points == 0
    assert "more than" in found.found
