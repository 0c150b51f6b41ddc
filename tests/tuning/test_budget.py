"""The latency budget: is each step the difference that it should be, and is nothing made of noise?"""

from __future__ import annotations

from pathlib import Path

import pytest
from running import first

from beowulf import mpi
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import UsageError
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
)
from beowulf.tuning.interactive_run import InteractiveRun
from tests.gold.lab_07 import steps


def decided(record: Record) -> dict[str, str]:
    return {verdict.claim: verdict.outcome for verdict in judge(record)}


def test_a_step_is_what_one_way_takes_longer_than_the_other() -> None:
    found = {
        step.name: step.us.median
        for way in ("waiting", "mpi")
        for step in budget.steps(steps(), SHORT, way)
    }
    expected = {CALLS: 0.4, STACK: 4.6, CABLE: 1.5, WAKE_UP: 1.5, MPI: 0.5, WIRE: 0.0}
    assert found == pytest.approx(expected)


def test_the_wire_is_computed_from_all_that_a_cable_carries() -> None:
    # 12 frames of up to 1448 bytes, each with 52 bytes of TCP/IP and 38 of Ethernet around it.
    assert bytes_on_the_wire(LONG) == LONG + 12 * (52 + 38)
    wire = budget.steps(steps(), LONG, "polling")[-1]
    assert wire.us.median == pytest.approx(1397.0)
    assert wire.computed_us == pytest.approx(bytes_on_the_wire(LONG) * 8 / 100)


def test_what_is_not_distinguishable_from_zero_is_reported_and_not_drawn() -> None:
    record = steps()
    for point in record.select(step="mpi", size_bytes=SHORT):
        point.samples[:] = [6.5 + (-1) ** (visit // 4) for visit in point.facts["visit"]]
    figure = draw(record)
    assert "Not drawn: " in figure.alt
    assert "MPI not distinguishable from zero" in figure.alt
    assert decided(record)["mpi-1"] == "inconclusive"


def test_each_step_of_a_usual_budget_is_there_and_stacked_in_the_order_of_the_way() -> None:
    found = decided(steps())
    assert found.pop("wire-1") == "inconclusive"  # a burst passes at once
    assert set(found.values()) == {"holds"}
    assert len(found) == 11
    table = draw(steps()).table
    bar = table[(table.size_bytes == SHORT) & (table.receiver == "a receiver that waits")]
    assert list(bar.step) == [CALLS, STACK, CABLE, WAKE_UP, WIRE]


def test_a_step_of_less_than_nothing_and_a_wire_that_is_not_as_computed_are_contradicted() -> None:
    assert decided(steps(nodes_waiting=6.0))["wake-up-1"] == "contradicted"
    said = judge(steps(wire=700.0)).named("wire-16384")
    assert (said.outcome, "its bits come to 1397" in said.evidence) == ("contradicted", True)


def test_where_links_have_no_rate_the_wire_is_not_observable() -> None:
    record = steps()
    record.points = [point for point in record.points if not point.at["shaped"]]
    said = judge(record).named("wire-1")
    assert (said.outcome, "--rate 100mbit" in said.advice) == ("inconclusive", True)
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


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("ranks", "words", "why"),
    first(1, [(2, ["--sizes", "0"], "--sizes takes numbers from 1"), (3, [], "between two ranks")]),
)
def test_the_program_refuses_what_it_cannot_do(
    cluster: NamespaceCluster, tmp_path: Path, ranks: int, words: list[str], why: str
) -> None:
    program = mpi.build(budget.PROGRAM, output=tmp_path / "steps")
    with pytest.raises(UsageError, match=why), InteractiveRun(cluster, program, ranks, words):
        pass
