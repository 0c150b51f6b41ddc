"""Does tshark, and pyshark with it, show MPICH's packets as our own reader finds them?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyshark
import pytest
from running import app
from runs import Run
from test_flows import A, B, opened
from test_mpi_messages import CALL, YES, eager
from typer.testing import CliRunner
from written import fields

from beowulf.packets import dissector
from beowulf.packets.mpi_messages import messages


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A connection between MPI processes and messages in it, of tags 5 and 4 in one segment, and of tag 6."""
    talk = opened().send(A, B, 1001, CALL).send(B, A, 5001, YES, ack=1021)
    talk.send(B, A, 5017, eager(5, 0) + eager(4, 0), ack=1021)
    talk.send(B, A, 5177, eager(6, 3), ack=1021)
    return talk.write(tmp_path)


def seen(file: Path, display_filter: str) -> list[Any]:
    """The packets that pass the filter, as pyshark gives them."""
    options = dissector.options()
    with pyshark.FileCapture(
        str(file), display_filter=display_filter, custom_parameters=options
    ) as packets:
        return list(packets)


@pytest.mark.cluster
def test_a_packet_has_the_number_that_our_reader_gives_it(whole: Run) -> None:
    table = messages(whole.file)
    row = table[(table["tag"] == 1004) & (table["protocol"] == "eager")].iloc[0]
    (packet,) = seen(whole.file, f"frame.number == {int(row['last_packet'])}")
    tags = [each.get_field_value("tag") for each in packet.get_multiple_layers("mpich")]
    assert "1004" in tags
    assert (packet.ip.src, packet.ip.dst) == (row["src"], row["dst"])


def test_the_filter_chooses_and_all_numbers_are_those_of_the_file(file: Path) -> None:
    found = seen(file, "mpich.tag")
    assert [each.mpich.tag for each in found] == ["5", "6"]
    assert seen(file, "udp") == []
    numbers = [number for (number,) in fields(file, "frame.number")]
    assert [each.number for each in found] == numbers[-2:]
    # What shares a segment has a layer of its own.
    first, second = found[0].get_multiple_layers("mpich")
    assert first.kind.showname_value == second.kind.showname_value == "eager (0)"
    assert second.tag == "4"


def test_nobody_waits_for_pyshark_who_does_not_look() -> None:
    modules = (
        "beowulf, beowulf.cli.commands, beowulf.labs.lab_06.own_loop, beowulf.packets.analysis"
    )
    script = f"import sys, {modules}; print([m for m in ('pyshark', 'lxml') if m in sys.modules])"
    words = [sys.executable, "-c", script]
    assert subprocess.run(words, capture_output=True, text=True).stdout == "[]\n"


def test_a_dissector_that_the_command_installed_is_found_and_does_not_stand_in_the_way(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    said = CliRunner().invoke(app, ["packets", "--install-dissector"]).stdout
    place = dissector.install()  # twice does no harm
    assert str(place) in said.replace("\n", "")
    assert place.read_bytes() == dissector.SCRIPT.read_bytes()
    assert [each.mpich.tag for each in seen(file, "mpich.tag")] == ["5", "6"]
    for words in (dissector.tshark_words(file), ["tshark", "-n", "-r", str(file)]):
        done = subprocess.run(words, capture_output=True, text=True, timeout=240)
        assert "tag 6" in done.stdout
        assert "Lua" not in done.stderr
