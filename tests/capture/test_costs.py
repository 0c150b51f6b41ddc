"""What messages cost on the wire: does every frame find its message, and no frame two?"""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import Run

from beowulf.packets.analysis import analyse
from beowulf.packets.ch3 import HEADER_BYTES
from beowulf.packets.costs import COLUMNS, costs
from beowulf.packets.mpi_messages import messages

pytestmark = pytest.mark.cluster

FRAME_HEADERS = 14 + 20 + 32  # Ethernet, IP, TCP with time stamps


def test_every_frame_finds_its_message_and_no_frame_counts_twice(whole: Run) -> None:
    found, mpi = costs(whole.file), analyse(whole.file)["mpi"]
    assert found.drop(columns=list(COLUMNS)).equals(messages(whole.file))
    assert found["wire_bytes"].sum() <= mpi["bytes"]
    # Only what opens and closes connections belongs to no message: some dozen frames each, of thousands.
    assert 0 < mpi["packets"] - found["packets"].sum() < 0.2 * mpi["packets"]
    # A segment that two messages share counts for the later one, so this holds for the sum only.
    least = found["bytes"].sum() + FRAME_HEADERS * found["packets"].sum()
    assert found["wire_bytes"].sum() >= least
    assert set(found[found["protocol"] == "rendezvous"]["control_packets"]) == {2}
    assert set(found[found["protocol"] == "eager"]["control_packets"]) == {0}
    short = found[(found["protocol"] == "eager") & (found["bytes"] <= 1000)]
    alone = short[(short["packets"] - short["ack_packets"] == 1) & (short["segments"] == 1)]
    # Its own frame, and of ACKs as many as the receiver had nothing to send with.
    first = alone.sort_values("packets").iloc[0]
    least = first["bytes"] + FRAME_HEADERS * first["packets"]
    assert least <= first["wire_bytes"] <= least + 3 * HEADER_BYTES


def test_a_capture_without_mpi_has_no_messages_and_all_columns(whole: Run, tmp_path: Path) -> None:
    head = tmp_path / "head.pcapng"
    head.write_bytes(whole.file.read_bytes()[:4096])  # the launch's first packets
    found = costs(head)
    assert found.empty
    assert set(COLUMNS) < set(found.columns)
