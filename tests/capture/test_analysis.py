"""Does what `beowulf packets` says add up, agree with tshark, and is bad input a sentence?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import app
from test_flows import ACK, FIN, A, B, Talk, opened
from written import Packet, arp, ethernet, frames, ip, pcapng, times_ns, tshark

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.packets.analysis import SHARES, analyse
from beowulf.packets.protocols import summary

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def beowulf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Runs `beowulf …` in a folder of its own, on the cluster that is given or on none."""

    def run(
        *words: str | Path, cluster: NamespaceCluster | None = None
    ) -> subprocess.CompletedProcess[str]:
        state = cluster.folder if cluster else tmp_path / "state"
        monkeypatch.setenv("BEOWULF_STATE", str(state))
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.chdir(tmp_path)
        capfd.readouterr()
        code = 0
        try:
            app([str(word) for word in words], standalone_mode=False)
        except LabError as trouble:
            # As beowulf.cli.main does; a process of its own for each would take half a second.
            print(f"beowulf: {trouble}", file=sys.stderr)
            code = trouble.exit_code
        said = capfd.readouterr()
        return subprocess.CompletedProcess(words, code, said.out, said.err)

    return run


def adds_up(path: Path) -> dict[str, object]:
    found = analyse(path)
    assert {key: found[key] for key in summary(path)} == summary(path)
    tcp = found["tcp"]
    parts = sum(tcp["header_bytes"].values()) + tcp["payload_bytes"] + tcp["padding_bytes"]
    assert parts == tcp["bytes"]
    if found["packets"]:
        assert sum(found["shares"].values()) == pytest.approx(1)
    assert set(found["shares"]) == set(SHARES)
    kinds = [found[name] for name in ("mpi", "ssh", "other_tcp")]
    assert sum(kind["packets"] for kind in kinds) == tcp["packets"]
    assert sum(kind["bytes"] for kind in kinds) == tcp["bytes"]
    json.dumps(found)
    return found


snaps = st.sampled_from([0, 13, 14, 34, 54, 70, 1 << 18])


