"""Launches become Points; what goes wrong is a sentence, and nothing that was measured is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from running import PATIENCE_S, first, warned

from beowulf import mpi, paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.measure import quality
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF, run
from beowulf.measure.table import table
from beowulf.record import Record
from beowulf.this_machine import host_state

pytestmark = pytest.mark.cluster

PROGRAM = paths.root() / "labs" / "04-blocking-nonblocking" / "roundtrip.c"
TWIN = PROGRAM.with_suffix(".py")


def session(cluster: NamespaceCluster, folder: Path) -> Measurement:
    return Measurement("A7", cluster, folder)


def test_a_launch_becomes_points_with_all_coordinates(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    reported: list[float] = []
    with Measurement(
        "A7", cluster, tmp_path, progress=lambda done, of, what: reported.append(done / of)
    ) as s:
        run(s, 2, [0, 64], protocols=("blocking", "nonblocking"), passes=3, chunks=2)
    record = s.record()
    found = table(record, HALF)
    assert len(found) == 2 * 2 * 3 * 2
    assert set(found["protocol"]) == {"blocking", "nonblocking"}
    assert set(found["ranks"]) == {2}
    assert sorted(set(found["pass"])) == [0, 1, 2]
    assert (found[HALF] > 0).all()
    assert record.complete
    assert warned(record) == []
    about = record.select(about=True)[0].facts
    assert about["hosts"] == ["node00", "node01"]
    assert about["clock_resolution_s"] > 0
    assert "MPICH" in about["mpi_library"]
    assert len(record.program["sha256"]) == 64
    assert reported == sorted(reported)
    assert reported[-1] == 1.0
    # The first message, which sets up the connection, stands by itself.
    assert len(record.select(rank=0)[0].samples) == 1
    again = Record.load(record.save_in(tmp_path))
    assert again.digest == record.digest


def test_every_protocol_and_pattern_delivers_what_was_sent(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    everywhere = ("blocking", "nonblocking", "persistent", "synchronous", "async")
    asked = set()
    with session(cluster, tmp_path) as s:
        for pattern, ranks in (("pingpong", 4), ("pairs", 3), ("ring", 3), ("headtohead", 4)):
            last = "ready" if pattern in ("pingpong", "pairs") else "sendrecv"
            protocols = (*everywhere, last)
            # 200,000 bytes are above the eager limit: sender and receiver must meet.
            run(s, ranks, [0, 1, 200_000], pattern=pattern, protocols=protocols, passes=1)
            asked |= {(pattern, protocol) for protocol in protocols}
    record = s.record()
    seen = {(p.at["pattern"], p.at["protocol"]) for p in record.points if "protocol" in p.at}
    assert seen == asked
    assert all(point.samples for point in record.points if point.quantity)


# work.h by a clock of its own, on which a round lasts a nanosecond, and five while something disturbs it.
OWN_CLOCK = """
#include "measure/check.h"
#include <stdio.h>
static double now_s;
static long taken, tests;
#define MPI_Wtime() now_s
#define MPI_Test(request, done, status) (tests++, *(done) = 0, (void)(request), MPI_SUCCESS)
#include "own_work.h"
int main(void) {
    unsigned char bytes[] = {0, 0, 7};
    double numbers[] = {1.0, 2.0, 7.0}, rounds_per_us = calibrate_work(), began = now_s;
    compute_us(2000.0, rounds_per_us);
    double plain_us = (now_s - began) * 1e6;
    began = now_s;
    compute_us_testing(2000.0, rounds_per_us, 20, NULL);
    work_on_bytes(bytes, 2);
    work_on_products(numbers, numbers, 2);
    printf("%.3f %.3f %.3f %ld\\n", rounds_per_us, plain_us, (now_s - began) * 1e6, tests);
    printf("%d %d %d %g\\n", bytes[0] != 0, bytes[1] != 0, bytes[2], work_result);
    return 0;
}
"""
ROUND = "value = value * 0.999999 + 0.000001;"


def test_a_compute_loop_lasts_as_long_as_asked_for(tmp_path: Path) -> None:
    text = (paths.root() / "labs" / "include" / "measure" / "work.h").read_text()
    assert text.count(ROUND) == 1
    taking_time = f"{{ {ROUND} now_s += ++taken < 600000 ? 5e-9 : 1e-9; }}"
    text = text.replace(ROUND, taking_time).replace('"check.h"', '"measure/check.h"')
    (tmp_path / "own_work.h").write_text(text)
    (tmp_path / "own_clock.c").write_text(OWN_CLOCK)
    program = mpi.build(tmp_path / "own_clock.c")
    printed = subprocess.run(
        [program], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    ).stdout.split()
    rounds_per_us, plain_us, testing_us, tests = map(float, printed[:4])
    # What disturbed the first tries of the calibration does not count.
    assert rounds_per_us == pytest.approx(1000, rel=0.001)
    assert [plain_us, testing_us] == pytest.approx([2000, 2000], rel=0.001)
    assert tests == 20
    assert printed[4:] == ["1", "1", "7", "5"], "each byte and number once, and no more"


def test_the_same_program_in_python_prints_the_same_lines(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    words = ["--sizes", "0,4096", "--protocol", "blocking,nonblocking", "--passes", "2"]
    with session(cluster, tmp_path) as s:
        for program in (PROGRAM, TWIN):
            s.launch(program, 2, words, at={"language": program.suffix})
    record = s.record()
    assert len(record.select(language=".py", protocol="blocking")) == 2


def test_what_a_program_or_a_cluster_cannot_do_is_refused(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    said = "--sizes takes numbers from 0 to 2147483647, not -1."
    with pytest.raises(UsageError, match=said), session(cluster, tmp_path) as s:
        s.launch(PROGRAM, 2, ["--sizes", "8,-1"])
    with pytest.raises(UsageError, match="5 ranks need 5 nodes"), session(cluster, tmp_path) as s:
        s.launch(PROGRAM, 5)


def program(folder: Path, *body: str) -> Path:
    """A program of C of these lines, between the start of MPI and its end."""
    file = folder / "program.c"
    lines = ["start_mpi(&argc, &argv);", *body, "check(MPI_Finalize());", "return 0;"]
    text = "\n    ".join(["int main(int argc, char **argv) {", *lines])
    file.write_text(f'#include "measure.h"\n{text}\n}}\n')
    return file


def test_a_program_that_breaks_off_is_reported_and_what_it_measured_stays(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    short = program(
        tmp_path,
        'if (my_rank() == 0) { begin_line("sample"); put_text("quantity", "work_s");',
        'put_count("repetitions", 2); put_number("seconds", 4.0); end_line(); }',
    )
    with session(cluster, tmp_path) as s:
        s.launch(short, 2)
    record = s.record()
    assert record.points[0].samples == [2.0]
    assert not record.complete
    assert "are incomplete" in record.warnings[-1]


def test_wrong_data_end_the_run(cluster: NamespaceCluster, tmp_path: Path) -> None:
    wrong = program(
        tmp_path,
        "unsigned char *buffer = message_buffer(1000, 1);",
        "fill(buffer, 1000, 0, 1);",
        "verify(buffer, 1000, 0, 1);",
        "buffer[700] ^= 1;",
        "verify(buffer, 1000, 0, 1);",
    )
    with (
        pytest.raises(LabError, match="wrong data: byte 700 of 1000"),
        session(cluster, tmp_path) as s,
    ):
        s.launch(wrong, 2)


# What sysconf() says on one node alone: that it has a megabyte of memory.
SMALL_NODE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

long sysconf(int name) {
    long (*theirs)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    struct utsname here;
    uname(&here);
    return name == _SC_PHYS_PAGES && strcmp(here.nodename, "node02") == 0 ? 256 : theirs(name);
}
"""


