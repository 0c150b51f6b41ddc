"""A10: are messages of two bytes all on the wire, what does work beside them change, and what does Ctrl-C keep?"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from made import decided, outcomes
from running import PATIENCE_S, Beowulf, wait_until

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_01 import a5_no_load
from beowulf.labs.lab_06 import a10_short_messages as a10
from beowulf.measure.roundtrips import HALF
from beowulf.record import Record, newest
from beowulf.studies import wire_shares
from beowulf.studies.wire_shares import LAUNCHES, Talk
from tests.labs.lab_06.wire_records import record
from tests.studies.null_records import Noise, assert_told_apart

RATES = ("overlap-lowers-packet-rate", "overlap-lowers-packet-rate-talking")


def measured(noise: float = 0.001, launches: int = 7, **with_overlap: float) -> Record:
    """A Record in which only what is named is another with overlap."""

    def of(talk: Talk) -> Mapping[str, float]:
        return with_overlap if talk.overlap_bytes else {}

    return record("A10", a10.TALKS, of, noise=noise, launches=launches)


def test_a_wire_on_which_work_on_two_bytes_changes_nothing_contradicts_the_paper() -> None:
    assert decided(measured(noise=0.0001)) == {
        "every-message-seen": "holds",
        "nearly-all-tcp": "holds",
        "data-share-level": "holds",
        "data-share-alike": "holds",
        "data-share-alike-talking": "holds",
        "overlap-lowers-data-share": "contradicted",
        "overlap-lowers-packet-rate": "contradicted",
        "overlap-lowers-packet-rate-talking": "contradicted",
    }


def test_the_papers_own_figures_hold_and_another_share_is_not_alike() -> None:
    """With the paper's shares and rates the claims hold that the paper draws from them."""
    found = decided(measured(0.0001, data=0.9454, packets_per_s=5000 * 658.81 / 2650.53))
    assert found["overlap-lowers-data-share"] == found["data-share-alike"] == "holds"
    assert found["overlap-lowers-packet-rate"] == "holds"
    assert found["overlap-lowers-packet-rate-talking"] == "contradicted"
    assert decided(measured(data=0.90))["data-share-alike"] == "contradicted"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("claim", "column", "name", "unit"),
    [
        ("overlap-lowers-packet-rate", "packets_per_s", "packets_per_s", 1.0),
        ("overlap-lowers-data-share", "data_percent", "data", 0.01),
    ],
)
def test_noise_alone_rarely_holds_and_the_papers_effect_mostly(
    claim: str, column: str, name: str, unit: float
) -> None:
    def of(effect: bool, noise: Noise) -> Record:
        def figures(talk: Talk) -> Mapping[str, float]:
            without, with_work = a10.papers(column, talk.protocol)
            return {name: unit * (with_work if effect and talk.overlap_bytes else without)}

        return record("A10", a10.TALKS, figures, noise=noise, launches=LAUNCHES)

    assert_told_apart(a10.STUDY, claim, of, without=False, effect=True)


@pytest.mark.parametrize(
    ("data", "outcome"), [(0.97, "holds"), (0.9262, "inconclusive"), (0.73, "contradicted")]
)
def test_the_papers_shares_are_held_against_ours(data: float, outcome: str) -> None:
    made = record("A10", a10.TALKS, lambda _: {"data": data}, noise=0.003)
    assert decided(made)["data-share-level"] == outcome


def test_an_interval_that_holds_the_threshold_is_inconclusive_and_four_launches_have_none() -> None:
    """A packet rate that is 40 % lower in every other round only is neither lower nor as high."""
    made = measured()
    for point in made.points:
        if point.at["overlap_bytes"] and point.at["launch"] % 2:
            for rates in (point.facts, point.facts["talking"]):
                rates["packets_per_s"] *= 0.6
    few = decided(measured(launches=4))
    assert few["every-message-seen"] == "holds"
    open_ = {decided(made)[claim] for claim in RATES} | {few[claim] for claim in RATES}
    assert open_ | {few["data-share-alike"]} == {"inconclusive"}


def test_frames_that_a_card_cuts_itself_leave_shares_and_rates_open() -> None:
    made = measured()
    made.points[0].facts["capture"]["longest_frame_bytes"] = 1518
    assert decided(made)["data-share-alike"] == "holds"
    made.points[0].facts["capture"]["longest_frame_bytes"] = 65_226
    found = a10.STUDY.claims(made)
    assert outcomes(found)["every-message-seen"] == "holds"
    open_ = [each for each in found if each.claim in (*RATES, "data-share-alike")]
    assert {each.outcome for each in open_} == {"inconclusive"}
    assert all("the cards cut them" in each.evidence for each in open_)


