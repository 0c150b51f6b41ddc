"""Do packets of machines whose clocks differ come into the order in which they were sent?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from running import PATIENCE_S, first

from beowulf import mpi
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.packets import clocks
from beowulf.packets.table import read

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def run(cluster: NamespaceCluster, sends: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run at the switch, which has one clock."""
    folder = tmp_path_factory.mktemp("clocks")
    with cluster.capture(folder / "switch.pcapng") as wire:
        done = mpi.launch(cluster, sends, 4, [str(folder), "131040"], timeout_s=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert wire.where == "switch"
    return folder / "switch.pcapng"


def parts(
    run: Path, cluster: NamespaceCluster, folder: Path, ahead_s: dict[str, float], *only: str
) -> dict[str, list[Path]]:
    """What each node sent, by a clock that is ahead by so many seconds."""
    found = {}
    for node in only or cluster.nodes:
        mine, skewed = folder / f"{node}.mine", folder / f"{node}.pcapng"
        chosen = f"ip.src == {cluster.address(node)}"
        for words in (
            ["tshark", "-r", run, "-Y", chosen, "-w", mine],
            ["editcap", "-t", str(ahead_s.get(node, 0.0)), mine, skewed],
        ):
            subprocess.run(list(map(str, words)), check=True, capture_output=True)
        found[node] = [skewed]
    return found


@pytest.mark.parametrize(
    "ahead_s", first(1, [{"node01": 0.03, "node03": -0.25}, {"node00": 2.5, "node02": 0.02}])
)
def test_times_of_clocks_that_differ_are_shifted_until_no_answer_is_early(
    run: Path, cluster: NamespaceCluster, tmp_path: Path, ahead_s: dict[str, float]
) -> None:
    files = parts(run, cluster, tmp_path, ahead_s)
    by, well = clocks.shifts_s(files)
    assert well
    first = ahead_s.get("node00", 0.0)
    for node in cluster.nodes:
        assert by.get(node, 0.0) == pytest.approx(first - ahead_s.get(node, 0.0), abs=0.015)
    shifted, warnings = clocks.order(files, {})
    assert shifted == by
    assert all(any(node in said for said in warnings) for node in shifted)
    # What was in disorder is in order: no answer is before its question.
    assert clocks.shifts_s(files) == ({}, True)


def test_times_of_one_clock_stay_as_they_are(
    run: Path, cluster: NamespaceCluster, tmp_path: Path
) -> None:
    files = parts(run, cluster, tmp_path, {}, "node00", "node01")
    before = [file.read_bytes() for each in files.values() for file in each]
    assert clocks.order(files, dict.fromkeys(files, 0.0)) == ({}, [])
    assert [file.read_bytes() for each in files.values() for file in each] == before


def test_what_is_known_of_a_clock_beforehand_is_taken_away_from_a_quiet_wire(
    run: Path, cluster: NamespaceCluster, tmp_path: Path
) -> None:
    files = parts(run, cluster, tmp_path, {"node01": 40.0}, "node01")
    then = read(files["node01"][0])["time_ns"].iloc[0]
    shifted, warnings = clocks.order(files, {"node01": 40.0})
    assert shifted == {"node01": -40.0}
    assert "The clock of node01 differs" in warnings[0]
    assert then - read(files["node01"][0])["time_ns"].iloc[0] == pytest.approx(40e9, abs=1e4)
