"""Lab 07's decision: is a right function distinguished from a wrong one, and the usual mistake named?"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodeless_cluster import Nodeless
from running import first

from beowulf.errors import LabError
from beowulf.exercises.heat import knob_worth
from beowulf.labs.lab_07 import own_interval
from beowulf.record import newest
from tests.gold import lab_07
from tests.gold.lab_07 import change_percent, compared, knobs, null, plate, procedure, record


def cycles(seed: int) -> list[tuple[list[float], list[float]]]:
    chance = random.Random(seed)
    return [own_interval.made_up(percent, chance) for percent in (-40.0, -4.0, 0.0, 15.0)]


def by_order(before: list[float], after: list[float]) -> tuple[float, ...]:
    """The interval of a median without any draw: from the ranks of the ratios, by the binomial distribution."""
    change = np.sort(100 * (np.array(after) / before - 1))
    n = len(change)
    reach = round(0.98 * np.sqrt(n))
    return float(np.median(change)), change[n // 2 - reach - 1], change[n // 2 + reach]


@pytest.mark.parametrize("seed", first(3, range(25)))
def test_right_ways_of_two_kinds_are_right_whatever_is_drawn(seed: int) -> None:
    for before, after in cycles(seed):
        for function in (change_percent, by_order):
            assert own_interval.judged(before, after, function(before, after)) == ""


def separately(before: list[float], after: list[float]) -> tuple[float, ...]:
    """Both states drawn by themselves: what drifts is then in the interval."""
    draw = np.random.default_rng(1)
    early, late = (
        np.median(draw.choice(times, (1000, len(times))), axis=1) for times in (before, after)
    )
    ends = np.percentile(100 * (late / early - 1), (2.5, 97.5))
    return 100 * (np.median(np.array(after) / before) - 1), *ends


def of_means(before: list[float], after: list[float]) -> tuple[float, ...]:
    change = 100 * (np.mean(np.array(after) / before) - 1)
    return change, change - 1, change + 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (separately, "too wide"),
        (of_means, "a mean"),
        (lambda b, a: (-change_percent(b, a)[0], -99, 99), "wrong way round"),
        (lambda b, a: (7.0, 6.0, 8.0), "not the median"),
        (lambda b, a: (change_percent(b, a)[0], 50, 60), "is not between the two ends"),
    ],
    ids=["drawn separately", "means", "sign", "invented", "elsewhere"],
)
def test_the_usual_mistakes_are_named(function: Any, said: str) -> None:
    wrong = [own_interval.judged(*cycle, function(*cycle)) for cycle in cycles(3)]
    assert all(wrong)
    assert any(said in each for each in wrong), wrong


def test_a_function_is_tried_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = own_interval.measure(Nodeless(tmp_path), change_percent, null(), random.Random(1))
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in said] == ["right"] * (1 + own_interval.CASES)
    assert "def change_percent" in made.sweep["source"]
    assert made.of_exercise
    assert newest(tmp_path, made.study, made.variant) == made


def test_what_goes_wrong_in_a_function_is_kept_and_one_that_is_not_written_is_no_record(
    tmp_path: Path,
) -> None:
    def wrong(before: list[float], after: list[float]) -> float:
        before.clear()
        return 3.0

    cluster = Nodeless(tmp_path)
    made = own_interval.measure(cluster, wrong, null(), random.Random(1))
    assert all("three numbers" in point.facts["why"] for point in made.points)
    assert all(len(point.facts["before"]) >= 12 for point in made.points)
    with pytest.raises(LabError, match="<lambda>: it is not written yet"):
        own_interval.measure(cluster, lambda before, after: None, null())
    assert len(list(tmp_path.iterdir())) == 1


def test_pairs_and_samples_are_those_of_the_comparison_that_is_named() -> None:
    e6 = knobs()
    for what, times in (
        ("moderation", lab_07.MODERATED),
        ("firewall", lab_07.FILTERED),
        ("all together", lab_07.BOTH),
        ("firewall after the others", lab_07.LATE_FILTERED),
    ):
        before, after = own_interval.pairs(e6, what)
        assert len(before) == len(after) == 2 * lab_07.BLOCKS
        assert np.allclose(np.array(after) / before, times)
        all_before, all_after = own_interval.samples(e6, what)
        assert len(all_before) == len(all_after) == 2 * lab_07.BLOCKS * lab_07.EACH
    with pytest.raises(LabError, match="It has: 'all together', 'firewall'"):
        own_interval.pairs(e6, "fire")
    with pytest.raises(LabError, match="compares no ''"):
        own_interval.pairs(e6)
    with pytest.raises(LabError, match="no before-and-after cycle"):
        own_interval.pairs(procedure())
    stepped = record("E7", compared(0.5, 7.0, knob="moderation", way="as a step", launch=0))
    before, after = own_interval.pairs(stepped, "moderation")
    assert np.allclose(np.array(after) / before, 0.5)


def test_the_pairs_of_a_plate_are_those_of_its_worth() -> None:
    made = plate()
    for what, quantity in (("step", "step_s"), ("exchange", "exchange_s")):
        before, after = own_interval.pairs(made, what)
        assert len(before) == 6
        found, _ = knob_worth.worth(made, quantity)
        assert change_percent(before, after)[0] == pytest.approx(100 * (found.median - 1))
    with pytest.raises(LabError, match="'exchange', 'step'"):
        own_interval.pairs(made, "rows")
