"""Does a simulated cluster run the labs' own C programs, the same every time, and say what it has not?"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from running import Beowulf

from autograder.evidence import invented, variants
from autograder.evidence.variants import Own
from beowulf import mpi, paths
from beowulf.cluster.common.hydra import EAGER_LIMIT
from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated.platform import Platform, of_plain, read
from beowulf.course import personal_code
from beowulf.errors import LabError, UsageError
from beowulf.measure import calibration, roundtrips
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.studies import given

needs_simgrid = pytest.mark.skipif(
    not shutil.which(simulated.SMPIRUN), reason="SimGrid is not installed"
)
ROUNDTRIP = paths.root() / "labs" / "04-blocking-nonblocking" / "roundtrip.c"
QUICK = ("--protocol", "blocking", "--sizes", "0,1000,100000", "--passes", "2", "--chunks", "1")


def samples(printed: str) -> dict[int, float]:
    """The last half round trip of each size, in s."""
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return {
        each["size_bytes"]: each["seconds"] / each["repetitions"] / 2
        for each in lines
        if each["kind"] == "sample"
    }


@pytest.fixture
def two(tmp_path: Path) -> simulated.SimulatedCluster:
    file = tmp_path / "two.toml"
    file.write_text("nodes = 2\nrate_mbit = 10\nlatency_us = 50\n")
    return simulated.up(str(file), folder=tmp_path / "state")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rate_mbit = 0", "rate_mbit must be 0.001 to 1e+09, not 0"),
        ("nodes = 2.5", "`nodes` is a whole number, not 2.5"),
        ("colour = 'red'", "`colour` is not part of a platform. Its parts are nodes, cores"),
        ("nodes = ", "Invalid value"),
        ("times_us = [[0, 5]]", "must have at least two pairs"),
        ("times_us = [[0, 5], [10, 4]]", "whose bytes and times rise"),
        ("times_us = [[0, 'x'], [10, 4]]", "must be a list of pairs"),
        (
            "send_us = 5\nreceive_us = 4\ntimes_us = [[0, 9], [10, 90]]",
            "send_us and receive_us, together 9",
        ),
    ],
)
def test_a_platform_that_cannot_be_is_refused_with_a_sentence(
    text: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        read(file)
    assert said in str(refused.value)
    assert "wrong.toml" in str(refused.value)


def test_what_a_record_keeps_of_a_platform_makes_the_same_one() -> None:
    made = Platform(64, times_us=((0, 50.0), (1000, 135.0)), rate_mbit=1000.0)
    assert of_plain(json.loads(json.dumps(made.as_dict()))) == made


@needs_simgrid
def test_a_programs_time_follows_the_link(two: simulated.SimulatedCluster, tmp_path: Path) -> None:
    program = mpi.build(ROUNDTRIP, library=two.mpi, output=tmp_path / "roundtrip")
    done = mpi.launch(two, [str(program)], 2, QUICK)
    found = samples(done.stdout)
    # Twice the latency of a link, once the bytes: within what headers and overheads add.
    assert 100e-6 < found[0] < 400e-6
    assert found[100_000] == pytest.approx(100_000 * 8 / 10e6, rel=0.2)
    assert done.stdout == mpi.launch(two, [str(program)], 2, QUICK).stdout, "the same every time"


IN_A_ROW = """
#include "measure.h"
int main(int argc, char **argv) {
    char text[1] = "";
    start_mpi(&argc, &argv);
    double began = MPI_Wtime();
    for (int i = 0; i < 10; i++)
        if (my_rank() == 0)
            MPI_Send(text, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(text, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (my_rank() == 1)
        printf("%.9f", MPI_Wtime() - began);
    return MPI_Finalize();
}
"""


@needs_simgrid
def test_an_overhead_lengthens_messages_in_a_row_and_not_one_alone(tmp_path: Path) -> None:
    (tmp_path / "row.c").write_text(IN_A_ROW)
    times = ((0, 50.0), (1000, 135.0), (200_000, 17_050.0))
    row_s, trips = [], []
    for send_us, receive_us in ((0.0, 0.0), (6.0, 4.0)):
        made = Platform(2, times_us=times, send_us=send_us, receive_us=receive_us)
        place = simulated.beside(made, tmp_path / f"{send_us}")
        row = mpi.build(tmp_path / "row.c", library=place.mpi, output=tmp_path / "row")
        row_s.append(float(mpi.launch(place, [str(row)], 2).stdout))
        program = mpi.build(ROUNDTRIP, library=place.mpi, output=tmp_path / "roundtrip")
        words = ["--sizes", "0,1000,140000", "--passes", "2"]
        trips.append(samples(mpi.launch(place, [str(program)], 2, words).stdout))
    assert trips[1] == pytest.approx(trips[0], rel=0.02)
    # The last of ten leaves when nine have kept the sender busy; without an overhead all leave at once.
    assert row_s[1] == pytest.approx(50e-6 + 9 * 6e-6, rel=0.1)
    assert row_s[0] < 0.75 * row_s[1]
    # And the labs' program that measures the overheads finds those of the platform, on the last one.
    program = mpi.build(
        ROUNDTRIP.with_name("overheads.c"), library=place.mpi, output=tmp_path / "o"
    )
    lines = mpi.launch(place, [str(program)], 2, ["--passes", "3"]).stdout.splitlines()
    for quantity, expected in (("send_us", 6.0), ("receive_us", 4.0)):
        found = [json.loads(line) for line in lines if f'"{quantity}"' in line]
        each_us = [1e6 * line["seconds"] / line["repetitions"] for line in found]
        assert each_us == pytest.approx([expected] * 3, rel=0.02), quantity


BARRIER = """
#include "measure.h"
int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%.9f\\n", MPI_Wtime());
    return MPI_Finalize();
}
"""


@needs_simgrid
def test_a_barrier_does_not_let_one_rank_go_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "barrier.c").write_text(BARRIER)
    made = Platform(64, times_us=((0, 20.0), (1000, 135.0)), send_us=7.0, receive_us=2.0)
    place = simulated.beside(made, tmp_path / "cluster")
    program = mpi.build(tmp_path / "barrier.c", library=place.mpi, output=tmp_path / "barrier")
    times = [float(word) for word in mpi.launch(place, [str(program)], 64).stdout.split()]
    assert len(times) == 64
    assert max(times) - min(times) < 3 * 20e-6


@needs_simgrid
def test_over_the_eager_limit_two_sends_wait_for_each_other_and_that_is_said(
    two: simulated.SimulatedCluster, tmp_path: Path
) -> None:
    source = ROUNDTRIP.with_name("headon.c")
    program = mpi.build(source, library=two.mpi, output=tmp_path / "headon")
    for limit, ends in (("1000000", True), ("1000", False)):
        words = ["--bytes", "5000"]
        done = mpi.launch(two, [str(program)], 2, words, environment={EAGER_LIMIT: limit})
        assert (done.returncode == 0) is ends, done.stderr
        assert (simulated.DEADLOCK in done.stderr) is not ends


@needs_simgrid
def test_what_it_has_not_it_says(two: simulated.SimulatedCluster, tmp_path: Path) -> None:
    for ask in (
        lambda: two.run("node00", "hostname"),
        lambda: two.capture(tmp_path / "x.pcapng"),
        lambda: two.shell("node00", ""),
        lambda: two.break_it("key"),
    ):
        with pytest.raises(LabError, match="A cluster of the kind simulated has no "):
            ask()


def test_without_simgrid_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulated.shutil, "which", lambda _: None)
    with pytest.raises(LabError, match="apt install libsimgrid-dev"):
        simulated.up(simulated.TARGET, folder=tmp_path)


@pytest.mark.nightly
@needs_simgrid
def test_from_the_command_line_a_study_is_simulated_and_kept(tmp_path: Path) -> None:
    learner = Beowulf(tmp_path / "state", tmp_path)
    try:
        said = learner("up", "--target", "simulated", "--nodes", "8")
        assert "8 nodes are simulated" in said
        learner("study", "E1", "--quick", code=None)
        (file,) = (tmp_path / "records").glob("E1-*.json")
        record = Record.load(file)
        assert record.cluster["kind"] == "simulated"
        assert "no packets" in learner("capture", "-o", "x.pcapng", "--seconds", "1", code=1)
        assert "cannot be seen on this cluster" in learner("study", "A2", code=1)
        assert "8 nodes" in learner("status")
        assert "is down" in learner("down")
    finally:
        learner.end()
    assert not (tmp_path / "state" / "simulated.json").exists()


@needs_simgrid
def test_what_is_simulated_under_a_personal_code_counts_for_its_learner(
    two: simulated.SimulatedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = personal_code.of("a course's key", "ada")
    monkeypatch.setenv(personal_code.VARIABLE, code)
    with Measurement("S9", two, tmp_path, timed=False) as session:
        roundtrips.run(session, 2, [8], passes=2)
    assert not variants.findings(session.record(), Own("ada", code, {}))


def measured(**cluster: str) -> Record:
    """What E1 may leave: times of messages between two nodes, by size."""
    about = {"sweep": "wide", "ranks": 2, "protocol": "blocking"}
    points = [
        Point(
            {**about, "size_bytes": size, "launch": launch},
            "half_round_trip_us",
            [50 + 0.1 * size + noise / 10 for noise in range(20)],
        )
        for size in (0, 10, 100, 1000, 10_000, 100_000)
        for launch in (0, 1)
    ]
    return Record("E1", points=points, cluster={"kind": "namespaces", "rate": "100mbit", **cluster})


@needs_simgrid
def test_a_calibrated_platform_gives_back_what_was_measured(tmp_path: Path) -> None:
    found = calibration.of(measured())
    file = tmp_path / "mine.toml"
    file.write_text(found.platform(2).toml("Mine."))
    cluster = simulated.up(str(file), folder=tmp_path / "state")
    program = mpi.build(ROUNDTRIP, library=cluster.mpi, output=tmp_path / "roundtrip")
    times = samples(mpi.launch(cluster, [str(program)], 2, QUICK).stdout)
    assert times[0] == pytest.approx(51e-6, rel=0.1)
    assert times[1000] == pytest.approx(151e-6, rel=0.03)
    assert times[100_000] == pytest.approx(10_051e-6, rel=0.03)


def test_overheads_that_were_measured_are_the_platforms_and_leave_the_network_a_part() -> None:
    record = measured()
    about = {"ranks": 2, "size_bytes": 1, "burst": 10}
    record.points += [
        Point(about, "send_us", [6.0, 7.0, 900.0]),
        Point(about, "receive_us", [2.0, 3.0, 3.5]),
    ]
    found = calibration.of(record)
    assert (found.send_us, found.receive_us) == (7.0, 3.0)
    assert (found.platform(2).send_us, found.platform(2).receive_us) == (7.0, 3.0)
    assert calibration.of(measured()).platform(2).send_us == 0.0
    assert calibration.of(given.record("E1")).send_us > 0
    # Of two that are too long together, the sender's decides how fast messages follow each other.
    record.points[-2] = Point(about, "send_us", [45.0])
    made = calibration.of(record).platform(2)
    assert made.send_us == 45.0
    assert made.send_us + made.receive_us == pytest.approx(0.9 * made.times_us[0][1])
    record.points[-2] = Point(about, "send_us", [97.0])
    made = calibration.of(record).platform(2)
    assert (made.send_us, made.receive_us) == (pytest.approx(0.9 * made.times_us[0][1]), 0.0)
    # On other links they stay what they are.
    assert found.on_cable(1000).send_us == found.at_rate("10mbit").send_us == 7.0


def test_a_calibration_says_how_wrong_it_is_between_the_sizes() -> None:
    record = measured()
    for point in record.points:
        if point.at["size_bytes"] == 1000:
            point.samples[:] = [2 * sample for sample in point.samples]
    assert 30 < calibration.of(record).worst_percent < 70
    assert calibration.of(measured()).worst_percent < 1


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (measured(kind="simulated"), "was simulated: nothing about a cluster can be read off it"),
        (replace(measured(), points=measured().points[:4]), "sizes between two nodes in .*: 2"),
        (replace(measured(), complete=False), "the measurement was cut short"),
        (Record("A2"), "sizes between two nodes in .*: 0"),
    ],
    ids=["simulated", "few sizes", "cut short", "another study"],
)
def test_what_gives_no_calibration_is_refused_with_the_reason(record: Record, said: str) -> None:
    with pytest.raises(LabError, match=said):
        calibration.of(record)


def test_a_simulated_record_earns_no_points_of_measured_ones() -> None:
    (found,) = invented.findings(measured(kind="simulated"), None, {})[:1]
    assert "It was simulated" in found.says
