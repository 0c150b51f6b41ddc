"""Does the rubric of lab 05 hold every answer against the learner's own Records, with a reason?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from nbformat.v4 import new_notebook

from autograder import release
from autograder.score import Score
from autograder.submission import Submission
from beowulf.record import Point, Record
from beowulf.studies import d3_message_and_workload as d3
from beowulf.studies.overlap import DEFAULT, KB, ONE_USER, SOLARIS, TESTED, THREADED, Way

rubric = import_module("autograder.rubrics.05_overlap")

SLUG = "05-overlap"
LABEL = "fabricated for a test, nobody measured this"
PASSES = 12
RIGHT: dict[str, Any] = {
    "one_user_39_kb": "not supported",
    "solaris_39_kb": "supported",
    "one_user_test_39_kb": "supported",
    "last_by_itself_kb": 10,
    "first_that_waits_kb": 20,
    "d3_percent": 4.0,
    "plain_percent": 0.0,
    "tested_percent": -40.0,
    "table_9_minimum_percent": -0.947,
    "misprinted_column": "nonoverlap",
}
WORTH = {name: question.of for name, question in rubric.QUESTIONS.items()}


def point(quantity: str, at: Mapping[str, Any], value: float) -> Point:
    samples = [value * (1 + 0.001 * (number % 3)) for number in range(PASSES)]
    return Point({**at, "ranks": 2, "launch": 0}, quantity, samples, {"pass": list(range(PASSES))})


def record(study: str, points: Iterable[Point], **changes: Any) -> Record:
    return Record(study, points=list(points), warnings=[LABEL], learner="a test", **changes)


def one_message(waits: bool = True) -> Record:
    """D1: rank 1 is late with the small limit, unless `waits` says otherwise."""
    points = []
    for way, size in ((ONE_USER, 40_000), (SOLARIS, 40_000), (TESTED, 40_000)):
        late = way is ONE_USER and waits
        for name, value in {
            "0 worked": 0.1,
            "0 ended": 0.1001,
            "1 worked": 0.05,
            "1 ended": 0.104 if late else 0.0501,
        }.items():
            rank, event = name.split()
            at = {**way.at, "work": "delay", "size_bytes": size, "rank": int(rank), "event": event}
            points.append(point("since_barrier_s", at, value))
    return record("D1", points)


def sweep(jump_kb: int = 15) -> Record:
    points = []
    for size in range(10, 90, 10):
        at = {**ONE_USER.at, "size_bytes": size * KB}
        points.append(point("duration_s", {**at, "rank": 0}, 0.1))
        late = size > jump_kb
        points.append(point("duration_s", {**at, "rank": 1}, 0.101 if late else 0.001))
    return record("D2", points)


def one_side() -> Record:
    times = {"message": 4e-4, "work": 4e-4, "both": 8.32e-4}
    return record(
        "D3",
        [
            point(
                "duration_s",
                {**ONE_USER.at, **d3.C, "size_bytes": size, "rank": 0, "part": part},
                value,
            )
            for size in (10 * KB, 65 * KB)
            for part, value in times.items()
        ],
    )


def both_sides(study: str, sizes: Iterable[int], ways: Iterable[Way], work_s: float) -> Record:
    points = []
    for way in ways:
        for size in sizes:
            hidden = way in (TESTED, THREADED) or size * KB <= way.limit_bytes
            for rank in (0, 1):
                comm = work_s
                before = comm + work_s
                times = {
                    "comm": comm,
                    "comp": work_s,
                    "before": before,
                    "during": before * (0.6 if hidden else 1.0),
                }
                points += [
                    point(
                        "duration_s",
                        {**way.at, "size_bytes": size * KB, "rank": rank, "part": part},
                        value,
                    )
                    for part, value in times.items()
                ]
    return record(study, points)


def own(gained: float = -0.4, **changes: float) -> Record:
    times = {"comm": 0.017, "comp": 0.02, "before": 0.037, "during": 0.037 * (1 + gained)}
    points = [
        point("duration_s", {"size_bytes": 200_000, "rank": rank, "part": part}, value)
        for rank in (0, 1)
        for part, value in (times | changes).items()
    ]
    return record("D4", points, variant="exchange")


def records() -> list[Record]:
    return [
        one_message(),
        sweep(),
        one_side(),
        both_sides("D4", (7, 70), (ONE_USER, DEFAULT, TESTED, THREADED), 377e-6),
        both_sides("D5", (7, 14, 28, 42, 56, 70), (ONE_USER, SOLARIS, TESTED, THREADED), 6e-3),
        own(),
    ]


def submission(kept: list[Record], answers: dict[str, Any]) -> Submission:
    return Submission(kept, [], answers, {}, new_notebook())


def scores(kept: list[Record] | None = None, **answers: Any) -> dict[str, Score]:
    found: dict[str, Score] = rubric.score(
        submission(records() if kept is None else kept, RIGHT | answers)
    )
    return found


def points(found: dict[str, Score]) -> dict[str, float]:
    return {name: score.points for name, score in found.items()}


def instead(other: Record) -> list[Record]:
    same = (other.study, other.variant)
    return [*[each for each in records() if (each.study, each.variant) != same], other]


def test_the_notebook_asks_for_every_name_that_the_rubric_reads() -> None:
    notebook = release.student_version(release.sources()[SLUG])
    cells = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("solution")]
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert all(f"{name} = None" in text for name in RIGHT)


def test_a_whole_hand_in_gets_every_point() -> None:
    assert points(scores()) == WORTH


def test_an_empty_hand_in_gets_none_and_each_question_says_why() -> None:
    found = rubric.score(submission([], {}))
    assert set(points(found).values()) == {0}
    assert all(score.found for score in found.values())
    assert "There is no Record D1" in found["d1-record"].found


def test_records_without_answers_earn_only_what_was_measured() -> None:
    found = points(rubric.score(submission(records(), {})))
    assert {name for name, earned in found.items() if earned} == {
        *("d1-record", "d2-record", "d4-record", "d5-record", "exchange-record", "exchange-gain")
    }


def test_answers_without_records_earn_only_what_the_paper_tells() -> None:
    found = points(scores([]))
    assert {name for name, earned in found.items() if earned} == {"table-9-minimum", "misprint"}


def test_support_is_what_the_learners_own_record_shows() -> None:
    never_late = instead(one_message(waits=False))
    assert scores(never_late)["d1-support"].points == 2
    assert scores(never_late, one_user_39_kb=" Supported")["d1-support"].points == 3


@pytest.mark.parametrize(
    ("jump_kb", "last", "first", "earned"),
    [
        (15, 10, 20, 2),
        (15, 10.0, 30, 1),
        (15, 20, 10, 0),
        (15, "10", None, 0),
        (15, 10_240, 20_480, 0),
        (65, 60, 70, 2),
        (65, 10, 20, 0),
    ],
)
def test_the_limit_is_that_of_the_learners_own_sweep(
    jump_kb: int, last: object, first: object, earned: int
) -> None:
    found = scores(instead(sweep(jump_kb)), last_by_itself_kb=last, first_that_waits_kb=first)
    assert found["eager-limit"].points == earned


def test_a_sweep_without_one_jump_asks_for_another() -> None:
    found = scores(instead(sweep(90)), last_by_itself_kb=80, first_that_waits_kb=0)["eager-limit"]
    assert found.points <= 1
    kept = instead(sweep())
    noisy = sweep()
    noisy.points[3] = replace(noisy.points[3], samples=[0.05] * PASSES)
    noisy.started = "2099-01-01T00:00:00.000Z"
    assert scores([*kept, noisy])["eager-limit"].points == 2  # an earlier sweep is clear
    only = scores(instead(noisy))["eager-limit"]
    assert (only.points, "measure it again" in only.expected) == (0, True)


@pytest.mark.parametrize(("answer", "earned"), [(4.4, 2), (3.5, 2), (-4.0, 0), (5.0, 0), ("4", 0)])
def test_a_percentage_has_its_sign_and_some_room(answer: object, earned: int) -> None:
    found = scores(d3_percent=answer)["d3-percent"]
    assert found.points == earned
    assert ("positive sign" in found.expected) == (answer == -4.0)


def test_an_answer_may_fit_any_of_the_learners_records() -> None:
    later = sweep(65)
    later.started = "2099-01-01T00:00:00.000Z"
    kept = [*records(), later]
    assert scores(kept)["eager-limit"].points == 2
    now = scores(kept, last_by_itself_kb=60, first_that_waits_kb=70)["eager-limit"]
    assert (now.points, later.file_name in now.expected) == (2, True)
    assert scores(kept, last_by_itself_kb=30, first_that_waits_kb=40)["eager-limit"].points == 0


def test_each_of_two_gains_is_a_point() -> None:
    assert scores(plain_percent=0.9)["lost-gain"].points == 2
    assert scores(plain_percent=-40, tested_percent=40)["lost-gain"].points == 0
    assert scores(tested_percent=float("nan"))["lost-gain"].points == 1


@pytest.mark.parametrize(
    ("mine", "earned"),
    [(own(-0.4), 4), (own(-0.16), 4), (own(-0.05), 2), (own(0.0), 0), (own(0.2), 0)],
)
def test_an_exchange_earns_by_what_it_gains(mine: Record, earned: int) -> None:
    found = scores(instead(mine))
    assert (found["exchange-record"].points, found["exchange-gain"].points) == (2, earned)


def test_the_best_of_several_exchanges_counts() -> None:
    assert scores([*instead(own(-0.4)), own(0.0)])["exchange-gain"].points == 4


def test_an_exchange_that_is_held_against_a_slowed_down_one_earns_nothing() -> None:
    slowed = scores(instead(own(before=0.2, during=0.037)))["exchange-gain"]
    assert slowed.points == 0
    assert "far longer" in slowed.found


@pytest.mark.parametrize("study", ["D1", "D2", "D4", "D5"])
def test_a_record_that_was_cut_short_or_emptied_is_no_whole_one(study: str) -> None:
    whole = next(each for each in records() if each.study == study)
    for other in (replace(whole, complete=False), replace(whole, points=[])):
        found = scores(instead(other))[f"{study.lower()}-record"]
        assert found.points == 0
        assert other.file_name in found.found


def test_the_record_of_the_exercise_is_not_taken_for_d4() -> None:
    kept = [each for each in records() if (each.study, each.variant) != ("D4", "")]
    assert scores(kept)["d4-record"].points == 0


@pytest.mark.parametrize(
    "junk",
    [
        Point({"n": 1}, "duration_s", [1.0]),
        Point({"n": 1}, "since_barrier_s", [1.0] * 5),
        Point({**ONE_USER.at, "size_bytes": "many", "rank": [], "part": {}}, "duration_s", [1.0]),
        Point({"rank": 0, "launch": 0, "part": "comm"}, "duration_s", [0.0]),
    ],
)
def test_records_of_junk_never_raise_and_never_earn(junk: Point) -> None:
    kept = [replace(each, points=[junk, junk]) for each in records()]
    for name, score in scores(kept).items():
        assert math.isfinite(score.points)
        assert score.found, name
        assert not score.points or name in ("table-9-minimum", "misprint")


def test_a_record_with_far_too_many_samples_is_refused_and_not_worked_on() -> None:
    huge = sweep()
    huge.points[0] = replace(huge.points[0], samples=[0.1] * (rubric.MOST_SAMPLES + 1))
    found = scores(instead(huge))["d2-record"]
    assert found.points == 0
    assert "more than" in found.found
