"""L2: is the ping-pong's gain held against the kernels', and is the paper's state put in and out, alternating?"""

from __future__ import annotations

from pathlib import Path

import pytest
from made import decided

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_07 import l2_applications
from beowulf.labs.lab_07.l2_applications import KERNELS, TIME
from beowulf.record import Record
from beowulf.studies import draw
from beowulf.studies.states import AFTER, BEFORE, PING
from beowulf.tuning import knob_places, paper_e_baseline
from beowulf.tuning.knobs import ALL
from tests.gold.lab_07 import applications


def test_each_claim_holds_where_the_record_shows_it() -> None:
    found = decided(applications())
    assert set(found.values()) == {"holds"}
    assert len(found) == len(KERNELS) + 1


def test_a_kernel_that_gets_slower_or_gains_more_than_the_ping_pong_is_a_contradiction() -> None:
    assert decided(applications(MG=1.1))["mg-gains"] == "contradicted"
    assert decided(applications(CG=0.1))["synthetic-is-the-limit"] == "contradicted"


def test_a_kernel_that_was_not_measured_in_both_states_is_not_decided() -> None:
    made = applications()
    made.points = [p for p in made.points if (p.at.get("kernel"), p.at["state"]) != ("FT", AFTER)]
    found = decided(made)
    assert found["ft-gains"] == "inconclusive"
    assert found["is-gains"] == "holds"
    assert list(draw(made).table.what) == [PING, "IS", "CG", "MG"]


@pytest.mark.cluster
def test_kernels_are_measured_with_and_without_the_testbed_which_is_gone_at_the_end(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(l2_applications, "KERNELS", ("MG",))
    monkeypatch.setattr(l2_applications, "QUICK_LAUNCHES", 1)
    monkeypatch.setattr(l2_applications, "PING_PASSES", 2)
    knobs = [ALL[name] for name in paper_e_baseline.TESTBED]
    before = knob_places.read(cluster, knobs)
    made = l2_applications.STUDY.measure(cluster, tmp_path, quick=True)
    assert knob_places.read(cluster, knobs) == before
    made = Record.load(made.save_in(tmp_path))
    assert made.complete, made.warnings
    kept = [(p.at["state"], p.at["kernel"]) for p in made.points if p.quantity == TIME]
    assert kept == [(BEFORE, "MG"), (AFTER, "MG")]


@pytest.mark.cluster
def test_the_states_are_those_of_the_testbed_on_every_node(cluster: NamespaceCluster) -> None:
    here = paper_e_baseline.parts(cluster)
    knobs = [ALL[name] for name in here]
    with paper_e_baseline.states(cluster) as states:
        for state, wanted in ((BEFORE, here), (AFTER, {k.name: k.tuned for k in knobs})):
            states[state]()
            for name, readings in knob_places.read(cluster, knobs).items():
                assert {each.value for each in readings.values()} == {wanted[name]}
