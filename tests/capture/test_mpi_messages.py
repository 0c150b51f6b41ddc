"""Is every message that a program sends found in the capture, and nothing else, and does tshark see the same?"""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import RANKS, Run
from test_flows import A, B, opened

from beowulf.capture import ch3, dissector
from beowulf.capture.dissector import tshark_words
from beowulf.capture.mpi_messages import Traffic, messages, traffic
from beowulf.errors import LabError

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


def test_each_communicator_has_one_context_of_its_own(whole: Run) -> None:
    found = own(messages(whole.file))
    both = whole.sent.merge(found, on=["from_rank", "to_rank", "tag", "bytes"])
    contexts = both.groupby("communicator")["context"].unique()
    assert [len(each) for each in contexts] == [1, 1, 1]
    assert len({each[0] for each in contexts}) == 3
    assert contexts[0][0] == 0


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


def test_a_message_takes_the_segments_that_its_bytes_need(whole: Run) -> None:
    found = own(messages(whole.file))
    long = found[found["bytes"] == 1 << 20]
    # 1448 bytes a segment; the request to send, and segments that the sender could not fill.
    assert long["segments"].between(726, 900).all()
    assert (found["ended_s"] >= found["began_s"]).all()
    assert (found["last_packet"] >= found["first_packet"]).all()


def test_several_messages_that_share_a_segment_are_told_apart(whole: Run) -> None:
    found = messages(whole.file)
    if found["last_packet"].is_unique:
        pytest.skip("no two messages met in a segment this time")
    burst = own(found)["tag"].between(2000, 2999)
    assert burst.sum() == 3 * 40


def tshark_parts(file: Path, *options: str) -> list[tuple[int, ...]]:
    """What the dissector shows of each packet of MPICH's: kind, tag, source, context, bytes."""
    words = [*tshark_words(file), *options, "-T", "json", "--no-duplicate-keys"]
    words += ["-J", "mpich", "-Y", "mpich"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    found = []
    for packet in json.loads(done.stdout):
        layers = packet["_source"]["layers"]["mpich"]
        for layer in layers if isinstance(layers, list) else [layers]:
            if "mpich.kind" in layer:
                names = ("kind", "tag", "source", "context", "bytes")
                found.append(tuple(int(layer.get(f"mpich.{name}", -1)) for name in names))
            else:
                assert "mpich.handshake" in layer, layer
    return found


def our_parts(found: Traffic) -> list[tuple[int, ...]]:
    """The same from our reader, in the order in which packets end."""
    parts = sorted((part for _, _, part in found.parts), key=lambda p: (p.last_number, p.position))
    rows = []
    for part in parts:
        packet = part.packet
        size = packet.data_bytes if packet.rank >= 0 else -1
        rows.append((packet.kind, packet.tag, packet.rank, packet.context, size))
    return rows


@pytest.mark.parametrize("passes", [[], ["-2"]], ids=["one pass", "two passes"])
def test_the_dissector_shows_what_our_reader_finds(whole: Run, passes: list[str]) -> None:
    ours, theirs = our_parts(traffic(whole.file)), tshark_parts(whole.file, *passes)
    assert len(ours) == len(theirs)
    assert ours == theirs


def test_headers_alone_tell_the_messages_whose_headers_begin_a_segment(heads: Run) -> None:
    found = messages(heads.file)
    columns = ("from_rank", "to_rank", "source", "tag", "bytes")
    ours, sent = counted(own(found), *columns), counted(heads.sent, *columns)
    assert not ours - sent
    alone = heads.sent[heads.sent["tag"] < 2000]
    assert not counted(alone, *columns) - ours
    missing = (sent - ours).total()
    # What shares a segment with one before it is not there, and that is said.
    assert bool(missing) == bool(found.attrs["lost_segments"])


def test_a_capture_that_began_late_still_tells_messages(whole: Run, tmp_path: Path) -> None:
    full = own(messages(whole.file))
    late = tmp_path / "late.pcapng"
    first = int(full[full["tag"] == 1003]["first_packet"].min())
    words = ["editcap", "-r", str(whole.file), str(late), f"{first}-0"]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    found = own(messages(late))
    columns = ("source", "tag", "context", "bytes")
    later = full[full["first_packet"] >= first]
    assert counted(found, *columns) == counted(later, *columns)


def test_a_capture_with_a_hole_tells_the_messages_around_it(whole: Run, tmp_path: Path) -> None:
    full = own(messages(whole.file))
    row = full[full["bytes"] == 1 << 20].iloc[0]
    holed = tmp_path / "holed.pcapng"
    middle = int(row["first_packet"] + row["last_packet"]) // 2
    words = ["editcap", str(whole.file), str(holed), f"{middle}-{middle + 3}"]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    found = traffic(holed)
    columns = ("from_rank", "to_rank", "tag", "bytes")
    assert counted(own(found.table()), *columns) == counted(full, *columns)
    assert found.missing_bytes > 0


def test_both_ends_of_every_connection_have_a_rank(whole: Run) -> None:
    found = traffic(whole.file)
    assert {each.rank_a for each in found.connections} <= set(range(RANKS))
    assert {each.rank_b for each in found.connections} <= set(range(RANKS))


def test_ssh_and_the_launcher_are_no_messages(whole: Run) -> None:
    found = traffic(whole.file)
    ports = {found.ends(each, True)["dst_port"] for each in found.connections}
    assert 22 not in ports
    assert all(each.handshakes() for each in found.connections)


def test_the_installed_dissector_is_found_by_tshark(
    whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    place = dissector.install()
    assert place == dissector.install()  # twice does no harm
    assert place.is_relative_to(tmp_path)
    assert [each.name for each in place.parent.iterdir()] == [place.name]
    words = ["tshark", "-n", "-r", str(whole.file), "-Y", "mpich.tag == 1005", "-c", "900"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert "tag 1005" in done.stdout


def test_a_dissector_that_cannot_be_installed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(dissector, "plugins_folder", lambda: tmp_path / "file" / "plugins")
    with pytest.raises(LabError, match="cannot be written"):
        dissector.install()


@settings(max_examples=40, deadline=None)
@given(
    payloads=st.lists(
        st.one_of(
            st.binary(max_size=200),
            st.integers(0, 40).flatmap(
                lambda kind: st.binary(min_size=76, max_size=200).map(
                    lambda rest: kind.to_bytes(4, "little") + rest
                )
            ),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_anything_can_be_read_and_what_is_lost_is_said(
    payloads: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    talk, at = opened(), 1001
    for payload in payloads:
        talk.send(A, B, at, payload)
        at += len(payload)
    path = talk.write(tmp_path_factory.mktemp("any"))
    found = traffic(path)
    assert len(found.messages) <= len(payloads) * 3
    assert found.table()["bytes"].ge(0).all()


def test_the_dissector_has_no_error_on_anything(tmp_path: Path) -> None:
    talk, at = opened(), 1001
    chance = random.Random(7)
    call = bytes(8) + (4).to_bytes(8, "little") + bytes(4)
    payloads = [call]
    for number in range(400):
        size = chance.choice([0, 1, 16, 20, 79, 80, 81, 200, 1400])
        head = (number % 45).to_bytes(4, "little") if number % 3 else b""
        payloads.append((head + chance.randbytes(size))[: max(size, len(head))])
    for payload in payloads:
        talk.send(A, B, at, payload)
        at += len(payload)
    path = talk.write(tmp_path)
    for more in ([], ["-2"]):
        words = [*tshark_words(path), *more, "-V"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert "MPICH, handshake, call" in done.stdout
        assert "Lua Error" not in done.stdout + done.stderr
