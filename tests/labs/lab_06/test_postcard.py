"""Lab 06's own captures: is every message of a postcard kept, and its capture beside it?"""

from __future__ import annotations

import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest

from beowulf import mpi, paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_06 import capture_run, postcard
from beowulf.record import newest

pytestmark = pytest.mark.cluster

LAB = paths.root() / "labs" / "06-protocol-analysis"


@pytest.fixture
def lab_folder(tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a learner has a copy of the program."""
    shutil.copy(LAB / "postcard.c", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_card_and_its_thanks_are_points_and_the_capture_lies_beside(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    text = "Greetings from node00"
    record = postcard.send(cluster, text)
    card, thanks = record.points
    assert (card.at["from_rank"], thanks.at["from_rank"]) == (0, 1)
    assert (card.facts["bytes"], thanks.facts["bytes"]) == (len(text), 0)
    headers = sum(card.facts[f"{name}_header_bytes"] for name in ("ethernet", "ip", "tcp"))
    assert card.facts["frame_bytes"] == headers + card.facts["payload_bytes"]
    file = capture_run.capture(cluster, record)
    assert text.encode() in file.read_bytes()
    assert newest(lab_folder / "records", record.study, record.variant) == record
    for layer, length in (("TCP", card.facts["tcp_header_bytes"]), ("payload", len(text))):
        lit = postcard.packet_layers(cluster, layer=layer)
        faces = [each.get_bbox_patch().get_facecolor() for each in lit.drawing.axes[0].texts]
        assert (len(faces), sum(face[3] > 0 for face in faces)) == (len(lit.table), length)
    assert bytes(lit.table["byte"].tail(length)) == text.encode()
    file.unlink()
    with pytest.raises(LabError, match="is not in"):
        capture_run.capture(cluster, record)


def test_the_eager_limit_can_be_determined_to_the_byte(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    record = postcard.send(cluster, "x", 131_040, 131_041, name="limit")
    cards = postcard.table(record)
    cards = cards[cards["from_rank"] == 0]
    assert cards["protocol"].tolist() == ["eager", "rendezvous"]
    assert cards["control_packets"].tolist() == [0, 2]


def test_of_a_card_that_is_not_sent_nothing_is_kept(
    lab_folder: Path, cluster: NamespaceCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mpi, "launch", Mock(side_effect=LabError("node01 does not answer.")))
    with pytest.raises(LabError, match="does not answer"):
        postcard.send(cluster, "x")
    with pytest.raises(UsageError, match="postcard, sizes, limit"):
        postcard.send(cluster, "x", name="letter")
    assert not list((lab_folder / "records").glob("*"))
