"""Lab 08's programs: is the gas gas, is the galaxy one, and is what a learner writes of them judged rightly?"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import first

from beowulf import mpi, paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.cluster.simulated import cluster as simulated
from beowulf.errors import LabError, UsageError
from beowulf.exercises import gas
from beowulf.labs.lab_08 import (
    c1_tokens,
    c4_gas,
    c5_galaxy,
    c6_overhead,
    c7_barrier,
    first_beowulf,
    galaxy,
    machine_1995,
)
from beowulf.record import newest
from beowulf.studies import judge
from tests.solutions import by_the_author

pytestmark = pytest.mark.cluster
LAB = paths.lab("08")
Row = dict[str, Any]


class Programs(dict[str, Path]):
    """Gas and galaxy with right functions, and the gas without tiles and MPI: compiled when they are asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = with_headers(folder)

    def __missing__(self, name: str) -> Path:
        if name == "serial":
            source, flags = paths.root() / "tests" / "gas_serial.c", [f"-I{LAB}"]
            self[name] = mpi.build(source, output=self.folder / name, flags=flags)
        else:
            self[name] = mpi.build(by_the_author(name, self.folder))
        return self[name]


def with_headers(folder: Path) -> Path:
    """The folder, with all headers of the lab in it."""
    for header in LAB.glob("*.h"):
        shutil.copy(header, folder)
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def run(programs: Programs) -> Callable[..., list[Row]]:
    """Runs one of them on this machine's cores; its lines."""
    mpiexec = paths.mpi_prefix("classic") / "bin" / "mpiexec"
    patient = ["-genv", "LD_PRELOAD", str(paths.native("patient_poll.so"))]

    def start(name: str, ranks: int, *words: str | int, code: int = 0) -> list[Row]:
        launcher = [str(mpiexec), *patient, "-n", str(ranks)] if name != "serial" else []
        line = [*launcher, str(programs[name]), *map(str, words), "--lines"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=240)
        assert done.returncode == code, done.stderr
        start.said = done.stderr  # type: ignore[attr-defined]
        return [json.loads(each) for each in done.stdout.splitlines() if each.startswith("{")]

    return start


def result(rows: list[Row], quantity: str = "") -> Row:
    found = [row for row in rows if row["kind"] == "result"]
    return next(row for row in found if not quantity or row.get("quantity") == quantity)


def order(run: Any, problem: str, *sizes: str) -> float:
    """With which power of a zone's width the error falls, when there are twice as many along x."""
    rows = [run("serial", 1, "--problem", problem, "--zones", zones) for zones in sizes]
    wide, narrow = (result(each)["density_error"] for each in rows)
    assert narrow < 3e-3
    return float(np.log2(wide / narrow))


@pytest.mark.nightly
def test_the_gas_has_the_same_bits_on_any_number_of_ranks_and_without_tiles(run: Any) -> None:
    words = ("--problem", "blast", "--steps", 12)
    alone = result(run("serial", 1, *words, "--zones", "120,120"))["bits"]
    assert {
        result(run(gas.SOURCE, n, *words, "--tiles", "4,4"))["bits"] for n in (1, 2, 4, 16)
    } == {alone}


@pytest.mark.nightly
def test_a_shock_tube_comes_nearer_to_the_exact_solution_with_its_order(run: Any) -> None:
    assert 0.6 < order(run, "sod-x", "100,4", "200,4") < 1.3


