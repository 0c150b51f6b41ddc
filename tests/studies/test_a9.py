"""A9: from which size on do the rates of 2, 3 and 4 nodes differ, and does overlap hide its work?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from overlap_records import busy, record, samples

from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.measure.roundtrips import EXCHANGE
from beowulf.record import Record
from beowulf.studies.lab_05 import a9_overlap_sizes as a9

CLAIMS = ["differences-from-100000", "more-nodes", "hides"]


def measured(exchange_us: Callable[[int, str, int, float], float]) -> Record:
    """A Record of what the function says of ranks, protocol, message bytes and work in us."""
    points = []
    for ranks in a9.RANKS:
        for protocol in a9.PROTOCOLS:
            for size in a9.SIZES:
                for overlap in a9.OVERLAPS:
                    at = {"pattern": "ring", "protocol": protocol, "size_bytes": size}
                    at |= {"overlap_bytes": overlap}
                    found = samples(EXCHANGE, at, exchange_us(ranks, protocol, size, overlap / 100))
                    for point in found:
                        point.at["ranks"] = ranks
                    points += found
    return record("A9", points)


def link(ranks: int, protocol: str, size: int, work_us: float) -> float:
    """Every cable carries a message; non-blocking calls hide the work behind it."""
    wire_us = 20 + size * 0.085
    return max(wire_us, work_us) if protocol == "overlap" else wire_us + work_us


def outcomes(made: Record) -> dict[str, str]:
    return {verdict.claim: verdict.outcome for verdict in a9.STUDY.claims(made)}


def test_long_work_keeps_the_rates_together_below_100000_bytes() -> None:
    assert outcomes(measured(link)) == dict.fromkeys(CLAIMS, "holds")


def test_short_work_lets_them_part_before() -> None:
    found = outcomes(measured(lambda r, p, size, w: link(r, p, size, w / 20)))
    assert found["differences-from-100000"] == "contradicted"


def test_one_wire_for_all_is_no_more_rate() -> None:
    found = outcomes(measured(lambda ranks, p, size, w: ranks**2 * link(ranks, p, size, w)))
    assert found["more-nodes"] == "contradicted"


def test_rates_that_cannot_be_distinguished_are_inconclusive() -> None:
    found = outcomes(measured(lambda ranks, p, size, w: ranks * link(ranks, p, size, w)))
    assert found["more-nodes"] == "inconclusive"


def test_work_that_is_not_hidden_contradicts() -> None:
    found = outcomes(measured(lambda ranks, _, size, w: link(ranks, "blocking", size, w)))
    assert found["hides"] == "contradicted"


def test_a_busy_machine_and_no_samples_make_every_claim_inconclusive() -> None:
    assert outcomes(busy(measured(link))) == dict.fromkeys(CLAIMS, "inconclusive")
    assert outcomes(record("A9", [])) == dict.fromkeys(CLAIMS, "inconclusive")


def test_the_picture_has_a_line_for_each_number_of_nodes_and_kind_of_call() -> None:
    figure = a9.STUDY.picture(measured(link))
    assert set(figure.table["line"]) == {
        f"np {ranks}, {calls}" for ranks in a9.RANKS for calls in ("blocking", "non-blocking")
    }
    assert "1,000,000 bytes" in figure.title


@pytest.mark.cluster
def test_the_study_runs_from_measure_to_picture(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(a9, "RANKS", (2, 3))
    made = a9.STUDY.measure(
        cluster, tmp_path, quick=True, sizes=(1, 1000), overlap_bytes=(1, 100_000)
    )
    assert list(outcomes(made)) == CLAIMS
    assert a9.STUDY.picture(made).alt
