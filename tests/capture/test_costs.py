"""What messages cost on the wire: does every frame find its message, and no frame two?"""

from __future__ import annotations

import pandas as pd
import pytest
from runs import Run

from beowulf.packets.analysis import analyse
from beowulf.packets.ch3 import HEADER_BYTES
from beowulf.packets.costs import COLUMNS, costs
from beowulf.packets.mpi_messages import messages

pytestmark = pytest.mark.cluster

FRAME_HEADERS = 14 + 20 + 32  # Ethernet, IP, TCP with time stamps


@pytest.fixture(scope="module")
def found(whole: Run) -> pd.DataFrame:
    return costs(whole.file)


def test_the_messages_are_those_of_the_capture_in_their_order(
    found: pd.DataFrame, whole: Run
) -> None:
    assert found.drop(columns=list(COLUMNS)).equals(messages(whole.file))


def test_no_frame_counts_twice_and_all_bytes_of_messages_are_in_their_frames(
    found: pd.DataFrame, whole: Run
) -> None:
    all_of_it = analyse(whole.file)
    assert found["packets"].sum() <= all_of_it["mpi"]["packets"]
    assert found["wire_bytes"].sum() <= all_of_it["mpi"]["bytes"]
    # Only what opens and closes connections belongs to no message: some dozen frames each, of thousands.
    rest = all_of_it["mpi"]["packets"] - found["packets"].sum()
    assert 0 < rest < 0.2 * all_of_it["mpi"]["packets"]
    # A segment that two messages share counts for the later one, so this holds for the sum only.
    least = found["bytes"].sum() + FRAME_HEADERS * found["packets"].sum()
    assert found["wire_bytes"].sum() >= least


def test_a_message_that_stands_alone_has_a_frame_for_each_of_its_segments(
    found: pd.DataFrame,
) -> None:
    short = found[(found["protocol"] == "eager") & (found["bytes"] <= 1000)]
    alone = short[(short["packets"] - short["ack_packets"] == 1) & (short["segments"] == 1)]
    assert len(alone) > 0
    # Its own frame, and of ACKs as many as the receiver had nothing to send with.
    first = alone.sort_values("packets").iloc[0]
    least = first["bytes"] + FRAME_HEADERS * first["packets"]
    assert least <= first["wire_bytes"] <= least + 3 * HEADER_BYTES


def test_a_rendezvous_takes_two_control_packets_and_an_eager_message_none(
    found: pd.DataFrame,
) -> None:
    assert set(found[found["protocol"] == "rendezvous"]["control_packets"]) == {2}
    assert set(found[found["protocol"] == "eager"]["control_packets"]) == {0}


def test_a_capture_without_mpi_has_no_messages_and_all_columns(
    whole: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    head = tmp_path_factory.mktemp("head") / "head.pcapng"
    head.write_bytes(whole.file.read_bytes()[:4096])  # the launch's first packets
    found = costs(head)
    assert found.empty
    assert set(COLUMNS) < set(found.columns)
