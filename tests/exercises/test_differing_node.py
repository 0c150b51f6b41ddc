"""Lab 07's puzzle: is one node unlike only while it is asked, is it the one that is found, and is it put back?"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from beowulf import variant
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_07 import differing_node
from beowulf.record import Point, Record, newest
from beowulf.tuning import machines, paper_e_baseline
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL


@pytest.mark.cluster
def test_the_different_node_is_the_one_that_was_drawn_and_is_put_back(
    cluster: NamespaceCluster, records: Path
) -> None:
    knobs = [ALL[name] for name in paper_e_baseline.TESTBED]
    before = machines.read(cluster, knobs)
    record = differing_node.measure(cluster, random.Random(1))
    assert machines.read(cluster, knobs) == before
    node, question = drawn(cluster, random.Random(1))
    assert differing_node.odd(record) == (node, question)
    assert (record.study, record.variant, record.complete) == ("E7", "unlike", True)
    shown = differing_node.table(record).set_index("question")
    assert list(shown.columns) == ["wanted", *cluster.nodes]
    assert shown.loc[question, node] == paper_e_baseline.TESTBED[question]
    assert newest(records, "E7", "unlike") == record


def drawn(cluster: NamespaceCluster, chance: random.Random) -> tuple[str, str]:
    question = chance.choice(sorted(paper_e_baseline.parts(cluster)))
    return chance.choice(cluster.nodes), question


@pytest.mark.cluster
def test_a_cluster_that_is_tuned_already_is_not_made_to_differ(cluster: NamespaceCluster) -> None:
    with changing(cluster, [(ALL["firewall"], "10")]) as changes:
        changes(True)
        with pytest.raises(LabError, match="firewall is 10 and not none"):
            differing_node.measure(cluster)


@pytest.mark.parametrize(
    "answers",
    [("none",) * 4, ("100", "none", "100", "none"), ("1", "2", "3", "4")],
    ids=["all alike", "two of each", "all unlike"],
)
def test_answers_of_which_no_single_one_differs_are_no_puzzle(answers: tuple[str, ...]) -> None:
    by_node = {f"node0{number}": said for number, said in enumerate(answers)}
    facts = {"asks": "", "wanted": "", "answers": by_node}
    point = Point({"question": "firewall", "when": differing_node.ASKED}, facts=facts)
    with pytest.raises(LabError, match="does not show one different answer"):
        differing_node.odd(Record("E7", points=[point]))


@pytest.mark.cluster
def test_a_learner_with_a_word_always_draws_the_same(
    cluster: NamespaceCluster, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variant.VARIABLE, variant.of("a course's key", "ada"))
    record = differing_node.measure(cluster)
    assert differing_node.odd(record) == drawn(cluster, variant.chance("E7 unlike"))
