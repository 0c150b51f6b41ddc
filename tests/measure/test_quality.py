from __future__ import annotations

from beowulf.measure.quality import trouble
from beowulf.record import Point, Record

QUIET = {"load_1min": 0.2, "cores": 2, "waiting_for_a_core_percent_10s": 1.0}


def record(*points: Point, quick: bool = False, complete: bool = True, **before: float) -> Record:
    return Record(
        study="A7",
        points=list(points),
        sweep={"quick": quick},
        circumstances={"before": QUIET | before, "after": {}},
        complete=complete,
    )


def launch(number: int, around: float, n: int = 30, size: int = 1) -> Point:
    at = {"size_bytes": size, "launch": number}
    return Point(at, "half_round_trip_us", [around * (1 + 0.001 * (i % 5)) for i in range(n)])


def test_a_quiet_machine_with_enough_samples_gives_no_trouble() -> None:
    assert trouble(record(launch(0, 10.0))) == []


def test_a_load_above_the_cores_is_trouble() -> None:
    assert (
        "load before the start was 3.5 on 2 cores"
        in trouble(record(launch(0, 1.0), load_1min=3.5))[0]
    )


def test_waiting_for_a_core_is_trouble() -> None:
    busy = record(launch(0, 1.0), waiting_for_a_core_percent_10s=60.0)
    assert "waited for a core 60 %" in trouble(busy)[0]


def test_too_few_samples_are_trouble_and_a_quick_run_needs_fewer() -> None:
    assert trouble(record(launch(0, 1.0, n=12))) == ["a point has 12 samples, and 30 are needed"]
    assert trouble(record(launch(0, 1.0, n=12), quick=True)) == []


def test_samples_of_several_launches_count_together() -> None:
    assert trouble(record(launch(0, 1.0, n=15), launch(1, 1.0, n=15))) == []


def test_a_sweep_cut_short_is_trouble() -> None:
    assert trouble(record(launch(0, 1.0), complete=False)) == ["the measurement was cut short"]


def test_no_samples_at_all_are_trouble() -> None:
    assert trouble(record()) == ["there are no samples"]
    assert trouble(record(launch(0, 1.0)), "other_us") == ["there are no samples"]


def test_launches_that_differ_by_more_than_their_spread_are_trouble() -> None:
    assert "differ at 1 of 1 points" in trouble(record(launch(0, 1.0), launch(1, 1.3)))[0]


def test_one_size_of_many_that_differs_is_a_burst_of_noise() -> None:
    points = [
        launch(n, 1.0 + (n if size == 1 else 0), size=size) for size in range(10) for n in (0, 1)
    ]
    assert trouble(record(*points)) == []


def test_a_record_without_circumstances_is_not_blamed_for_them() -> None:
    bare = record(launch(0, 1.0))
    bare.circumstances["before"].clear()
    assert trouble(bare) == []
