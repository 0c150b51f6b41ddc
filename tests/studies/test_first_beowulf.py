"""Do C1, C2 and C7 hold, contradict and leave open what paper C claims, on Records that show it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from made import decided

from beowulf.labs.lab_08 import c1_tokens, c7_barrier, tokens
from beowulf.record import Point, Record
from tests.gold import lab_08
from tests.gold.measured import as_measured

Change = Callable[[dict[str, Any], float], float]


def tokens_with(change: Change, study: str = "C1", noise: float = 0.0) -> Record:
    """A Record of tokens whose seconds are changed at some places, with noise from sample to sample."""
    record = as_measured(lab_08.c1())
    record.study = study
    for point in record.points:
        if point.quantity == tokens.QUANTITY:
            at = point.at
            seconds = change(at, point.samples[0])
            point.samples[:] = [
                seconds * (1 + noise * ((n + at["networks"]) % 2))
                for n in range(len(point.samples))
            ]
    return record


def same(at: dict[str, Any], seconds: float) -> float:
    return seconds


def scaled(factor: float, **wanted: Any) -> Change:
    """So many times as long at the places with these coordinates."""
    return lambda at, seconds: (
        seconds * (factor if all(at[name] == value for name, value in wanted.items()) else 1)
    )


def two_times(factor: float) -> Change:
    """Two networks carry so many times as much, with whatever token."""
    return lambda at, seconds: (
        lab_08.token_s(1, at["size_bytes"]) / (factor if at["networks"] == 2 else 1)
    )


def barriers(us: dict[int, float], noise: float = 0.0) -> Record:
    record = as_measured(lab_08.c7())
    record.points = [
        Point(
            {"ranks": nodes, "launch": launch},
            c7_barrier.QUANTITY,
            [each * 1e-6 * (1 + noise * (n % 2)) for n in range(12)],
            {"pass": list(range(12))},
        )
        for nodes, each in us.items()
        for launch in (0, 1, 2)
    ]
    return record


@pytest.mark.parametrize(
    ("record", "claims"),
    [
        (tokens_with(same), ("saturates-1", "saturates-2", "size-matters")),
        (tokens_with(same, "C2"), ("flat", "falls")),
        (barriers({2: 60, 4: 90}), ("grows", "less-than-proportional")),
    ],
    ids=["C1", "C2", "C7"],
)
def test_what_the_record_shows_holds(record: Record, claims: tuple[str, ...]) -> None:
    found = decided(record)
    assert {found[claim] for claim in claims} == {"holds"}


@pytest.mark.parametrize(
    ("claim", "record", "outcome"),
    [
        ("saturates-1", tokens_with(lambda at, s: 1e-3), "contradicted"),
        ("saturates-2", tokens_with(two_times(2)), "contradicted"),
        ("two-networks", tokens_with(two_times(1.7)), "holds"),
        ("two-networks", tokens_with(two_times(1.0)), "contradicted"),
        ("two-networks", tokens_with(two_times(1.5), noise=0.2), "inconclusive"),
        ("alone", tokens_with(two_times(1.5)), "holds"),
        ("alone", tokens_with(two_times(2.2)), "contradicted"),
        ("alone", tokens_with(two_times(1.7), noise=0.2), "inconclusive"),
        ("size-matters", tokens_with(lambda at, s: at["size_bytes"] / at["demand"] * 1e-6), "contradicted"),
        ("flat", tokens_with(scaled(2, size_bytes=16), "C2"), "contradicted"),
        ("falls", tokens_with(lambda at, s: 1e-3, "C2"), "contradicted"),
        ("oddity", tokens_with(same, "C2"), "inconclusive"),
        ("grows", barriers({2: 120, 4: 60}), "contradicted"),
        ("grows", barriers({2: 60, 4: 60}, noise=0.3), "inconclusive"),
        ("less-than-proportional", barriers({2: 60, 4: 150}), "contradicted"),
    ],
)  # fmt: skip
def test_each_claim_has_each_outcome(claim: str, record: Record, outcome: str) -> None:
    assert decided(record)[claim] == outcome


def test_a_record_of_one_network_leaves_open_what_needs_two() -> None:
    found = decided(as_measured(lab_08.c1(networks=(1,))))
    assert {found[name] for name in ("saturates-2", "two-networks", "alone")} == {"inconclusive"}
    assert found["saturates-1"] == "holds"


def test_a_busy_machine_decides_nothing_that_its_noise_could_turn_round() -> None:
    record = tokens_with(two_times(1.7))
    record.circumstances["before"]["load_1min"] = 9.0
    assert decided(record)["saturates-1"] == "inconclusive"


def test_the_pictures_have_a_line_for_each_network_and_demand() -> None:
    drawn = c1_tokens.picture(tokens.Tokens.of(lab_08.c1()))
    assert set(drawn.table["curve"]) == {
        f"{networks}, demand {demand}"
        for networks in ("1 network", "2 networks")
        for demand in (1, 8)
    }
