"""E2: is a ping-pong judged by what it shows, and not at all where there is no card?"""

from __future__ import annotations

from pathlib import Path

import made
import pytest
from lab_04_records import e2
from running import Beowulf

from beowulf import paths
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.labs.lab_04 import e2_pingpong
from beowulf.record import Point

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


def test_e2_a_request_without_mpi_is_shown_beside_and_decides_nothing() -> None:
    record = e2(lambda at: 50 + 0.01 * at["size_bytes"], cluster=REAL)
    before = made.outcomes(e2_pingpong.STUDY.claims(record))
    for transport, us in (("tcp", 80.0), ("udp", 60.0)):
        at = {"transport": transport, "size_bytes": 1, "launch": 0}
        record.points.append(Point(at, e2_pingpong.REQUEST, [us] * 6, {"repetitions": [10] * 6}))
    found = e2_pingpong.STUDY.claims(record)
    assert made.outcomes(found) == before
    assert found[0].evidence.endswith("half a request and its response: TCP 40.0 µs, UDP 30.0 µs")
    figure = e2_pingpong.STUDY.picture(record)
    assert {"MPI", "TCP", "UDP"} <= set(figure.table["line"])


@pytest.mark.cluster
def test_e2_measures_requests_over_tcp_and_udp_without_mpi(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    record = e2_pingpong.STUDY.measure(cluster, tmp_path, quick=True, sizes=[0, 64])
    assert record.complete, record.warnings
    halves = e2_pingpong.halves_without_mpi(record)
    assert set(halves["transport"]) == {"tcp", "udp"}
    assert set(halves["size_bytes"]) == {64}
    assert (halves["median"] > 0).all()


@pytest.mark.nightly
@pytest.mark.cluster
def test_datagrams_that_never_arrive_end_the_program_with_a_sentence(
    beowulf: Beowulf,
) -> None:
    beowulf("up")
    rules = (
        "table inet t { chain input { type filter hook input priority 0; ip protocol udp drop; }; }"
    )
    beowulf.cluster.administer("node01", f"nft '{rules}'")
    program = paths.root() / "labs" / "04-blocking-nonblocking" / "request_response.c"
    said = beowulf("run", "-n", "2", program, "--transport", "udp", code=1)
    assert "More than 3 datagrams were lost between the nodes." in said
