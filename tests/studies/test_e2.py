"""E2: is a ping-pong judged by what it shows, and not at all where there is no card?"""

from __future__ import annotations

import made
from lab_04_records import e2

from beowulf.studies.lab_04 import e2_pingpong

REAL = {"kind": "ssh", "nodes": ["node00", "node01"]}


def test_e2_holds_on_an_untuned_cluster_of_pcs() -> None:
    found = e2_pingpong.STUDY.claims(e2(lambda at: 50 + 0.01 * at["size_bytes"], cluster=REAL))
    assert made.outcomes(found) == {
        "default-latency": "holds",
        "short-alike": "holds",
        "repeats": "holds",
    }


def test_e2_another_latency_contradicts_where_there_is_a_card() -> None:
    found = made.outcomes(e2_pingpong.STUDY.claims(e2(lambda at: 20.0, cluster=REAL)))
    assert found["default-latency"] == "contradicted"


def test_e2_a_cluster_without_cards_cannot_tell() -> None:
    found = e2_pingpong.STUDY.claims(e2(lambda at: 50.0))[0]
    assert found.outcome == "inconclusive"
    assert "no message meets a network card" in found.evidence


def test_e2_times_that_grow_at_once_and_scatter_contradict() -> None:
    found = made.outcomes(e2_pingpong.STUDY.claims(e2(lambda at: 5 + at["size_bytes"], noise=0.2)))
    assert found["short-alike"] == "contradicted"
    assert found["repeats"] == "contradicted"


def test_e2_growth_within_the_noise_is_inconclusive() -> None:
    grown = e2(lambda at: 10.0 if at["size_bytes"] != 64 else 13.0, noise=0.25)
    assert made.outcomes(e2_pingpong.STUDY.claims(grown))["short-alike"] == "inconclusive"


def test_e2_a_busy_machine_without_cards_is_not_asked_to_measure_again() -> None:
    busy = {"load_1min": 9.0, "cores": 2, "waiting_for_a_core_percent_10s": 42.0}
    found = e2_pingpong.STUDY.claims(e2(lambda at: 50.0, before=busy))[0]
    assert found.evidence.count("but ") == 1
    assert "network card" in found.evidence
    assert "the load before the start was 9.0" in found.evidence
    assert found.advice == "Measure on virtual machines or on real PCs."
