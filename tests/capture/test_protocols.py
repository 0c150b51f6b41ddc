"""Do our columns and counts agree with tshark and capinfos, to the packet and the byte?"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from written import (
    START_S,
    UNASSIGNED,
    Packet,
    Segment,
    agrees,
    arp,
    capinfos,
    ethernet,
    fields,
    fragment,
    frames,
    ip,
    ipv6,
    pcapng,
    udp,
)

from beowulf.packets.headers import flag_names
from beowulf.packets.protocols import summary
from beowulf.packets.table import read

times_ns = st.integers(START_S * 10**6, START_S * 10**6 + 10**9).map(lambda us: us * 1000)
# From 134 bytes on every header is taken: Ethernet, the longest of IP and of TCP.
snaps = st.sampled_from([134, 200, 1 << 18])
packets = st.lists(st.builds(Packet, frames, times_ns, snap_bytes=snaps), min_size=1, max_size=60)
# tshark takes a quarter of a second to start: three examples, large ones, and no shrinking of them.
with_tshark = settings(
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def written_to(folder: Path, packets: list[Packet]) -> Path:
    path = folder / "wire.pcapng"
    path.write_bytes(pcapng(packets))
    return path


def number(text: str) -> int:
    return int(text, 0) if text else 0


@with_tshark
@given(written=packets)
def test_each_column_is_what_tshark_says(
    written: list[Packet], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("columns") / "wire.pcapng"
    path.write_bytes(pcapng(written, [9]))
    ours = read(path)
    names = (
        "frame.time_epoch frame.len frame.cap_len ip.src ipv6.src ip.dst ipv6.dst "
        "tcp.srcport udp.srcport tcp.dstport udp.dstport tcp.flags tcp.seq_raw tcp.ack_raw "
        "tcp.window_size_value tcp.len udp.length tcp.hdr_len ip.hdr_len ip.proto ipv6.nxt"
    ).split()
    theirs = pd.DataFrame(fields(path, *names), columns=names)
    assert len(theirs) == len(ours)
    for place, row in theirs.iterrows():
        our = ours.iloc[place]
        seconds, _, rest = row["frame.time_epoch"].partition(".")
        assert our["time_ns"] == int(seconds) * 10**9 + int(rest.ljust(9, "0"))
        assert our["wire_bytes"] == number(row["frame.len"])
        assert our["captured_bytes"] == number(row["frame.cap_len"])
        assert our["src"] == row["ip.src"] + row["ipv6.src"]
        assert our["dst"] == row["ip.dst"] + row["ipv6.dst"]
        assert our["src_port"] == number(row["tcp.srcport"] or row["udp.srcport"])
        assert our["dst_port"] == number(row["tcp.dstport"] or row["udp.dstport"])
        assert our["flags"] == flag_names(number(row["tcp.flags"]))
        assert our["seq"] == number(row["tcp.seq_raw"])
        assert our["ack"] == number(row["tcp.ack_raw"])
        assert our["window"] == number(row["tcp.window_size_value"])
        assert our["tcp_options_bytes"] == max(number(row["tcp.hdr_len"]) - 20, 0)
        if row["ip.hdr_len"]:
            assert our["ip_options_bytes"] == number(row["ip.hdr_len"]) - 20
            assert our["ip_protocol"] == number(row["ip.proto"])
        if row["tcp.srcport"]:
            assert our["payload_bytes"] == number(row["tcp.len"])
        elif row["udp.length"]:
            assert our["payload_bytes"] == number(row["udp.length"]) - 8


@with_tshark
@given(written=packets)
def test_a_summary_agrees_with_capinfos_and_tshark(
    written: list[Packet], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("summary") / "wire.pcapng"
    path.write_bytes(pcapng(written))
    agrees(path)


def test_a_truncated_capture_agrees_up_to_where_it_ends(tmp_path: Path) -> None:
    data = ethernet(0x0800, ip(6, bytes(segment()), "10.0.0.1", "10.0.0.2"))
    written = [Packet(data, START_S * 10**9 + n * 10**6) for n in range(20)]
    path = written_to(tmp_path, written)
    path.write_bytes(path.read_bytes()[:-7])
    agrees(path)
    assert summary(path)["packets"] == 19


def segment(src_port: int = 40001, dst_port: int = 5000, payload: bytes = b"x" * 100) -> Segment:
    return Segment(src_port, dst_port, 1, 1, 0x18, 500, 3, payload)


def test_fragments_count_as_ip_and_only_the_first_as_what_they_carry(tmp_path: Path) -> None:
    whole = ip(17, udp(40001, 40002, b"x" * 64), "10.0.0.1", "10.0.0.2")
    first = fragment(whole, 0, more=True)
    second = fragment(ip(17, b"y" * 64, "10.0.0.1", "10.0.0.2"), 72, more=False)
    written = [Packet(ethernet(0x0800, packet)) for packet in (whole, first, second)]
    path = written_to(tmp_path, written)
    agrees(path)
    assert summary(path)["protocols"]["udp"]["packets"] == 2
    assert list(read(path)["src_port"]) == [40001, 40001, 0]


def test_a_later_fragment_of_ipv6_has_no_ports(tmp_path: Path) -> None:
    inner = udp(40001, 40002, b"x" * 24)
    written = []
    for offset_and_more in (1, 8):  # the fragment header: kind 44, eight bytes
        head = bytes([17, 0, 0, offset_and_more, 0, 0, 0, 9])
        written.append(Packet(ethernet(0x86DD, ipv6(44, head + inner, "fd00::1", "fd00::2"))))
    path = written_to(tmp_path, written)
    agrees(path)
    assert list(read(path)["src_port"]) == [40001, 0]


def test_a_frame_that_the_kernel_did_not_segment_yet_has_all_its_payload(tmp_path: Path) -> None:
    data = bytes(segment(payload=b"x" * 900))
    packet = bytearray(ethernet(0x0800, ip(6, data, "10.0.0.1", "10.0.0.2")))
    packet[16:18] = b"\0\0"  # the total length, which such a frame leaves empty
    path = written_to(tmp_path, [Packet(bytes(packet))])
    assert read(path)["payload_bytes"].iloc[0] == 900 == number(fields(path, "tcp.len")[0][0])


@pytest.mark.parametrize("snap_bytes", [14, 20, 34, 40, 54])
def test_headers_that_were_not_captured_leave_zeros_but_their_packets_count(
    snap_bytes: int, tmp_path: Path
) -> None:
    data = ethernet(0x0800, ip(6, bytes(segment()), "10.0.0.1", "10.0.0.2"))
    path = written_to(tmp_path, [Packet(data, snap_bytes=snap_bytes)] * 3)
    table = read(path)
    assert summary(path)["bytes"] == 3 * len(data) == capinfos(path)[1]
    assert summary(path)["protocols"]["ip"]["packets"] == 3
    assert set(table["src"]) == ({"10.0.0.1"} if snap_bytes >= 34 else {""})
    assert set(table["dst_port"]) == ({5000} if snap_bytes >= 54 else {0})


def test_one_packet_has_no_rate_of_its_own_but_one_over_a_given_time(tmp_path: Path) -> None:
    path = written_to(tmp_path, [Packet(ethernet(0x0806, arp("10.0.0.1", "10.0.0.2")), 10**9)])
    assert summary(path)["packets_per_s"] == 0
    found = summary(path, elapsed_s=10)
    assert found["packets_per_s"] == 0.1
    assert found["bytes_per_s"] == 6.0
    assert found["mbit_per_s"] == pytest.approx(6 * 8 / 1e6)


def test_packets_in_another_order_than_their_times_have_the_same_duration(tmp_path: Path) -> None:
    frame = ethernet(UNASSIGNED, b"x")
    path = written_to(tmp_path, [Packet(frame, second * 10**9) for second in (5, 9, 2, 7)])
    agrees(path)
    assert summary(path)["first_to_last_s"] == 7.0


def test_only_the_packets_between_two_moments_are_counted(tmp_path: Path) -> None:
    frame = ethernet(UNASSIGNED, b"x")
    path = written_to(tmp_path, [Packet(frame, second * 10**9) for second in range(10)])
    assert summary(path, since=2.5, until=7)["packets"] == 5
    assert summary(path, until=2)["packets"] == 3
    assert summary(path, elapsed_s=4.0, since=6)["packets_per_s"] == 1.0
