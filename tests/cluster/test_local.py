"""Where namespaces are forbidden: does a learner still get a cluster, and hear what it cannot show?

The containers are imitated (tests/forbidden.py), so these tests run inside of such a container, too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from other_user import ada, give
from running import Beowulf, app, first
from typer.testing import CliRunner

from autograder.evidence import invented
from beowulf import connect, mpi, paths, start_engines
from beowulf.cluster import state
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.local import cluster as local
from beowulf.cluster.local.cluster import CANNOT_SHOW, LocalCluster
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces import supervisor
from beowulf.desk import notebook
from beowulf.errors import LabError
from beowulf.home import live
from beowulf.measure import cpu
from beowulf.record import Record
from beowulf.studies import draw, find, given, judge
from beowulf.studies.study import CABLE, Plan

RING = paths.lab("01") / "ring.c"
HELLO = RING.with_name("hello.c")
FORBID = (sys.executable, str(paths.root() / "tests" / "forbidden.py"))
CONTAINERS = {"refused": FORBID, "killed": (*FORBID, "--kill"), "no mount": (*FORBID, "--no-mount")}
ASK = ("bash", str(paths.root() / "cluster_setup" / "namespaces.sh"))


UNEVEN = """\
#include <mpi.h>
#include <unistd.h>
int main(void) {
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        sleep(3);
    for (double begin = MPI_Wtime(); rank == 1 && MPI_Wtime() - begin < 3;)
        ;
    return MPI_Finalize();
}
"""


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[Beowulf]:
    made = Beowulf(tmp_path / "state", tmp_path)
    yield made
    local.down(made.state)


@pytest.fixture
def names(learner: Beowulf, monkeypatch: pytest.MonkeyPatch) -> LocalCluster:
    monkeypatch.setenv("BEOWULF_STATE", str(learner.state))
    return local.up()[0]


# --------------------------------------------------------------- the kind


@pytest.mark.parametrize("library", first(1, ["modern", "classic"]))
def test_ranks_run_under_the_names_of_nodes(learner: Beowulf, library: str) -> None:
    said = learner("up", "--target", "local", "--mpi", library)
    assert f"({library} MPICH)" in said
    assert CANNOT_SHOW in said
    ring = learner("run", "-n", "4", RING)
    for rank in range(4):
        assert f"rank {rank} on node0{rank}" in ring
    assert "the token came home after 4 hops" in ring


def test_messages_go_between_the_addresses_that_the_names_stand_for(names: LocalCluster) -> None:
    code = (
        "import re,sys,time; from mpi4py import MPI; w = MPI.COMM_WORLD; w.Barrier();"
        " ends = {line.split()[1] for line in open('/proc/net/tcp')};"
        " print('seen', *sorted({str(int(each[:2], 16)) for each in ends if each[2:8] == '00007F'}));"
        " w.Barrier()"
    )
    done = names.run("node00", ["mpiexec", "-n", "4", "python", "-c", code])
    assert done.returncode == 0, done.stderr
    # /proc/net/tcp has addresses in the order of this processor's bytes: 0300007F is 127.0.0.3.
    ends = {word for line in done.stdout.splitlines() for word in line.split()[1:]}
    assert {"2", "3", "4", "5"} <= ends or sys.byteorder == "big", done.stdout


def test_a_command_and_its_mpiexec_have_the_name_of_their_node(learner: Beowulf) -> None:
    learner("up", "--target", "local")
    assert learner("ssh", "node02", "hostname") == "node02\n"
    assert learner("ssh", "node01", "getent ahostsv4 node03 | head -n 1").startswith("127.0.0.5")
    # A program of MPI: mpiexec may fail on one that ends before it has got its standard input.
    learner("ssh", "node00", f"mpicc -o hello {HELLO}")
    said = learner("ssh", "node00", "mpiexec -n 2 -hosts node03,node01 ./hello")
    assert sorted(line.split()[-1] for line in said.splitlines()) == ["node01", "node03"]
    assert "There is no 'node07'" in learner("ssh", "node07", "true", code=2)


def test_status_tells_it_and_down_leaves_nothing(learner: Beowulf) -> None:
    learner("up", "--target", "local", "--nodes", "3")
    seen = json.loads(learner("status", "--json"))
    assert (seen["kind"], len(seen["nodes"])) == ("local", 3)
    assert seen["nodes"][2] == {"node": "node02", "address": "127.0.0.4", "state": "up"}
    left = subprocess.Popen(local.running(learner.state).shell("node01", "sleep 1000"))
    assert "The cluster is down." in learner("down")
    assert left.wait(60) != 0
    assert not learner.state.exists()
    assert "No cluster is running." in learner("run", "-n", "2", RING, code=1)


def test_up_again_keeps_its_kind_and_its_number(learner: Beowulf) -> None:
    learner("up", "--target", "local", "--nodes", "3")
    assert "3 nodes are names of this machine" in learner("up")
    assert "cannot be chosen here" in learner("up", "--rate", "10mbit", code=2)
    with pytest.raises(LabError, match="of the kind local is running"):
        namespaces.up(ClusterConfig(), folder=learner.state)
    local.down(learner.state)
    learner.state.mkdir()
    (learner.state / state.SIMULATED).write_text("{}")
    with pytest.raises(LabError, match="of the kind simulated"):
        local.up(folder=learner.state)
    (learner.state / state.SIMULATED).unlink()


def test_what_it_cannot_do_is_said_in_a_sentence(names: LocalCluster, tmp_path: Path) -> None:
    for refused in (
        lambda: names.capture(tmp_path / "x.pcapng"),
        lambda: names.break_it("a"),
        lambda: names.enter("node00"),
        lambda: names.limit(["node00"], "10mbit"),
        lambda: names.administer("node00", "true"),
    ):
        with pytest.raises(LabError):
            refused()


def test_a_shell_of_a_node_cannot_end_its_own_cluster(learner: Beowulf) -> None:
    learner("up", "--target", "local")
    said = learner("ssh", "node01", "beowulf down", code=1)
    assert "This shell is on node01" in said
    assert local.running(learner.state)


@pytest.mark.nightly
def test_engines_are_one_world_under_the_names(
    names: LocalCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    engines = start_engines(names)
    try:
        engines.run(
            "import socket\nfrom mpi4py import MPI\nprint(socket.gethostname(), MPI.COMM_WORLD.rank)"
        )
    finally:
        engines.stop()
    said = capsys.readouterr().out
    assert all(f"node0{rank} {rank}" in said for rank in range(4)), said


@pytest.mark.nightly
@pytest.mark.parametrize("library", first(1, ["classic", "modern"]))
def test_the_cpu_use_of_each_node_is_that_of_its_own_rank(
    learner: Beowulf, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    """Rank 1 computes and rank 0 sleeps, which all nodes could see in the /proc that they share."""
    monkeypatch.setenv("BEOWULF_STATE", str(learner.state))
    names, _ = local.up(mpi=library)
    source = learner.here / "uneven_work.c"
    source.write_text(UNEVEN)
    with cpu.watched(names, names.nodes[:2], "uneven_work") as use:
        done = mpi.launch(names, source, 2)
    assert done.returncode == 0, done.stderr
    assert max(use["node00"]) < max(use["node01"])


# --------------------------------------------------------------- what it says of itself


def test_description_home_page_and_record_say_what_it_cannot_show(names: LocalCluster) -> None:
    about = names.describe()
    assert about["cannot_show"] == CANNOT_SHOW
    assert about["addresses"]["node03"] == "127.0.0.5"
    record = Record(study="E1", cluster=dict(about))
    assert CANNOT_SHOW in record._described()["not shown"]
    sentence = live.look()["sentence"]
    assert CANNOT_SHOW in sentence
    assert "beowulf show A5 --given" in sentence


def test_a_study_of_messages_and_its_verdicts_say_that_they_crossed_no_cable(
    names: LocalCluster, tmp_path: Path
) -> None:
    nothing = Plan(1, {}, lambda measurement: None)
    study = replace(find("E1"), plan=lambda cluster, quick: nothing)
    record = study.measure(names, tmp_path)
    assert CABLE.part in record.warnings
    assert record.cluster["cannot_show"] == CANNOT_SHOW
    measured = replace(given.record("A5"), warnings=[CABLE.part])
    assert any("its messages crossed no cable" in each.evidence for each in judge(measured))


# --------------------------------------------------------------- given Records


def test_a_study_that_cannot_be_seen_gives_the_given_record_with_that_word(
    names: LocalCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = connect(tmp_path / "records")
    record = notebook.study("A5", cluster, progress=False)
    said = capsys.readouterr().out
    assert "Study A5 cannot be seen on this cluster, because no packets can be captured" in said
    assert given.SAYS in said
    assert record.variant == "given"
    assert all("a Record that is given" in verdict.evidence for verdict in judge(record))
    assert "given" in draw(record).title
    assert draw(record).alt.startswith("Given, not yours: ")
    assert not list((tmp_path / "records").glob("A5*"))


def test_the_terminal_names_and_shows_the_given_record(learner: Beowulf) -> None:
    learner("up", "--target", "local")
    said = learner("study", "A5", code=1)
    assert "`beowulf show A5 --given`" in said
    shown = CliRunner().invoke(app, ["show", "A5", "--given"]).output
    assert "given with the labs, not measured by you" in shown
    judged = CliRunner().invoke(app, ["claims", "A5", "--given"]).output
    assert "a Record that is given, not yours" in judged
    assert "A5" in str(CliRunner().invoke(app, ["show", "C4", "--given"]).exception)  # which are
    assert "names the Records that come with the labs" in learner(
        "study", "E1", "--variant", "given", code=2
    )


@pytest.mark.parametrize("study", given.studies())
def test_a_given_record_is_whole(study: str) -> None:
    record = given.record(study)
    assert record
    assert record.complete
    assert not record.sweep.get("quick")
    assert record.cluster["kind"] != "local"
    assert not (find(study).timed and record.busy)
    assert (given.folder() / f"{study}{given.ENDING}").stat().st_size < given.MOST_BYTES


@pytest.mark.parametrize("study", first(3, given.studies()))
def test_a_given_record_is_judged_and_earns_nothing(study: str) -> None:
    record = given.record(study)
    assert record
    # A claim may be left open by what was measured, and not by a noisy machine.
    assert not any("launches of the same program" in each.evidence for each in judge(record))
    handed_in = replace(record, variant="", warnings=[], learner="eve", started=record.ended)
    # Its program can have changed since, which is found, too.
    assert "given with the labs" in invented.findings(handed_in, None, {})[0].says
    point = handed_in.points[0]
    other = replace(handed_in, points=[replace(point, facts={**point.facts, "own": 1})])
    assert not any("given" in each.says for each in invented.findings(other, None, {}))


# --------------------------------------------------------------- the containers


@pytest.mark.parametrize("container", CONTAINERS)
def test_what_forbids_namespaces_is_found_out_before_anything_is_installed(container: str) -> None:
    done = subprocess.run([*CONTAINERS[container], *ASK], capture_output=True, text=True)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert ("kills unshare" in done.stderr) == (container == "killed")


def test_the_question_is_about_the_namespaces_that_nodes_have() -> None:
    words = Path(ASK[1]).read_text().replace("\\\n", " ").split()
    asked = " ".join(words[words.index("--net") :])
    assert asked.startswith(supervisor.OWN_NAMESPACES)


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.rootless
def test_a_user_of_a_container_that_allows_user_namespaces_alone_hears_what_it_forbids() -> None:
    with ada() as found:
        found.prefix = (*found.prefix, *CONTAINERS["no mount"])
        assert subprocess.run([*found.prefix, "unshare", "--user", "true"]).returncode == 0
        done = subprocess.run([*found.prefix, *ASK], capture_output=True, text=True)
        assert done.returncode == 1
        assert re.search("mount|propagation", done.stderr)
        assert "Namespaces cannot be made here" in found("up", code=1)
        found("up", "--target", "local")
        shutil.copy(RING, found.here)
        give(found)
        assert "after 4 hops" in found("run", "-n", "4", "ring.c")
        found("down")


@pytest.mark.parametrize("container", first(1, CONTAINERS))
def test_in_such_a_container_the_labs_programs_run(learner: Beowulf, container: str) -> None:
    learner.prefix = CONTAINERS[container]
    said = learner("up", code=1)
    assert "Namespaces cannot be made here" in said
    assert "`beowulf up --target local`" in said
    assert ("sudo" in said) == (os.geteuid() != 0)
    seen = learner("doctor", code=1)
    [line] = [line for line in seen.splitlines() if "namespaces:" in line]
    assert line.startswith("MISSING")
    assert "`beowulf up --target local`" in line
    assert ("sudo" in line) == (os.geteuid() != 0)
    learner("up", "--target", "local")
    assert "after 4 hops" in learner("run", "-n", "4", RING)


@pytest.mark.nightly
def test_make_lab_opens_jupyterlab_on_it(learner: Beowulf) -> None:
    learner.prefix = FORBID
    learner.environment |= {"BEOWULF_WORK": str(learner.here / "work"), "HOME": str(learner.here)}
    command = learner.start("lab", "--port", "18899")
    said = ""
    assert command.stdout
    for line in command.stdout:
        said += line
        if "Ctrl-C here" in line:
            break
    assert "JupyterLab is at http://127.0.0.1:" in said, said
    assert "Namespaces cannot be made here" in said
    assert "This cluster is of the kind local." in said
    assert local.running(learner.state)
    command.send_signal(2)
    assert "The cluster is down." in command.communicate(timeout=60)[0]
    assert not learner.state.exists()
