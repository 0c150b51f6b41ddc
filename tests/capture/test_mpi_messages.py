"""Is every message that a program sends found in the capture, and nothing else, and does tshark see the same?"""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from runs import Run, run
from test_flows import A, B, Talk, agrees_on_conversations, opened
from written import agrees

from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.packets import ch3, dissector
from beowulf.packets.dissector import tshark_words
from beowulf.packets.mpi_messages import Traffic, messages, traffic
from beowulf.packets.table import read

pytestmark = pytest.mark.cluster


def own(found: pd.DataFrame) -> pd.DataFrame:
    """The program's own messages: those of collective calls are MPICH's."""
    return found[~found["collective"]]


def counted(table: pd.DataFrame, *columns: str) -> Counter[tuple[int, ...]]:
    return Counter(table[list(columns)].itertuples(index=False, name=None))


def test_each_message_that_was_sent_is_found_once_and_no_other(whole: Run) -> None:
    found = messages(whole.file)
    columns = ("from_rank", "to_rank", "source", "tag", "bytes")
    assert counted(own(found), *columns) == counted(whole.sent, *columns)
    assert found["complete"].all()
    assert found.attrs["lost_segments"] == 0


def test_the_protocol_is_the_one_that_the_length_asks_for(whole: Run) -> None:
    found = own(messages(whole.file))
    both = whole.sent.merge(found, on=["from_rank", "to_rank", "tag", "bytes"])
    assert len(both) == len(whole.sent)
    asked = both["bytes"] > whole.limit
    assert set(both[asked]["kind"]) == {"rendezvous"}
    assert set(both[~asked]["protocol"]) == {"eager"}
    # MPI_Isend never puts data into the header: it may have to cancel the message.
    within = (both["call"] == "send") & both["bytes"].between(1, ch3.SHORT_BYTES)
    assert set(both[within]["kind"]) == {"short eager"}
    plain = ~asked & ~within & both["call"].isin(["send", "isend"])
    assert set(both[plain]["kind"]) == {"eager"}
    modes = both.set_index("call")["kind"]
    assert (modes["ssend"], modes["rsend"]) == ("synchronous eager", "ready")
    contexts = both.groupby("communicator")["context"].unique()
    assert [len(each) for each in contexts] == [1, 1, 1]
    assert len({each[0] for each in contexts}) == 3
    assert contexts[0][0] == 0


def test_a_message_takes_the_segments_that_its_bytes_need(whole: Run) -> None:
    found = own(messages(whole.file))
    long = found[found["bytes"] == 1 << 20]
    # 1448 bytes a segment, the request to send, and as many more as the sender could not fill.
    assert (long["segments"] >= 726).all()
    assert (found["ended_s"] >= found["began_s"]).all()
    assert (found["last_packet"] >= found["first_packet"]).all()


Parts = dict[tuple[int, int], list[tuple[int, ...]]]


