"""A8: are short round trips with overlap alike, and what does their rate do?"""

from __future__ import annotations

from pathlib import Path

import pytest
from overlap_records import busy, record, samples

from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.measure.roundtrips import HALF
from beowulf.measure.sweep import PAPER_A_SMALL
from beowulf.record import Record
from beowulf.studies.lab_05 import a8_small_messages_overlap as a8

CLAIMS = ["alike", "rate-rises", "rate-saturates"]


def measured(times: float = 1.0, us_a_byte: float = 0.0) -> Record:
    """A Record in which non-blocking takes so many times as long, and a byte so long."""
    points = []
    for size in PAPER_A_SMALL:
        for protocol, factor in (("blocking", 1.0), ("overlap", times)):
            at = {"pattern": "pingpong", "protocol": protocol}
            at |= {"size_bytes": size, "overlap_bytes": a8.OVERLAP_BYTES}
            points += samples(HALF, at, factor * (20 + size * us_a_byte))
    return record("A8", points)


def outcomes(made: Record) -> dict[str, str]:
    return {verdict.claim: verdict.outcome for verdict in a8.STUDY.claims(made)}


def test_equal_and_rising_holds_and_a_flat_time_means_that_the_rate_goes_on_rising() -> None:
    assert list(outcomes(measured()).items()) == list(
        zip(CLAIMS, ("holds", "holds", "contradicted"), strict=True)
    )


def test_a_time_in_proportion_to_the_size_saturates_the_rate() -> None:
    assert outcomes(measured(us_a_byte=10))["rate-saturates"] == "holds"


def test_half_as_long_again_is_not_equal() -> None:
    assert outcomes(measured(1.5))["alike"] == "contradicted"


def test_a_rate_that_falls_contradicts() -> None:
    made = measured()
    for point in made.points:
        if point.at["size_bytes"] == 1024:
            point.samples[:] = [5 * each for each in point.samples]
    assert outcomes(made)["rate-rises"] == "contradicted"


def test_a_busy_machine_and_no_samples_make_every_claim_inconclusive() -> None:
    assert outcomes(busy(measured())) == dict.fromkeys(CLAIMS, "inconclusive")
    assert outcomes(record("A8", [])) == dict.fromkeys(CLAIMS, "inconclusive")


def test_the_picture_shows_the_whole_round_trip() -> None:
    found = a8.STUDY.picture(measured()).table
    assert found["round_trip_us"].median() == pytest.approx(40, rel=0.02)
    one = found[found["size_bytes"] == 1000 + 24].iloc[0]
    assert one["rate_mbit_per_s"] == pytest.approx(2 * 8 * 1024 / one["round_trip_us"])


@pytest.mark.cluster
def test_the_study_runs_from_measure_to_picture(cluster: NamespaceCluster, tmp_path: Path) -> None:
    made = a8.STUDY.measure(cluster, tmp_path, quick=True, sizes=(0, 1, 1024))
    assert list(outcomes(made)) == CLAIMS
    found = a8.round_trips(made)
    assert set(found["protocol"]) == set(a8.PROTOCOLS)
    assert found.loc[found["size_bytes"] == 0, "rate_mbit_per_s"].eq(0).all()