@pytest.mark.skipif(not shutil.which("g++"), reason="numbers that count need C++")
def test_a_sweep_has_as_many_operations_as_mflops_are_counted_with(tmp_path: Path) -> None:
    text = re.sub(r"\bdouble\b", "counted", (LAB / "ppm.h").read_text())
    text = text.replace("const counted GAMMA", "const double GAMMA")
    (tmp_path / "ppm_counted.h").write_text(text)
    program = tmp_path / "count"
    source = paths.root() / "tests" / "count_flops.cpp"
    subprocess.run(["g++", f"-I{tmp_path}", source, "-o", program], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    ran, stated = map(int, said.split())
    assert ran == stated
    # The speed of the fastest wave, counted by hand: 13 operations.
    assert 2 * ran + 13 == machine_1995.ZONE_FLOPS


@pytest.mark.nightly
@pytest.mark.parametrize(("ranks", "tiles"), first(1, [(3, "3,4"), (2, "3,2"), (4, "2,6")]))
def test_tiles_that_a_rank_sweeps_together_have_the_same_bits_as_alone(
    run: Any, ranks: int, tiles: str
) -> None:
    words = ("--problem", "implode", "--tiles", tiles, "--side", 10, "--steps", 9)
    assert len({result(run(gas.SOURCE, each, *words))["bits"] for each in (1, ranks)}) == 1


@pytest.mark.parametrize(
    ("ranks", "words", "said"),
    [
        (3, ("--tiles", "4,4"), "3 ranks cannot share 4 x 4 tiles equally"),
        (1, ("--cfl", 2), "--cfl takes a number up to 1, not 2"),
        (1, ("--cfl", "nan"), "--cfl takes a number from 0.01"),
        (1, ("--check",), "--check needs 2 ranks or more"),
        (1, ("--tiles", "200,1"), "the grid has at most 4000 along an axis"),
    ],
)
def test_the_gas_refuses_what_cannot_be(
    run: Any, ranks: int, words: tuple[Any, ...], said: str
) -> None:
    run(gas.SOURCE, ranks, *words, code=2)
    assert said in run.said


# Each sends less than a neighbour needs, or nothing; what does not come stays zero, or no number.
SENT, ENDS = "MPI_Isend(border->out, border->count,", "end_at_borders(tiles);"
NO_ENERGY, NOTHING = "MPI_Isend(border->out, border->count * 3 / 4,", "MPI_Isend(border->out, 0,"
WRONG_GAS = re.compile(
    r"wrong gas: rank (\d+), step (\d+): zone \(row (\d+), column (\d+)\) (.*): density (\S+), pressure (\S+?)\. "
    r"It is in tile (\d+), a ghost zone that rank (\d+) has: see what exchange_ghosts puts there\."
)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("old", "new", "problem", "said"),
    [
        (SENT, NO_ENERGY, "smooth", "has a negative pressure"),
        (SENT, NO_ENERGY, "blast", "has no pressure"),
        (SENT, NOTHING, "smooth", "has no density, or a negative one"),
        (ENDS, "(void)tiles;", "blast", "is not a number"),
    ],
)
def test_what_is_no_gas_after_a_wrong_exchange_is_named_with_its_zone_and_ranks(
    run: Any, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, problem: str,
    said: str,
) -> None:  # fmt: skip
    with_headers(tmp_path)
    source = by_the_author(gas.SOURCE, tmp_path)
    text = (LAB / gas.SOURCE if old == ENDS else source).read_text()
    assert old in text
    source.write_text(text.replace(old, new))
    monkeypatch.setitem(programs, gas.SOURCE, mpi.build(source))
    run(gas.SOURCE, 4, "--problem", problem, "--tiles", "4,4", "--side", 30, code=3)
    found = WRONG_GAS.search(run.said)
    assert found, run.said
    rank, step, row, column, why, density, pressure, tile, owner = found.groups()
    assert (why, step) == (said, "0")
    # The rank has the tile, and the zone lies in a tile that the named owner has.
    assert int(rank) == int(tile) // 4 != int(owner)
    assert int(owner) == (int(row) // 30 * 4 + int(column) // 30) // 4
    if "pressure" in said:
        assert float(density) > 0 >= float(pressure)


FIRST = "0 0 0 0 0 0 0.5\n"


@pytest.mark.parametrize(
    ("second", "words", "code", "said"),
    [
        ("0 0 0 0 0 0 0.5", ("--softening", 0), 3,
         "particle 0 of rank 0, at (0, 0, 0) in step 0: another particle is at the same place"),
        ("1 nan 0 0 0 0 0.5", (), 3, "particle 1 of rank 0, at (1, nan, 0) in step 0: its position is not a number"),
        ("1 0 0 0 nan 0 0.5", (), 3, "particle 1 of rank 0, at (1, 0, 0) in step 0: its velocity is not a number"),
        ("1 0 0 300 0 0 0.5", ("--step-time", 1, "--farthest", 1000), 3,
         "in step 4: it has escaped. Try a shorter --step-time"),
        ("1 0 0 0 0 0 nan", (), 2, "line 2 of bodies has the mass nan"),
    ],
    ids=["coinciding", "no place", "no velocity", "escaping", "no mass"],
)  # fmt: skip
def test_particles_that_cannot_be_computed_with_end_the_run_with_their_number(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str, words: tuple[Any, ...], code: int, said: str
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("bodies").write_text(FIRST + second)
    run(galaxy.SOURCE, 1, "--from", "bodies", *words, code=code)
    assert said in run.said


def test_more_particles_than_a_machine_has_memory_for_are_refused(run: Any) -> None:
    most, ranks = 5_000_000, 16
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 600 * most * ranks:
        pytest.skip("this machine has memory for so many")
    run(galaxy.SOURCE, ranks, "--particles", most, code=2)
    assert "So many particles need too much memory" in run.said


@pytest.mark.parametrize("ranks", first(1, [3, 1]))
def test_particles_at_one_place_move_together_where_forces_are_softened(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    monkeypatch.chdir(tmp_path)
    # More than a leaf of the tree holds, and two of the same far away.
    Path("bodies").write_text("0 0 0 0 0 0 0.05\n" * 18 + "3 0 0 0 0 0 0.05\n" * 2)
    rows = run(
        galaxy.SOURCE, ranks, "--from", "bodies", "--steps", 3, "--check", 20, "--positions", "end"
    )
    assert result(rows, "force_error")["median"] < 1e-3
    x = np.fromfile("end", dtype=np.float32)
    assert np.isfinite(x).all()


def test_the_galaxy_has_the_same_bits_on_any_number_of_ranks(run: Any) -> None:
    words = ("--model", "galaxies", "--particles", 800, "--steps", 3)
    ran = [run(galaxy.SOURCE, ranks, *words) for ranks in (1, 3)]
    states = [[row["bits"] for row in rows if row.get("quantity") == "state"] for rows in ran]
    assert states[0] == states[1]


def test_equal_cost_balances_better_than_equal_numbers(run: Any) -> None:
    words = ("--model", "plummer", "--particles", galaxy.PARTICLES, "--steps", 2)
    assert result(run(galaxy.SOURCE, 4, *words), "steps")["balance"] < 1.03


# What a learner writes, measured


@pytest.fixture
def kept(cluster: NamespaceCluster, records: Path) -> NamespaceCluster:
    """The shared cluster, which keeps Records in the test's folder."""
    return cluster


@pytest.mark.nightly
def test_a_right_exchange_is_measured_and_drawn_without_a_seam(
    kept: NamespaceCluster, tmp_path: Path
) -> None:
    source = by_the_author(gas.SOURCE, tmp_path)
    record = gas.measure(kept, source)
    assert "exchange_ghosts is right" in gas.says(record)
    shares = gas.parts(record)
    assert list(shares.index) == [1, 4]
    assert shares.loc[4, "computing_percent"] < shares.loc[1, "computing_percent"]
    assert "no difference" in gas.picture(kept, source, steps=20).alt
    shown = gas.film(kept, source, steps=20)
    assert "A film of" in shown.alt
    assert (tmp_path / "records" / "gas.gif").read_bytes() == shown.data
    assert len(shown.data) < 200_000
    assert newest(tmp_path / "records", "S8", "gas") == record


@pytest.mark.nightly
def test_what_is_handed_out_is_wrong_and_shows_a_seam(kept: NamespaceCluster) -> None:
    record = gas.measure(kept, LAB / gas.SOURCE)
    assert "ghost zones" in gas.says(record)
    with pytest.raises(LabError, match="no times for a step"):
        gas.parts(record)
    drawn = gas.picture(kept, LAB / gas.SOURCE, steps=20)
    assert drawn
    assert "they differ by up to" in drawn.alt


WAITALL = "    check(MPI_Waitall(2 * tiles->borders, tiles->requests, MPI_STATUSES_IGNORE));\n"
SEND_TAG = "border->rank, border->tag_out"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    first(1, [
        (WAITALL, "", "ghost zones"),
        (WAITALL, WAITALL.replace("borders,", "borders - 1,"), "is still open: nothing waited for it"),
        (SEND_TAG, "border->rank, border->tag_out + 1000", "does not end"),
        ("        pack(tiles, border);\n", "", "ghost zones"),
    ]),
    ids=["no wait", "a wait for all but one", "a wrong tag", "not packed"],
)  # fmt: skip
def test_a_usual_mistake_is_named(
    kept: NamespaceCluster, tmp_path: Path, old: str, new: str, said: str
) -> None:
    source = by_the_author(gas.SOURCE, tmp_path)
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))
    assert said in gas.says(gas.measure(kept, source))