def tshark_parts(file: Path) -> Parts:
    """What the dissector shows of MPICH's packets between two ports: kind, tag, source, context, bytes."""
    words = [*tshark_words(file), "-T", "json", "--no-duplicate-keys"]
    words += ["-J", "tcp mpich", "-Y", "mpich"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    found: Parts = {}
    for packet in json.loads(done.stdout):
        tcp, layers = (packet["_source"]["layers"][name] for name in ("tcp", "mpich"))
        for layer in layers if isinstance(layers, list) else [layers]:
            if "mpich.kind" in layer:
                names = ("kind", "tag", "source", "context", "bytes")
                row = tuple(int(layer.get(f"mpich.{name}", -1)) for name in names)
                ports = int(tcp["tcp.srcport"]), int(tcp["tcp.dstport"])
                found.setdefault(ports, []).append(row)
            else:
                assert "mpich.handshake" in layer, layer
    return found


def our_parts(found: Traffic) -> Parts:
    """The same from our reader, in the order of each stream."""
    rows: Parts = {}
    for connection, from_a, part in sorted(found.parts, key=lambda each: each[2].position):
        packet = part.packet
        size = packet.data_bytes if packet.rank >= 0 else -1
        row = (packet.kind, packet.tag, packet.rank, packet.context, size)
        ends = found.ends(connection, from_a)
        rows.setdefault((ends["src_port"], ends["dst_port"]), []).append(row)
    return rows


def test_tshark_puts_a_message_together_whose_data_came_in_many_segments(whole: Run) -> None:
    sent = Counter(whole.sent["bytes"][whole.sent["bytes"] > whole.limit])
    words = [*tshark_words(whole.file), "-Y", f"mpich.kind == {ch3.RENDEZVOUS_DATA}"]
    words += [*"-T fields -E occurrence=a -e mpich.data".split()]
    data = subprocess.run(words, capture_output=True, text=True, timeout=240).stdout
    assert not sent - Counter(len(value) // 2 for value in data.replace(",", "\n").split())


def test_the_dissector_shows_what_our_reader_finds(whole: Run) -> None:
    ours = our_parts(traffic(whole.file))
    assert sum(map(len, ours.values())) >= len(whole.sent)
    assert ours == tshark_parts(whole.file)


CALL = struct.pack("<IIQi", 0, 7, 4, 1)
YES = struct.pack("<IIQ", 1, 7, 0)


def eager(tag: int, size: int) -> bytes:
    """An eager packet from rank 1, with what was in memory in the bytes that it does not use."""
    head = struct.pack("<I4xiHHI4xQ", 0, tag, 1, 0, ch3.NO_REQUEST, size)
    return head.ljust(ch3.HEADER_BYTES, b"\x1a") + b"x" * size


def short(tag: int, payload: bytes) -> bytes:
    head = struct.pack("<I4xiHHQ", 1, tag, 0, 0, len(payload)) + payload
    return head.ljust(ch3.HEADER_BYTES, b"\0")


FIRST, SECOND = eager(5, 132), eager(6, 0)
AFTER = len(YES) + len(FIRST)


@pytest.mark.parametrize(
    "segments",
    [
        pytest.param([(0, YES), (16, FIRST), (AFTER, SECOND)], id="one by one"),
        pytest.param([(0, YES + FIRST + SECOND)], id="all in one"),
        pytest.param([(0, YES), (0, YES + FIRST), (AFTER, SECOND)], id="answer again, with first"),
        pytest.param([(0, YES + FIRST), (0, YES), (AFTER, SECOND)], id="answer late, after both"),
        pytest.param([(16, FIRST), (0, YES), (AFTER, SECOND)], id="first before its answer"),
        pytest.param([(16, FIRST), (0, YES + FIRST), (AFTER, SECOND)], id="first before both"),
        pytest.param([(0, YES), (AFTER, SECOND), (16, FIRST)], id="second before the first"),
        pytest.param([(0, YES), (16, FIRST), (16, FIRST + SECOND)], id="first again, with second"),
        pytest.param(
            [(0, YES), (16, FIRST[:7]), (23, FIRST[7:90]), (106, FIRST[90:] + SECOND)],
            id="a header in three",
        ),
    ],
)
def test_segments_of_any_order_and_cut_give_the_same_messages(
    segments: list[tuple[int, bytes]], tmp_path: Path
) -> None:
    talk = opened().send(A, B, 1001, CALL)
    for at, payload in segments:
        talk.send(B, A, 5001 + at, payload, ack=1021, after_ms=0.4)
    path = talk.write(tmp_path)
    expected = [(0, 5, 1, 0, 132), (0, 6, 1, 0, 0)]
    assert our_parts(traffic(path)) == {(B[1], A[1]): expected} == tshark_parts(path)
    assert [each.handshakes()[0][1:3] for each in traffic(path).connections] == [(0, 1)]


@pytest.mark.parametrize("payload", [b"", b"\0", b"\x01" * 16], ids=["empty", "zero", "full"])
def test_a_short_message_is_no_answer_though_it_begins_like_one(
    payload: bytes, tmp_path: Path
) -> None:
    # Rank 0, tag 0, MPI_COMM_WORLD, and the beginning of the connection was not captured.
    talk = Talk().send(A, B, 9001, short(0, payload)).send(A, B, 9081, short(1, payload))
    path = talk.write(tmp_path)
    expected = [(1, tag, 0, 0, len(payload)) for tag in (0, 1)]
    assert our_parts(traffic(path)) == {(A[1], B[1]): expected} == tshark_parts(path)


def test_the_launchers_text_is_no_message_though_a_segment_begins_like_a_header(
    tmp_path: Path,
) -> None:
    # Hydra sends a length and the text of each argument; where its segments end depends on the environment.
    arguments = (b"0", b"--exec-proc-count", b"1", b"--exec-local-env", b"0", b"--exec-wdir")
    parts = [struct.pack("<I", len(each) + 1) + each + b"\0" for each in arguments]
    texts = b"".join(parts)
    path = Talk().send(A, B, 9001, texts).send(A, B, 9001 + len(texts), texts).write(tmp_path)
    assert our_parts(traffic(path)) == {} == tshark_parts(path)


def test_headers_alone_tell_the_messages_whose_headers_begin_a_segment(heads: Run) -> None:
    found = messages(heads.file)
    columns = ("from_rank", "to_rank", "source", "tag", "bytes")
    ours, sent = counted(own(found), *columns), counted(heads.sent, *columns)
    assert not ours - sent
    # What shares a segment with one before it may not be there, and that is said.
    missing = (sent - ours).total()
    assert ours
    assert not missing or found.attrs["lost_segments"]


def test_a_capture_that_began_late_still_tells_messages(whole: Run, tmp_path: Path) -> None:
    full = own(messages(whole.file))
    late = tmp_path / "late.pcapng"
    first = int(full[full["tag"] == 1003]["first_packet"].min())
    words = ["editcap", "-r", str(whole.file), str(late), f"{first}-0"]
    subprocess.run(words, check=True, capture_output=True, timeout=240)
    found = own(messages(late))
    columns = ("source", "tag", "context", "bytes")
    later = full[full["first_packet"] >= first]
    assert counted(found, *columns) == counted(later, *columns)


def test_a_capture_with_a_hole_tells_the_messages_around_it(whole: Run, tmp_path: Path) -> None:
    full = own(messages(whole.file))
    row = full[full["bytes"] == 1 << 20].iloc[0]
    every = read(whole.file)
    mine = every[(every["src_port"] == row["src_port"]) & (every["dst_port"] == row["dst_port"])]
    within = mine.index.to_series().between(row["first_packet"] + 20, row["last_packet"] - 20)
    full_ones = mine[within & (mine["payload_bytes"] == 1448)]
    # Every packet that carries these bytes goes, since a busy machine sends some of them twice.
    hole = int(full_ones["seq"].iloc[len(full_ones) // 2])
    ahead = (mine["seq"].astype("int64") - hole + (1 << 31)) % (1 << 32) - (1 << 31)
    cut = (ahead < 4 * 1448) & (ahead + mine["payload_bytes"] > 0) & (mine["payload_bytes"] > 0)
    gone = [str(number) for number in mine.index[cut]]
    holed = tmp_path / "holed.pcapng"
    words = ["editcap", str(whole.file), str(holed), *gone]
    subprocess.run(words, check=True, capture_output=True, timeout=240)
    found = traffic(holed)
    columns = ("from_rank", "to_rank", "tag", "bytes")
    assert counted(own(found.table()), *columns) == counted(full, *columns)


@pytest.mark.parametrize(
    ("version", "uid", "place"),
    [("4.0.17", 0, "personal"), ("4.2.2", 0, "system"), ("4.4.19", 1000, "personal")],
)
def test_a_tshark_that_loads_no_script_of_roots_finds_the_dissector_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, uid: int, place: str
) -> None:
    folders = (
        f"Personal Lua Plugins:\t{tmp_path}/personal\nGlobal Lua Plugins:  \t{tmp_path}/system"
    )
    answers = {"--version": f"TShark (Wireshark) {version}.", "-G": folders}
    monkeypatch.setattr(dissector, "_answer", lambda *words: answers[words[0]])
    monkeypatch.setattr(os, "getuid", lambda: uid)
    monkeypatch.setattr(os, "getgid", lambda: uid)
    dissector._only_the_systems.cache_clear()
    try:
        dissector.options()
        found = [each.parent.name for each in tmp_path.rglob("mpich_ch3.lua")]
        assert found == (["system"] if place == "system" else [])
        assert dissector.install().parent == tmp_path / place
    finally:
        dissector._only_the_systems.cache_clear()


def anything(chance: random.Random, count: int) -> Talk:
    """A conversation in which many a segment begins like a packet of MPICH's."""
    talk, at = opened(), 1001
    payloads = [CALL]
    for number in range(count):
        size = chance.choice([0, 1, 16, 20, 79, 80, 81, 200, 1400])
        head = (number % 45).to_bytes(4, "little") if number % 3 else b""
        payloads.append((head + chance.randbytes(size))[: max(size, len(head))])
    for payload in payloads:
        talk.send(A, B, at, payload)
        at += len(payload)
    return talk


def test_anything_can_be_read(tmp_path: Path) -> None:
    for seed in range(40):
        found = traffic(anything(random.Random(seed), 20).write(tmp_path))
        assert found.table()["bytes"].ge(0).all()


def test_the_dissector_has_no_error_on_anything(tmp_path: Path) -> None:
    path = anything(random.Random(7), 400).write(tmp_path)
    for more in ([], ["-2"]):
        words = [*tshark_words(path), *more, "-V"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=240)
        assert "MPICH, handshake, call" in done.stdout
        assert "Lua Error" not in done.stdout + done.stderr


@pytest.fixture(scope="module")
def lossy(sends: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Cables of 10 Mbit/s, and a queue of four packets where the switch sends to node00."""
    state = tmp_path_factory.mktemp("slow")
    slow = namespaces.up(ClusterConfig(rate="10mbit"), folder=state)
    queue = "tc qdisc change dev node00 root tbf rate 10mbit burst 3200 limit 6000"
    try:
        subprocess.run([*slow.enter_switch(), *queue.split()], check=True, timeout=240)
        yield run(slow, sends, tmp_path_factory.mktemp("lossy"), 131072, 1 << 18)
    finally:
        namespaces.down(folder=state)


@pytest.mark.nightly
def test_where_packets_are_lost_no_message_is_and_all_counts_agree(lossy: Run) -> None:
    found = messages(lossy.file)
    columns = ("from_rank", "to_rank", "source", "tag", "bytes")
    assert counted(own(found), *columns) == counted(lossy.sent, *columns)
    assert found["complete"].all()
    assert found.attrs["lost_segments"] == 0
    agrees(lossy.file)
    agrees_on_conversations(lossy.file)
