"""Lab 02's timing loop: does a right one pass on any clock, and is what is wrong with others said in a sentence?"""

from __future__ import annotations

import random
from typing import Any

import pytest
from running import first

from beowulf.labs.lab_02 import on_node, timing_loop
from tests import timing_loops
from tests.gold.lab_02 import timing


@pytest.mark.parametrize("seed", first(3, range(20)))
def test_a_right_loop_finds_every_length_on_every_clock(seed: int) -> None:
    for trial in on_node.asked(timing_loops.right, timing_loop.drawn(random.Random(seed))):
        assert timing_loop.length_fault(trial) == ""
        assert timing_loop.sample_fault(trial) == ""


def test_calls_and_clocks_are_drawn_so_that_none_fits_another_learner() -> None:
    drawn = [timing_loop.drawn(random.Random(seed)) for seed in range(50)]
    assert all(len(trials) == timing_loop.TRIALS for trials in drawn)
    assert len({trials[0][0] for trials in drawn}) == len(drawn)


@pytest.mark.parametrize(
    ("loop", "said"),
    [
        (timing_loops.one_call, "on a clock with steps of"),
        (timing_loops.fixed_calls, "steps of the clock; at least 100 are needed"),
        (timing_loops.own_clock, "does it read `clock`?"),
        (timing_loops.clock_in_the_loop, "it reads the clock after each call"),
        (timing_loops.seconds, "the unit is microseconds"),
        (timing_loops.one_mean, "it returns 1 samples; at least 11 are needed"),
        (timing_loops.equal_means, "return the samples as they were measured"),
        (timing_loops.text, "it returns str, not a list of numbers"),
        (timing_loops.no_number, "one of its samples is nan"),
        (timing_loops.nothing, "or its `return` is missing"),
        (timing_loops.failing, "ZeroDivisionError: division by zero"),
        (timing_loops.endless, "it called its function more than 2,000,000 times"),
        (None, "it is not written yet"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_wrong_with_a_loop_is_said(loop: Any, said: str) -> None:
    record = timing(loop)
    assert any(said in line for line in timing_loop.lines(record)), timing_loop.lines(record)
    assert "not tried" in timing_loop.real_fault(record) or loop


def test_a_loop_that_is_right_is_right_on_the_nodes_own_clock_too() -> None:
    # Of many intervals one is undisturbed on a busy machine: the best of both loops is near.
    looked = on_node.looked_at({"loop": timing_loops.right}, "loop", [])
    assert len(looked["real"]) == on_node.ROUNDS
    for each in looked["real"]:
        assert len(each["own"]) == timing_loop.FEWEST_SAMPLES
        assert min(each["own"]) > 0 < min(each["timeit"])
    assert looked["source"].startswith("def right(")


def test_a_real_call_that_takes_far_longer_than_timeits_is_none() -> None:
    assert timing_loop.real_fault(timing()) == ""
    assert list(timing_loop.table(timing())["loop"]) == [timing_loop.OWN, timing_loop.OURS]
    assert timing_loop.table(timing(None)).empty
    shown = timing_loop.picture(timing())
    assert shown
    assert set(shown.table["line"]) == {timing_loop.OWN, timing_loop.OURS}
    assert timing_loop.picture(timing(None)) is None
    assert "times that of timeit" in timing_loop.real_fault(timing(own_us=0.7))
    assert "times that of timeit" in timing_loop.real_fault(timing(own_us=0.02))