@pytest.mark.nightly
@pytest.mark.parametrize("language", first(1, ["c", "py"]))
def test_a_node_with_too_little_memory_ends_all_ranks_and_is_named(
    cluster: NamespaceCluster, tmp_path: Path, language: str
) -> None:
    """As on machines of their own, whose ranks do not see each other's memory."""
    (tmp_path / "small.c").write_text(SMALL_NODE)
    words = ["gcc", "-shared", "-fPIC", "-o", "small.so", "small.c", "-ldl"]
    subprocess.run(words, cwd=tmp_path, check=True)
    program = paths.root() / "labs" / "04-blocking-nonblocking" / f"roundtrip.{language}"
    with (
        pytest.raises(UsageError, match=r"ranks?; node02 has 0\.0 GB\.$") as refused,
        session(cluster, tmp_path) as s,
    ):
        s.launch(
            program,
            4,
            ["--sizes", 1_000_000],
            environment={"BEOWULF_SHARED_CORES": ""},
            prefix=["env", f"LD_PRELOAD={tmp_path / 'small.so'}"],
            # Where they are not ended, the others wait so long for the first message.
            timeout_s=PATIENCE_S,
        )
    assert "did not end" not in str(refused.value)


def test_warnings_say_of_the_load_what_verdicts_say(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loud = {"load_1min": 9.0, "cores": 2, "waiting_for_a_core_percent_10s": 60.0}
    monkeypatch.setattr(host_state, "now", lambda: loud)
    with session(cluster, tmp_path) as s:
        s.add({}, HALF, [1.0] * 30)
    record = s.record()
    assert record.warnings == [
        "The load before the start was 9.0 on 2 cores.",
        "Programs had waited for a core 60 % of the time.",
    ]
    blamed = quality.trouble(record)
    assert [f"{why}." for why in blamed] == [w[0].lower() + w[1:] for w in record.warnings]
