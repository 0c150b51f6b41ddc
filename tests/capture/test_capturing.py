"""Is every packet taken that passes while a capture runs, and is what goes wrong said?"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from running import PATIENCE_S, wait_until
from written import agrees, capinfos

from beowulf.cluster.capturing import dumpcap
from beowulf.cluster.capturing.capture import Capture
from beowulf.cluster.capturing.dumpcap import Start
from beowulf.errors import LabError, UsageError
from beowulf.packets.batches import CaptureError
from beowulf.packets.table import read

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
UNSHARE, ENTER = ["unshare", "--net"], ["nsenter", "--net"]
if os.geteuid() != 0:
    UNSHARE += ["--user", "--map-root-user"]
    ENTER += ["--user", "--preserve-credentials"]

# Lives in a network of its own and sends at once what it reads.
SENDER = """
import socket, subprocess, sys
subprocess.run(["sh", "-ec", "ip link set lo up; ip link add v0 type veth peer name v1"])
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
# Someone listens: else the kernel answers by ICMP, but not more often than it likes.
listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.bind(("127.0.0.1", 9))
server = socket.create_server(("127.0.0.1", 40001))
print("up", flush=True)
for line in sys.stdin:
    kind, count, size = line.split()
    if kind == "udp":
        for number in range(int(count)):
            udp.sendto(b"x" * int(size), ("127.0.0.1", 9))
    else:
        with socket.create_connection(("127.0.0.1", 40001)) as client, server.accept()[0] as peer:
            for number in range(int(count)):
                client.sendall(b"x" * int(size))
                left = int(size)
                while left:
                    left -= len(peer.recv(left))
    print("sent", flush=True)
