"""Whatever became of a capture's file, and of a real one: do we read what tshark reads?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import Run
from test_flows import agrees_on_conversations
from test_protocols import packets, with_tshark
from written import Packet, agrees, fields, orders, pcap, pcapng

from beowulf.packets.batches import CaptureError
from beowulf.packets.table import read


@pytest.mark.nightly
@settings(with_tshark, max_examples=12)
@given(written=packets, order=orders, write=st.sampled_from([pcap, pcapng]), data=st.data())
def test_what_tshark_reads_of_a_spoiled_capture_we_read_or_refuse(
    written: list[Packet],
    order: str,
    write: type,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    spoiled = bytearray(write(written, order))
    for _ in range(data.draw(st.integers(1, 3))):
        spoiled[data.draw(st.integers(0, len(spoiled) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("spoiled") / "wire"
    path.write_bytes(bytes(spoiled))
    theirs = [(int(size), int(taken)) for size, taken in fields(path, "frame.len", "frame.cap_len")]
    try:
        ours = read(path)
    except CaptureError:
        return  # we say that it is damaged where tshark shows what stands before
    lengths = ours["wire_bytes"].clip(upper=2**31 - 1)  # tshark shows no more
    rows = list(zip(lengths, ours["captured_bytes"], strict=True))
    # tshark may stop at a block without packets that we pass over by its length.
    assert rows[: len(theirs)] == theirs


@pytest.mark.cluster
def test_a_real_capture_agrees_to_the_packet_and_the_byte(whole: Run) -> None:
    agrees(whole.file)
    agrees_on_conversations(whole.file)


@pytest.mark.cluster
@pytest.mark.nightly
def test_so_does_one_of_headers_alone(heads: Run) -> None:
    agrees(heads.file)
    agrees_on_conversations(heads.file)
