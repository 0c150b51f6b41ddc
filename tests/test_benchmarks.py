"""Does a benchmark's table say what was measured, and does the simulated deadline wait as a line of learners?"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import deadline
from benchmarks.deadline import DAY_S, DAYS
from benchmarks.result import Question, answer, cells
from beowulf.measure.machine_queue import LONGEST_REST_S


def test_a_row_has_medians_and_the_ratio_of_pairs_or_says_what_is_missing() -> None:
    other = [1.0 + number / 100 for number in range(9)]
    samples = {"ours": [2.0 * each for each in other], "other": other}
    row = answer(Question("it", "ours", "other"), samples, seed=1)
    assert cells(row) == ["it", "2.08 s", "1.04 s (other)", "2 (2 to 2)", "9"]
    trials = answer(Question("it", "ours", unit="trials"), {"ours": [1.0, 0.0, 1.0]}, seed=1)
    assert cells(trials)[1] == "2"
    assert cells(answer(Question("it", "ours", missing="it failed"), {}, seed=1))[1] == "it failed"


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
