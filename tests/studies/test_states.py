"""States of a cluster: do they take turns, and are after and before held side by side?"""

from __future__ import annotations

from overlap_records import record

from beowulf.record import Point, Record
from beowulf.studies.states import AS_FOUND, gain, pairs, turns


def test_states_take_turns_and_every_other_launch_goes_the_other_way() -> None:
    went: list[str] = []
    states = {"before": lambda: went.append("before"), "after": lambda: went.append("after")}
    given = list(turns(states, 3))
    assert given == [
        (0, "before"),
        (0, "after"),
        (1, "after"),
        (1, "before"),
        (2, "before"),
        (2, "after"),
    ]
    assert went == [*(state for _, state in given), "after"]


def test_as_found_nothing_is_changed() -> None:
    assert list(turns(AS_FOUND, 2)) == [(0, "as found"), (1, "as found")]


def made() -> Record:
    points = [
        Point({"state": state, "launch": launch, "ranks": 4}, "time_s", [value + launch] * 2)
        for launch in (0, 1)
        for state, value in (("before", 4.0), ("after", 2.0))
    ]
    return record("E3", points, sweep={"states": ["before", "after"]})


def test_pairs_are_of_the_same_launch() -> None:
    assert pairs(made(), "time_s").values == [(2.0, 4.0)] * 2 + [(3.0, 5.0)] * 2
    assert pairs(made(), "another_s").values == []


def test_a_gain_is_in_times_also_of_a_rate() -> None:
    slower, faster = gain(made(), "time_s"), gain(made(), "time_s", rate=True)
    assert slower
    assert faster
    assert slower.median == (0.5 + 0.6) / 2
    assert faster.median == (2.0 + 5 / 3) / 2
    assert gain(made(), "time_s", launch=7) is None
