"""Sealed predictions and own plots: does each earn what it deserves, whatever was edited in its Record?"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest
from nbformat.v4 import new_notebook

from autograder.rubrics.own_plots import Curves, Plot, of_records
from autograder.rubrics.predictions import sealed
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf.exercises.plot_reading import Wants
from beowulf.record import Point, Record

BEFORE, SEALED, AFTER = (f"2024-01-05T10:0{minute}:00.000Z" for minute in range(3))
FACTS = {"value": 8.0, "low": 4.0, "high": 20.0, "unit": "bytes", "study": "A7", "late": False}

SIZES = [1.0, 16.0, 256.0, 4096.0, 65_536.0]
RATES = [0.02, 0.3, 5.0, 40.0, 90.0]
WANTS = Wants(x="size in bytes", y="rate in Mbit/s", log_x=True, lines=2, points=5)
LINES = ("blocking", 1.0), ("nonblocking", 0.8)


def handed_in(*records: Record, given: Sequence[int] = ()) -> Submission:
    return Submission(list(records), [], {}, {}, new_notebook(), given_by_course=frozenset(given))


def guess(started: str = SEALED, name: str = "knee", **facts: Any) -> Record:
    point = Point({"prediction": name}, facts={**FACTS, **facts})
    return Record("P4", variant=name, points=[point], started=started, ended=started)


def measured(started: str = AFTER, study: str = "A7", variant: str = "") -> Record:
    points = [
        Point({"size_bytes": size, "protocol": protocol}, "rate_mbit_per_s", [rate * share])
        for protocol, share in LINES
        for size, rate in zip(SIZES, RATES, strict=True)
    ]
    return Record(study, variant=variant, points=points, started=started, ended=started)


def test_a_prediction_in_time_earns_its_points_whatever_it_says() -> None:
    score = sealed("knee")(handed_in(guess(value=4.0, high=5.0), measured()))
    assert (score.points, score.of) == (1, 1)
    assert sealed("knee")(handed_in(guess())).points == 1, "before anything is measured"


@pytest.mark.parametrize(
    ("records", "says"),
    [
        ([guess(name="other")], "knee was not sealed."),
        ([guess(value="8")], "knee was not sealed."),
        ([guess(high=float("inf"))], "knee was not sealed."),
        ([Record("P4", variant="knee")], "knee was not sealed."),
        ([guess(late=True)], "there was a Record of A7 already"),
        ([measured(BEFORE), guess()], "there was a Record of A7 already"),
        ([guess(BEFORE, late=True), guess()], "there was a Record of A7 already"),
    ],
)
def test_a_prediction_that_is_missing_broken_or_late_earns_nothing(
    records: list[Record], says: str
) -> None:
    score = sealed("knee")(handed_in(*records))
    assert (score.points, says in score.found) == (0, True)


def test_other_records_and_those_that_the_course_gave_make_no_prediction_late() -> None:
    others = [measured(BEFORE, variant="own"), measured(BEFORE, study="A6")]
    assert sealed("knee")(handed_in(*others, guess())).points == 1
    assert sealed("knee")(handed_in(measured(BEFORE), guess(), given=[0])).points == 1
    own = guess(study="A7-own")
    assert sealed("knee")(handed_in(measured(BEFORE), own)).points == 1
    assert sealed("knee")(handed_in(measured(BEFORE, variant="own"), own)).points == 0


def drawn(started: str = AFTER, **change: Any) -> Record:
    """A plot of what was measured, with other facts in place of some."""
    lines = [
        {"kind": "line", "label": name, "points": 5, "x": SIZES, "y": [share * r for r in RATES]}
        for name, share in LINES
    ]
    facts = {
        **{"x_scale": "log", "y_scale": "linear", "x_label": "size (bytes)", "title": ""},
        **{"y_label": "rate (Mbit/s)", "legend": [name for name, _ in LINES], "lines": lines},
        **change,
    }
    point = Point({"axes": 0}, facts=deepcopy(facts))
    return Record("F4", variant="rates", points=[point], started=started, ended=started)


def shown(record: Record) -> Curves:
    return [
        {p.at["size_bytes"]: p.samples[0] for p in record.points if p.at["protocol"] == protocol}
        for protocol, _ in LINES
    ]


RATES_PLOT = Plot("rates", WANTS, data=of_records("A7", shown))


def score_of(*records: Record, **limits: float) -> Score:
    return RATES_PLOT(handed_in(*records), **limits)


def times(factor: float, which: int | None = None) -> dict[str, Any]:
    """The plot's lines, or one of them, with other numbers."""
    lines = deepcopy(drawn().points[0].facts["lines"])
    for number, line in enumerate(lines):
        if which in (None, number):
            line["y"] = [factor * y for y in line["y"]]
    return {"lines": lines}


