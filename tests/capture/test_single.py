"""Can somebody look at single packets, with MPICH's among them, in a script and in a notebook?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from runs import Run
from test_flows import A, B, opened
from test_mpi_messages import CALL, YES, eager
from written import Packet, ethernet, fields, pcap

from beowulf.errors import LabError, UsageError
from beowulf.packets import dissector, layers
from beowulf.packets.batches import CaptureError
from beowulf.packets.mpi_messages import messages


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A connection between MPI processes and two messages in it, of tags 5 and 6."""
    talk = opened().send(A, B, 1001, CALL).send(B, A, 5001, YES, ack=1021)
    talk.send(B, A, 5017, eager(5, 0), ack=1021).send(B, A, 5097, eager(6, 3), ack=1021)
    return talk.write(tmp_path)


def children() -> set[str]:
    words = ["ps", "--no-headers", "-o", "args", "--ppid", str(os.getpid())]
    lines = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
    return {line for line in lines if "tshark" in line}


@pytest.mark.cluster
def test_each_message_that_was_sent_is_there_to_look_at(whole: Run) -> None:
    tag = 1005
    found = layers.packets(whole.file, f"mpich.tag == {tag}", limit=50)
    sent = whole.sent[whole.sent["tag"] == tag]
    assert sorted(int(each.mpich.bytes) for each in found) == sorted(sent["bytes"])
    assert sorted(int(each.mpich.source) for each in found) == sorted(sent["source"])


@pytest.mark.cluster
def test_a_packet_has_the_number_that_our_reader_gives_it(whole: Run) -> None:
    table = messages(whole.file)
    row = table[(table["tag"] == 1004) & (table["protocol"] == "eager")].iloc[0]
    looked_at = layers.packet(whole.file, int(row["last_packet"]))
    tags = [int(each.tag) for each in looked_at.get_multiple_layers("mpich") if "tag" in dir(each)]
    assert 1004 in tags
    assert (looked_at.ip.src, looked_at.ip.dst) == (row["src"], row["dst"])


def test_the_limit_ends_tshark_too(file: Path) -> None:
    found = layers.packets(file, limit=2)
    assert [int(each.number) for each in found] == [1, 2]
    assert not children()


def test_the_filter_chooses_and_all_numbers_are_those_of_the_file(file: Path) -> None:
    assert [each.mpich.tag for each in layers.packets(file, "mpich.tag")] == ["5", "6"]
    assert layers.packets(file, "udp") == []
    numbers = [int(number) for (number,) in fields(file, "frame.number")]
    assert [int(layers.packet(file, number).number) for number in numbers] == numbers


def test_a_message_that_shares_its_segment_has_a_layer_of_its_own(tmp_path: Path) -> None:
    talk = opened().send(A, B, 1001, CALL).send(B, A, 5001, YES + eager(5, 0), ack=1021)
    (both,) = layers.packets(talk.write(tmp_path), "mpich.tag == 5")
    first, second = both.get_multiple_layers("mpich")
    assert first.handshake.showname_value == "answer: yes (1)"
    assert second.kind.showname_value == "eager (0)"


IN_A_NOTEBOOK = """
import asyncio
assert asyncio.get_running_loop()
import pyshark
try:
    pyshark.FileCapture({file!r})[0]
except RuntimeError as problem:
    print("by itself:", problem)
from beowulf.packets import layers
print([each.mpich.tag for each in layers.packets({file!r}, "mpich.tag")])
layers.packets({file!r}, "tcp.port ==")
"""


def test_it_works_in_jupyter_where_pyshark_itself_does_not(file: Path) -> None:
    cell = nbformat.v4.new_code_cell(IN_A_NOTEBOOK.format(file=str(file)))
    notebook = nbformat.v4.new_notebook(cells=[cell])
    NotebookClient(
        notebook, timeout=240, startup_timeout=240, kernel_name="python3", allow_errors=True
    ).execute()
    said = "".join(output.get("text", "") for output in cell.outputs)
    failed = [output for output in cell.outputs if output.output_type == "error"]
    assert "by itself: " in said
    assert "['5', '6']" in said
    assert [output.ename for output in failed] == ["UsageError"]
    assert failed[0].traceback[0].startswith("'tcp.port ==' is no display filter")


@pytest.mark.parametrize("wrong", ["bogus.x == 1", "tcp.port ==", "file.x", "frame.number == abc"])
def test_what_is_no_filter_is_reported(wrong: str, file: Path) -> None:
    with pytest.raises(UsageError, match="is no display filter") as caught:
        layers.packets(file, wrong)
    assert repr(wrong) in str(caught.value)


def test_what_is_no_capture_is_reported(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("# not packets, but long enough to be some\n")
    with pytest.raises(CaptureError, match="is not a capture"):
        layers.packets(tmp_path / "text")
    with pytest.raises(CaptureError, match="There is no capture"):
        layers.packet(tmp_path / "none", 1)


def test_a_packet_that_is_not_there_is_reported(file: Path) -> None:
    for number in (0, 100):
        with pytest.raises(UsageError, match=f"no packet {number}"):
            layers.packet(file, number)
    with pytest.raises(UsageError, match="Give a limit"):
        layers.packets(file, limit=0)


def test_a_capture_that_was_cut_off_shows_what_is_whole(tmp_path: Path) -> None:
    frame = ethernet(0x88B5, b"x" * 100)
    (tmp_path / "cut").write_bytes(pcap([Packet(frame)] * 3)[:-7])
    assert len(layers.packets(tmp_path / "cut")) == 2


def test_no_tshark_is_reported(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="no tshark"):
        layers.packets(file)


def test_no_pyshark_is_reported(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyshark.tshark.output_parser.tshark_xml", None)
    with pytest.raises(LabError, match="pyshark is not installed"):
        layers.packets(file)


def test_nobody_waits_for_pyshark_who_does_not_look() -> None:
    modules = "beowulf, beowulf.cli.commands, beowulf.packets.layers, beowulf.packets.analysis"
    script = f"import sys, {modules}; print([m for m in ('pyshark', 'lxml') if m in sys.modules])"
    words = [sys.executable, "-c", script]
    assert subprocess.run(words, capture_output=True, text=True).stdout == "[]\n"


def test_an_installed_dissector_does_not_stand_in_the_way(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    dissector.install()
    assert [each.mpich.tag for each in layers.packets(file, "mpich.tag")] == ["5", "6"]
    done = subprocess.run(dissector.tshark_words(file), capture_output=True, text=True, timeout=240)
    assert "Lua" not in done.stderr
