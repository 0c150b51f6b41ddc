"""Is what cannot run of NPB refused before it starts, and is what ran shown beside paper A?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from running import Beowulf, first

from beowulf import mpi
from beowulf.cli.suites import npb_warning
from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_03 import a4_parallel_benchmarks as a4
from beowulf.labs.lab_03.parallel_tables import in_words
from beowulf.suites import npb
from beowulf.suites.npb import BENCHMARKS, CLASSES


def machines(free_mib: dict[str, int], ours: str = "") -> Cluster:
    """A cluster of nodes with so much free memory; all on one machine if it has a name."""

    def run(node: str, _command: str) -> SimpleNamespace:
        return SimpleNamespace(stdout=f"{ours or node}\nMemAvailable: {free_mib[node] * 1024} kB\n")

    return cast("Cluster", SimpleNamespace(nodes=tuple(free_mib), run=run))


def four(free_mib: int, ours: str = "") -> Cluster:
    return machines({f"node0{i}": free_mib for i in range(4)}, ours)


def test_each_benchmark_takes_the_published_numbers_of_ranks() -> None:
    assert {path.stem.upper() for path in npb.FOLDER.glob("*.c")} == set(BENCHMARKS)
    powers, squares = [1, 2, 4, 8, 16], [1, 4, 9, 16]
    counts = {"EP": list(range(1, 17)), "MG": [1, 2, 4, 8], "SP": squares, "BT": squares}
    for name, benchmark in BENCHMARKS.items():
        assert benchmark.counts(16) == counts.get(name, powers)
        assert not benchmark.takes(0)
        assert not benchmark.takes(-4)


@pytest.mark.parametrize(
    ("name", "letter", "ranks", "said"),
    [
        ("SP", "S", 2, r"SP takes a square number of ranks, not 2\. .* 1 or 4\."),
        ("MG", "S", 16, r"MG takes a power of two of ranks, at most 8, not 16"),
        ("EP", "S", 5, r"5 ranks need 5 nodes, but this cluster has 4"),
        ("EP", "X", 4, "The classes are: S, W, A, B, C"),
    ],
)
def test_what_cannot_run_so_is_refused_with_what_can(
    name: str, letter: str, ranks: int, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        npb.refuse(four(10_000), [name], letter, ranks)


def test_too_little_memory_is_reported_before_anything_starts() -> None:
    # FT's class A has 2^23 points of 56 bytes: 470 MB, 118 MB a node of four.
    with pytest.raises(
        LabError, match=r"FT class A needs about 0\.\d+ GB on node00, which has 0\.\d+ GB free"
    ):
        npb.refuse(four(100), ["EP", "FT"], "A", 4)
    npb.refuse(four(200), ["FT"], "A", 4)
    # The nodes of a local cluster have it all together.
    with pytest.raises(LabError, match="on the machine of node00, node01, node02, node03"):
        npb.refuse(four(200, ours="this"), ["FT"], "A", 4)
    npb.refuse(four(800, ours="this"), ["FT"], "A", 4)
    with pytest.raises(LabError, match="on node02"):
        npb.refuse(machines({"node00": 900, "node02": 10}), ["EP"], "S", 2)


def test_a4_has_one_class_for_all() -> None:
    whole, quick = (a4.plan(four(10_000), quick=quick).sweep["class"] for quick in (False, True))
    assert (whole, quick) == ("W", "S")
    assert (
        in_words(dict.fromkeys(BENCHMARKS, "A") | {"SP": "W", "BT": "W"}) == "class A (SP W, BT W)"
    )


def test_a_larger_class_and_more_ranks_need_more_memory() -> None:
    for name, benchmark in BENCHMARKS.items():
        for ranks in benchmark.counts(16):
            needs = [benchmark.memory_bytes(letter, ranks) for letter in CLASSES]
            assert needs == sorted(needs), name
        of_ranks = [benchmark.memory_bytes("A", ranks) for ranks in benchmark.counts(16)]
        assert of_ranks == sorted(of_ranks), name


@pytest.mark.nightly
@pytest.mark.cluster
def test_the_table_shows_what_ran_beside_paper_a(at_cluster: Beowulf) -> None:
    said = at_cluster("suite", "mg", "--class", "s", "--profile")
    assert "paper A (class A)" in said
    assert "Grendel (class B)" in said
    [row] = [line for line in said.splitlines() if "│ MG" in line]
    assert "yes, 2 checks" in row
    assert "7.03" in row
    assert "1.31" in row
    assert "MPI_Waitall" in said


def test_what_does_not_take_so_many_ranks_is_skipped_with_a_sentence() -> None:
    names = list(BENCHMARKS)
    fit, skipped = npb.fitting(names, 2)
    assert fit == ["EP", "IS", "CG", "MG", "FT", "LU"]
    assert skipped == ["SP and BT are skipped: they take a square number of ranks, not 2."]
    fit, skipped = npb.fitting(names, 16)
    assert "MG is skipped: it takes a power of two of ranks, at most 8, not 16." in skipped
    assert npb.fitting(names, 4) == (names, [])
    assert npb.fitting(["SP"], 2) == (["SP"], [])


def test_the_other_sizes_of_npb_2_3_are_reported_of_class_w_alone() -> None:
    assert [letter for letter in CLASSES if "Paper A ran NPB 2.3" in npb_warning(letter)] == ["W"]


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("words", "sentence"),
    first(2, [
        ("EPP", "There is no suite 'EPP'. There are: EP, IS, CG, MG, FT, LU, SP, BT, npb, hpl, hpcc, search."),
        ("SP -n 8", "This cluster has only 4 nodes, and there that is 1 or 4."),
        ("npb -n 0", "EP takes any number of ranks, not 0"),
        ("EP -n 5", "`beowulf up --nodes 5` boots that many"),
    ]),
)  # fmt: skip
def test_what_cannot_be_asked_for_is_a_sentence(
    at_cluster: Beowulf, words: str, sentence: str
) -> None:
    assert sentence in at_cluster("suite", *words.split(), code=2)


@pytest.mark.cluster
def test_any_program_can_be_profiled(at_cluster: Beowulf) -> None:
    source = Path(__file__).parent.parent / "labs" / "01-validation" / "ring.c"
    program = mpi.build(source, output=at_cluster.here / "ring")
    said = at_cluster("run", "--profile", "-n", "4", program)
    assert "the token came home after 4 hops" in said
    assert "Inside of MPI: " in said
    assert "MPI_Send" in said
    assert '"kind"' not in said


@pytest.mark.cluster
def test_a_python_program_can_be_profiled(at_cluster: Beowulf) -> None:
    program = at_cluster.here / "sum.py"
    program.write_text(
        "from mpi4py import MPI\nimport numpy as np\n"
        "total = np.empty(5)\nMPI.COMM_WORLD.Allreduce(np.ones(5), total)\nprint(total[0])\n"
    )
    said = at_cluster("run", "--profile", "-n", "2", program)
    [row] = [line for line in said.splitlines() if "MPI_Allreduce" in line]
    cells = [cell.strip() for cell in row.split("│")]
    assert (cells[2], cells[5]) == ("2", "80")


@pytest.mark.cluster
def test_a_program_without_mpi_has_no_profile(at_cluster: Beowulf) -> None:
    said = at_cluster("run", "--profile", "-n", "1", "/bin/hostname", code=1)
    assert "node00" in said
    assert "No rank reached MPI_Finalize, so there is no profile" in said
