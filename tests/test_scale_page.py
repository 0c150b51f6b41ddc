"""Is docs/scale.md what was measured, and does the simulation of a deadline wait as a line of learners does?"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import deadline, scale_page
from benchmarks.deadline import DAYS, DOUBLES_EVERY_DAYS, FULL, QUICK, SECONDS_A_DAY
from beowulf.measure.line import LONGEST_REST_S


def test_the_page_is_what_was_measured() -> None:
    page = scale_page.PAGE.read_text(encoding="utf-8")
    assert page == scale_page.markdown(scale_page.kept()), (
        "`python -m benchmarks.scale_page` writes it again"
    )


def test_every_class_is_on_the_page_with_what_it_needs() -> None:
    short = scale_page.PAGE.read_text().partition("## In short")[2].partition("\n## ")[0]
    for learners in deadline.CLASSES:
        assert f"| {learners:,} |" in short


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


def test_nobody_waits_who_is_alone_and_who_begins_too_late_is_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = np.random.default_rng(1)
    begin = np.array([0.0, DAYS * SECONDS_A_DAY - 50.0])
    monkeypatch.setattr(deadline, "arrivals", lambda learners, draw: begin)
    longest_s, late = deadline.simulated(2, 1, [100.0], draw)
    assert list(longest_s) == [0.0, 0.0]
    assert late == 0.5


def test_each_day_nearer_to_the_deadline_twice_as_many_begin() -> None:
    came_s = deadline.arrivals(100_000, np.random.default_rng(1))
    assert came_s.min() >= 0
    assert came_s.max() <= DAYS * SECONDS_A_DAY
    before = (DAYS * SECONDS_A_DAY - came_s) / (DOUBLES_EVERY_DAYS * SECONDS_A_DAY)
    last, one_before = (np.sum((before >= day) & (before < day + 1)) for day in (0, 1))
    assert last / one_before == pytest.approx(2, rel=0.05)


def test_more_machines_are_never_worse_and_quick_studies_wait_less() -> None:
    for how in (FULL, QUICK):
        _, turns_s = deadline.longest_lab(how)
        waits = [
            np.mean(deadline.simulated(300, machines, turns_s, np.random.default_rng(1))[0])
            for machines in (1, 4, 16)
        ]
        assert waits == sorted(waits, reverse=True)
    assert sum(deadline.longest_lab(QUICK)[1]) < sum(deadline.longest_lab(FULL)[1])
