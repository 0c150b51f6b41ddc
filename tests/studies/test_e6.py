"""E6: are knobs that are alike, different, absent or noisy judged as they are, and is the testbed put back?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from knob_records import compared
from lab_04_records import noisy
from made import decided, named
from null_records import Noise, assert_told_apart, quieter
from overlap_records import record

from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_07 import e6_knobs
from beowulf.labs.lab_07.knob_gains import ALONE, LATER, TOGETHER
from beowulf.record import Point, Record
from beowulf.studies import draw
from beowulf.tuning import machines
from beowulf.tuning.ab_comparison import AFTER, Length
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL
from beowulf.tuning.paper_e_baseline import FIREWALL, IRQBALANCE, LOW_LATENCY, MODERATION


def usual(**changes: list[Point]) -> Record:
    """As the paper's cluster might have it: all four knobs, and together 54 % less."""
    parts = {
        MODERATION: compared(MODERATION, 0.55),
        FIREWALL: compared(FIREWALL, 0.85),
        IRQBALANCE: compared(IRQBALANCE, 0.99),
        LOW_LATENCY: compared(LOW_LATENCY, 1.02),
        TOGETHER: compared(TOGETHER, 0.46),
        LATER: compared(FIREWALL, 0.8, LATER, 30.0),
        **changes,
    }
    made = record("E6", [point for each in parts.values() for point in each])
    made.sweep["testbed"] = {MODERATION: "50", FIREWALL: "100"}
    made.cluster["kind"] = "pcs"
    return made


def test_each_claim_holds_where_the_record_shows_it() -> None:
    found = decided(usual())
    assert set(found) == {each.name for each in e6_knobs.CLAIMS}
    assert set(found.values()) == {"holds"}


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({MODERATION: 0.98}, "moderation-most"),
        # Without an effect it does not cost the most, though it costs more.
        ({MODERATION: 0.975, FIREWALL: 1.0}, "moderation-most"),
        ({TOGETHER: 0.40, IRQBALANCE: 1.0, LOW_LATENCY: 1.0}, "not-additive"),
        ({FIREWALL: 0.99}, "firewall-contributes"),
        ({IRQBALANCE: 0.7}, "irqbalance-hardly"),
        ({LOW_LATENCY: 0.9}, "tcp-low-latency-not-better"),
        ({TOGETHER: 0.20}, "together-54-percent"),
    ],
)
def test_a_claim_is_contradicted_where_the_record_shows_the_opposite(
    changes: dict[str, float], claim: str
) -> None:
    made = usual(**{knob: compared(knob, times) for knob, times in changes.items()})
    assert named(made, claim).outcome == "contradicted"


def test_a_deviation_that_is_not_halved_contradicts_and_few_launches_decide_nothing() -> None:
    made = usual(**{TOGETHER: compared(TOGETHER, 0.46, deviates=0.95)})
    assert named(made, "deviation-halved").outcome == "contradicted"
    made.points = [point for point in made.points if point.at["launch"] < 2]
    few = named(made, "deviation-halved")
    assert few.outcome == "inconclusive"
    assert "2 launches compare it, and 6 are needed" in few.evidence


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("claim", "none"),
    [
        (
            "moderation-most",
            {MODERATION: compared(MODERATION, 0.85), FIREWALL: compared(FIREWALL, 0.85)},
        ),
        ("firewall-contributes", {FIREWALL: compared(FIREWALL, 1.0)}),
        ("together-54-percent", {TOGETHER: compared(TOGETHER, 0.58)}),
        ("deviation-halved", {TOGETHER: compared(TOGETHER, 0.46, deviates=1.0)}),
        (
            "not-additive",
            {MODERATION: compared(MODERATION, 0.60), FIREWALL: compared(FIREWALL, 0.86)},
        ),
    ],
)
def test_without_its_effect_a_claim_rarely_holds_and_with_the_papers_it_mostly_does(
    claim: str, none: dict[str, list[Point]]
) -> None:
    # A deviation is noise: where the machine's own is larger, nothing of it can be seen.
    share = 0.1 if claim == "deviation-halved" else 1.0

    def of(parts: dict[str, list[Point]], noise: Noise) -> Record:
        return noisy(usual(**parts), lambda n: quieter(noise(n), share))

    assert_told_apart(e6_knobs.STUDY, claim, of, none, {})


def test_the_firewall_may_matter_only_when_moderation_is_gone() -> None:
    said = named(usual(**{FIREWALL: compared(FIREWALL, 0.98)}), "firewall-contributes")
    assert said.outcome == "contradicted"
    assert "no effect; when moderation is gone already: -20" in said.evidence


def test_without_a_card_the_size_of_a_stand_in_decides_nothing() -> None:
    made = usual()
    made.cluster["kind"] = "namespaces"
    found = decided(made)
    assert found["together-54-percent"] == "inconclusive"
    assert found["deviation-halved"] == "inconclusive"
    assert found["not-additive"] == "holds"