@pytest.mark.nightly
def test_a_partition_is_measured_by_its_balance_and_a_wrong_one_named(
    kept: NamespaceCluster, tmp_path: Path
) -> None:
    given = galaxy.function(galaxy.measure(kept, LAB / galaxy.SOURCE))
    own = galaxy.function(galaxy.measure(kept, by_the_author(galaxy.SOURCE, tmp_path)))
    assert own["balance"] < 1.03 < 1.12 < given["balance"]
    shown = galaxy.film(kept, tmp_path / galaxy.SOURCE, steps=12)
    assert "A film of 3 pictures" in shown.alt
    assert len(shown.data) < 200_000
    wrong = tmp_path / "wrong.c"
    wrong.write_text(
        (LAB / galaxy.SOURCE).read_text().replace("* rank / ranks)", "* rank / (ranks + 1))")
    )
    facts = galaxy.function(galaxy.measure(kept, wrong))
    assert not facts["right"]
    assert "partition" in facts["why"]
    wrong.write_text((LAB / galaxy.SOURCE).read_text().replace("rank <= ranks", "rank < ranks"))
    assert "first[4] is not filled" in galaxy.function(galaxy.measure(kept, wrong))["why"]
    with pytest.raises(UsageError, match="There is no file"):
        galaxy.measure(kept, tmp_path / "nowhere.c")


