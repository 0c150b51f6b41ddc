"""Is every packet of a capture read, in whatever form it was written, and nothing else?"""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written import START_S, Packet, Section, Segment, ethernet, frames, ip, pcapng, times_ns

from beowulf.packets.batches import CaptureError
from beowulf.packets.pcapng import Reader
from beowulf.packets.table import Packets, read

snaps = st.integers(1, 200) | st.just(1 << 18)
packets = st.lists(st.builds(Packet, frames, times_ns, snap_bytes=snaps), max_size=12)


def frame(number: int = 0, payload: bytes = b"") -> bytes:
    segment = Segment(40001, 5000, number, 0, 0x18, 500, 0, payload)
    return ethernet(0x0800, ip(6, bytes(segment), "10.0.0.1", "10.0.0.2"))


def spaced(count: int) -> list[Packet]:
    return [Packet(frame(n, b"x" * n), (START_S * 1000 + n) * 10**6) for n in range(count)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "wire.pcapng"


def found_in(path: Path, chunk_bytes: int = 1 << 16) -> list[tuple[int, int, bytes]]:
    """Time, length on the wire and captured bytes of each packet."""
    found = []
    for batch in Reader(path, chunk_bytes).batches():
        columns = (batch.time_ns, batch.wire_bytes, batch.start, batch.captured_bytes)
        for time_ns, wire_bytes, start, length in zip(*map(list, columns), strict=True):
            found.append((time_ns, wire_bytes, batch.memory[start : start + length].tobytes()))
    return found


def expected(written: list[Packet], unit_ns: int = 1) -> list[tuple[int, int, bytes]]:
    return [(p.time_ns // unit_ns * unit_ns, len(p.frame), p.taken) for p in written]


@settings(max_examples=40, deadline=None)
@given(written=packets, unit=st.sampled_from([3, 6, 9]), chunk_bytes=st.integers(64, 4096))
def test_what_was_written_is_given_back(
    written: list[Packet], unit: int, chunk_bytes: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("back") / "wire"
    path.write_bytes(pcapng(written, [unit]))
    # The chunks are so small that packets lie across their borders.
    assert found_in(path, chunk_bytes) == expected(written, 10 ** (9 - unit))


def test_packets_that_carry_captures_are_distinguished_from_those_that_they_carry(
    file: Path,
) -> None:
    draw, inner = random.Random(1), pcapng(spaced(300))
    pieces = [inner[(at := draw.randrange(len(inner))) : at + 200] for _ in range(2000)]
    written = [Packet(bytes(14) + piece, n * 1000) for n, piece in enumerate(pieces)]
    file.write_bytes(pcapng(written, [9]))
    assert found_in(file, 30_000) == expected(written)


def test_a_table_has_a_row_a_packet_and_names_for_places(file: Path) -> None:
    segment = Segment(40001, 22, 7, 9, 0x018, 512, 3, b"hello")
    packet = ethernet(0x0800, ip(6, bytes(segment), "10.0.0.1", "10.0.0.2", b"\x01" * 4))
    file.write_bytes(pcapng([Packet(packet, 5 * 10**9), Packet(packet, 6 * 10**9 + 500)], [9]))
    table = read(file)
    row = table.iloc[1]
    assert len(table) == 2
    assert row["time_s"] == 1.0000005
    assert row["time_ns"] == 6 * 10**9 + 500
    assert (row["interface"], row["src"], row["dst"]) == ("eth0", "10.0.0.1", "10.0.0.2")
    assert (row["src_port"], row["dst_port"], row["seq"], row["ack"]) == (40001, 22, 7, 9)
    assert (row["flags"], row["window"], row["payload_bytes"]) == ("PSH, ACK", 512, 5)
    assert list(table.index) == [1, 2], "as Wireshark counts"
    assert (row["ip_options_bytes"], row["tcp_options_bytes"]) == (4, 12)
    assert table.attrs["truncated"] is False


def test_several_interfaces_and_sections_are_one_table(file: Path) -> None:
    first, second = Section(), Section()
    first.interface("eth0", 6)
    first.packet(Packet(frame(0), 1_000))
    first.interface("eth1", 9)  # an interface may be described late
    first.packet(Packet(frame(1), 2_001, interface=1))
    first.block(0x0BAD, b"a block of a kind that nobody knows")
    first.packet(Packet(frame(2), 3_000))
    second.interface("eth1", 9)
    second.packet(Packet(frame(3), 4_003))
    second.block(5, b"\0" * 12)
    file.write_bytes(bytes(first) + bytes(second))
    table = read(file)
    assert list(table["interface"]) == ["eth0", "eth1", "eth0", "eth1"]
    assert list(table["seq"]) == [0, 1, 2, 3]
    assert list(table["time_ns"]) == [1_000, 2_001, 3_000, 4_003]


@pytest.mark.parametrize("content", [pcapng([]), bytes(Section())])
def test_no_packets_are_an_empty_table(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    table = read(file)
    assert len(table) == 0
    assert "seq" in table
    assert table.attrs["truncated"] is False


def test_a_truncated_last_packet_is_left_out_and_reported(file: Path) -> None:
    whole, two = pcapng(spaced(3)), len(pcapng(spaced(2)))
    for length in range(two, len(whole)):
        file.write_bytes(whole[:length])
        table = read(file)
        assert list(table["seq"]) == [0, 1]
        assert table.attrs["truncated"] is (length > two)


def refusal(path: Path) -> str:
    with pytest.raises(CaptureError) as caught:
        read(path)
    assert str(path) in str(caught.value), "the sentence names the file"
    return str(caught.value)


def with_bytes(content: bytes, place: int, new: bytes) -> bytes:
    return content[:place] + new + content[place + len(new) :]


ONE, TWO = (pcapng(spaced(count)) for count in (1, 2))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\x0a", "is not a capture"),
        (b"# A README\n\nnot packets", "is not a capture"),
        (b"\x1f\x8b\x08\0\0\0\0\0 compressed", "is compressed"),
        (b"\xd4\xc3\xb2\xa1" + bytes(20), "`editcap wire.pcapng new.pcapng` makes a pcapng"),
        (with_bytes(TWO, len(ONE) + 4, b"\x0d"), "damaged after packet 1"),
        (with_bytes(TWO, len(ONE) + 4, b"\0"), "damaged after packet 1"),
        (with_bytes(ONE, len(pcapng([])) + 8, b"\x05"), "lengths disagree"),
        (with_bytes(ONE, len(pcapng([])) + 20, b"\xff"), "lengths disagree"),
        (TWO[:-4] + b"\0\0\0\0", "damaged after packet 1"),
        (with_bytes(pcapng([]), 8, b"\0\0\0\0"), "another byte order"),
        (bytes(Section()) + struct.pack("<III", 1, 12, 12), "an interface without a description"),
        (bytes(Section()) + struct.pack("<III", 6, 12, 12), "in a block of kind 6 and 12 bytes"),
        (bytes(Section()) + struct.pack("<IIII", 3, 16, 60, 16), "a packet in a block of kind 3"),
        (pcapng([], [12]), "a unit below a nanosecond"),
    ],
)
def test_what_is_no_capture_is_refused_by_a_sentence(content: bytes, says: str, file: Path) -> None:
    file.write_bytes(content)
    assert says in refusal(file)


def test_an_interface_of_another_kind_is_refused_only_if_it_has_packets(file: Path) -> None:
    section = Section()
    section.interface("any", link=113)
    section.interface("eth0")
    section.packet(Packet(frame(), interface=1))
    file.write_bytes(bytes(section))
    assert len(read(file)) == 1
    section.packet(Packet(frame(), interface=0))
    file.write_bytes(bytes(section))
    assert "a link of type 113, not Ethernet" in refusal(file)


def test_no_file_is_refused(tmp_path: Path) -> None:
    assert "There is no capture" in refusal(tmp_path / "none.pcapng")


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_spoiled_capture_gives_packets_or_a_sentence_never_anything_else(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(pcapng(spaced(6)))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("spoiled") / "wire.pcapng"
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        found = len(read(path))
    except CaptureError as problem:
        found, said = 0, str(problem)
        assert str(path) in said
    # More than six when a length that was spoiled leads into a packet's own bytes.
    assert found <= len(content) // 32


@settings(max_examples=40, deadline=None)
@given(noise=st.lists(st.binary(max_size=120), max_size=10))
def test_frames_of_noise_are_dissected_without_harm(
    noise: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("noise") / "wire.pcapng"
    kinds = (b"\x08\x00", b"\x86\xdd", b"\x81\x00")
    written = [
        Packet(piece[:12].ljust(12, b"\0") + kinds[n % 3] + piece[12:])
        for n, piece in enumerate(noise)
    ]
    path.write_bytes(pcapng(written))
    table = read(path)
    assert len(table) == len(written)
    assert (table["payload_bytes"] <= table["wire_bytes"]).all()


def test_a_piece_is_small_whatever_the_size_of_the_capture(file: Path) -> None:
    file.write_bytes(pcapng(spaced(400)))
    pieces = [len(piece["seq"]) for piece in Packets(file, 4096)]
    assert sum(pieces) == 400
    # 4096 bytes hold no more than this many packets, whose shortest has 60 bytes and 32 around.
    assert max(pieces) <= 4096 // 92
    assert len(pieces) > 10
