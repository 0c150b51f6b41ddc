"""A1: is a cluster like paper A's recognised, and each way in which one is not?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made import decided, outcomes

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_01 import a1_building
from beowulf.record import Point
from beowulf.studies import draw, judge
from tests.gold.lab_01 import NODES, building


def test_each_claim_holds_of_the_papers_own_cluster() -> None:
    found = judge(building())
    assert {each.outcome for each in found} == {"holds"}
    built_in = {each.claim for each in found if each.rests_on == "demonstration"}
    assert built_in == {each.claim for each in found} - {"same-software"}
    assert draw(building()).alt
    assert len(draw(building()).table) == len(NODES)


@pytest.mark.parametrize(
    ("claim", "change", "says"),
    [
        (
            "one-network",
            lambda facts: facts["ways"].update(node03="10.0.0.1 via 192.168.0.1 dev eth0"),
            "node01 reaches node03 through a router",
        ),
        ("private-lan", lambda facts: facts.update(address="8.8.8.8"), "node01 has the public"),
        (
            "hosts-name-all",
            lambda facts: facts.update(hosts="127.0.1.1 node01\n" + facts["hosts"]),
            "node01's /etc/hosts begins with 127.0.1.1 node01",
        ),
        (
            "hosts-name-all",
            lambda facts: facts.update(hosts="192.168.0.9 node01 # node00\n"),
            "has no line for node00, node02, node03",
        ),
        ("mpich", lambda facts: facts.update(mpi=""), "node01 finds no MPICH"),
        ("same-software", lambda facts: facts.update(kernel="5.0"), "node01's kernel is 5.0"),
    ],
)
def test_a_cluster_that_differs_from_the_papers_contradicts_and_names_the_node(
    claim: str, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    made = building()
    change(made.points[1].facts)
    verdict = judge(made).named(claim)
    assert verdict.outcome == "contradicted"
    assert says in verdict.evidence


def test_three_nodes_are_not_the_papers_cluster() -> None:
    seen = decided(building(NODES[:3]))
    assert seen.pop("four-nodes") == "contradicted"
    assert set(seen.values()) == {"holds"}


def test_a_node_that_does_not_answer_decides_nothing_but_its_own_fault() -> None:
    made = building()
    made.points[2] = Point({"node": "node02"}, facts={"reached": False, "said": "no answer"})
    seen = judge(made)
    assert seen.named("four-nodes").outcome == "holds"
    assert seen.named("mpich").outcome == "inconclusive"
    assert "node02 could not be asked" in seen.named("mpich").evidence


@pytest.mark.cluster
def test_a_local_cluster_is_built_as_the_paper_says(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    measured = a1_building.STUDY.measure(cluster, tmp_path)
    assert measured.complete
    verdicts = judge(measured)
    assert set(outcomes(verdicts).values()) == {"holds"}, verdicts
    assert "all nodes are one machine" in verdicts.named("same-software").evidence
    assert measured.points[0].facts["mpi"].startswith("MPICH 3.4.3")