def test_a_verdict_names_what_stands_in_for_the_papers_conditions() -> None:
    made = usual()
    assert "the state before is made up (" in named(made, "not-additive").evidence
    assert "takes the place of a network card" not in named(made, "not-additive").evidence
    made.cluster["kind"] = "namespaces"
    assert "takes the place of a network card" in named(made, "not-additive").evidence
    made.sweep["testbed"] = {}
    assert "made up" not in named(made, "moderation-most").evidence


def test_a_knob_that_is_absent_is_not_observable_and_says_where_it_is() -> None:
    made = usual()
    made.points = [point for point in made.points if point.at["knob"] != IRQBALANCE]
    made.points.append(Point({"knob": IRQBALANCE}, facts={"absent": "not observable here: no."}))
    said = named(made, "irqbalance-hardly")
    assert said.outcome == "inconclusive"
    assert said.evidence == "not observable here: no."
    assert "real PCs" in said.advice


def test_where_no_knob_can_be_turned_nothing_is_decided_and_drawn() -> None:
    made = usual()
    made.points = [Point({"knob": MODERATION}, facts={"absent": "not observable here: no root."})]
    assert set(decided(made).values()) == {"inconclusive"}
    with pytest.raises(LabError, match="compares no knob"):
        draw(made)


def test_the_picture_has_every_knob_and_the_table_mean_and_deviation() -> None:
    figure = draw(usual())
    for name in (MODERATION, FIREWALL, TOGETHER, "firewall after the others"):
        assert name in figure.alt
    assert len(figure.table) == 6
    assert {"mean_before_us", "deviation_after_us", "p95_after_us", "decision"} <= set(figure.table)


def test_means_that_say_otherwise_than_the_pairs_are_named_in_the_table() -> None:
    disturbed = compared(FIREWALL, 0.85)
    for point in disturbed:
        if point.at["state"] == AFTER:
            point.samples[:] = [us * (3 if n % 4 == 3 else 1) for n, us in enumerate(point.samples)]
    made = usual(**{FIREWALL: disturbed})
    means = draw(made).table.set_index("knob")["means"]
    assert means[FIREWALL] == "say otherwise"
    assert set(means.drop(FIREWALL)) == {"agree"}


# Measured


@pytest.mark.nightly  # L2 does it in every run
@pytest.mark.cluster
def test_the_study_makes_the_testbed_measures_and_puts_everything_back(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e6_knobs, "QUICK_LENGTH", Length(blocks=2, most_blocks=2, samples=5))
    monkeypatch.setattr(e6_knobs, "QUICK_LAUNCHES", 1)
    knobs = [ALL[MODERATION], ALL[FIREWALL]]
    before = machines.read(cluster, knobs)
    reported: list[Any] = []
    made = e6_knobs.STUDY.measure(
        cluster, tmp_path, quick=True, progress=lambda done, of, what: reported.append(done / of)
    )
    assert machines.read(cluster, knobs) == before
    assert made.complete, made.warnings
    assert reported == sorted(reported)
    assert set(decided(made)) == {each.name for each in e6_knobs.CLAIMS}
    compared_here = {(p.at["knob"], p.at["way"]) for p in made.points if "way" in p.at}
    assert (FIREWALL, ALONE) in compared_here
    if made.sweep["testbed"].keys() == {MODERATION, FIREWALL}:
        assert {(TOGETHER, ALONE), (FIREWALL, LATER)} <= compared_here
    assert draw(made).alt


@pytest.mark.cluster
def test_a_cluster_whose_knobs_are_turned_already_is_not_measured(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    with changing(cluster, [(ALL[FIREWALL], "10")]) as changes:
        changes(True)
        with pytest.raises(LabError, match=r"firewall is 10 and not none.*tune revert"):
            e6_knobs.STUDY.measure(cluster, tmp_path, quick=True)


@pytest.mark.cluster
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may turn what belongs to the machine")
def test_a_knob_of_the_machine_is_turned_alone_and_put_back(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of tcp_low_latency, which only root may write, a file of this test."""
    file = tmp_path / "tcp_low_latency"
    file.write_text("0\n")
    knob = ALL[LOW_LATENCY]
    monkeypatch.setattr(type(knob), "files", (str(file),))
    monkeypatch.setenv("BEOWULF_STATE", str(tmp_path / "state"))  # the machine's log lies beside it
    monkeypatch.setattr(e6_knobs, "QUICK_LAUNCHES", 1)
    seen: list[tuple[object, str]] = []

    def compared_here(session: Any, change: Any, *, at: Any, length: Any) -> None:
        change(True)
        seen.append((at["knob"], file.read_text().strip()))
        change(False)

    monkeypatch.setattr(e6_knobs, "compare", compared_here)
    # As on PCs and VMs, whose machines are the nodes' own.
    monkeypatch.setattr(e6_knobs, "absent_knobs", lambda _: {IRQBALANCE: "not here"})
    made = e6_knobs.STUDY.measure(cluster, tmp_path, quick=True)
    assert made.sweep["machine"] == {LOW_LATENCY: "1"}
    assert dict(seen)[LOW_LATENCY] == "1"
    assert all(value == "0" for name, value in seen if name != LOW_LATENCY)
    assert file.read_text() == "0\n"
    absent = {point.at["knob"] for point in made.points if "absent" in point.facts}
    assert LOW_LATENCY not in absent
