"""L2: is the ping-pong's gain held against the kernels', and is the paper's state put in and out, alternating?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made import decided
from overlap_records import around, record

from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.labs.lab_07 import l2_applications
from beowulf.labs.lab_07.l2_applications import KERNELS, LAUNCHES, TIME
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record
from beowulf.studies import draw
from beowulf.studies.states import AFTER, BEFORE
from beowulf.tuning import knob_places, paper_e_baseline
from beowulf.tuning.knobs import ALL

USUAL = {"ping-pong": 0.2, "IS": 0.6, "CG": 0.5, "MG": 0.7, "FT": 0.8}


def usual(**times: float) -> Record:
    """The ping-pong and each kernel take so many times as long after as before."""
    points = []
    for name, after in {**USUAL, **times}.items():
        for launch in range(LAUNCHES):
            for state, factor in ((BEFORE, 1.0), (AFTER, after)):
                at: dict[str, Any] = {"state": state, "launch": launch}
                ping = name == "ping-pong"
                if not ping:
                    at["kernel"] = name
                middle, n = (35.0 * factor, 10) if ping else (0.5 * factor, 1)
                points.append(Point(at, HALF if ping else TIME, around(middle, 0.002, n)))
    return record("L2", points)


def test_each_claim_holds_where_the_record_shows_it() -> None:
    found = decided(usual())
    assert set(found.values()) == {"holds"}
    assert len(found) == len(KERNELS) + 1


def test_a_kernel_that_gets_slower_or_gains_more_than_the_ping_pong_is_a_contradiction() -> None:
    assert decided(usual(MG=1.1))["mg-gains"] == "contradicted"
    assert decided(usual(CG=0.1))["synthetic-is-the-limit"] == "contradicted"


def test_a_kernel_that_was_not_measured_in_both_states_is_not_decided() -> None:
    made = usual()
    made.points = [p for p in made.points if (p.at.get("kernel"), p.at["state"]) != ("FT", AFTER)]
    found = decided(made)
    assert found["ft-gains"] == "inconclusive"
    assert found["is-gains"] == "holds"
    assert "FT" not in draw(made).alt


def test_the_picture_has_the_ping_pong_and_every_kernel() -> None:
    figure = draw(usual())
    assert all(name in figure.alt for name in USUAL)
    assert list(figure.table.what) == list(USUAL)


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
