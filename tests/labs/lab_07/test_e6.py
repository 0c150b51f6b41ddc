"""E6: are knobs that are alike, different, absent or noisy judged as they are, and is the testbed put back?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from made import decided, named

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_07 import e6_knobs
from beowulf.labs.lab_07.knob_gains import LATER, TOGETHER
from beowulf.record import Point, Record
from beowulf.studies import draw, judge
from beowulf.tuning import knob_places
from beowulf.tuning.ab_comparison import AFTER
from beowulf.tuning.knobs import ALL
from beowulf.tuning.paper_e_baseline import FIREWALL, IRQBALANCE, LOW_LATENCY, MODERATION
from tests.gold.lab_07 import launches
from tests.labs.lab_03.lab_03_records import noisy
from tests.labs.lab_07.lab_07_records import record
from tests.studies.null_records import Noise, assert_told_apart, quieter


def usual(**changes: list[Point]) -> Record:
    """As the paper's cluster might have it: all four knobs, and together 54 % less."""
    parts = {
        MODERATION: launches(MODERATION, 0.55),
        FIREWALL: launches(FIREWALL, 0.85),
        IRQBALANCE: launches(IRQBALANCE, 0.99),
        LOW_LATENCY: launches(LOW_LATENCY, 1.02),
        TOGETHER: launches(TOGETHER, 0.46),
        LATER: launches(FIREWALL, 0.8, LATER, 30.0),
        **changes,
    }
    made = record("E6", [point for each in parts.values() for point in each])
    made.sweep["testbed"] = {MODERATION: "50", FIREWALL: "100"}
    made.cluster["kind"] = "ssh"
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
    made = usual(**{knob: launches(knob, times) for knob, times in changes.items()})
    assert named(made, claim).outcome == "contradicted"


def test_a_deviation_that_is_not_halved_contradicts_and_few_launches_decide_nothing() -> None:
    made = usual(**{TOGETHER: launches(TOGETHER, 0.46, deviates=0.95)})
    assert named(made, "deviation-halved").outcome == "contradicted"
    made.points = [point for point in made.points if point.at["launch"] < 2]
    few = named(made, "deviation-halved")
    assert few.outcome == "inconclusive"
    assert "2 launches compare it, and 6 are needed" in few.evidence


NONE = {
    "moderation-most": {MODERATION: 0.85},
    "firewall-contributes": {FIREWALL: 1.0},
    "together-54-percent": {TOGETHER: 0.58},
    "deviation-halved": {TOGETHER: 0.46},
    "not-additive": {MODERATION: 0.60, FIREWALL: 0.86},
}


@pytest.mark.nightly
@pytest.mark.parametrize("claim", NONE)
def test_without_its_effect_a_claim_rarely_holds_and_with_the_papers_it_mostly_does(
    claim: str,
) -> None:
    # A deviation is noise: where the machine's own is larger, nothing of it can be seen.
    share, deviates = (0.1, 1.0) if claim == "deviation-halved" else (1.0, 0.5)
    none = {knob: launches(knob, x, deviates=deviates) for knob, x in NONE[claim].items()}

    def of(parts: dict[str, list[Point]], noise: Noise) -> Record:
        return noisy(usual(**parts), lambda n: quieter(noise(n), share))

    assert_told_apart(e6_knobs.STUDY, claim, of, none, {})


def test_the_firewall_may_matter_only_when_moderation_is_gone() -> None:
    said = named(usual(**{FIREWALL: launches(FIREWALL, 0.98)}), "firewall-contributes")
    assert said.outcome == "contradicted"
    assert "no effect; firewall after the others: -20" in said.evidence


def test_without_a_card_the_size_of_a_stand_in_decides_nothing_and_verdicts_name_it() -> None:
    made = usual()
    assert "the state before is made up (" in named(made, "not-additive").evidence
    assert "network card" not in named(made, "not-additive").evidence
    demonstrations = {each.claim for each in judge(made) if each.rests_on == "demonstration"}
    assert demonstrations == {"tcp-low-latency-not-better"}
    made.cluster["kind"] = "namespaces"
    claims = {each.claim for each in judge(made) if each.rests_on == "measurement"}
    assert claims == {"irqbalance-hardly"}
    found = decided(made)
    assert found["together-54-percent"] == found["deviation-halved"] == "inconclusive"
    assert found["not-additive"] == "holds"
    assert "network card" in named(made, "not-additive").evidence
    made.sweep["testbed"] = {}
    assert "made up" not in named(made, "moderation-most").evidence


def test_a_knob_that_is_absent_is_not_observable_and_says_where_it_is() -> None:
    made = usual(**{IRQBALANCE: [Point({"knob": IRQBALANCE}, facts={"absent": "not here: no."})]})
    said = named(made, "irqbalance-hardly")
    assert (said.outcome, said.evidence) == ("inconclusive", "not here: no.")
    assert "every node" in said.advice
    made.cluster["kind"] = "namespaces"
    assert "real PCs" in named(made, "irqbalance-hardly").advice
    made.points = [Point({"knob": MODERATION}, facts={"absent": "not here: no root."})]
    assert set(decided(made).values()) == {"inconclusive"}
    with pytest.raises(LabError, match="compares no knob"):
        draw(made)


def test_the_picture_has_every_knob_and_the_change_of_means_beside_that_of_the_pairs() -> None:
    disturbed = launches(FIREWALL, 0.85)
    for point in disturbed:
        if point.at["state"] == AFTER:
            point.samples[:] = [us * (3 if n % 4 == 3 else 1) for n, us in enumerate(point.samples)]
    figure = draw(usual(**{FIREWALL: disturbed}))
    for name in (MODERATION, FIREWALL, TOGETHER, "firewall after the others"):
        assert name in figure.alt
    assert "all together in the paper -54" in figure.alt
    assert {"mean_before_us", "deviation_after_us", "p95_after_us", "decision"} <= set(figure.table)
    table = figure.table.set_index("knob")
    # Outliers turn the means round, not the pairs.
    assert table.change_percent[FIREWALL] < 0 < table.means_percent[FIREWALL]
    assert all(abs(table.means_percent - table.change_percent).drop(FIREWALL) < 2)


# Measured


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
    before = knob_places.read(cluster, [ALL[MODERATION], ALL[FIREWALL]])
    made = e6_knobs.STUDY.measure(cluster, tmp_path, quick=True)
    assert knob_places.read(cluster, [ALL[MODERATION], ALL[FIREWALL]]) == before
    assert made.sweep["machine"] == {LOW_LATENCY: "1"}
    assert dict(seen)[LOW_LATENCY] == "1"
    assert all(value == "0" for name, value in seen if name != LOW_LATENCY)
    assert file.read_text() == "0\n"
    absent = {point.at["knob"] for point in made.points if "absent" in point.facts}
    assert LOW_LATENCY not in absent