def cut(count: int) -> dict[str, Any]:
    """The plot's lines with fewer points."""
    lines = deepcopy(drawn().points[0].facts["lines"])
    for line in lines:
        line |= {"x": line["x"][:count], "y": line["y"][:count], "points": count}
    return {"lines": lines}


def test_a_plot_of_the_own_records_with_all_that_was_asked_for_earns_all_points() -> None:
    score = score_of(drawn(), measured())
    assert (score.points, score.of) == (6, 6)
    assert "2 of 2 lines show what was measured" in score.found


@pytest.mark.parametrize(
    ("change", "points", "says"),
    [
        ({"x_label": ""}, 5, "The x axis has no label"),
        ({"y_label": "rate"}, 5, "has no unit: Mbit/s"),
        ({"x_scale": "linear"}, 5, "The x axis is linear"),
        ({"legend": []}, 5, "no legend"),
        (times(1.5, which=1), 4.5, "1 of 2 lines"),
        (times(1000), 1.5, "0 of 2 lines"),
        (cut(3), 1, "0 of 2 lines"),
        ({"lines": []}, 0, "nothing is drawn"),
        ({"lines": [{"points": 5, "x": ["a"], "y": [1]}]}, 0, "cannot be read"),
    ],
)
def test_a_plot_that_lacks_something_earns_less(
    change: dict[str, Any], points: float, says: str
) -> None:
    score = score_of(drawn(**change), measured())
    assert (score.points, says in score.found) == (points, True), score.found


def test_a_plot_of_nothing_that_was_measured_is_hardly_one() -> None:
    score = score_of(drawn())
    assert (score.points, "no whole Record" in score.found) == (1.5, True)
    unfinished = measured()
    unfinished.complete = False
    assert score_of(drawn(), unfinished).points == 1.5
    broken = measured()
    broken.points[0].at.clear()
    assert score_of(drawn(), broken).points == 1.5
    assert score_of(measured()).points == 0
    assert "There is no plot rates." in score_of(measured()).found


def test_of_values_about_zero_the_largest_gives_the_room() -> None:
    def gains(record: Record) -> Curves:
        return [dict(zip(SIZES, (-40.0, -20.0, 0.0, 0.5, 10.0), strict=True))]

    wants = Wants(x="size in bytes", y="gain in %", log_x=True, points=5)
    gain = Plot("rates", wants, data=of_records("A7", gains))

    def points(*values: float) -> float:
        line = {"kind": "line", "label": "", "points": 5, "x": SIZES, "y": list(values)}
        return gain(handed_in(drawn(y_label="gain (%)", lines=[line]), measured())).points

    assert points(-40, -20, 0.2, 0, 10) == 6
    assert points(40, 20, 0.2, 0, -10) == 1.5, "the other sign"
    assert points(0, 0, 0, 0, 0) == 1.5


def test_raw_samples_count_by_their_middle_and_the_tolerance_is_the_labs() -> None:
    [line, _] = drawn().points[0].facts["lines"]
    raw = {"x": 3 * SIZES, "y": [f * r for f in (0.5, 1.01, 9.0) for r in RATES], "points": 15}
    record = drawn(lines=[{**line, **raw}, {**line, "y": [0.8 * r for r in RATES]}])
    assert score_of(record, measured()).points == 6
    assert score_of(record, measured(), tolerance_percent=0.5).points == 4.5


def test_the_best_plot_and_the_record_that_fits_it_count() -> None:
    other = measured(BEFORE)
    other.points = [Point(p.at, p.quantity, [2 * p.samples[0]]) for p in other.points]
    assert score_of(drawn(), other).points == 1.5
    assert score_of(drawn(), other, measured()).points == 6
    assert score_of(drawn(), drawn(BEFORE, x_label=""), measured()).points == 6


def test_a_plot_of_thousands_of_lines_is_not_compared_with_thousands_of_points() -> None:
    many = measured()
    many.points = [
        Point({**p.at, "size_bytes": n}, p.quantity, p.samples)
        for p in many.points
        for n in range(400)
    ]
    line = {"kind": "line", "label": "", "points": 5, "x": SIZES, "y": [7.0] * 5}
    score = score_of(drawn(lines=[line] * 20_000), many)
    assert "than can be compared" in score.found
