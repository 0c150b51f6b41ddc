from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from beowulf.cluster import Cluster
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.cluster.recorded import RecordedCluster
from beowulf.errors import LabError, UsageError
from beowulf.measure import cpu_limit
from beowulf.measure.cpu import watched


def test_without_control_groups_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="may not make control groups"):
        cpu_limit.find(tmp_path)


def test_groups_of_version_1_get_a_quota_of_a_period(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    groups = cpu_limit.find(tmp_path)
    made = groups.make("slow")
    groups.limit(made, 0.25)
    assert groups.version == 1
    assert (made / "cpu.cfs_quota_us").read_text() == "2500\n"
    assert (made / "cpu.cfs_period_us").read_text() == "10000\n"


def test_groups_of_version_2_get_their_maximum(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io\n")
    (tmp_path / "cgroup.subtree_control").write_text("\n")
    groups = cpu_limit.find(tmp_path)
    assert groups.version == 2
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu"
    made = groups.make("slow")
    groups.limit(made, 0.5)
    assert (made / "cpu.max").read_text() == "5000 10000\n"


def test_a_group_that_a_killed_measurement_has_left_is_taken_again(tmp_path: Path) -> None:
    groups = cpu_limit.Groups(tmp_path, 2)
    assert groups.make("slow") == groups.make("slow")


@pytest.mark.cluster
@pytest.mark.parametrize("share", [0.0, -1.0, 1.5])
def test_a_share_that_no_node_can_have_is_refused(cluster: NamespaceCluster, share: float) -> None:
    with (
        pytest.raises(UsageError, match="share of a core"),
        cpu_limit.limited_cores(cluster, {"node01": share}),
    ):
        pass


@pytest.mark.cluster
def test_a_node_that_is_not_there_is_refused(cluster: NamespaceCluster) -> None:
    with (
        pytest.raises(UsageError, match="no 'node99'"),
        cpu_limit.limited_cores(cluster, {"node99": 0.5}),
    ):
        pass


def test_other_kinds_of_clusters_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RecordedCluster, "nodes", ("node00",))
    recorded: Cluster = RecordedCluster(tmp_path)
    with (
        pytest.raises(LabError, match="of the kind recorded"),
        cpu_limit.limited_cores(recorded, {"node00": 0.5}),
    ):
        pass


@pytest.mark.cluster
def test_what_goes_wrong_meanwhile_is_reported_as_it_is_and_all_groups_are_gone(
    cluster: NamespaceCluster,
) -> None:
    groups = _groups()

    def measure() -> None:
        with cpu_limit.limited_cores(cluster, {"node00": 0.9, "node01": 0.9}):
            assert len(_of(cluster, groups)) == 2
            raise FileNotFoundError("a file")

    with pytest.raises(FileNotFoundError, match="a file"):
        measure()
    assert _of(cluster, groups) == []


@pytest.mark.cluster
def test_a_node_gets_its_share_and_no_more_and_afterwards_all_is_as_before(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    groups = _groups()
    program = shutil.copy(shutil.which("bash") or "bash", tmp_path / "computes")
    line = f"timeout 3 {program} -c 'while :; do :; done' || true"
    with (
        cpu_limit.limited_cores(cluster, {"node01": 0.2}),
        watched(cluster, ["node01"], "computes") as use,
    ):
        assert _of(cluster, groups)
        cluster.run("node01", line)
    found = sorted(use.percent["node01"])
    # A tenth of a second has ten periods, and may see one of them more.
    assert found[len(found) // 2] < 30
    assert _of(cluster, groups) == []
    assert cluster.processes("node01")


def _groups() -> cpu_limit.Groups:
    try:
        return cpu_limit.find()
    except LabError as refused:
        pytest.skip(str(refused))


def _of(cluster: NamespaceCluster, groups: cpu_limit.Groups) -> list[str]:
    """The groups of this cluster; other tests have clusters, too."""
    own = {f"beowulf-{process.pid}-{node}" for node, process in cluster.supervisor.nodes().items()}
    return [each.name for each in groups.folder.iterdir() if each.name in own]
