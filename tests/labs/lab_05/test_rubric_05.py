"""Does the rubric of lab 05 hold every answer, program and plot against the learner's own Records, with a reason?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autograder.evidence.variants import Own
from autograder.rubrics import facts_05, record_facts
from beowulf.errors import LabError
from beowulf.exercises.heat import program
from beowulf.labs.lab_05 import by_lot, own_step
from beowulf.record import Record
from tests.autograder.marked import Marked
from tests.gold import lab_05
from tests.gold.lab_05 import (
    PASSES,
    WORTH,
    one_message,
    own,
    records,
    sealed,
    source,
    step,
    sweep,
)

LAB = Marked(lab_05)
one, instead = LAB.one, LAB.instead
LATER = {"started": "2099-01-01T00:00:00.000Z", "ended": "2099-01-01T00:01:00.000Z"}


def without_steps(language: str) -> list[Record]:
    """All Records but those of one's own steps in this language."""
    return [each for each in records() if (each.study, each.variant) != ("H5", language)]


def test_the_record_of_the_version_in_c_is_no_measurement_of_the_one_in_python() -> None:
    late = sealed("gain", -20, -40, 0, "H5-python", **LATER)
    kept = [r for r in without_steps("python") if r.variant != "gain" or r.study == "F5"]
    assert one("predict-gain", [*kept, late]).points == 0.5


@pytest.mark.parametrize(
    ("question", "made", "answers", "worth"),
    [
        ("d1-support", [one_message(waits=False)], {}, 2 / 3),
        ("d1-support", [one_message(waits=False)], {"limit_16_kb": " Supported"}, 1),
        ("gain-bound", [], {"gain_percent": -29.0, "bound_percent": -49.0}, 1),
        ("gain-bound", [], {"gain_percent": -0.3, "bound_percent": 0.48}, 0),
        ("gain-bound", [], {"gain_percent": float("nan"), "bound_percent": "-48"}, 0),
        # That of the version without MPI_Test, which has a Record, too.
        ("gain-bound", [], {"gain_percent": 0.0}, 0.5),
        ("eager-limit", [], {"last_by_itself_kb": 20, "first_that_waits_kb": 10}, 0),
        ("eager-limit", [], {"last_by_itself_kb": 10_240, "first_that_waits_kb": 20_480}, 0),
        ("eager-limit", [sweep(65)], {"last_by_itself_kb": 60, "first_that_waits_kb": 70}, 1.5),
        ("eager-limit", [sweep(65)], {}, 0),
        ("lost-gain", [], {"plain_percent": 0.9}, 1),
        ("lost-gain", [], {"tested_percent": float("nan")}, 0.5),
        ("exchange", [own(-0.16)], {}, 3),
        ("exchange", [own(-0.05)], {}, 1.5),
        ("exchange", [own(-0.02)], {}, 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_is_held_against_the_learners_own_records(
    question: str, made: list[Record], answers: dict[str, Any], worth: float
) -> None:
    assert one(question, instead(*made), **answers).points == pytest.approx(worth)


@pytest.mark.parametrize("language", ["python", "c"])
def test_a_right_step_of_ones_own_earns_most_and_its_gain_the_rest(language: str) -> None:
    question = f"overlap-{language}"
    right = WORTH[question] - 1

    def points(*these: Record) -> float:
        return one(question, [*without_steps(language), *these]).points

    assert points(step(language=language)) == right + 1
    for hidden in (0.0, 0.03, -0.2):
        assert points(step(language=language, hidden=hidden)) == right
    assert points(step(language=language), step(language=language, hidden=0.0)) == right + 1
    assert points() == 0


def test_a_step_that_gains_only_without_its_ghost_rows_at_the_longest_is_not_clear() -> None:
    found = one("overlap-python", [*without_steps("python"), step(tests=False)])
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
        (step(hidden=0.9), "less than its messages by themselves"),
        (step(meanwhile=0.02), "next to nothing while its rows travel"),
        (replace(step(), complete=False), "cut short"),
        (replace(step(), points=step().points[1:]), "it was not tried"),
    ],
    ids=[
        *("wrong", "a stub", "the course's own", "faster than its messages", "no overlap"),
        *("cut short", "no function"),
    ],
)
def test_what_is_no_right_step_of_ones_own_earns_nothing(record: Record, said: str) -> None:
    found = one("overlap-python", [*without_steps("python"), record])
    assert (found.points, said in found.found) == (0, True), found.found


def test_a_step_against_one_that_was_slowed_down_does_not_gain() -> None:
    slowed = step(parts={"before": 0.4}, hidden=0.5)
    assert one("overlap-python", [*without_steps("python"), slowed]).points == 3


def test_a_version_is_recognized_by_what_a_recording_shows_whatever_its_text_is() -> None:
    assert own_step.version(step(tests=True, text="no Python (")) == own_step.WITH
    assert own_step.version(step(tests=False, text=source(True))) == own_step.WITHOUT
    assert own_step.version(step(language="c")) == own_step.WITH
    for tests, version in ((True, own_step.WITH), (False, own_step.WITHOUT)):
        old = step(text=source(tests))  # of a Record without a recording
        del old.points[0].facts["mpi_calls"]
        assert own_step.version(old) == version


def test_a_sweep_without_one_jump_asks_for_another() -> None:
    found = one("eager-limit", instead(sweep(90)), last_by_itself_kb=80, first_that_waits_kb=0)
    assert found.points <= 0.75
    kept = instead(sweep())
    noisy = sweep()
    noisy.points[3] = replace(noisy.points[3], samples=[0.05] * PASSES)
    noisy.started = LATER["started"]
    assert one("eager-limit", [*kept, noisy]).points == 1.5  # an earlier sweep is clear
    # With 80 KB rank 1 is early again, so that the medians show two jumps.
    noisy.points[15] = replace(noisy.points[15], samples=[0.001] * PASSES)
    only = one("eager-limit", instead(noisy))
    assert (only.points, "measure it again" in only.expected) == (0, True)


def test_a_learner_with_a_personal_code_is_asked_for_a_limit_and_a_table_of_their_own() -> None:
    words = [letter * 16 for letter in "ABCDEFGH"]
    assert {by_lot.limit_kb(word) for word in words} == set(by_lot.LIMITS_KB)
    assert len({by_lot.table_number(word) for word in words}) > 2
    for word in words:
        hand_in = replace(LAB.submission(), own=Own("ada", word, {}))
        hand_in.answers["table_minima_percent"] = LAB.rubric.of_minima(by_lot.table_number(word))
        found = LAB.score(hand_in, "table-minima", "eager-limit")
        assert found["table-minima"].points == 1
        assert (found["eager-limit"].points == 1.5) == (by_lot.limit_kb(word) == 16)
        assert f"limit {by_lot.limit_kb(word)} KB" in found["eager-limit"].expected


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        (own(before=0.2, during=0.037), "far longer"),
        (own(during=0.01), "less than its messages by themselves"),
    ],
)
def test_an_exchange_that_cannot_be_what_was_asked_earns_nothing(mine: Record, said: str) -> None:
    found = one("exchange", instead(mine))
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
    huge = sweep()
    huge.points[0] = replace(huge.points[0], samples=[0.1] * (record_facts.MOST_SAMPLES + 1))
    found = one("d2-record", instead(huge))
    assert (found.points, "more than" in found.found) == (0, True)
