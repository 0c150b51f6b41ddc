"""The latency budget: is each step the difference that it should be, and is nothing made of noise?"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_07 import l1_latency_budget
from beowulf.record import Record
from beowulf.studies import draw, judge
from beowulf.tuning import budget
from beowulf.tuning.budget import (
    CABLE,
    CALLS,
    LONG,
    MPI,
    SHORT,
    STACK,
    WAKE_UP,
    WAYS,
    WIRE,
    bytes_on_the_wire,
    steps,
)
from tests.gold import lab_07

WIRE_US = 1397.0  # what the shaped links of tests/gold add to a long message


def made(noise: float = 0.01, shaped_us: float = WIRE_US, **ways: float) -> Record:
    """A Record in which the ways take so long, and shaped links add `shaped_us` to a long message."""
    draw = random.Random(3)
    record = lab_07.steps(**ways)
    for point in record.points:
        crosses = point.at["shaped"] and "loopback" not in point.at["step"]
        more = shaped_us - WIRE_US if crosses and point.at["size_bytes"] == LONG else 0.0
        point.samples[:] = [us + more + noise * draw.random() for us in 3 * point.samples]
        point.facts["visit"] = 3 * point.facts["visit"]  # as many samples as a claim needs
    return record


def test_a_step_is_what_one_way_takes_longer_than_the_other() -> None:
    found = {
        step.name: step.us.median
        for way in ("waiting", "mpi")
        for step in steps(made(0.0), SHORT, way)
    }
    expected = {CALLS: 0.4, STACK: 4.6, CABLE: 1.5, WAKE_UP: 1.5, MPI: 0.5, WIRE: 0.0}
    assert found == pytest.approx(expected)


def test_the_wire_is_computed_from_all_that_a_cable_carries() -> None:
    # 12 frames of up to 1448 bytes, each with 52 bytes of TCP/IP and 38 of Ethernet around it.
    assert bytes_on_the_wire(LONG) == LONG + 12 * (52 + 38)
    wire = steps(made(0.0), LONG, "polling")[-1]
    assert wire.us.median == pytest.approx(1397.0)
    assert wire.computed_us == pytest.approx(bytes_on_the_wire(LONG) * 8 / 100)


def test_what_is_not_distinguishable_from_zero_is_reported_and_not_drawn() -> None:
    record = made(noise=3.0, mpi=6.5)
    step = next(each for each in steps(record, SHORT, "mpi") if each.name == MPI)
    assert step.us.low < 0 < step.us.high
    assert step.finding == "not distinguishable from zero"
    figure = draw(record)
    assert ", so not drawn: " in figure.title
    assert "not distinguishable from zero, so not drawn: wire, MPI" in figure.alt
    assert figure.alt.count("not split") == 1, "of MPI's bar alone"
    found = {verdict.claim: verdict for verdict in judge(record)}
    assert found["mpi-1"].outcome == "inconclusive"


@pytest.mark.parametrize(
    ("ways", "claim", "said"),
    [
        ({"nodes_waiting": 5.5}, "wake-up-1", "more than 0 is asked"),
        ({"shaped_us": 700.0}, "wire-16384", "of the 1397.12 µs of the bits"),
    ],
)
def test_a_step_of_less_than_nothing_and_a_wire_that_is_not_as_computed_are_contradicted(
    ways: dict[str, float], claim: str, said: str
) -> None:
    found = {verdict.claim: verdict for verdict in judge(made(**ways))}
    assert found[claim].outcome == "contradicted"
    assert said in found[claim].evidence


def test_each_step_of_a_usual_budget_is_there() -> None:
    found = {verdict.claim: verdict.outcome for verdict in judge(made())}
    short = {name: outcome for name, outcome in found.items() if name.endswith("-1")}
    assert short.pop("wire-1") == "contradicted"  # a burst passes at once
    assert set(short.values()) == {"holds"}
    assert found["wire-16384"] == "holds"
    assert len(found) == 12


def test_where_links_have_no_rate_the_wire_is_not_observable() -> None:
    record = made()
    record.points = [point for point in record.points if not point.at["shaped"]]
    found = {verdict.claim: verdict for verdict in judge(record)}
    assert found["wire-1"].outcome == "inconclusive"
    assert "--rate 100mbit" in found["wire-1"].advice
    assert WIRE not in set(draw(record).table["step"])


@pytest.mark.nightly
@pytest.mark.cluster
def test_the_study_measures_every_way_and_leaves_the_links_as_they_were(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(l1_latency_budget, "QUICK_BLOCKS", 1)
    monkeypatch.setattr(l1_latency_budget, "QUICK_PASSES", 2)
    monkeypatch.setattr(budget, "LONG", 4096)
    ask = "tc qdisc show dev eth0 root | grep -o 'rate .*'"  # without its number, which is new each time
    before = [cluster.administer(node, ask).stdout for node in cluster.nodes]
    record = l1_latency_budget.STUDY.measure(cluster, tmp_path, quick=True)
    assert record.complete, record.warnings
    assert [cluster.administer(node, ask).stdout for node in cluster.nodes] == before
    places = {(p.at["step"], p.at["size_bytes"], p.at["shaped"]) for p in record.points}
    assert len(places) == 2 * (1 + 2 * len(WAYS))
    assert all(len(p.samples) == 4 and min(p.samples) > 0 for p in record.points)
    Record.load(record.save_in(tmp_path))
