"""Is each knob what it says it is: read, set, read back, and put back exactly as it was?"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodeless_cluster import Nodeless
from running import Beowulf, at_switch, first
from tune_in_process import tune

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.studies import by_kind
from beowulf.tuning import knob_places, log
from beowulf.tuning.change import changing
from beowulf.tuning.knob import Knob
from beowulf.tuning.knobs import ALL, find

pytestmark = pytest.mark.cluster

# What a node is, apart from what counts, from sockets that come and go, from the state of a cable, which the kernel
# tells a moment late, and from what appears on all nodes of all clusters when anybody on this machine wants conntrack.
WHOLE = """
nft list ruleset
sysctl -a --pattern '^net\\.' 2>/dev/null | grep -v nf_conntrack
ethtool -k eth0; ethtool -a eth0 2>&1 || true; ethtool -g eth0 2>&1 || true
ip -d link | sed 's/ state [A-Z]* / /'; ip route; tc qdisc show dev eth0 | sed 's/refcnt [0-9]*//'
cd /sys/class/net
cd eth0 2>/dev/null || true
tail -v -n 9 gro_flush_timeout napi_defer_hard_irqs mtu queues/rx-0/rps_cpus || true
taskset -cp 1; taskset -cp $(</run/sshd.pid) | sed 's/pid [0-9]*//'
ls /run/beowulf | grep -v ssh- || true
"""
NEVER_HERE = {"rings", "bonding", "striping", "multipath"}
ROOTS = {"moderation", "irq-affinity"}
MACHINES_OWN = "sees the /sys of this machine"  # where a container lets no node mount one


@pytest.fixture(scope="module")
def untouched(learner: Beowulf) -> dict[str, str]:
    return whole(learner.cluster)


@pytest.fixture
def cluster(learner: Beowulf, untouched: dict[str, str]) -> Iterator[NamespaceCluster]:
    """The cluster, which every test is to leave as nobody had touched it."""
    yield learner.cluster
    assert whole(learner.cluster) == untouched


def whole(cluster: NamespaceCluster) -> dict[str, str]:
    """All of a cluster that a knob could have touched."""
    found = {"switch": at_switch(cluster, "ip -o link | sed 's/ state [A-Z]* / /'")}
    for node in cluster.nodes:
        done = cluster.administer(node, WHOLE)
        assert done.returncode == 0, done.stderr
        found[node] = done.stdout
    return found


def values(cluster: NamespaceCluster, knob: Knob) -> dict[str, str]:
    return {
        place: each.value for place, each in knob_places.read(cluster, [knob])[knob.name].items()
    }


def turnable(knob: Knob) -> bool:
    absent = NEVER_HERE | (ROOTS if os.geteuid() else set())
    return not knob.on_host and knob.name not in absent


NODES_OWN = [name for name, knob in ALL.items() if turnable(knob)]
# A queue, a packet filter, a card's settings, the kernel's, and control groups.
UNLIKE = ("moderation", "firewall", "offloads", "socket-buffers", "cpu-share")


@pytest.mark.parametrize("name", first(2, sorted(NODES_OWN, key=lambda each: each not in UNLIKE)))
def test_a_knob_is_set_read_back_and_put_back(cluster: NamespaceCluster, name: str) -> None:
    knob = find(name)
    before = knob_places.read(cluster, [knob])[name]
    if MACHINES_OWN in next(iter(before.values())).absent:
        pytest.skip("nodes have no /sys of their own here")
    if "may not make control groups" in next(iter(before.values())).absent:
        pytest.skip("this user may not make control groups")
    assert {each.value for each in before.values()} == {knob.values[0]}
    tried = knob.values[1:]
    for value in dict.fromkeys((tried[0], knob.shows, tried[-1])):
        with changing(cluster, [(knob, value)]) as change:
            change(True)
            assert set(values(cluster, knob).values()) == {value}
            change(False)
            assert knob_places.read(cluster, [knob])[name] == before
            change(True)
        assert knob_places.read(cluster, [knob])[name] == before


@pytest.mark.parametrize("name", first(1, sorted(NEVER_HERE)))
def test_a_knob_that_is_not_here_says_so_and_where_it_is(
    cluster: NamespaceCluster, name: str
) -> None:
    knob = find(name)
    for reading in knob_places.read(cluster, [knob])[name].values():
        assert reading.absent.startswith("not observable here: ")
        assert knob.elsewhere in reading.absent
        assert not reading.value
    turn = (knob, knob.shows)
    with pytest.raises(LabError, match="not observable here"), changing(cluster, [turn]):
        pass


def test_every_knob_tells_what_a_learner_wants_to_know() -> None:
    for name, knob in ALL.items():
        assert knob.name == name
        texts = (knob.title, knob.what, knob.why, knob.here, knob.elsewhere)
        assert all(texts), name
        assert {knob.tuned, knob.shows} <= set(knob.values), name


def test_of_a_thousand_rules_the_first_lines_are_shown(learner: Beowulf) -> None:
    said = tune(learner, "show", "firewall")
    assert "more lines)" in said
    assert len(said.splitlines()) < 40


def test_knobs_together_are_put_back_by_one_command(
    learner: Beowulf, cluster: NamespaceCluster
) -> None:
    here = ["firewall", "offloads", "socket-buffers"]
    for name in here:
        with changing(cluster, [(find(name), find(name).shows)]) as change:
            change.keep()
    assert len(log.of_cluster(cluster).open()) == len(here)
    assert values(cluster, find("firewall"))["node01"] == "1000"
    said = tune(learner, "revert")
    assert all(name in said for name in here)
    assert not log.of_cluster(cluster).open()


def test_only_the_nodes_that_measure_are_changed_until_it_is_kept(
    learner: Beowulf, cluster: NamespaceCluster
) -> None:
    knob = find("firewall")
    with changing(cluster, [(knob, "10")], nodes=["node01"]) as change:
        change(True)
        assert values(cluster, knob) == {"node00": "none", "node01": "10"}
        change.keep()
        assert values(cluster, knob) == {"node00": "10", "node01": "10"}
    tune(learner, "revert")


def test_rules_of_somebody_else_come_back_with_their_counters(cluster: NamespaceCluster) -> None:
    # No packet is of protocol 253, which is kept for experiments, so that nothing but a knob changes the count.
    rules = "type filter hook input priority 5\nip protocol 253 counter packets 7 bytes 70"
    lines = f"nft -f - <<'END'\ntable ip own {{\nchain c {{\n{rules}\n}}\n}}\nEND"
    assert cluster.administer("node01", lines).returncode == 0
    before = whole(cluster)
    knob = find("firewall")
    assert values(cluster, knob)["node01"] == "rules of another program"
    with changing(cluster, [(knob, "none")]) as change:
        change(True)
        assert values(cluster, knob)["node01"] == "none"
    now = whole(cluster)
    cluster.administer("node01", "nft delete table ip own")
    assert now == before
    assert "packets 7 bytes 70" in now["node01"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("firewall", "77"),
        ("moderation", "-1"),
        ("moderation", "٣٠٠٠"),
        ("irq-affinity", "4096"),
        ("bonding", "off"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_a_sentence(name: str, value: str) -> None:
    with pytest.raises(UsageError) as refused:
        find(name).accepted(value)
    assert name in str(refused.value) or "revert" in str(refused.value)


# A card as a PC has it, for the knobs that a cable between namespaces lacks.
CARD = """#!/bin/sh
cd "$(dirname "$0")"
case $1 in
-c) printf 'Adaptive RX: %s  TX: n/a\\nrx-usecs: %s\\nrx-frames: n/a\\n' "$(cat adaptive)" "$(cat usecs)" ;;
-C) case $3 in adaptive-rx) echo "$4" >adaptive ;; rx-usecs) echo "$4" >usecs ;; esac ;;
esac
"""


def test_a_card_of_a_pc_is_turned_by_ethtool(tmp_path: Path) -> None:
    (tmp_path / "ethtool").write_text(CARD)
    (tmp_path / "ethtool").chmod(0o755)
    (tmp_path / "adaptive").write_text("on\n")
    (tmp_path / "usecs").write_text("3\n")

    def run(lines: str) -> str:
        words = ["bash", "--norc", "-eu"]
        path = f"{tmp_path}:{os.environ['PATH']}"
        done = subprocess.run(
            words, input=lines, capture_output=True, text=True, env={**os.environ, "PATH": path}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    knob = find("moderation")
    found = run(knob.look("node00"))
    assert knob.value(found) == "3"
    run(knob.set("500", "node00"))
    assert knob.value(run(knob.look("node00"))) == "500"
    run(knob.back(found, "node00"))
    assert run(knob.look("node00")) == found


def test_on_a_kind_whose_nodes_are_not_ours_nothing_is_changed(tmp_path: Path) -> None:
    with (
        pytest.raises(LabError, match="firewall is not ours to change"),
        changing(Nodeless(tmp_path), [(find("firewall"), "100")]),
    ):
        pass
    with pytest.raises(LabError, match="not ours to change"):
        by_kind.refuse_unseen("E6", Nodeless(tmp_path))