def test_a_message_that_is_missing_contradicts_unless_packets_were_dropped() -> None:
    made = measured()
    made.points[0].facts["matched"] = False
    assert decided(made)["every-message-seen"] == "contradicted"
    made.points[0].facts["capture"]["dropped"] = 3
    assert decided(made)["every-message-seen"] == "inconclusive"


def test_another_library_whose_messages_cannot_be_read_leaves_everything_open() -> None:
    made = measured()
    made.cluster = {**made.cluster, "mpi": "modern"}
    for point in made.points:
        point.facts.update({"matched": False, "captured": [], "talking": {}})
    found = a10.STUDY.claims(made)
    assert set(outcomes(found).values()) == {"inconclusive"}
    assert all("--mpi classic" in verdict.advice for verdict in found)


def test_the_picture_has_a_row_for_each_conversation_and_the_papers_figures() -> None:
    found = a10.STUDY.picture(measured()).table.set_index(["protocol", "overlap_bytes"])
    assert len(found) == len(a10.TALKS)
    row = found.loc["nonblocking", 2]
    assert row["paper_packets_per_s"] == pytest.approx(658.81)
    assert row["paper_short_message_percent"] == pytest.approx(24.05)


@pytest.mark.cluster
def test_every_message_of_a_real_conversation_is_found_on_the_wire(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured once, saved, loaded, judged and drawn; the first captures lie beside the Record, with their digests."""
    two = a10.TALKS[0], a10.TALKS[-1]  # blocking without overlap, and non-blocking with
    monkeypatch.setattr(a10, "TALKS", [replace(talk, exchanges=90) for talk in two])
    made = a10.STUDY.measure(cluster, tmp_path, quick=True, launches=1)
    assert made.complete, made.warnings
    again = Record.load(made.save_in(tmp_path))
    verdicts = {verdict.claim: verdict for verdict in a10.STUDY.claims(again)}
    assert verdicts["every-message-seen"].outcome == "holds", verdicts["every-message-seen"]
    # 90 timed exchanges; 1 and 10 before them, and 1 before each of 30 chunks.
    for point in [each for each in again.points if each.quantity == HALF]:
        counts = {(each["rank"], each["tag"]): each["messages"] for each in point.facts["captured"]}
        assert counts == {(r, t): n for r in range(4) for t, n in ((600, 90), (601, 41))}
        assert point.facts["talking"]["elapsed_s"] < point.facts["elapsed_s"]
        assert len(point.samples) == wire_shares.CHUNKS
    assert sorted(tmp_path.glob("*.pcapng")) == sorted(
        tmp_path / each["file"] for each in again.captures
    )
    assert len(again.captures) == 1  # that without overlap
    assert a10.STUDY.picture(again).alt


@pytest.mark.nightly
@pytest.mark.cluster
def test_ctrl_c_keeps_the_launches_that_were_captured_whole_and_their_captures(
    at_cluster: Beowulf,
) -> None:
    running = at_cluster.start("study", "A10", "--quick")
    kept = at_cluster.here / "records"
    # The second launch has begun when a second capture is there, or the first is gone again.
    seen: set[Path] = set()
    wait_until(lambda: seen.update(kept.glob("*.pcapng")) or len(seen) >= 2, "a second capture")
    os.kill(running.pid, signal.SIGINT)
    said, _ = running.communicate(timeout=PATIENCE_S)
    made = newest(kept, "A10")
    assert made is not None, said
    assert not made.complete
    assert any("matched" in point.facts for point in made.points)
    assert {each["file"] for each in made.captures} == {each.name for each in kept.glob("*.pcapng")}
    verdicts = json.loads(at_cluster("claims", "A10", "--json"))
    assert {verdict["outcome"] for verdict in verdicts} == {"inconclusive"}


@pytest.mark.cluster
def test_a_capture_that_is_refused_leaves_no_file(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Mock(side_effect=LabError("No packets here."))
    monkeypatch.setattr(NamespaceCluster, "capture", refused)
    for study in (a5_no_load.STUDY, a10.STUDY):
        with pytest.raises(LabError, match="No packets here"):
            study.measure(cluster, tmp_path, quick=True)
    assert list(tmp_path.iterdir()) == []
