"""A11: does work beside long messages change their shares, their rate, or the overhead?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from made import decided

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_06 import a11_long_messages as a11
from beowulf.measure.roundtrips import HALF
from beowulf.record import Record
from beowulf.studies.wire_shares import LAUNCHES, Talk
from tests.gold.lab_06 import USUAL
from tests.labs.lab_06.wire_records import record
from tests.studies.null_records import Noise, assert_told_apart


def measured(protocols: tuple[str, ...] = a11.PROTOCOLS, **with_overlap: float) -> Record:
    """A Record in which only what is named is another with 8192 bytes of work."""

    def of(talk: Talk) -> Mapping[str, float]:
        return with_overlap if talk.overlap_bytes == 8192 and talk.protocol in protocols else {}

    return record("A11", a11.talks(a11.OVERLAPS), of, noise=0.0001)


def test_a_wire_on_which_work_changes_nothing_contradicts_the_paper() -> None:
    assert decided(measured()) == {
        "every-message-seen": "holds",
        "data-share-level": "contradicted",
        "data-share-alike": "holds",
        "overlap-raises-rate": "contradicted",
        "overlap-raises-rate-talking": "contradicted",
        "nonblocking-beats-blocking": "contradicted",
        "overlap-lowers-overhead": "contradicted",
        "overlap-raises-data-share": "contradicted",
    }


def test_a_rate_that_rises_as_in_the_paper_holds() -> None:
    fast = {"packets_per_s": 20_000.0, "talking_packets_per_s": 100_000.0}
    found = decided(measured(("nonblocking",), **fast))
    rates = ("overlap-raises-rate", "overlap-raises-rate-talking", "nonblocking-beats-blocking")
    assert {found[claim] for claim in rates} == {"holds"}


# With the paper's effects: its rates, and as many points of the shares as it prints.
EFFECT = {"packets_per_s": a11.FASTER, "talking_packets_per_s": a11.FASTER}
LONG = {"data": 0.01 * a11.papers("data_percent", 0), "overhead": 0.06}
SHARE = {"data": 0.01 * a11.RISE_POINTS, "overhead": -0.01 * a11.RISE_POINTS}


@pytest.mark.nightly
@pytest.mark.parametrize(
    "claim", ["overlap-raises-rate", "overlap-raises-data-share", "overlap-lowers-overhead"]
)
def test_noise_alone_rarely_holds_and_the_papers_effect_mostly(claim: str) -> None:
    def of(effect: bool, noise: Noise) -> Record:
        def figures(talk: Talk) -> Mapping[str, float]:
            there = effect and talk.overlap_bytes == a11.MOST and talk.protocol == "nonblocking"
            times = {name: USUAL[name] * (value if there else 1) for name, value in EFFECT.items()}
            shares = {name: LONG[name] + (value if there else 0) for name, value in SHARE.items()}
            return times | shares

        return record("A11", a11.talks((0, a11.MOST)), figures, noise=noise, launches=LAUNCHES)

    assert_told_apart(a11.STUDY, claim, of, without=False, effect=True)


def test_overhead_and_data_share_are_judged_separately() -> None:
    """Fewer bytes of headers and fewer frames with data: our measure falls, the paper's says the opposite."""
    found = decided(measured(overhead=0.40, data=0.93))
    assert found["overlap-lowers-overhead"] == "holds"
    assert found["overlap-raises-data-share"] == "contradicted"
    assert found["data-share-alike"] == "contradicted"


def test_the_picture_has_the_papers_rates_of_long_messages_beside_those_of_8192_bytes() -> None:
    found = a11.STUDY.picture(measured()).table
    assert set(found["paper_mbit_per_s"].dropna()) == {8.85, 40.54}


@pytest.mark.cluster
def test_long_messages_are_found_on_the_wire_with_every_byte(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message of 8192 bytes takes six segments, one of 1024 a single one; each is read from its first."""
    few = [replace(talk, exchanges=40) for talk in a11.talks([1024]) if talk.protocol == "blocking"]
    monkeypatch.setattr(a11, "talks", lambda overlaps: few)
    made = a11.STUDY.measure(cluster, tmp_path, quick=True, launches=1)
    assert made.complete, made.warnings
    seen = next(v for v in a11.STUDY.claims(made) if v.claim == "every-message-seen")
    assert seen.outcome == "holds", seen
    for point in [each for each in made.points if each.quantity == HALF]:
        size = point.at["message_bytes"]
        timed = [each for each in point.facts["captured"] if each["tag"] == 600]
        assert [each["bytes"] for each in timed] == [40 * size] * 4
        assert point.facts["mpi"]["kinds"]["eager"]["messages"] >= 4 * 40
        assert (point.facts["mpi"]["segments_per_message"] > 3) == (size == 8192)
