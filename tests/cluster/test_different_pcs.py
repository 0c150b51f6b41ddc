"""Do PCs of unlike make measure, or refuse in a sentence, and does the Record say in what they differ?

Two PCs (tests/simulated_pcs.py). The second has a card of another name and MTU, less memory, and a clock that is ahead.
On both a learner's .bashrc prints.
"""

from __future__ import annotations

import json
import os

import pytest
from running import Beowulf, unfulfilled

from beowulf import paths
from beowulf.cluster.machines import cluster as ssh
from beowulf.cluster.machines.cluster import ASKED_TOO, SshCluster
from beowulf.record import Record
from tests.simulated_pcs import CARD, Hall

pytestmark = [pytest.mark.cluster, pytest.mark.nightly]
PCS = 2
LABS = paths.root() / "labs"
ODD = "node01"
OTHER_CARD, OTHER_MTU = "enp7s0", 1400
# As a distribution's own does, without a look whether anybody types.
MEMORY = ASKED_TOO["memory"]
BASHRC = "echo 'Welcome back, Ada!'\nprintf 'a=b 1.5 '\n"


@pytest.fixture(scope="module")
def pcs(pcs: Hall) -> Hall:
    pcs.at(
        ODD,
        f"ip link set {CARD} down; ip link set {CARD} name {OTHER_CARD};"
        f" ip link set {OTHER_CARD} mtu {OTHER_MTU} up;"
        " echo 'MemTotal: 100000 kB\nMemAvailable: 90000 kB' >/tmp/memory; mount --bind /tmp/memory /proc/meminfo;"
        ' printf \'#!/bin/sh\nexec /usr/bin/date -d "+7 seconds" "$@"\n\' >/usr/local/bin/date;'
        " chmod 755 /usr/local/bin/date",
    )
    for name in pcs.names:
        pcs.at(name, f"cat >/root/.bashrc <<'END'\n{BASHRC}END")
    return pcs


@pytest.fixture
def cluster(connected: Beowulf) -> SshCluster:
    found = ssh.running(connected.state)
    assert found
    return found


def test_what_a_bashrc_prints_is_no_part_of_an_answer(cluster: SshCluster) -> None:
    for node in cluster.nodes:
        assert cluster.run(node, "hostname").stdout == f"{node}\n"
    ahead = cluster.clock_errors_s()
    assert ahead["node00"] == 0.0
    assert 6.0 < ahead[ODD] <= 7.0
    assert cluster.describe()["congestion_control"].isalpha()


def test_what_a_bashrc_prints_is_no_part_of_programs_packets_and_verdicts(
    connected: Beowulf,
) -> None:
    said = connected("run", "-n", "2", LABS / "01-validation" / "hello.c")
    assert sorted(said.splitlines()) == ["rank 0 of 2 on node00", "rank 1 of 2 on node01"]
    ring = LABS / "01-validation" / "ring.c"
    for place in ("nodes", ODD):
        words = ("capture", "-o", f"{place}.pcapng", "--where", place, "-n", "2", "--", ring)
        assert "(0 dropped" in connected(*words)
        assert json.loads(connected("packets", f"{place}.pcapng", "--json"))["packets"] > 0
    assert not unfulfilled(json.loads(connected("validate", "--json")))


def test_a_study_measures_on_different_machines_and_says_in_what_they_differ(
    connected: Beowulf, cluster: SshCluster
) -> None:
    records = connected.here / "records"
    connected("study", "A6", "--quick", "--records", records)
    [path] = records.glob("A6*.json")
    record = Record.load(path)
    assert record.complete
    assert record.cluster["differ"] == {
        "mtu": {"node00": "1500", ODD: str(OTHER_MTU)},
        "clock": {"node00": "right", ODD: "7 s ahead"},
        "memory": {"node00": cluster.run("node00", MEMORY).stdout.strip(), ODD: "0.1 GB"},
    }
    assert f"1500 on node00, {OTHER_MTU} on {ODD}" in record._repr_html_()
    assert record.cluster["node_cards"] == {"node00": CARD, ODD: OTHER_CARD}
    assert record.cluster["mtu"] == "1500"
    # They are namespaces of this machine, whose cores they share.
    about = record.select(about=True)[0].facts
    shared = cluster.run("node00", "echo $BEOWULF_SHARED_CORES").stdout
    assert int(shared) == len(os.sched_getaffinity(0))
    assert about["patient_ranks"] == (2 if int(shared) < 2 else 0)
