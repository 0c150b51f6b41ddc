"""Lab 07's puzzle: is one node unlike only while it is asked, is it the one that is found, and is it put back?"""

from __future__ import annotations

from pathlib import Path

import pytest

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.labs.lab_07 import differing_node
from beowulf.record import Point, Record, newest
from beowulf.tuning import knob_places, paper_e_baseline
from beowulf.tuning.knobs import ALL


@pytest.mark.cluster
def test_the_different_node_is_the_one_that_was_drawn_and_is_put_back(
    cluster: NamespaceCluster, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    knobs = [ALL[name] for name in paper_e_baseline.TESTBED]
    before = knob_places.read(cluster, knobs)
    monkeypatch.setenv(personal_code.VARIABLE, personal_code.of("a course's key", "ada"))
    record = differing_node.measure(cluster)
    assert knob_places.read(cluster, knobs) == before
    # A learner with a word always draws the same.
    again = personal_code.chance("E7 unlike")
    question = again.choice(sorted(paper_e_baseline.parts(cluster)))
    node = again.choice(cluster.nodes)
    assert differing_node.odd(record) == (node, question)
    assert (record.study, record.variant, record.complete) == ("E7", "unlike", True)
    shown = differing_node.table(record).set_index("question")
    assert list(shown.columns) == ["wanted", *cluster.nodes]
    assert shown.loc[question, node] == paper_e_baseline.TESTBED[question]
    assert newest(records, "E7", "unlike") == record


@pytest.mark.parametrize(
    "answers",
    [("none",) * 4, ("100", "none", "100", "none"), ("1", "2", "3", "4")],
    ids=["all alike", "two of each", "all unlike"],
)
def test_answers_of_which_no_single_one_differs_are_no_puzzle(answers: tuple[str, ...]) -> None:
    by_node = {f"node0{number}": said for number, said in enumerate(answers)}
    facts = {"asks": "", "wanted": "", "answers": by_node}
    point = Point({"question": "firewall", "when": differing_node.ASKED}, facts=facts)
    with pytest.raises(LabError, match="does not show exactly one answer that differs"):
        differing_node.odd(Record("E7", points=[point]))