@pytest.mark.nightly
def test_the_machine_of_1995_saturates_and_a_second_network_gains_less_than_twice(
    kept: NamespaceCluster, tmp_path: Path
) -> None:
    record = first_beowulf.measure(kept, by_the_author(gas.SOURCE, tmp_path))
    seen = first_beowulf.tokens(record).set_index(["demand", "size_bytes"])
    # Paper C: near 1 MB/s from 1 KB on, and with one pair from 8 KB on; 1.7 times on two; 50 % more with one pair.
    assert seen["one_mb_per_s"][8, 1024] == pytest.approx(1.0, rel=0.2)
    assert seen["one_mb_per_s"][1, 8192] == pytest.approx(1.0, rel=0.2)
    assert seen["times"][8, 8192] == pytest.approx(1.7, rel=0.2)
    assert seen["times"][1, 8192] == pytest.approx(1.5, rel=0.2)
    speed = first_beowulf.gas(record)["one_speed_up"]
    assert speed.is_monotonic_increasing
    # 16 processors make 31 MFLOPS on a grid of the same size.
    assert speed[16] == pytest.approx(31 / machine_1995.GAS_MFLOPS, rel=0.2)
    assert record.cluster["kind"] == "simulated"


# The studies


@pytest.mark.nightly
def test_gas_and_galaxy_are_verified_on_a_cluster(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(c4_gas, "QUICK", (1, 2))
    monkeypatch.setattr(c5_galaxy, "QUICK_SIZES", (600, 1250, 2500))
    monkeypatch.setattr(c5_galaxy, "OF_SPEED", 600)
    for study, verified in (
        (c4_gas, ("shock", "smooth", "conserved", "same-bits")),
        (c5_galaxy, ("small-error", "angle", "n-log-n", "energy", "same-bits")),
    ):
        record = study.STUDY.measure(cluster, tmp_path, quick=True)
        assert record.complete, record.warnings
        found = {each.claim: each.outcome for each in judge(record)}
        assert {found[name] for name in verified} == {"holds"}
        assert "fixed-size" not in found  # two cores are too few for 16 ranks
        assert study.STUDY.draw(record).alt
        rows = study.table(record)
        assert rows["nodes"][0] == rows["speed_up"][0] == 1
        assert (rows[["step_ms", "computing_ms"]] > 0).all(axis=None)


@pytest.mark.nightly
def test_the_machine_of_1995_has_the_points_of_figure_1_and_a_step_in_its_parts(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = simulated.beside(machine_1995.ethernet(), tmp_path / "machine")
    record = c1_tokens.STUDY.measure(machine, tmp_path, quick=True)
    found = {each.claim: each.outcome for each in judge(record)}
    assert found["figure-1"] == found["three-networks"] == found["demand-one"] == "holds"
    assert not record.warnings  # its messages cross a cable, if a simulated one

    monkeypatch.setattr(c6_overhead, "QUICK_NODES", (1, 16))
    monkeypatch.setattr(c6_overhead, "PARTICLES", (1000, 2000))
    record = c6_overhead.STUDY.measure(cluster, tmp_path, quick=True)
    assert record.complete, record.warnings
    assert record.cluster["platform"] == machine_1995.ethernet().as_dict()
    rows = c6_overhead.table(record)
    parts = rows[[f"{name}_percent" for name in c6_overhead.PARTS]].sum(axis=1)
    assert parts.between(99, 101).all(), rows
    assert rows[rows["nodes"] == 1]["speed_up"].eq(1).all()
    found = {each.claim: each for each in judge(record)}
    assert found["gas-scaled"].outcome == found["gas-not-communication"].outcome == "holds"
    # The paper's 31 MFLOPS come out with our own operations alone.
    assert "holds with 849, contradicted with 2,000" in found["gas-fixed"].evidence


def test_a_barrier_has_a_time_for_each_number_of_nodes(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    record = c7_barrier.STUDY.measure(cluster, tmp_path, quick=True)
    times = c7_barrier.times(record)
    assert list(times) == [2, 4]
    assert all(each.median > 0 for each in times.values())
    assert len(judge(record)) == 2
    assert c7_barrier.STUDY.draw(times).alt
