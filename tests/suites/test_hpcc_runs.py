"""Does the real hpcc run on the nodes with its own MPI, leave ours alone, and leave nothing behind?"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from running import app, wait_until
from typer.testing import CliRunner

from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_03 import e4_hpcc
from beowulf.suites import hpcc, problem
from beowulf.suites.hpcc_results import RESULTS, SECTIONS

pytestmark = pytest.mark.cluster
TINY = 160


@pytest.fixture(scope="module")
def master(cluster: NamespaceCluster) -> str:
    return cluster.nodes[0]


def left(cluster: NamespaceCluster) -> list[str]:
    """Processes of hpcc and of its launcher on any node."""
    return [
        f"{node}: {name}"
        for node in cluster.nodes
        for name in cluster.run(node, "ps -e -o comm=").stdout.split()
        if name in ("hpcc", "orted", "mpirun.openmpi")
    ]


@pytest.mark.usefixtures("hpcc_is_here")
def test_the_nodes_shells_still_have_our_mpi_first(cluster: NamespaceCluster, master: str) -> None:
    assert Path("/usr/bin/mpirun").exists(), (
        "Debian's alternatives are there, which could capture it"
    )
    ask = "for name in mpicc mpiexec mpirun; do command -v $name; done; mpicc -show"
    mpicc = str(paths.mpi_prefix("classic") / "bin" / "mpicc")
    own = [mpicc, *(str(cluster.folder / "bin" / name) for name in ("mpiexec", "mpirun"))]
    # A command over ssh, and a login shell that is typed into.
    for words, stdin in ((ask, ""), ("", ask)):
        said = cluster.run(master, words, stdin=stdin).stdout.split("\n")
        assert said[:3] == own
        assert "openmpi" not in said[3]


@pytest.mark.nightly
@pytest.mark.usefixtures("hpcc_is_here")
def test_a_failed_check_ends_with_1_after_the_figures_were_shown(
    cluster: NamespaceCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEOWULF_STATE", str(cluster.folder))
    monkeypatch.setattr(problem, "THRESHOLD", 1e-9)  # which no solution in double precision reaches
    done = CliRunner().invoke(app, ["suite", "hpl", "-n", "2", "--size", str(TINY)])
    assert isinstance(done.exception, LabError)
    assert done.exception.exit_code == 1
    assert "solution 1 of 3 fails its check" in str(done.exception)
    rows = [line.split() for line in done.stdout.splitlines() if line.endswith("FAILED")]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert all(float(row[2]) > 0 for row in rows)
    assert "DGEMM" in done.stdout
    wait_until(lambda: not left(cluster), "nothing of hpcc is left on a node")


@pytest.mark.nightly
@pytest.mark.usefixtures("hpcc_is_here")
def test_a_study_of_the_real_suite_has_every_figure(
    cluster: NamespaceCluster,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(hpcc, "SCRATCH", str(scratch))
    reported: list[str] = []
    record = e4_hpcc.STUDY.measure(
        cluster,
        tmp_path,
        quick=True,
        size=TINY,
        progress=lambda done, of, what: reported.append(what),
    )
    record.save_in(tmp_path)
    # b_eff, whose messages are cut short here, looks at the first and the last byte of what it gets.
    assert "ERROR" not in capsys.readouterr().err
    measured = {point.quantity for point in record.points if point.samples}
    assert {result.key for result in RESULTS if not result.rings} <= measured
    assert not {result.key for result in RESULTS if result.rings} & measured
    (about,) = record.select(suite="hpcc")
    assert about.facts["failures"] == []
    assert about.facts["summary"]["CommWorldProcs"] == "4"
    assert "libblas" in about.facts["blas"]
    assert "Open MPI" in about.facts["mpi_library"]
    assert set(about.facts["sections_s"]) == set(SECTIONS)
    assert record.sweep["input"] == problem.of_size(TINY, 4).text
    assert "E4: HPL" in reported
    verdicts = {verdict.claim: verdict.outcome for verdict in e4_hpcc.STUDY.claims(record)}
    assert verdicts["checks"] == "holds"
    assert verdicts["tuned-time"] == "inconclusive"
    assert e4_hpcc.STUDY.picture(record).alt
    assert list(scratch.iterdir()) == []


@pytest.mark.nightly
@pytest.mark.usefixtures("hpcc_is_here")
def test_a_run_that_takes_too_long_is_ended_on_every_node(cluster: NamespaceCluster) -> None:
    # The wire alone needs longer for b_eff's long messages.
    with pytest.raises(LabError, match="hpcc did not end within 2 s"):
        hpcc.run(cluster, problem.of_size(960, 4), timeout_s=2)
    wait_until(lambda: not left(cluster), "nothing of hpcc is left on a node")


def test_a_node_without_hpcc_is_named(
    cluster: NamespaceCluster, master: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hpcc, "HPCC", "/nowhere/hpcc")
    with pytest.raises(LabError, match=f"hpcc is not installed on {master}") as refused:
        hpcc.run(cluster, problem.of_size(TINY, 4))
    assert "`sudo apt-get install hpcc`" in str(refused.value)


@pytest.mark.usefixtures("hpcc_is_here")
def test_nodes_of_one_machine_have_its_memory_once_and_too_little_is_refused_before_anything_starts(
    cluster: NamespaceCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, has = (hpcc.machine(cluster, list(cluster.nodes[:n])) for n in (1, 4))
    assert has.cores == one.cores
    assert has.memory_bytes < 2 * one.memory_bytes
    small = dataclasses.replace(has, memory_bytes=300 * 1024**2)
    monkeypatch.setattr(hpcc, "machine", lambda cluster, nodes: small)
    monkeypatch.setattr(hpcc.mpi, "launch", lambda *words, **more: pytest.fail("it was started"))
    with pytest.raises(LabError, match="MiB of memory"):
        hpcc.run(cluster, problem.of_size(2400, 4))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("hpl -n 0", "at least 1 node, not 0"),
        ("hpl -n 9", "9 ranks need 9 nodes, but this cluster has 4"),
        ("hpcc --size 7", "160 to 400,000 equations, not 7"),
    ],
)
def test_what_cannot_be_run_is_a_sentence(
    cluster: NamespaceCluster, monkeypatch: pytest.MonkeyPatch, words: str, sentence: str
) -> None:
    monkeypatch.setenv("BEOWULF_STATE", str(cluster.folder))
    done = CliRunner().invoke(app, ["suite", *words.split()])
    assert isinstance(done.exception, UsageError)
    assert sentence in str(done.exception)
