"""Nodes that go away and return: is each as it is to be, put back or put in again?"""

from __future__ import annotations

import pytest
from running import Beowulf
from tune_in_process import rules, set_, tune

from beowulf.tuning import knob_places, log
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import find

pytestmark = pytest.mark.cluster


def test_a_node_that_goes_away_is_put_back_when_it_returns_also_in_the_middle_of_a_trial(
    learner: Beowulf,
) -> None:
    learner.cluster.administer("node01", "nft add table ip own")
    set_(learner, "firewall", "10")
    learner.cluster.kill("node01")
    assert "node01 is down" in tune(learner, "apply", "firewall", "none", code=1)
    said = tune(learner, "revert")
    assert "node01 does not run: `beowulf up` starts it and puts it back too." in said
    assert "asked back (not yet node01)" in tune(learner, "log")
    assert rules(learner) == ["none"]
    assert "Put back, as `beowulf tune revert` was to: firewall." in learner("up")
    # Exactly what was there before: what the learner had set up there by hand too.
    assert "table ip own" in learner.cluster.administer("node01", "nft list ruleset").stdout
    assert log.of_cluster(learner.cluster).open() == []

    def goes_away() -> None:
        with changing(learner.cluster, [(find("firewall"), "10")]) as changes:
            changes(True)
            learner.cluster.kill("node01")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        goes_away()
    assert rules(learner) == ["none"]
    assert "Put back, as `beowulf tune revert` was to: firewall." in learner("up")
    assert "table ip own" in learner.cluster.administer("node01", "nft list ruleset").stdout
    learner.cluster.administer("node01", "nft delete table ip own")
    assert log.of_cluster(learner.cluster).open() == []
    assert "Put back" not in learner("up")


@pytest.mark.nightly
def test_what_was_kept_is_put_in_again_on_a_node_that_is_restarted_and_reverted_like_on_the_others(
    learner: Beowulf,
) -> None:
    set_(learner, "firewall", "10")
    set_(learner, "firewall", "100")
    set_(learner, "delayed-ack", "quick")
    learner.cluster.kill("node01")
    said = learner("up")
    assert "Put in again on node01, as you kept it: firewall 100, delayed-ack quick." in said
    assert rules(learner) == ["100", "100"]
    acks = knob_places.read(learner.cluster, [find("delayed-ack")])["delayed-ack"]
    assert {each.value for each in acks.values()} == {"quick"}
    assert "Put in again" not in learner("up")
    assert tune(learner, "revert").startswith("Undone: ")
    assert rules(learner) == ["none", "none"]
    assert "Put in again" not in learner("up")


def test_nodes_do_not_return_while_knobs_are_turned_but_afterwards(learner: Beowulf) -> None:
    set_(learner, "firewall", "10")
    with changing(learner.cluster, [(find("delayed-ack"), "quick")]):
        learner.cluster.kill("node01")
        said = learner("up", code=1)
    assert "for knobs (delayed-ack), which measures" in said
    assert "Wait until it is done" in said
    said = learner("up")
    assert "2 nodes are up" in said
    assert "Put in again on node01, as you kept it: firewall 10." in said
    tune(learner, "revert")
    assert rules(learner) == ["none", "none"]
