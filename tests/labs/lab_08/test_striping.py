"""Do C1 and C3 measure what two networks do, and what is said when a network is pulled?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from running import first, wait_until

from beowulf import mpi, paths
from beowulf.cluster import SWITCH
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_08 import c1_tokens, c2_token_rate, c3_striping, tokens
from beowulf.labs.lab_08.c3_striping import BONDING, KERNEL, MULTIPATH, ONE, PROGRAM_TURNS
from beowulf.studies import find, judge
from beowulf.tuning import knob_places
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL

pytestmark = pytest.mark.cluster
# The longest that a stream, its launch and its end may take when a network is pulled, on a busy machine.
MOST_S = 200.0


@pytest.fixture(scope="module")
def two_networks(
    tmp_path_factory: pytest.TempPathFactory, namespaces_work: None
) -> Iterator[NamespaceCluster]:
    folder = tmp_path_factory.mktemp("striping") / "state"
    yield namespaces.up(ClusterConfig(nodes=3, networks=2, rate="10mbit"), folder=folder)
    namespaces.down(folder=folder)


def settings(cluster: NamespaceCluster) -> dict[str, str]:
    look = (
        "nft list ruleset; ip rule; ip -4 route show table all; ip mptcp limits; ip mptcp endpoint"
    )
    return {node: cluster.administer(node, f"set +e; {look}").stdout for node in cluster.nodes}


@pytest.mark.nightly
def test_every_way_is_measured_and_the_nodes_are_as_before(
    two_networks: NamespaceCluster, tmp_path: Path
) -> None:
    before = settings(two_networks)
    made = find("C3").measure(two_networks, tmp_path, quick=True)
    assert made.complete, made.warnings
    assert settings(two_networks) == before
    facts = c3_striping.Streams.of(made)
    rows = c3_striping.table(facts).set_index(["way", "beside"])
    for way in (KERNEL, MULTIPATH):  # what this kernel has
        assert facts.absent(way) or (way, False) in rows.index
    alone = rows.xs(False, level="beside")
    assert alone.loc[ONE, "second_network_percent"] == 0
    assert alone.loc[PROGRAM_TURNS, "second_network_percent"] == pytest.approx(50, abs=1)
    assert alone.loc[PROGRAM_TURNS, "rate_mb_per_s"] > alone.loc[ONE, "rate_mb_per_s"]
    if not facts.absent(KERNEL):
        assert alone.loc[KERNEL, "second_network_percent"] == pytest.approx(50, abs=2)
        assert rows.loc[(KERNEL, True), "out_of_order_percent"] > 5
    assert facts.absent(BONDING) or (BONDING, False) in rows.index
    assert not list(tmp_path.glob("*.pcapng"))


def test_no_two_streams_of_a_run_have_the_same_port(
    two_networks: NamespaceCluster, tmp_path: Path
) -> None:
    sender, receiver, *_ = two_networks.nodes
    file, streams, size = tmp_path / "streams.pcapng", 400, 1024
    words = ["--kb", str(size // 1024), "--passes", str(streams)]
    addresses = [two_networks.address(receiver, network) for network in (0, 1)]
    words += ["--receiver", ",".join(addresses)]
    ports = "/proc/sys/net/ipv4/ip_local_port_range"
    before = two_networks.administer(receiver, f"cat {ports}; echo 40000 41000 > {ports}").stdout
    try:
        with two_networks.capture(file, where=receiver, packet_filter="tcp"):
            mpi.launch(two_networks, c3_striping.PROGRAM, 2, words, hosts=[sender, receiver])
    finally:
        two_networks.administer(receiver, f"echo {before.strip()} > {ports}")
    senders = [two_networks.address(sender, network) for network in (0, 1)]
    arrived = c3_striping.arrivals(file, senders, addresses, size)
    assert [sum(each["bytes"].values()) for each in arrived].count(size) == streams


@pytest.mark.parametrize(
    ("name", "value"),
    first(1, [("striping", "on"), ("multipath", "accept"), ("multipath", "announce")]),
)
def test_its_knobs_are_set_read_back_and_put_back(
    two_networks: NamespaceCluster, name: str, value: str
) -> None:
    knob, before = ALL[name], settings(two_networks)
    readings = knob_places.read(two_networks, [knob])[name]
    if why := readings["node00"].absent:
        pytest.skip(why)
    with changing(two_networks, [(knob, value)]) as change:
        for _ in range(2):  # set twice is set once
            change(True)
        now = knob_places.read(two_networks, [knob])[name]
        assert {each.value for each in now.values()} == {value}
    assert knob_places.read(two_networks, [knob])[name] == readings
    assert settings(two_networks) == before


def test_a_cluster_with_one_network_is_refused_with_a_sentence(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    with pytest.raises(LabError, match="needs two networks") as refused:
        find("C3").measure(cluster, tmp_path, quick=True)
    assert "--networks 2" in (refused.value.hint or "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
@pytest.mark.parametrize("network", [0, 1])
def test_a_network_that_is_pulled_ends_the_stream_with_a_sentence(
    two_networks: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: int
) -> None:
    before = settings(two_networks)
    port = two_networks.config.port("node01", network)
    monkeypatch.setattr(c3_striping, "QUICK", (1, 3, 4096))
    ways = {KERNEL: c3_striping.WAYS[KERNEL]}
    monkeypatch.setattr(c3_striping, "WAYS", ways)
    if why := c3_striping.missing(two_networks).get(KERNEL):
        pytest.skip(why)
    child = os.fork()
    if child == 0:  # pulls it as soon as the stream uses it
        already = received(two_networks)
        wait_until(lambda: received(two_networks) > already + 200_000, "bytes on network 2")
        two_networks.administer(SWITCH, f"ip link set {port} down")
        os._exit(0)
    began = time.monotonic()
    try:
        with pytest.raises(LabError, match=f"eth{network} of node01 has no carrier") as ended:
            find("C3").measure(two_networks, tmp_path, quick=True)
    finally:
        os.waitpid(child, 0)
        two_networks.administer(SWITCH, f"ip link set {port} up")
    assert time.monotonic() - began < MOST_S
    assert "beowulf up" in (ended.value.hint or "")
    assert not list(tmp_path.glob("*.pcapng"))
    assert knob_places.read(two_networks, [ALL["striping"]])["striping"]["node01"].value == "off"
    assert settings(two_networks)["node00"] == before["node00"]


@pytest.mark.nightly
def test_long_tokens_gain_from_a_second_network_and_short_ones_do_not(
    two_networks: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "QUICK", (1, 10, 8))
    monkeypatch.setattr(tokens, "QUICK_DEMANDS", (1, 8))
    monkeypatch.setattr(tokens, "SIZES", (4, 16, 256, 1024, 4096, 8192, 16384))
    record = c2_token_rate.STUDY.measure(two_networks, tmp_path, quick=True)
    assert record.complete, record.warnings
    facts = tokens.Tokens.of(record)
    assert facts.gain(8, 8192).median > 1.3
    assert facts.gain(8, 256).median < 1.3
    assert len(judge(record)) == 6
    # By the kernel's turns short tokens gain as well.
    assert facts.absent or facts.striped_gain(8, 256).median > 1.3
    assert knob_places.read(two_networks, [ALL["striping"]])["striping"]["node00"].value == "off"
    assert c1_tokens.STUDY.draw(facts).alt
    assert c2_token_rate.STUDY.draw(facts).alt


@pytest.mark.nightly
def test_a_network_that_is_pulled_ends_the_tokens_with_a_sentence(
    two_networks: NamespaceCluster,
) -> None:
    program = mpi.build(paths.lab("08") / "tokens.c", output=two_networks.folder / "tokens")
    words = ["--way", "sockets", "--networks", "2", "--sizes", "8192", "--ms", "60000"]
    port = two_networks.config.port("node01", 1)
    said: list[str] = []
    puller = Thread(
        target=lambda: [time.sleep(3), two_networks.administer(SWITCH, f"ip link set {port} down")]
    )
    puller.start()
    try:
        done = mpi.launch(two_networks, [str(program)], 2, words, errors=said.append)
    finally:
        puller.join()
        two_networks.administer(SWITCH, f"ip link set {port} up")
    assert done.returncode
    assert "Is a network pulled?" in "".join(said), said


def received(cluster: NamespaceCluster) -> int:
    counter = "/sys/class/net/eth1/statistics/rx_bytes"
    return int(cluster.administer("node01", f"cat {counter}").stdout)
