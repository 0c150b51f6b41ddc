"""Does what `beowulf packets` prints say what each figure is, and does its tshark command work when pasted?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from running import app
from runs import Run
from test_flows import ACK, A, B, Talk, opened
from test_mpi_messages import CALL, YES, eager
from typer.testing import CliRunner
from written import Packet, arp, ethernet, pcapng

from beowulf.packets.analysis import analyse
from beowulf.packets.report import lines


def report(path: Path) -> str:
    return "\n".join(lines(analyse(path)))


def talked(folder: Path) -> Path:
    """A connection between MPI processes with one message, in a folder whose name has a space."""
    talk = opened().send(A, B, 1001, CALL).send(B, A, 5001, YES, ack=1021)
    folder = folder / "my captures"
    folder.mkdir()
    return talk.send(B, A, 5017, eager(6, 3), ack=1021).write(folder)


@pytest.mark.cluster
def test_the_shares_that_are_shown_add_up_to_all_packets(whole: Run) -> None:
    found = analyse(whole.file)
    text = report(whole.file)
    begin = text.index("What the packets are")
    shown = [line.split() for line in text[begin:].splitlines()[1:6]]
    assert sum(int(words[2].replace(",", "")) for words in shown) == found["packets"]
    assert f"TCP overhead is {found['overhead']['tcp']:.2%}".replace("%", " %") in text
    assert f"MPI: {found['mpi']['messages']:,} messages" in text
    assert "rendezvous: " in text
    assert max(map(len, text.splitlines())) <= 110, "it fits into a window"


def test_each_kind_of_wait_is_named_and_explained(tmp_path: Path) -> None:
    talk = opened().send(A, B, 1001, b"x" * 100, ack=5001)
    talk.send(B, A, 5001, ack=1101, flags=ACK, window=0, after_ms=45)
    text = report(talk.send(A, B, 1101, b"x", ack=5001, after_ms=0.01).write(tmp_path))
    assert "Delayed ACKs: 1 came 30 ms or more after the data, the latest after 45.0 ms" in text
    assert "closed 1 times" in text
    assert "Nagle's algorithm: 1 short segments waited for a delayed ACK, 45.0 ms in all" in text
    began_late = Talk().send(A, B, 1001, b"x" * 100, ack=5001).write(tmp_path)
    assert "Windows: not known" in report(began_late)


@pytest.mark.parametrize("frames", [0, 1])
def test_a_capture_without_tcp_is_reported_in_few_lines(frames: int, tmp_path: Path) -> None:
    path = tmp_path / "wire.pcapng"
    path.write_bytes(pcapng([Packet(ethernet(0x0806, arp("10.0.0.1", "10.0.0.2")))] * frames))
    text = report(path)
    assert text.startswith(f"{frames} packets, {60 * frames} bytes")
    assert "TCP overhead" not in text


def test_the_tshark_command_works_when_it_is_pasted(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["packets", str(talked(tmp_path)), "--tshark"])
    (command,) = done.stdout.splitlines()
    pasted = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd="/", timeout=240
    )
    assert "eager, tag 6, source 1, context 0, 3 bytes" in pasted.stdout
    assert len(pasted.stdout.splitlines()) == 3
