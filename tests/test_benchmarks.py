"""Is a benchmark's bar met only when the samples say so, and does the simulated deadline wait as a line of learners?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from benchmarks import deadline
from benchmarks.deadline import DAY_S, DAYS
from benchmarks.result import Bar, Question, answer
from benchmarks.turns import noise
from beowulf.measure.machine_queue import LONGEST_REST_S

FAST = Question("it", "ours", "other", Bar(1.0))
NOT_SLOWER = Question("it", "ours", "other", Bar(1.0, "ratio"))
COUNT = Question("it", "ours", bar=Bar(3, "count", least=2), unit="trials")


def verdict(question: Question, samples: Mapping[str, list[float]], noisy: str = "") -> str:
    row = answer(question, samples, noisy, seed=1)
    return f"{row['verdict']}: {row['why']}" if row["why"] else str(row["verdict"])


def test_a_bar_is_met_or_not_when_the_whole_interval_says_so() -> None:
    assert verdict(FAST, {"ours": [0.7, 0.8, 0.9]}) == "met"
    assert verdict(FAST, {"ours": [1.2, 1.3, 1.4]}) == "not met"
    assert verdict(FAST, {"ours": [0.9, 1.0, 1.2]}).startswith("inconclusive: the bar is within")
    other = [1.0 + number / 100 for number in range(9)]
    for factor, expected in ((0.5, "met"), (2.0, "not met")):
        ours = [factor * each for each in other]
        assert verdict(NOT_SLOWER, {"ours": ours, "other": other}) == expected
    assert verdict(COUNT, {"ours": [1.0, 0.0, 1.0]}) == "met"
    assert verdict(COUNT, {"ours": [1.0, 0.0, 0.0]}) == "not met"


def test_too_few_rounds_and_a_noisy_machine_are_no_verdict() -> None:
    assert verdict(FAST, {"ours": [0.1, 0.1]}).startswith("inconclusive: 2 of the 3 rounds")
    few = {"ours": [0.1] * 5, "other": [1.0] * 5}
    assert verdict(NOT_SLOWER, few).startswith("inconclusive: 5 of the 6 rounds")
    loud = noise({"load_1min": 7.0, "cores": 2}, [])
    assert loud == "the load was 7.00 on 2 cores before"
    assert verdict(FAST, {"ours": [0.1] * 9}, loud) == "inconclusive: the machine was noisy"


def test_learners_who_come_at_once_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "arrivals", lambda learners, draw: np.zeros(learners))
    draw = np.random.default_rng(1)
    longest_s, late = deadline.simulated(3, 1, [100.0], draw)
    turn_s = 100.0 + LONGEST_REST_S
    assert sorted(longest_s) == [0.0, 100.0, 100.0 + turn_s]
    assert late == 0.0
    # Each goes to the end of the line for the next study: A, B, A, B, and the last three rest.
    longest_s, _ = deadline.simulated(2, 1, [100.0, 10.0], draw)
    assert sorted(longest_s) == [100.0, turn_s]


def test_each_day_nearer_to_the_deadline_twice_as_many_begin() -> None:
    came_s = deadline.arrivals(100_000, np.random.default_rng(1))
    assert came_s.min() >= 0
    assert came_s.max() <= DAYS * DAY_S
    before = DAYS - came_s / DAY_S
    last, one_before = (np.sum((before >= day) & (before < day + 1)) for day in (0, 1))
    assert last / one_before == pytest.approx(2, rel=0.05)
