"""Does an MPI program compile and run on all nodes, and does each way of going wrong end in a sentence?"""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from running import PATIENCE_S, Beowulf, first, nothing_runs, wait_until

from beowulf import mpi, paths
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.measure import roundtrips
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import SweepConfig
from beowulf.record import Record
from beowulf.studies.roundtrip_sweep import sweep

pytestmark = pytest.mark.cluster

LAB = paths.root() / "labs" / "01-validation"
CORES = len(os.sched_getaffinity(0))
CRASH = signal.strsignal(signal.SIGSEGV)

BEGIN = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d begins\\n", rank);
    fflush(stdout);
    const char *name = strrchr(argv[0], '/') + 1;
"""
END = """
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
PROGRAMS = {
    "abort": "if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 42);",
    "segfault": "if (rank == 1) *(volatile int *)0 = 1;",
    "leave": "if (rank == 1) exit(3);",
    "hang": "if (rank == 1) MPI_Recv(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    "spin": "for (;;) MPI_Barrier(MPI_COMM_WORLD);",
    "flood": 'for (;;) puts("more and more");',
    "garbage": "for (int i = 0; i < 1000; i++) putchar(i * 7919 % 256);",
    "arguments": """
    MPI_Comm shared;
    int size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &size);
    printf("shares with %d\\n", size);
    if (rank == 0) for (int i = 1; i < argc; i++) printf("<%s>\\n", argv[i]);
""",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One program by several names, each of which tells what it does."""
    folder = tmp_path_factory.mktemp("programs")
    found = {name: folder / name for name in PROGRAMS}
    bodies = (f'if (!strcmp(name, "{name}")) {{ {body} }}\n' for name, body in PROGRAMS.items())
    (folder / "any.c").write_text(BEGIN + "".join(bodies) + END)
    program = mpi.build(folder / "any.c")
    for path in found.values():
        path.hardlink_to(program)
    return found


@pytest.fixture
def lab_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nothing_is_left(learner: Beowulf, program: Path) -> None:
    """Wait until nothing of a program, or of any launcher, runs: what was killed still needs a core to end."""
    names = (str(program), "hydra", "mpiexec", "bin/connection")
    wait_until(
        lambda: not any(name in words for words in learner.processes() for name in names),
        "nothing of the run is left",
    )


def test_a_program_of_the_labs_is_compiled_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_time = mpi.build(LAB / "ring.c", output=tmp_path / "first")
    own = tmp_path / "ring.c"
    shutil.copy(LAB / "ring.c", own)
    with pytest.raises(LabError, match="fno-such-flag"):
        mpi.build(LAB / "ring.c", output=tmp_path / "other", flags=["-fno-such-flag"])
    no_compiler = partial(subprocess.CompletedProcess, [], 1, "", "no compiler")
    monkeypatch.setattr(subprocess, "run", lambda *words, **how: no_compiler())
    again = mpi.build(LAB / "ring.c", output=tmp_path / "again")
    assert again.read_bytes() == first_time.read_bytes()
    with pytest.raises(LabError, match="no compiler"):
        mpi.build(own, output=tmp_path / "own")


def test_a_header_that_changes_makes_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    source, header = tmp_path / "labs" / "01" / "a.c", tmp_path / "labs" / "include" / "b" / "b.h"
    for file in (source, header):
        file.parent.mkdir(parents=True)
        file.write_text("int a;")
    before = mpi._kept(source, ["mpicc", "-o", "a"])
    assert mpi._kept(source, ["mpicc", "-o", "b"]) == before
    header.write_text("long a;")
    assert mpi._kept(source, ["mpicc", "-o", "a"]) != before


def test_hello_reaches_every_node(cluster: NamespaceCluster, lab_folder: Path) -> None:
    program = mpi.build(LAB / "hello.c", output=lab_folder / "hello")
    done = mpi.launch(cluster, program, 4)
    assert sorted(done.stdout.splitlines()) == [f"rank {i} of 4 on node0{i}" for i in range(4)]
    assert (done.returncode, done.stderr) == (0, "")
    assert mpi.failure(done, "hello") == ""


def test_a_program_gets_its_arguments_as_they_are_and_shares_no_memory_with_other_nodes(
    cluster: NamespaceCluster, programs: dict[str, Path], lab_folder: Path
) -> None:
    arguments = ["two words", "it's", '"', "$HOME", "*", "-n", "ä", ""]
    done = mpi.launch(cluster, programs["arguments"], 2, arguments)
    lines = [line for line in done.stdout.splitlines() if line.startswith("<")]
    assert lines == [f"<{argument}>" for argument in arguments]
    assert done.stdout.count("shares with 1\n") == 2


def test_ranks_run_on_the_hosts_in_the_folder_and_with_the_environment_that_are_asked_for(
    cluster: NamespaceCluster, lab_folder: Path
) -> None:
    ask = ["sh", "-c", 'echo "$(hostname) $(pwd) $WISH"']
    done = mpi.launch(cluster, ask, 2, environment={"WISH": "a b"}, hosts=["node03", "node01"])
    assert sorted(done.stdout.splitlines()) == [f"node0{i} {lab_folder} a b" for i in (1, 3)]


def test_a_program_may_have_an_odd_name_and_options_like_ours(
    at_cluster: Beowulf, programs: dict[str, Path]
) -> None:
    name = './-it\'s a "dash" ünï $HOME'
    shutil.copy(LAB / "hello.c", at_cluster.here / f"{name}.c")
    said = at_cluster("run", "-n", "2", f"{name}.c")
    assert sorted(said.splitlines()) == [f"rank {i} of 2 on node0{i}" for i in range(2)]
    # What follows two hyphens is the program's own.
    said = at_cluster("run", "-n", "1", programs["arguments"], "--", "-n", "2", "--timeout=3")
    assert re.findall("<.*>", said) == ["<-n>", "<2>", "<--timeout=3>"]


def test_mpi4py_runs_on_the_library_that_the_papers_results_depend_on(at_cluster: Beowulf) -> None:
    (at_cluster.here / "ring.py").write_text(
        "from mpi4py import MPI\n"
        "w = MPI.COMM_WORLD\n"
        "print(w.rank, w.size, MPI.Get_processor_name(), w.allreduce(w.rank),"
        " MPI.Get_library_version().split()[2])\n"
    )
    said = at_cluster("run", "-n", "4", "ring.py")
    assert sorted(said.splitlines()) == [f"{i} 4 node0{i} 6 3.4.3" for i in range(4)]
    assert "ch3" in at_cluster("ssh", "node00", "mpichversion")


@pytest.mark.nightly
def test_the_modern_library_runs_programs_of_its_own(beowulf: Beowulf) -> None:
    if not (paths.mpi_prefix("modern") / "bin" / "mpiexec").exists():
        pytest.skip("the modern MPICH is not installed here")
    beowulf("up", "--mpi", "modern", "--nodes", "2")
    shutil.copy(LAB / "hello.c", beowulf.here)
    said = beowulf("run", "-n", "2", "hello.c")
    assert sorted(said.splitlines()) == [f"rank {i} of 2 on node0{i}" for i in range(2)]
    said = beowulf("ssh", "node01", "mpichversion; mpicc hello.c -o hi && mpiexec -n 2 ./hi")
    assert "ch4" in said
    assert "rank 0 of 2 on node00" in said
    (beowulf.here / "version.py").write_text(
        "from mpi4py import MPI\n"
        "print(MPI.COMM_WORLD.allreduce(1), MPI.Get_library_version().split()[2])\n"
    )
    said = beowulf("run", "-n", "2", "version.py")
    assert [line.split()[0] for line in said.splitlines()] == ["2", "2"]
    assert "3.4.3" not in said


# Bad programs


def test_a_program_that_does_not_compile_is_reported_with_the_compilers_words(
    at_cluster: Beowulf,
) -> None:
    (at_cluster.here / "bad.c").write_text("int main(void) { return missing; }\n")
    said = at_cluster("run", "bad.c", code=1)
    assert "bad.c does not compile" in said
    assert "missing" in said
    assert "Fix the first error" in said
    assert not (at_cluster.here / "bad").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("absent.c", "There is no file absent.c. Give the path"),
        ("note.txt", "There is no program note.txt. Did you mean notes.txt?"),
        ("ring.cc", "ring.cc is not a program. Give a compiled program or a C source."),
        ("notes.txt", "notes.txt is not a program"),
        ("-n 0 hello.c", "rank"),
        # An option of ours behind the program.
        ("hello.c 1 --timeout=3 x", "`beowulf run --timeout=3 hello.c 1 x`; or"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_refused(at_cluster: Beowulf, words: str, sentence: str) -> None:
    (at_cluster.here / "notes.txt").write_text("no program")
    for name in ("hello.c", "ring.cc"):
        (at_cluster.here / name).touch()
    assert sentence in at_cluster("run", *words.split(), code=2)


@pytest.mark.nightly
def test_a_file_that_nobody_can_execute_is_reported(at_cluster: Beowulf) -> None:
    script = at_cluster.here / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    said = at_cluster("run", "script", code=1)
    # The shell's own words, which differ between its versions, are above ours.
    above, ours, _ = said.partition("beowulf: script ended with")
    assert ours
    assert str(script) in above


BAD_ENDS = {
    "abort": "abort ended with exit code 42.",
    # Hydra's proxy on node00 may hear of it too late to end in order.
    "leave": r"(leave ended with|A rank of leave on node01 ended with exit code 1\.)",
    # Whichever rank is heard first: the one that crashed, or one that misses it.
    "segfault": f"(segfault ended|A rank of segfault on node01 ended with 11; as a signal, that is: {CRASH})",
}


@pytest.mark.parametrize("name", BAD_ENDS)
def test_a_program_that_ends_badly_is_reported(
    at_cluster: Beowulf, programs: dict[str, Path], name: str
) -> None:
    _, _, after = at_cluster("run", programs[name], code=1).rpartition("beowulf: ")
    assert re.match(BAD_ENDS[name], after), after
    nothing_is_left(at_cluster, programs[name])


def test_a_program_that_never_ends_is_stopped_by_the_time_out(
    at_cluster: Beowulf, cluster: NamespaceCluster, programs: dict[str, Path]
) -> None:
    said = at_cluster("run", "--timeout", "1", programs["hang"], code=1)
    assert "hang did not end within 1 s; it was stopped." in said
    assert "be waiting for a message" in said
    assert "--timeout" in said
    nothing_is_left(at_cluster, programs["hang"])
    with pytest.raises(LabError, match=r"sleep did not end within 0\.5 s") as caught:
        mpi.launch(cluster, Path("/bin/sleep"), 1, ["600"], timeout_s=0.5)
    assert "be waiting for a message" not in caught.value.hint, "one rank alone waits for none"


# Input


def test_a_program_reads_its_input_to_the_end(at_cluster: Beowulf) -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))
    # Also on rank 1, which has none, the program ends.
    assert at_cluster("run", "-n", "2", "/bin/cat", stdin=text) == text
    at_cluster.prefix = ("bash", "-c", 'exec "$@" <&-', "x")
    assert at_cluster("run", "-n", "1", "/bin/cat") == ""


def test_a_program_without_mpi_that_ends_at_once_ends_well_in_a_script(at_cluster: Beowulf) -> None:
    # With input that nobody reads, one of ten used to fail: mpiexec handed it on to a rank that was gone.
    for stdin in ("5\n", "5\n", ""):
        said = at_cluster("run", "-n", "2", "/bin/hostname", stdin=stdin)
        assert sorted(said.split()) == ["node00", "node01"]


def test_endless_output_is_stopped(
    cluster: NamespaceCluster,
    programs: dict[str, Path],
    lab_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mpi, "MOST_OUTPUT_BYTES", 1024 * 1024)
    with pytest.raises(LabError, match="flood printed more than 1 MiB; it was stopped"):
        mpi.launch(cluster, programs["flood"], 2, timeout_s=PATIENCE_S)
    nothing_is_left(Beowulf(cluster.folder, lab_folder), programs["flood"])


def test_output_that_nobody_reads_any_more_ends_the_run(
    at_cluster: Beowulf, programs: dict[str, Path]
) -> None:
    run = at_cluster.start("run", "-n", "2", programs["flood"])
    assert run.stdout
    assert "begins" in run.stdout.readline()
    run.stdout.close()
    run.wait(PATIENCE_S)
    nothing_is_left(at_cluster, programs["flood"])


def test_output_that_a_full_disk_refuses_is_reported(
    at_cluster: Beowulf, programs: dict[str, Path]
) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            at_cluster.words("run", "-n", "2", programs["garbage"]),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=at_cluster.environment,
            timeout=PATIENCE_S,
        )
    assert done.returncode == 1
    assert os.strerror(errno.ENOSPC) in done.stderr
    assert "Traceback" not in done.stderr


def test_letters_of_several_bytes_stay_whole_and_garbage_is_passed_on(
    at_cluster: Beowulf, cluster: NamespaceCluster, programs: dict[str, Path]
) -> None:
    (at_cluster.here / "letters.py").write_text(
        "import sys, time\n"
        "for byte in 'ä€😀\\n'.encode():\n"
        "    sys.stdout.buffer.write(bytes([byte])); sys.stdout.flush(); time.sleep(0.01)\n"
    )
    assert at_cluster("run", "-n", "1", "letters.py") == "ä€😀\n"
    done = mpi.launch(cluster, programs["garbage"], 2)
    assert done.stdout.count("\0") == sum(i * 7919 % 256 == 0 for i in range(1000)) * 2


def test_a_folder_that_a_node_does_not_have_is_reported(
    at_cluster: Beowulf, programs: dict[str, Path]
) -> None:
    own = Path("/dev/shm") / f"beowulf-test-{os.getpid()}"
    own.mkdir()
    try:
        away = Beowulf(at_cluster.state, own)
        said = away("run", "-n", "2", programs["garbage"], code=1)
        assert f"node00 has no folder {own}: work in one that all nodes share" in said
    finally:
        shutil.rmtree(own)


def test_a_folder_that_is_gone_is_reported(at_cluster: Beowulf, programs: dict[str, Path]) -> None:
    gone = at_cluster.here / "gone"
    gone.mkdir()
    words = at_cluster.words("run", "-n", "2", programs["garbage"])
    done = subprocess.run(
        ["bash", "-c", 'rmdir "$PWD"; exec "$@"', "x", *words],
        cwd=gone,
        env=at_cluster.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 1
    assert "beowulf: The folder that you are in is gone." in done.stderr


# Ends that come from outside


@pytest.fixture(scope="module")
def frail(
    tmp_path_factory: pytest.TempPathFactory, namespaces_work: None
) -> Iterator[NamespaceCluster]:
    """A cluster whose nodes die; it is healed before each test."""
    folder = tmp_path_factory.mktemp("frail") / "state"
    yield namespaces.up(ClusterConfig(), folder=folder)
    namespaces.down(folder=folder)


@pytest.fixture
def learner(frail: NamespaceCluster, tmp_path: Path) -> Beowulf:
    namespaces.up(ClusterConfig(), folder=frail.folder)
    return Beowulf(frail.folder, tmp_path)


def begun(run: subprocess.Popen[str], ranks: int = 4) -> None:
    """Wait until all ranks have begun."""
    assert run.stdout
    seen = ""
    for _ in range(ranks):
        line = run.stdout.readline()
        seen += line
        assert "begins" in line, seen


def ended(run: subprocess.Popen[str]) -> str:
    """What it says from now to its end; unnoticed, a lost node would hold it up for a quarter of an hour."""
    said, _ = run.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in said
    return said


LOSSES = {
    "a dead node": lambda cluster: cluster.kill("node02"),
    "a dead link": lambda cluster: cluster.administer("node02", "ip link set eth0 down"),
}


@pytest.mark.parametrize(
    ("command", "name", "loss"),
    first(1, [("mpiexec", "hang", "a dead node"), ("run", "spin", "a dead link")]),
)  # fmt: skip
def test_a_node_that_is_lost_ends_the_run_or_a_plain_mpiexec_with_its_name(
    learner: Beowulf, programs: dict[str, Path], command: str, name: str, loss: str
) -> None:
    plain = ("ssh", "node00", f"mpiexec -n 4 {programs[name]}")
    run = learner.start(*(("run", programs[name]) if command == "run" else plain))
    begun(run)
    LOSSES[loss](learner.cluster)
    said = ended(run)
    assert run.returncode == 1 if command == "run" else run.returncode
    # mpiexec's own lines may be cut in two by ours.
    of = "beowulf: " if command == "run" else "mpiexec: "
    sentences = [line for line in said.splitlines() if of in line]
    assert any("node02" in line and "`beowulf up`" in line for line in sentences), said
    if command == "run":
        nothing_is_left(learner, programs[name])


def test_a_node_that_refuses_the_key_or_is_down_already_is_named(
    learner: Beowulf, programs: dict[str, Path]
) -> None:
    learner("break", "key-refused", "--node", "node01")
    said = learner("run", programs["garbage"], code=1)
    # What ssh says is above it, in its own words.
    assert "beowulf: The connection to node01 failed" in said
    learner.cluster.kill("node01")
    said = learner("run", programs["garbage"], code=1)
    assert said == "beowulf: node01 is down. `beowulf up` starts it again.\n"


@pytest.mark.parametrize(
    ("name", "number", "times"),
    first(2, [("hang", signal.SIGINT, 1), ("spin", signal.SIGINT, 20), ("spin", signal.SIGHUP, 1)]),
)
def test_ctrl_c_leaves_no_process_on_any_node_and_a_second_one_does_not_keep_the_first_from_that(
    learner: Beowulf, programs: dict[str, Path], name: str, number: signal.Signals, times: int
) -> None:
    run = learner.start("run", programs[name])
    begun(run)
    for _ in range(times):
        if run.poll() is None:
            run.send_signal(number)
            time.sleep(0.02)
    said = ended(run)
    if times == 1:
        assert run.returncode == 1
        assert "beowulf: stopped." in said
    nothing_is_left(learner, programs[name])


def test_a_killed_run_is_ended_by_down(learner: Beowulf, programs: dict[str, Path]) -> None:
    run = learner.start("run", programs["spin"])
    begun(run)
    run.kill()
    run.communicate(timeout=PATIENCE_S)
    learner("down")
    nothing_runs(learner)


# Patience


def test_ranks_are_patient_only_when_they_outnumber_the_cores(
    cluster: NamespaceCluster, lab_folder: Path
) -> None:
    # PMI_SIZE is what the preloaded library asks; it is preloaded for every rank of mpiexec.
    done = mpi.launch(cluster, ["sh", "-c", "echo $BEOWULF_PATIENT $PMI_SIZE $LD_PRELOAD"], 2)
    patient = str(paths.native("patient_poll.so"))
    assert done.stdout.splitlines() == [f"auto 2 {patient}"] * 2


@pytest.mark.parametrize(
    ("wish", "shared", "hosts", "ranks", "decided"),
    [
        # All nodes of the cluster share the cores of this machine, so all ranks count ...
        ("auto", "1", "", 2, "patient"),
        # ... and on machines of their own those of a node, as many cores as it has.
        ("auto", "", "node00", CORES, "spinning"),
        ("auto", "", "node00", CORES + 1, "patient"),
        ("auto", "3", "", 2, "spinning"),
        ("compared with 4", "3", "", 2, "patient"),
        ("never", "1", "", 2, "spinning"),
        ("always", "64", "", 2, "patient"),
    ],
)  # fmt: skip
def test_the_ranks_that_share_cores_decide_on_patience(
    cluster: NamespaceCluster, wish: str, shared: str, hosts: str, ranks: int, decided: str
) -> None:
    setting = {"BEOWULF_PATIENT": wish, "BEOWULF_SHARED_CORES": shared}
    if wish == "compared with 4":
        setting |= {"BEOWULF_PATIENT": "auto", "BEOWULF_COMPARED_RANKS": "4"}
    say = ["sh", "-c", "echo $BEOWULF_POLLING; sleep 0.5"]
    done = mpi.launch(cluster, say, ranks, environment=setting, hosts=[hosts] if hosts else ())
    assert done.stdout.split() == [decided] * ranks


def test_a_core_that_mpiexec_gives_a_rank_is_its_own(cluster: NamespaceCluster) -> None:
    words = (
        f"mpiexec -n {CORES} -hosts node00 -bind-to core sh -c 'echo $BEOWULF_POLLING; sleep 0.5'"
    )
    done = cluster.run("node00", f"BEOWULF_SHARED_CORES= {words}")
    assert done.stdout.split() == ["spinning"] * CORES, done.stderr


def test_a_record_says_how_ranks_waited(cluster: NamespaceCluster, tmp_path: Path) -> None:
    said = []
    for wishes in (["always"], ["never", "always"]):
        with Measurement("A7", cluster, tmp_path) as session:
            for wish in wishes:
                roundtrips.run(session, 2, [8], passes=1, environment={"BEOWULF_PATIENT": wish})
        said.append(session.record().patience)
    assert said[0] == "patiently"
    assert said[1].startswith("patiently in 1 of 2 launches")
    assert Record("A7").patience == ""


def test_runs_that_a_study_compares_wait_alike(cluster: NamespaceCluster, tmp_path: Path) -> None:
    config = SweepConfig([("ring", ranks) for ranks in (2, 3, 4)], ["blocking"], [8])
    with Measurement("A7", cluster, tmp_path) as session:
        sweep(cluster, config, quick=True).steps(session)
    assert session.record().patience == ("patiently" if CORES < 4 else "spinning")


ASKS = """
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
int main(void) {
    struct epoll_event event;
    struct rusage before, after;
    int epoll = epoll_create1(0);
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < 100; i++) {
        poll(NULL, 0, 0);
        epoll_wait(epoll, &event, 1, 0);
    }
    getrusage(RUSAGE_SELF, &after);
    printf("%ld", after.ru_nvcsw - before.ru_nvcsw);
}
"""


def test_who_asks_patiently_leaves_the_core_each_time_and_else_never(tmp_path: Path) -> None:
    (tmp_path / "asks.c").write_text(ASKS)
    program = tmp_path / "asks"
    subprocess.run(["gcc", str(tmp_path / "asks.c"), "-o", str(program)], check=True)

    def rests(patient: str) -> int:
        preload = {"LD_PRELOAD": str(paths.native("patient_poll.so")), "BEOWULF_PATIENT": patient}
        done = subprocess.run(
            [program], env={**os.environ, **preload}, capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    # Counts and no times: how often it gave its core away by itself when it asked 200 times. A page of memory that has
    # to be fetched makes it wait as well.
    assert rests("always") >= 150
    assert rests("never") <= 50
