"""Do our conversations and retransmissions agree with tshark, and with a set of bytes?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import Run
from written import START_S, Packet, Segment, agrees, ethernet, fields, ip, pcapng, tshark

from beowulf.packets.flows import Conversations, conversations
from beowulf.packets.table import Packets

SYN, SYN_ACK, ACK, DATA, FIN = 0x02, 0x12, 0x10, 0x18, 0x11
A, B = ("10.0.0.1", 40001), ("10.0.0.2", 40002)


class Talk:
    """A capture of two ends that talk, packet after packet, each a millisecond after the last."""

    def __init__(self) -> None:
        self.packets: list[Packet] = []
        self.now_ns = START_S * 10**9

    def send(
        self,
        src: tuple[str, int],
        dst: tuple[str, int],
        seq: int,
        payload: bytes = b"",
        *,
        ack: int = 0,
        flags: int = DATA,
        window: int = 500,
        after_ms: float = 1,
        options: bytes = b"",
    ) -> Talk:
        self.now_ns += round(after_ms * 1e6)
        fields = (src[1], dst[1], seq % 2**32, ack % 2**32, flags, window, 0, payload, options)
        segment = Segment(*fields)
        frame = ethernet(0x0800, ip(6, bytes(segment), src[0], dst[0]))
        self.packets.append(Packet(frame, self.now_ns))
        return self

    def write(self, folder: Path) -> Path:
        path = folder / "wire.pcapng"
        path.write_bytes(pcapng(self.packets))
        return path


def opened(seq: int = 1000) -> Talk:
    talk = Talk()
    talk.send(A, B, seq, flags=SYN, after_ms=0)
    talk.send(B, A, 5000, ack=seq + 1, flags=SYN_ACK)
    return talk.send(A, B, seq + 1, ack=5001, flags=ACK)


def streams(path: Path) -> Counter[tuple[int, int]]:
    """Packets and bytes of every tcp.stream of tshark."""
    counts: dict[str, list[int]] = {}
    for stream, size in fields(path, "tcp.stream", "frame.len"):
        if stream:
            count = counts.setdefault(stream, [0, 0])
            count[0] += 1
            count[1] += int(size)
    return Counter((packets, size) for packets, size in counts.values())


def agrees_on_conversations(path: Path) -> None:
    table = conversations(path)
    packets = table["a_packets"] + table["b_packets"]
    size = table["a_wire_bytes"] + table["b_wire_bytes"]
    assert Counter(zip(packets, size, strict=True)) == streams(path)
    # What `-z conv,tcp` prints: frames are whole, bytes are rounded from 10,000 on.
    theirs, ours = Counter(), Counter()
    for line in tshark(path, "-q", "-z", "conv,tcp").splitlines():
        if "<->" in line:
            words = line.replace(" bytes", "").replace(" kB", "000").split()
            one, _, other, *counts = words
            theirs[frozenset([(one, *counts[2:4]), (other, *counts[:2])])] += 1
    for row in table.to_dict("records"):
        ends = []
        for name in "ab":
            size = row[f"{name}_wire_bytes"]
            shown = size if size < 10_000 else size // 1000 * 1000
            end = f"{row[name]}:{row[f'{name}_port']}"
            ends.append((end, str(row[f"{name}_packets"]), str(shown)))
        ours[frozenset(ends)] += 1
    assert ours == theirs


@pytest.mark.cluster
def test_a_real_capture_agrees_to_the_packet_and_the_byte(whole: Run) -> None:
    agrees(whole.file)
    agrees_on_conversations(whole.file)


def test_a_conversation_counts_each_direction_as_tshark_does(tmp_path: Path) -> None:
    talk = opened()
    for number in range(30):
        talk.send(A, B, 1001 + number * 1000, b"x" * 1000, ack=5001)
        if number % 2:
            talk.send(B, A, 5001, ack=1001 + number * 1000, flags=ACK)
    talk.send(A, B, 31001, flags=FIN)
    path = talk.write(tmp_path)
    agrees_on_conversations(path)
    (row,) = conversations(path).to_dict("records")
    assert (row["a"], row["a_port"], row["b"], row["b_port"]) == (*A, *B)
    assert row["a_payload_bytes"] == 30_000
    assert row["b_ack_only_packets"] == 15
    assert row["a_ack_only_packets"] == 1
    assert row["setup_s"] == pytest.approx(0.002)


def test_a_port_that_is_used_again_is_another_conversation(tmp_path: Path) -> None:
    talk = opened(1000).send(A, B, 1001, b"first", ack=5001)
    talk.packets += opened(90_000).packets
    path = talk.write(tmp_path)
    agrees_on_conversations(path)
    assert len(conversations(path)) == 2


def test_a_syn_that_is_sent_twice_is_one_conversation_and_a_retransmission(tmp_path: Path) -> None:
    talk = Talk().send(A, B, 1000, flags=SYN).send(A, B, 1000, flags=SYN, after_ms=1000)
    path = talk.write(tmp_path)
    agrees_on_conversations(path)
    (row,) = conversations(path).to_dict("records")
    assert row["a_retransmitted_packets"] == 1


def test_who_is_called_is_not_the_opener_even_if_only_he_was_heard(tmp_path: Path) -> None:
    path = Talk().send(B, A, 5000, ack=1001, flags=SYN_ACK).write(tmp_path)
    assert list(conversations(path)["a"]) == [A[0]]


@pytest.mark.parametrize("first", [1000, 2**32 - 1500])
def test_retransmissions_are_those_of_tshark(first: int, tmp_path: Path) -> None:
    talk = opened(first)
    chunk, seq = b"y" * 700, first + 1
    for number in range(6):
        talk.send(A, B, seq + 700 * number, chunk, ack=5001)
    talk.send(A, B, seq + 700 * 2, chunk, ack=5001, after_ms=300)  # seen before
    talk.send(B, A, 5001, ack=seq + 4200, flags=ACK)
    talk.send(A, B, seq, chunk, ack=5001, after_ms=300)  # seen and acknowledged before
    talk.send(A, B, seq + 4199, b"y", ack=5001, after_ms=900)  # a keep-alive probe is none
    path = talk.write(tmp_path)
    theirs = fields(path, "tcp.analysis.retransmission")
    (row,) = conversations(path).to_dict("records")
    assert row["a_retransmitted_packets"] == 2 == sum(bool(flag) for (flag,) in theirs)
    assert row["a_retransmitted_bytes"] == 1400
    assert row["a_out_of_order_packets"] == 0


def test_a_segment_that_was_missed_before_is_no_retransmission_for_us(tmp_path: Path) -> None:
    talk = opened().send(A, B, 1001, b"x" * 100, ack=5001)
    talk.send(A, B, 1201, b"x" * 100, ack=5001)
    talk.send(A, B, 1101, b"x" * 100, ack=5001, after_ms=300)
    path = talk.write(tmp_path)
    (row,) = conversations(path).to_dict("records")
    assert row["a_retransmitted_packets"] == 0
    assert row["a_out_of_order_packets"] == 1
    # tshark takes a late one for a retransmission, though nobody saw its bytes before.
    assert sum(bool(flag) for (flag,) in fields(path, "tcp.analysis.retransmission")) == 1


@settings(max_examples=40, deadline=None)
@given(
    pieces=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), min_size=1, max_size=30),
    first=st.sampled_from([0, 7, 2**32 - 20]),
    chunk_bytes=st.sampled_from([400, 1 << 20]),
)
def test_fresh_bytes_are_those_that_a_set_does_not_have_yet(
    pieces: list[tuple[int, int]],
    first: int,
    chunk_bytes: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    talk = Talk().send(A, B, first, flags=SYN)
    seen: set[int] = set()
    expected, again = [0], 0
    newest = -1
    for at, length in pieces:
        talk.send(A, B, first + 1 + at, b"z" * length)
        bytes_ = set(range(at, at + length))
        expected.append(len(bytes_ - seen))
        probe = length == 1 and at == newest
        again += not bytes_ - seen and not probe
        seen |= bytes_
        newest = max(newest, at + length - 1)
    path = talk.write(tmp_path_factory.mktemp("fresh"))
    found = Conversations()
    fresh = [found.follow(piece).fresh_bytes for piece in Packets(path, chunk_bytes)]
    assert list(np.concatenate(fresh)) == expected
    assert found.all[0].a.retransmitted_packets == again


def test_zero_windows_are_those_of_tshark(tmp_path: Path) -> None:
    talk = opened()
    talk.send(B, A, 5001, ack=1001, flags=ACK, window=0)
    talk.send(B, A, 5001, ack=1001, flags=ACK, window=9)
    path = talk.write(tmp_path)
    theirs = [flag for (flag,) in fields(path, "tcp.analysis.zero_window") if flag]
    assert conversations(path)["b_zero_window_packets"][0] == len(theirs) == 1


def test_an_ack_that_was_waited_with_is_seen(tmp_path: Path) -> None:
    talk = opened().send(A, B, 1001, b"x")
    talk.send(B, A, 5001, ack=1002, flags=ACK, after_ms=0.02)
    talk.send(A, B, 1002, b"x").send(B, A, 5001, ack=1003, flags=ACK, after_ms=40)
    (row,) = conversations(talk.write(tmp_path)).to_dict("records")
    assert row["b_delayed_acks"] == 1
    assert row["b_longest_ack_delay_s"] == pytest.approx(0.04)
    assert row["a_delayed_acks"] == 0
