"""Does C3 say what two networks do to one stream, on made-up Records, on a cluster, and when a network is pulled?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import first, wait_until

from beowulf.cluster import SWITCH, namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_08 import c3_striping
from beowulf.labs.lab_08.c3_striping import BONDING, KERNEL, MULTIPATH, ONE, PROGRAM_TURNS
from beowulf.record import Point, Record
from beowulf.studies import find, judge
from beowulf.tuning import knob_places
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL
from tests.gold.lab_08 import record
from tests.gold.measured import as_measured

PASSES, SEGMENTS = 12, 1000
ALONE = {ONE: 1.0, PROGRAM_TURNS: 1.9, KERNEL: 1.8, MULTIPATH: 1.7}
BUSY = {PROGRAM_TURNS: 0.8, KERNEL: 0.6, MULTIPATH: 1.2}
# The longest that a stream, its launch and its end may take when a network is pulled, on a busy machine.
MOST_S = 200.0


def striped(
    rates: dict[str, float] | None = None,
    busy: dict[str, float] | None = None,
    *,
    late: dict[str, float] | None = None,
    again: float = 0.0,
    noise: float = 0.0,
    absent: str = "",
) -> Record:
    """A Record in which each way carries so many times as much as one network, with these shares out of order."""
    points = [Point({"way": absent}, facts={"absent": "this kernel cannot"})] if absent else []
    late = {KERNEL: 0.4} if late is None else late
    for beside, factors in ((False, ALONE | (rates or {})), (True, BUSY | (busy or {}))):
        for way in factors:
            if way != absent:
                for launch in range(3):
                    points += launched(way, beside, launch, factors[way], late, again, noise)
    made = as_measured(record("C3", [], sweep={"size_bytes": 2**20}))
    made.points[:] = points
    return made


def times(way: str, factor: float, noise: float) -> list[float]:
    noise = 0.0 if way == ONE else noise
    return [0.9 / factor * (1 + noise * (number % 2)) for number in range(PASSES)]


def launched(
    way: str,
    beside: bool,
    launch: int,
    factor: float,
    late: dict[str, float],
    again: float,
    noise: float,
) -> Iterator[Point]:
    quantity = c3_striping.BESIDE if beside else c3_striping.STREAM
    yield Point({"way": way, "launch": launch}, quantity, times(way, factor, noise))
    streams: list[dict[str, Any]] = []
    for number in range(PASSES):
        shaken = 1 - noise * (number % 2)
        streams.append(
            {
                "segments": SEGMENTS,
                "out_of_order": round(SEGMENTS * late.get(way, 0.0) * shaken),
                "again": round(SEGMENTS * again * shaken),
                "retransmitted": round(SEGMENTS * again * shaken),
                "acks": SEGMENTS,
                "duplicate_acks": 0,
                "bytes": {"eth0": 600, "eth1": 0 if way == ONE else 400},
            }
        )
    facts = {"streams": streams, "capture": {"dropped": 0}}
    yield Point({"way": way, "beside": beside, "launch": launch}, facts=facts)


@pytest.mark.parametrize(
    ("claim", "made", "outcome"),
    [
        ("kernel-gains", striped({KERNEL: 1.0}), "contradicted"),
        ("kernel-gains", striped({KERNEL: 1.7}, noise=0.5), "inconclusive"),
        ("kernel-gains", striped(absent=KERNEL), "inconclusive"),
        ("program-gains", striped({PROGRAM_TURNS: 2.6}), "contradicted"),
        ("multipath-gains", striped({MULTIPATH: 1.1}), "contradicted"),
        ("bonding-gains", striped({BONDING: 1.9}), "holds"),
        ("overtakes", striped(late={}), "contradicted"),
        ("overtakes", striped(late={KERNEL: 0.012}, noise=0.8), "inconclusive"),
        ("program-keeps-order", striped(late={PROGRAM_TURNS: 0.2}), "contradicted"),
        ("twice", striped(again=0.05), "holds"),
        ("twice", striped(again=0.012, noise=0.8), "inconclusive"),
        ("blind", striped(busy={KERNEL: 1.6}), "contradicted"),
        ("blind", striped(busy={KERNEL: 1.2}, noise=0.5), "inconclusive"),
    ],
)  # fmt: skip
def test_each_claim_of_striping_has_each_outcome(claim: str, made: Record, outcome: str) -> None:
    assert judge(made).named(claim).outcome == outcome


def test_what_the_record_shows_holds() -> None:
    found = {verdict.claim: verdict.outcome for verdict in judge(striped())}
    others = {"twice": "contradicted", "bonding-gains": "inconclusive"}
    assert {claim: each for claim, each in found.items() if each != "holds"} == others


def test_packets_that_a_capture_dropped_leave_its_claims_open_and_no_others() -> None:
    made = striped()
    made.points[1].facts["capture"]["dropped"] = 3
    outcomes = {verdict.claim: verdict.outcome for verdict in judge(made)}
    assert outcomes["overtakes"] == outcomes["twice"] == "inconclusive"
    assert outcomes["kernel-gains"] == "holds"


def test_a_way_that_a_kernel_lacks_is_named_with_the_reason() -> None:
    verdict = judge(striped(absent=MULTIPATH)).named("multipath-gains")
    assert "this kernel cannot" in str(verdict)


def test_the_picture_has_each_way_that_was_measured() -> None:
    drawn = c3_striping.picture(c3_striping.Streams.of(striped()))
    assert set(drawn.table["way"]) == {ONE, PROGRAM_TURNS, KERNEL, MULTIPATH}
    assert "Out of order" in drawn.alt


# --------------------------------------------------------------- on a cluster


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


@pytest.mark.cluster
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


@pytest.mark.cluster
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


@pytest.mark.cluster
def test_a_cluster_with_one_network_is_refused_with_a_sentence(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    with pytest.raises(LabError, match="needs two networks") as refused:
        find("C3").measure(cluster, tmp_path, quick=True)
    assert "--networks 2" in (refused.value.hint or "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.parametrize("network", [0, 1])
def test_a_network_that_is_pulled_ends_the_stream_with_a_sentence(
    two_networks: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: int
) -> None:
    before = settings(two_networks)
    port = two_networks.config.port("node01", network)
    amount = c3_striping.Amount(launches=1, passes=3, kb=4096)
    monkeypatch.setattr(c3_striping, "QUICK", amount)
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


def received(cluster: NamespaceCluster) -> int:
    counter = "/sys/class/net/eth1/statistics/rx_bytes"
    return int(cluster.administer("node01", f"cat {counter}").stdout)