"""


def start_here(words: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the words in the network of this very process."""
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE)


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ask the process to end as Ctrl-C does."""
    process.send_signal(signal.SIGINT)


class Network:
    """A network namespace with `lo` up and a pair of cable ends, v0 and v1, that are down."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [*UNSHARE, sys.executable, "-c", SENDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.to, self.back = self.process.stdin, self.process.stdout
        if self.back.readline() != "up\n":
            pytest.skip("a network namespace cannot be made here")
        self.enter = [ENTER[0], f"--target={self.process.pid}", *ENTER[1:]]

    def start(self, words: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
        return start_here([*self.enter, *words], output)

    def send(self, kind: str = "udp", count: int = 1, size: int = 10) -> None:
        self.to.write(f"{kind} {count} {size}\n")
        self.to.flush()
        assert self.back.readline() == "sent\n"

    def run(self, *words: str) -> None:
        subprocess.run([*self.enter, *words], check=True, timeout=PATIENCE_S)

    def end(self) -> None:
        self.to.close()
        self.process.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    found = Network()
    yield found
    found.end()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "wire.pcapng"


def fake(script: str) -> Start:
    """A process that is not dumpcap."""

    def start(words: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
        return start_here(
            [sys.executable, "-c", "import signal, sys, time\n" + script, *words], output
        )

    return start


# What dumpcap prints when it is ready; a line of its own, so that the scripts below stay readable.
IS_READY = "print('File: -', file=sys.stderr, flush=True)\n"


def test_what_is_sent_right_after_the_start_and_right_before_the_end_is_taken(
    network: Network, file: Path
) -> None:
    for _ in range(2):
        with Capture(network.start, file, ["lo"], stop=interrupt) as wire:
            network.send(count=10)
        assert len(read(file)) == 10
        assert (wire.packets, wire.dropped, wire.warnings) == (10, 0, [])


def test_what_goes_wrong_in_the_block_is_not_hidden(network: Network, file: Path) -> None:
    def block() -> None:
        with Capture(network.start, file, ["lo"], stop=interrupt):
            network.send(count=2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        block()
    assert len(read(file)) == 2


def test_packets_count_only_from_the_start_to_the_end_of_the_block_and_only_of_the_filter(
    network: Network, file: Path
) -> None:
    how = {"filter": "udp port 9", "snap_bytes": 96, "stop": interrupt}
    with Capture(network.start, file, ["lo"], **how) as wire:
        network.send("udp", 6, 700)
        network.send("tcp", 4)
        network.send(count=6)
    agrees(file)
    found = wire.summary()
    assert found["packets"] == found["protocols"]["udp"]["packets"] == 12
    assert found["elapsed_s"] == wire.elapsed_s
    assert found["packets_per_s"] == pytest.approx(12 / wire.elapsed_s)
    assert wire.elapsed_s == pytest.approx(wire.ended - wire.began)
    table = read(file)
    times = table["time_ns"] / 1e9
    assert wire.began <= times.min() <= times.max() <= wire.ended
    assert (table["captured_bytes"].max(), table["wire_bytes"].max() > 700) == (96, True)
    facts = wire.facts()
    assert facts["packets"] == capinfos(file)[0] == len(table)
    assert facts["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (facts["file"], facts["snap_bytes"], facts["dropped"]) == (file.name, 96, 0)


def test_several_interfaces_are_taken_at_once(network: Network, file: Path) -> None:
    network.run("sh", "-ec", "ip link set v0 up; ip link set v1 up")
    with Capture(network.start, file, ["lo", "v0"], stop=interrupt) as wire:
        network.send(count=2)
        # IPv6's own neighbour discovery is what an idle cable end sends; ARP is surer.
        network.run("sh", "-ec", "ip addr add 10.9.0.1/24 dev v0; ping -c1 -W0.2 10.9.0.2 || true")
    table = read(file)
    assert set(table["interface"]) == {"lo", "v0"}
    assert wire.dropped_by_interface == {"lo": 0, "v0": 0}
    assert wire.summary(at="v0")["protocols"]["arp"]["packets"] >= 1
    with pytest.raises(UsageError, match="some of them twice"):
        wire.summary()
    assert wire.packets == len(table)
    assert table["time_ns"].is_monotonic_increasing
    assert list(file.parent.iterdir()) == [file], "nothing is left beside it"
    network.run("sh", "-ec", "ip link set v0 down; ip link set v1 down")


def taken(file: Path) -> int:
    """How many packets are in a file that is being written."""
    try:
        return len(read(file))
    except CaptureError:
        return 0


def refusal(capture: Capture) -> LabError:
    with pytest.raises(LabError) as caught, capture:
        pytest.fail("it started")
    assert caught.value.hint, "the sentence says what to do"
    return caught.value


def test_no_permission_is_a_sentence(network: Network, file: Path) -> None:
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    if os.geteuid() == 0:
        drop += ["--reuid=65534", "--clear-groups"]

    def start(words: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
        return network.start([*drop, *words], output)

    assert "You may not capture" in refusal(Capture(start, file, ["lo"], stop=interrupt)).message


def test_no_dumpcap_is_a_sentence(network: Network, file: Path) -> None:
    capture = Capture(network.start, file, ["lo"], stop=interrupt)
    capture.dumpcaps[0].words[0] = "no-such-dumpcap"
    error = refusal(capture)
    assert "There is no dumpcap" in error.message
    assert "doctor" in error.hint


@pytest.mark.parametrize("interfaces", [["lo"], ["lo", "v0"]], ids=["one", "two"])
def test_a_full_disk_is_a_sentence_and_what_was_taken_is_kept(
    tmp_path: Path, interfaces: list[str]
) -> None:
    script = f"""
import socket, subprocess
from pathlib import Path
from beowulf.cluster.capturing.capture import Capture
from beowulf.packets.table import read
from beowulf.errors import LabError
up = "ip link set lo up; ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up"
subprocess.run(["sh", "-ec", up + "; mount -t tmpfs -o size=64k tmpfs {tmp_path}"], check=True)
file = Path("{tmp_path}/wire.pcapng")
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def start(words, output):
    return subprocess.Popen(words, stdout=output, stderr=subprocess.PIPE)
try:
    with Capture(start, file, {interfaces}, 2000, stop=lambda process: process.send_signal(2)):
        for number in range(500):
            sender.sendto(b"x" * 500, ("127.0.0.1", 9))
except LabError as problem:
    print(problem)
(kept,) = [path for path in Path("{tmp_path}").rglob("*") if path.is_file() and path.stat().st_size > 9000]
print(len(read(kept)) > 50, kept)
"""
    done = subprocess.run(
        [*UNSHARE, "--mount", sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"},
    )
    if "permission denied" in done.stderr.lower():
        pytest.skip("this container does not allow mounts")
    assert done.returncode == 0, done.stderr
    said, kept = done.stdout.splitlines()
    assert "The disk is full" in said
    assert "wire.pcapng" in said
    assert kept.startswith("True"), "the packets before are there"
    if len(interfaces) > 1:  # no room is left in which to put them together
        assert f"They are kept in {Path(kept.split()[1]).parent}" in said


def test_a_capture_ends_at_a_size_and_keeps_what_came_before(network: Network, file: Path) -> None:
    with Capture(network.start, file, ["lo"], 1 << 18, most_mb=0.1, stop=interrupt) as wire:
        for _ in range(20):
            network.send(count=50, size=1000)
            time.sleep(0.02)
    assert wire.warnings == ["The capture reached its size limit and ended early."]
    assert 100_000 <= file.stat().st_size < 120_000
    assert len(read(file)) < 20 * 50
    assert capinfos(file)[0] == len(read(file))


def test_a_capture_that_is_killed_says_so_and_keeps_what_it_had(
    network: Network, file: Path
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(words: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
        started.append(network.start(words, output))
        return started[-1]

    wire = Capture(start, file, ["lo"], where="node01", stop=interrupt)
    with wire:
        network.send(count=6)
        wait_until(lambda: taken(file) == 6, "six packets in the file")
        started[0].kill()
        started[0].wait()
        with pytest.raises(LabError, match="ended early") as caught:
            wire.stop()
    assert caught.value.node == "node01"
    assert str(file) in caught.value.hint
    assert len(read(file)) == 6


def test_a_process_that_never_becomes_ready_or_does_not_end_when_asked_is_killed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dumpcap, "LONGEST_START_S", 0.5)
    monkeypatch.setattr(dumpcap, "LONGEST_STOP_S", 0.5)
    capture = Capture(fake("time.sleep(60)"), file, ["lo"], stop=interrupt, where="node03")
    assert "dumpcap on node03 could not start" in refusal(capture).message
    script = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + IS_READY + "time.sleep(60)"
    with (
        pytest.raises(LabError, match="ended early"),
        Capture(fake(script), file, ["lo"], stop=interrupt),
    ):
        pass


def test_a_warning_before_packets_are_taken_is_no_reason_why_they_end(file: Path) -> None:
    warnings = "bash: warning: setlocale: cannot change locale\\ndumpcap: '-n' is deprecated"
    script = f'print("{warnings}", file=sys.stderr)\n' + IS_READY
    script += "sys.exit('dumpcap: the network is gone')"
    wire = Capture(fake(script), file, ["lo"], stop=interrupt)
    with pytest.raises(LabError, match="ended early: the network is gone"), wire:
        pass


def test_dropped_packets_are_counted_and_reported(file: Path) -> None:
    counts = "counts = '90/10' if sys.argv[sys.argv.index('-i') + 1] == 'eth0' else '5/2'\n"
    line = "print(f\"Packets received/dropped on interface 'it': {counts} (pcap:0/dumpcap:0)\", file=sys.stderr)"
    script = IS_READY + counts + line
    with Capture(fake(script), file, ["eth0", "lo"], stop=interrupt) as wire:
        wait_until(lambda: all(each.ended for each in wire.dumpcaps), "their ends")
    assert (wire.packets, wire.dropped) == (95, 12)
    assert wire.dropped_by_interface == {"eth0": 10, "lo": 2}
    assert "12 of 107 packets were dropped" in wire.warnings[-1]
