"""A2: is each of the paper's validations judged, and does each of them fail where it should?"""

from __future__ import annotations

import pytest
from made import decided

from beowulf.labs.lab_01 import a2_validation
from beowulf.record import Record
from beowulf.studies import judge
from tests.gold.lab_01 import MEMORY_BYTES, ROUTE, validation


def routed(*routes: str) -> Record:
    """A whole cluster, in which node01 has this routing table."""
    record = validation()
    record.select(check="routes", node="node01")[0].facts["routes"] = list(routes)
    return record


def test_a_whole_cluster_fulfils_every_claim() -> None:
    assert set(decided(validation()).values()) == {"holds"}
    assert a2_validation.diagnose(validation()).fault == "none"


@pytest.mark.parametrize(
    ("routes", "outcome"),
    [
        ([ROUTE], "holds"),
        (["default via 10.0.0.1 dev eth1"], "holds"),
        (["default via 10.0.0.1 dev eth1", "unreachable 192.168.0.0/24"], "contradicted"),
        (["10.0.0.0/8 dev eth1", "nexthop via 10.0.0.1"], "contradicted"),
        ([], "contradicted"),
    ],
)
def test_the_narrowest_route_to_each_node_has_to_lead_somewhere(
    routes: list[str], outcome: str
) -> None:
    verdict = judge(routed(*routes)).named("routes-to-every-node")
    assert verdict.outcome == outcome
    if outcome == "contradicted":
        assert "node01 has no route to node00, node02, node03" in verdict.evidence


def test_a_node_whose_memory_is_used_up_has_no_performance_left_and_is_no_broken_node() -> None:
    record = validation()
    facts = record.select(check="performance", node="node02")[0].facts
    facts["memory_available_bytes"] = MEMORY_BYTES // 20
    verdict = judge(record).named("memory-free")
    assert verdict.outcome == "contradicted"
    assert verdict.evidence == "node02 has 5% of its memory free"
    assert a2_validation.diagnose(record).fault == "none"


def test_a_node_that_does_not_answer_to_ping_is_not_reachable() -> None:
    results = decided(validation("node-down", "node02"))
    assert results["every-node-reachable"] == "contradicted"
    assert results["routes-to-every-node"] == results["memory-free"] == "inconclusive"


def test_a_record_without_these_checks_leaves_them_open() -> None:
    record = validation()
    for check in ("routes", "performance", "ping"):
        for point in record.select(check=check):
            record.points.remove(point)
    results = decided(record)
    open_ = {claim for claim, outcome in results.items() if outcome == "inconclusive"}
    assert open_ == {"routes-to-every-node", "memory-free", "every-node-reachable"}
