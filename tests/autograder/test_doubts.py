"""Are samples that a program drew, or made from another learner's, listed for the instructor, and measured ones not?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from running import first

from autograder.evidence import near_copies, noise
from autograder.results import doubts
from benchmarks import doubts as benchmark
from beowulf.progress import no_progress
from beowulf.record import Point, Record
from tests.gold import drawn_records
from tests.gold.drawn_records import LABS, WAYS


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def of_study(study: str) -> list[Record]:
    return [record for _, record in drawn_records.real() if record.study == study]


def plain(*records: Record) -> list[dict[str, Any]]:
    return [record.as_plain() for record in records]


def timed(seconds: list[float]) -> Record:
    point = Point({}, "transfer_s", seconds, {"repetitions": [1] * len(seconds)})
    return Record("A1", program={"name": "a.c"}, points=[point])


def test_samples_of_one_pass_resemble_each_other_only_where_they_were_measured() -> None:
    (record, *_) = of_study("A3")
    score, number = noise.dependence(noise.runs(record))
    assert score > 5
    assert number > 1000
    for way in ("normal", "gamma", "bootstrap", "shuffled"):
        drawn, _ = drawn_records.made_up("02", way, generator())
        assert abs(noise.dependence(noise.runs(drawn[0]))[0]) < 4, way


def test_a_share_of_measured_samples_is_far_and_none_of_normal_ones() -> None:
    assert noise.far_share(noise.runs(of_study("A3")[0]))[0] > 0.02
    (drawn,), _ = drawn_records.made_up("02", "normal", generator())
    assert noise.far_share(noise.runs(drawn))[0] < 0.002


@pytest.mark.parametrize("step_s", [1e-9, 2.0**-33, 2.0**-31])
def test_times_are_sums_of_a_clocks_steps_also_where_it_ran_for_weeks(step_s: float) -> None:
    counts = generator().integers(10_000, 200_000, 100)
    printed = [float(f"{count * step_s:.9g}") for count in counts]
    assert noise.clock_share(timed(printed)) == (1.0, 100)


def test_times_with_any_digits_are_no_sums_of_a_clocks_steps() -> None:
    drawn = [float(f"{seconds:.9g}") for seconds in generator().uniform(1e-5, 2e-4, 500)]
    share, number = noise.clock_share(timed(drawn))
    assert number == 500
    assert share < 0.3
    (found,) = doubts.found({"ada": plain(timed(drawn))})
    assert found.students == ("ada",)
    assert "clock" in found.says


def test_python_programs_print_all_digits() -> None:
    drawn = replace(timed([1.234567890123e-4] * 100), program={"name": "a.py"})
    assert noise.clock_share(drawn) == (0.0, 0)


def test_a_copy_is_found_that_was_scaled_sorted_and_its_launches_renamed() -> None:
    source = max(of_study("A7"), key=lambda record: len(record.points))
    last = max(point.at["launch"] for point in source.points)
    points = [
        Point(
            {**point.at, "launch": last - point.at["launch"]},
            point.quantity,
            sorted(1.07 * sample for sample in point.samples),
            point.facts,
        )
        for point in source.points
    ]
    steps = [
        near_copies.steps(noise.runs(each)) for each in (source, replace(source, points=points))
    ]
    (found,) = near_copies.resembling(steps, ["ada", "bob"])
    assert found.like > 0.99
    assert found.places > 50
    assert not list(near_copies.resembling(steps, ["ada", "ada"]))


def test_a_copy_of_one_launch_is_found_by_its_passes() -> None:
    (source, *_) = [
        each for each in of_study("A3") if not any(p.at.get("launch") for p in each.points)
    ]
    points = [
        replace(point, samples=[1.07 * each for each in point.samples]) for point in source.points
    ]
    learners = {"ada": plain(source), "bob": plain(replace(source, points=points))}
    assert ("ada", "bob") in [each.students for each in doubts.found(learners)]


@pytest.mark.parametrize("study", ["A3", "A7", "D2", "D1", "B2"])
def test_two_measurements_of_a_study_are_no_near_copies(study: str) -> None:
    learners = {f"learner-{n}": plain(record) for n, record in enumerate(of_study(study))}
    assert len(learners) > 1
    assert [each for each in doubts.found(learners) if len(each.students) > 1] == []


@pytest.mark.parametrize("way", first(3, WAYS))
def test_a_made_up_hand_in_is_listed_with_its_learner_and_its_studies(way: str) -> None:
    hers, his = drawn_records.made_up("05", way, generator())
    found = doubts.found({"ada": plain(*hers), "bob": plain(*his)})
    assert any("ada" in each.students for each in found)
    assert all(each.study and each.says.endswith(".") and each.figure for each in found)
    assert ("bob",) not in [each.students for each in found]


@pytest.mark.parametrize("slug", LABS)
def test_a_measured_hand_in_is_not_listed(slug: str) -> None:
    assert doubts.found({"ada": plain(*(of_study(study)[0] for study in LABS[slug]))}) == []


def test_what_no_record_holds_costs_the_others_nothing() -> None:
    hers, _ = drawn_records.made_up("05", "normal", generator())
    (good,) = plain(of_study("D2")[0])[:1]
    hostile: list[dict[str, Any]] = [
        {},
        good | {"points": [None, 5, "x"]},
        good | {"points": [{"at": [], "quantity": None, "samples": "12345", "facts": 3}] * 9},
        good | {"points": [{**point, "samples": [5e-324, 1e308] * 5} for point in good["points"]]},
        good | {"points": [{**point, "samples": [None] * 10} for point in good["points"]]},
        good | {"points": [{**point, "at": {"launch": "x"}} for point in good["points"]]},
        good | {"points": [{**point, "samples": [0.0] * 10} for point in good["points"]]},
        good | {"study": 5, "program": 7},
    ]
    learners = {f"eve-{number}": [each] for number, each in enumerate(hostile)}
    found = doubts.found({**learners, "ada": plain(*hers), "eve": hostile})
    assert any(each.students == ("ada",) for each in found)


def test_incomplete_records_predictions_and_few_samples_are_not_judged() -> None:
    (record,), _ = drawn_records.made_up("02", "normal", generator())
    assert doubts.found({"ada": plain(record)})
    few = replace(record, points=record.points[:5])
    for each in (replace(record, complete=False), replace(record, study="P2"), few):
        assert doubts.found({"ada": plain(each)}) == []


def test_the_section_names_who_and_why_and_takes_no_points() -> None:
    hers, his = drawn_records.made_up("02", "scaled", generator())
    section = doubts.section(doubts.found({"ada": plain(*hers), "bob": plain(*his)}))
    assert "ada, bob" in set(section.table["learners"])
    assert "No points were taken" in section.text
    assert "ada, bob" in section.urgent
    nothing = doubts.section([])
    assert nothing.table.empty
    assert not nothing.urgent
    assert "Nothing looks drawn" in nothing.text


@pytest.mark.nightly
def test_made_up_hand_ins_are_listed_and_of_300_honest_ones_at_most_three() -> None:
    found = benchmark.measure(300, 1, no_progress)
    trials = found.samples
    assert trials[benchmark.HONEST].count(0.0) <= 3
    assert all(trials[benchmark.PAIRS])
    for way in WAYS:
        of_class = trials[f"{way}, from a Record of the class"]
        assert sum(of_class) >= 0.9 * len(of_class), way
