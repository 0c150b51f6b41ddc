"""Lab 01's ping-pong of one's own: is a right one passed and a wrong one named, with a sentence for the symptom?"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from beowulf.engines import Engines
from beowulf.errors import LabError
from beowulf.labs.lab_01 import own_trips
from beowulf.record import newest
from tests.gold.lab_01 import PING_PONG, trip_us, trips

NODES = ("node00", "node01", "node02")
SHORTEST_US = 18.0


def call() -> dict[int, dict[str, Any]]:
    """What three ranks saw of a right round trip from rank 1 to rank 2."""
    seen = {"value": None, "kind": "nothing", "elapsed_us": 400.0, "arrived": True}
    one = {**seen, "value": 20.0, "kind": "a float"}
    return {0: {**seen, "arrived": False}, 1: one, 2: dict(seen)}


@pytest.mark.parametrize(
    ("rank", "other", "said"),
    [
        (1, {"value": None, "kind": "nothing"}, "returned nothing on rank 1, not a number"),
        (1, {"value": float("nan")}, "cannot be a time"),
        (1, {"value": 0.0}, "cannot be a time"),
        (1, {"arrived": False}, "what came back to rank 1 is not what it sent"),
        (1, {"value": 500.0}, "the whole call took 400.0"),
        (1, {"value": 0.107}, "the shortest of our own trips took 18.0"),
        (2, {"arrived": False}, "rank 2 does not hold what rank 1 sent"),
        (2, {"value": 20.0, "kind": "a float"}, "a float on rank 2"),
    ],
)
def test_each_usual_mistake_has_its_sentence(rank: int, other: dict[str, Any], said: str) -> None:
    seen = call()
    assert own_trips.fault(seen, 1, 2, NODES, SHORTEST_US) is None
    seen[rank] |= other
    found = own_trips.fault(seen, 1, 2, NODES, SHORTEST_US)
    assert found
    assert said in found[1]
    assert "From node01 (rank 1) to node02 (rank 2)" in found[1]


def test_a_table_has_a_row_for_each_ordered_pair_and_a_curve_for_each_rank() -> None:
    record = trips()
    table = own_trips.table(record)
    assert len(table) == 12
    row = table[(table["node"] == "node02") & (table["peer"] == "node03")].iloc[0]
    assert (row["rank"], row["other"], row["median"]) == (2, 3, trip_us(2, 3))
    curves = own_trips.curves(record)
    assert curves[1] == {float(other): trip_us(1, other) for other in (0, 2, 3)}
    assert min(map(trip_us, (0, 3), (1, 2))) <= own_trips.middle_us(record) <= trip_us(3, 2)
    with pytest.raises(LabError, match="no round trips of yours"):
        own_trips.middle_us(trips(left_out=range(4)))


# ------------------------------------------------------------ on nodes


@pytest.mark.cluster
@pytest.mark.nightly
def test_a_right_ping_pong_is_kept_for_all_pairs(engines: Engines, records: Path) -> None:
    engines.run(PING_PONG)
    record = own_trips.measure(engines)
    assert own_trips.own(record)["faults"] == []
    assert own_trips.own(record)["source"].strip() == PING_PONG.strip()
    ranks = range(len(engines.nodes))
    pairs = {(p.at["rank"], p.at["other"]) for p in record.points if p.samples}
    assert pairs == set(permutations(ranks, 2))
    assert all(
        len(point.samples) == own_trips.PASSES and min(point.samples) > 0
        for point in record.points
        if point.quantity == own_trips.TRIP
    )
    assert newest(records, record.study, record.variant) == record


@pytest.mark.cluster
def test_a_wrong_ping_pong_is_kept_with_the_reason(
    engines: Engines, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engines.run(PING_PONG.replace("1e6", "1e3"))
    record = own_trips.measure(engines)
    assert "the shortest of our own trips" in " ".join(own_trips.lines(record))
    assert "the shortest of our own trips" in capsys.readouterr().out
    assert list(records.glob("A2-own-trips-*.json"))