@settings(max_examples=30, deadline=None)
@given(
    written=st.lists(st.builds(Packet, frames, times_ns, snap_bytes=snaps), max_size=40),
    cut=st.integers(0, 90),
)
def test_the_parts_add_up_whatever_was_captured_of_a_packet(
    written: list[Packet], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("parts") / "wire.pcapng"
    data = pcapng(written)
    path.write_bytes(data[: max(len(data) - cut, len(pcapng([])))])
    found = analyse(path)
    assert found["packets"] <= len(written)
    if all(packet.taken == packet.frame for packet in written):
        adds_up(path)
    json.dumps(found)


def test_overhead_is_what_is_not_payload_seen_for_the_first_time(tmp_path: Path) -> None:
    talk = opened()  # three frames of 60 bytes: 54 of headers and 6 of padding
    talk.send(A, B, 1001, b"x" * 946).send(B, A, 5001, ack=1947, flags=ACK)
    talk.send(A, B, 1001, b"x" * 946, after_ms=300).send(A, B, 1947, flags=FIN, ack=5001)
    talk.packets.append(Packet(ethernet(0x0806, arp("10.0.0.1", "10.0.0.2")), talk.now_ns))
    found = adds_up(path := talk.write(tmp_path))
    assert found["bytes"] == 6 * 60 + 2 * 1000
    assert found["overhead"]["tcp"] == pytest.approx(1 - 946 / 2300)
    assert found["overhead"]["paper_a_data_share"] == pytest.approx(2 / 7)
    assert found["tcp"]["padding_bytes"] == 30
    assert found["tcp"]["header_bytes"] == {"ethernet": 98, "ip": 140, "tcp": 140}
    assert found["tcp"]["retransmissions"] == {"packets": 1, "bytes": 946, "share": 1 / 7}
    shares = {name: found["shares"][name] for name in ("ack_only", "connection", "other")}
    assert shares == pytest.approx({"ack_only": 2 / 8, "connection": 3 / 8, "other": 1 / 8})
    assert found["overhead"]["mpi"] is None
    # A segment that only acknowledges, as tshark's filter says it.
    only = "tcp.len == 0 && tcp.flags & 0x17 == 0x10 && tcp.port != 22"
    assert len(tshark(path, "-Y", only).splitlines()) == 2


def test_a_real_run_adds_up(
    cluster: NamespaceCluster, sends: Path, tmp_path: Path, beowulf: Command
) -> None:
    file = tmp_path / "wire.pcapng"
    folder = tmp_path / "lists"
    folder.mkdir()
    words = ["-o", file, "--snap", "0", "-n", "4", "--", sends, folder]
    done = beowulf("capture", *words, cluster=cluster)
    assert done.returncode == 0, done.stderr
    assert "(0 dropped)" in done.stdout
    adds_up(file)
    found = json.loads(beowulf("packets", file, "--json").stdout)
    lists = [line.split() for each in folder.iterdir() for line in each.read_text().splitlines()]
    mpi = found["mpi"]
    assert mpi["messages"] - mpi["collective"]["messages"] == len(lists)
    sent = sum(int(words[5]) for words in lists)
    assert mpi["message_bytes"] - mpi["collective"]["bytes"] == sent
    asked = mpi["kinds"]["rendezvous"]["messages"]
    control = mpi["control_packets"]
    assert control["request to send"] == control["clear to send"] == asked
    assert control["rendezvous data"] == asked
    assert mpi["setup"]["calls"] == mpi["connections"]
    assert mpi["setup"]["syn_to_answer_s"] > 0
    assert found["ssh"]["connections"] >= 1
    assert 0 < found["overhead"]["tcp"] < 1
    assert 0 < found["overhead"]["mpi"] < 1
    text = beowulf("packets", file).stdout
    assert f"{mpi['messages']:,} messages with {mpi['message_bytes']:,} bytes" in text
    listed = json.loads(beowulf("packets", file, "--messages", "--json").stdout)
    assert len(listed) == mpi["messages"]


def test_a_program_keeps_its_own_options_and_one_that_fails_its_packets(
    cluster: NamespaceCluster, tmp_path: Path, beowulf: Command
) -> None:
    (tmp_path / "fails.py").write_text("import sys; print(sys.argv[1:]); raise SystemExit(3)")
    words = ["-o", "wire.pcapng", "-n", "2", "fails.py", "--seconds", "-o"]
    done = beowulf("capture", *words, cluster=cluster)
    assert "['--seconds', '-o']" in done.stdout
    assert done.returncode == 1
    assert "exit code 3" in done.stderr
    assert summary(tmp_path / "wire.pcapng")["packets"] > 0


def one_frame(folder: Path) -> Path:
    path = folder / "wire.pcapng"
    frame = ethernet(0x0800, ip(17, b"12345678", "10.0.0.1", "10.0.0.2"))
    path.write_bytes(pcapng([Packet(frame)] * 3))
    return path


@pytest.mark.parametrize("more", [[], ["--json"], ["--messages"]], ids=["text", "json", "messages"])
def test_what_is_no_capture_is_a_sentence(
    tmp_path: Path, beowulf: Command, more: list[str]
) -> None:
    (tmp_path / "letter.txt").write_text("Dear wire,\n" * 10)
    for name, said in (
        ("letter.txt", "letter.txt is not a capture. "),
        ("nothing.pcapng", "There is no capture nothing.pcapng. "),
    ):
        done = beowulf("packets", name, *more)
        assert (done.returncode, done.stdout) == (1, "")
        assert said in done.stderr


def test_a_truncated_capture_is_reported_and_what_is_whole_counts(
    tmp_path: Path, beowulf: Command
) -> None:
    path = one_frame(tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    done = beowulf("packets", path)
    assert done.returncode == 0
    assert "2 packets" in done.stdout
    assert "The last packet is cut off" in done.stderr
    assert "cut off" in json.loads(beowulf("packets", path, "--json").stdout)["warnings"][0]


def test_no_packets_are_reported_and_divide_nothing(tmp_path: Path, beowulf: Command) -> None:
    path = Talk().write(tmp_path)
    found = adds_up(path)
    assert set(found["shares"].values()) == {None}
    assert found["overhead"]["tcp"] is None
    done = beowulf("packets", path)
    assert done.returncode == 0
    assert "There is no packet in this capture." in done.stderr
    assert "No MPI message" in beowulf("packets", path, "--messages").stdout


def test_rates_can_be_over_a_given_time(tmp_path: Path, beowulf: Command) -> None:
    path = one_frame(tmp_path)
    found = json.loads(beowulf("packets", path, "--json", "--elapsed", "6").stdout)
    assert found["packets_per_s"] == 0.5
    assert beowulf("packets", path, "--elapsed", "0").returncode == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--seconds", "1"], 2, "A capture needs a file."),
        (["-o", "w.pcapng", "--where", "node99"], 2, "There is no 'node99'"),
        (
            ["-o", "w.pcapng", "--filter", "no filter"],
            2,
            "'no filter' is not a capture filter.",
        ),
        (["-o", "w.pcapng", "--snap", "-1"], 2, "`--snap` must be at least 0"),
        (["-o", "w.pcapng", "--", "absent.c"], 2, "There is no"),
        (["-o", "/proc/version/w.pcapng", "--seconds", "0.5"], 1, "cannot be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.cluster
def test_a_capture_that_cannot_be_is_a_sentence(
    words: list[str], code: int, said: str, cluster: NamespaceCluster, beowulf: Command
) -> None:
    done = beowulf("capture", *words, cluster=cluster)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interface_that_is_not_there_is_a_sentence(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    wire = cluster.capture(tmp_path / "w.pcapng")
    (taker,) = wire.dumpcaps
    taker.words = [word.replace("br0", "br7") for word in taker.words]
    with pytest.raises(LabError, match=r"switch could not start: There is no device .*br7"):
        wire.__enter__()
