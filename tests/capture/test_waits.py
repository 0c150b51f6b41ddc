"""Are windows what tshark says, and does the wire show who waited for an ACK?"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_flows import ACK, SYN, SYN_ACK, A, B, Talk
from written import fields, pcapng, tshark

from beowulf.packets.flows import Conversations
from beowulf.packets.table import Packets
from beowulf.packets.waits import Waits, syn_options


def says(mss: int = 1000, shift: int | None = None) -> bytes:
    """The options of a SYN: the largest segment, and by how much windows are shifted."""
    scale = b"" if shift is None else struct.pack(">BBBB", 1, 3, 3, shift)
    return struct.pack(">BBH", 2, 4, mss) + scale


def greeting(seq: int = 1000, ours: bytes = says(shift=2), theirs: bytes = says(shift=3)) -> Talk:
    talk = Talk().send(A, B, seq, flags=SYN, window=1000, after_ms=0, options=ours)
    talk.send(B, A, 5000, ack=seq + 1, flags=SYN_ACK, window=1000, options=theirs)
    return talk.send(A, B, seq + 1, ack=5001, flags=ACK)


def found(path: Path, chunk_bytes: int = 1 << 20) -> dict[str, dict[str, Any]]:
    packets, talks = Packets(path, chunk_bytes), Conversations()
    waits = Waits(talks)
    for batch, piece in packets.frames():
        waits.take(batch, piece, talks.follow(piece))
    return waits.summary(range(len(talks.all)))


def windows_of_tshark(path: Path) -> tuple[int, int]:
    """The smallest window but for SYN and RST, where its unit is known, and the most bytes in flight."""
    names = ("tcp.window_size", "tcp.analysis.bytes_in_flight", "tcp.window_size_scalefactor")
    rows = [row for row in fields(path, "tcp.flags", *names) if row[0]]
    open_ = [row for row in rows if not int(row[0], 16) & 0x06 and row[3] != "-1"]
    return min(int(row[1]) for row in open_), max(int(row[2] or 0) for row in rows)


def test_windows_count_in_the_units_that_the_syns_agreed_on(tmp_path: Path) -> None:
    talk = greeting()
    for number in range(4):
        talk.send(A, B, 1001 + 500 * number, b"x" * 500, ack=5001)
    talk.send(B, A, 5001, ack=3001, flags=ACK, window=300)
    path = talk.write(tmp_path)
    windows = found(path)["windows"]
    assert (windows["smallest_bytes"], windows["most_in_flight_bytes"]) == (500 << 2, 2000)
    assert windows_of_tshark(path) == (500 << 2, 2000)
    # The window of a SYN's answer is never shifted.
    assert windows["fullest_share"] == 2000 / 1000
    assert windows["unknown_connections"] == 0


@pytest.mark.parametrize(
    ("ours", "theirs"), [(says(shift=7), says()), (says(), says(shift=7)), (b"", b"")]
)
def test_a_factor_that_only_one_side_knows_is_not_used(
    ours: bytes, theirs: bytes, tmp_path: Path
) -> None:
    path = greeting(ours=ours, theirs=theirs).send(A, B, 1001, b"x", ack=5001).write(tmp_path)
    assert found(path)["windows"]["smallest_bytes"] == 500 == windows_of_tshark(path)[0]


def test_without_the_syns_no_window_is_known(tmp_path: Path) -> None:
    talk = Talk().send(A, B, 1001, b"x" * 100, ack=5001).send(B, A, 5001, ack=1101, flags=ACK)
    windows = found(talk.send(A, B, 1101, b"x" * 70, ack=5001).write(tmp_path))["windows"]
    assert windows["smallest_bytes"] is windows["fullest_share"] is None
    assert windows["unknown_connections"] == 1
    assert windows["most_in_flight_bytes"] == 70


def test_a_window_that_is_full_is_seen_where_tshark_sees_it(tmp_path: Path) -> None:
    talk = greeting(ours=says(), theirs=says()).send(B, A, 5001, ack=1001, flags=ACK, window=3000)
    for number in range(3):
        talk.send(A, B, 1001 + 1000 * number, b"x" * 1000, ack=5001)
    talk.send(B, A, 5001, ack=4001, flags=ACK, window=0).send(
        B, A, 5001, ack=4001, flags=ACK, window=3000
    )
    path = talk.send(A, B, 4001, b"x" * 1000, ack=5001).write(tmp_path)
    windows = found(path)["windows"]
    full = tshark(path, "-Y", "tcp.analysis.window_full").splitlines()
    assert windows["full_segments"] == len(full) == 1
    assert windows["fullest_share"] == 1
    assert (windows["smallest_bytes"], windows["closed_packets"]) == (0, 1)


@pytest.mark.parametrize(
    ("ack_after_ms", "next_after_ms", "size", "behind", "held"),
    [(40, 0.05, 100, 1, 1), (0.2, 0.05, 100, 1, 0), (40, 20, 100, 0, 0), (40, 0.05, 1000, 0, 0)],
    ids=["both waited", "a prompt ACK", "sent later", "a full segment"],
)
def test_a_short_segment_at_once_behind_a_late_ack_waited_for_it(
    ack_after_ms: float, next_after_ms: float, size: int, behind: int, held: int, tmp_path: Path
) -> None:
    talk = greeting().send(A, B, 1001, b"x" * 100, ack=5001)
    talk.send(B, A, 5001, ack=1101, flags=ACK, after_ms=ack_after_ms)
    talk.send(A, B, 1101, b"x" * size, ack=5001, after_ms=next_after_ms)
    waits = found(talk.write(tmp_path))["waits"]
    assert (waits["behind_ack_segments"], waits["held_segments"]) == (behind, held)
    assert waits["held_s"] == pytest.approx(0.04 * held)
    assert waits["short_segments"] == 1 + (size < 1000)


def test_an_ack_for_a_part_or_with_an_answer_held_nobody(tmp_path: Path) -> None:
    talk = greeting().send(A, B, 1001, b"x" * 100, ack=5001).send(A, B, 1101, b"x" * 100, ack=5001)
    talk.send(B, A, 5001, ack=1101, flags=ACK, after_ms=40)  # 100 bytes are still in flight
    talk.send(A, B, 1201, b"x" * 100, ack=5001, after_ms=0.05)
    talk.send(B, A, 5001, b"y", ack=1301, after_ms=40)  # it says something
    talk.send(A, B, 1301, b"x" * 100, ack=5002, after_ms=0.05)
    assert found(talk.write(tmp_path))["waits"]["behind_ack_segments"] == 0


def test_a_segment_that_is_retransmitted_is_no_new_one(tmp_path: Path) -> None:
    talk = greeting().send(A, B, 1001, b"x" * 100, ack=5001)
    talk.send(B, A, 5001, ack=1101, flags=ACK, after_ms=40)
    talk.send(A, B, 1001, b"x" * 100, ack=5001, after_ms=0.05)
    waits = found(talk.write(tmp_path))["waits"]
    assert (waits["short_segments"], waits["behind_ack_segments"]) == (1, 0)


turns = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0, 0, 1, 300, 1000]), st.sampled_from([0.01, 1, 40])),
    max_size=40,
)


@settings(max_examples=25, deadline=None)
@given(turns=turns, begin=st.sampled_from([1000, 2**32 - 700]), chunk_bytes=st.integers(64, 1024))
def test_pieces_and_the_whole_and_numbers_that_go_round_tell_the_same(
    turns: list[tuple[bool, int, float]],
    begin: int,
    chunk_bytes: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    def written(first: int) -> Talk:
        talk, sent, back = greeting(first), 0, 0
        for forth, size, after_ms in turns:
            here = {"ack": (5001 + back) if forth else (first + 1 + sent), "after_ms": after_ms}
            if forth:
                talk.send(A, B, first + 1 + sent, b"x" * size, **here)
                sent += size
            else:
                talk.send(B, A, 5001 + back, b"x" * size, **here)
                back += size
        return talk

    folder = tmp_path_factory.mktemp("turns")
    plain = found(written(1000).write(folder))
    path = folder / "other.pcapng"
    path.write_bytes(pcapng(written(begin).packets))
    assert found(path, chunk_bytes) == plain


def test_options_behind_the_end_do_not_count_and_half_ones_do_no_harm() -> None:
    assert syn_options(says(1460, 7)) == (1460, 7)
    assert syn_options(b"\x00\x01\x01\x01" + says(1460, 7)) == (0, None)
    assert syn_options(b"\x08\x0a" + b"\xff" * 8 + says(536)) == (536, None)
    for rest in (b"\x02", b"\x02\x00", b"\x02\x09\x05", b"\x03\x02\xff"):
        assert syn_options(rest) == (0, None)
