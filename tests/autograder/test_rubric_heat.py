"""Points for the heat program: only for what is right, the learner's own, and measured; never for a time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from nbformat import NotebookNode

from autograder.rubrics import heat
from autograder.rubrics.record_facts import ByRecord, numbers_and_words
from autograder.rubrics.submission import Submission
from beowulf.exercises.heat import program
from beowulf.record import Record
from tests import heat_records

NONBLOCKING = heat.right("H4", {"exchange_nonblocking": 1})
NUMPY = heat.right("H2", {"step_numpy": 1})


def submission(*records: Record, **answers: object) -> Submission:
    return Submission(list(records), [], dict(answers), {}, NotebookNode(cells=[]))


def test_a_wrong_function_has_none_and_says_why() -> None:
    record = heat_records.exchanges(faults={"exchange_nonblocking": "it waits in line 7"})
    score = heat.right("H4", {"exchange_send_first": 1, "exchange_nonblocking": 3})(
        submission(record)
    )
    assert (score.points, score.of) == (1, 4)
    assert "it waits in line 7" in score.found


def test_what_the_course_gave_has_none_whatever_the_record_says_of_it() -> None:
    given = program.function(program.composed(9), "exchange_nonblocking").source
    record = heat_records.exchanges()
    for renamed in (given, f"# mine\n{given}"):
        points = [
            heat_records.function("exchange_nonblocking", source=renamed)
            if point.at.get("function") == "exchange_nonblocking"
            else point
            for point in record.points
        ]
        score = NONBLOCKING(submission(replace(record, points=points)))
        assert score.points == 0
        assert "not your own" in score.found


@pytest.mark.parametrize("source", ["def other(): pass", "def exchange_nonblocking("])
def test_a_source_that_is_no_such_function_has_none(source: str) -> None:
    record = heat_records.exchanges()
    points = [p for p in record.points if p.at.get("function") != "exchange_nonblocking"]
    points.append(heat_records.function("exchange_nonblocking", source=source))
    score = NONBLOCKING(submission(replace(record, points=points)))
    assert score.points == 0


def test_too_few_samples_at_one_place_have_none_and_a_time_has_none_either() -> None:
    few = NUMPY(submission(heat_records.steps(n=1)))
    assert "not measured" in few.found
    record = heat_records.steps()
    slow = [replace(p, samples=[1e3 * s for s in p.samples]) for p in record.points]
    assert NUMPY(submission(replace(record, points=slow))).points == 1


def test_the_best_of_several_records_counts_and_none_is_a_sentence() -> None:
    right = heat_records.exchanges()
    wrong = heat_records.exchanges(faults={"exchange_nonblocking": "wrong"})
    wrong.started = wrong.ended = "2024-02-05T10:00:00.000Z"
    assert NONBLOCKING(submission(right, wrong)).points == 1
    missing = NONBLOCKING(submission())
    assert "There is no Record H4" in missing.found


@pytest.mark.parametrize(
    ("waits_for", "rank", "lowest"), [((1, 0, 1, 2), 0, 0), ((1, 2, 3, 2), 2, 2), ((1, 0), 0, 0)]
)
def test_a_deadlock_on_a_timeline_is_that_of_ones_own_program(
    waits_for: tuple[int, ...], rank: int, lowest: int
) -> None:
    record = heat_records.exchanges_timeline(waits_for)
    facts = heat.exchanges_timeline(record)
    assert (facts["rank_1_waits_for"], facts["circle_lowest_rank"]) == (rank, lowest)
    wanted = numbers_and_words(*facts)
    scorer = ByRecord(heat.exchanges_timeline, "T4", wanted)
    right = {**facts, "turns_wait_ms": facts["turns_wait_ms"] + 0.04}
    assert scorer(submission(record, **right), tolerance=0.05).points == 4
    wrong = {"rank_1_waits_for": rank + 1, "turns_reason": "rendezvous", "turns_wait_ms": 5.0}
    assert scorer(submission(record, **{**facts, **wrong}), tolerance=0.05).points == 1


def test_a_timeline_without_a_deadlock_cannot_be_answered() -> None:
    record = heat_records.exchanges_timeline()
    record.points = [point for point in record.points if "stuck" not in point.at]
    scorer = ByRecord(heat.exchanges_timeline, "T4", numbers_and_words("rank_1_waits_for"))
    score = scorer(submission(record, rank_1_waits_for=0))
    assert (score.points, "does not wait forever" in score.found) == (0, True)


def test_where_nobody_waits_on_a_timeline_0_ms_is_right() -> None:
    record = heat_records.overlap_timeline()
    facts = heat.overlap_timeline(record)
    assert (facts["short_wait_ms"], facts["long_reason"]) == (0, "rendezvous")
    scorer = ByRecord(heat.overlap_timeline, "T5", numbers_and_words(*facts))
    assert scorer(submission(record, **facts)).points == 3
    left = replace(record, points=[p for p in record.points if "trace" not in p.facts])
    assert scorer(submission(left, **facts)).points == 0
