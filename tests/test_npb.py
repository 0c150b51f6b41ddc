"""The NAS Parallel Benchmarks: is every result the published one, and does everything else end in a sentence?"""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from npb_errors import ERRORS, Planted
from npb_specification import digest_of_charges, digests_of_keys_and_ranks, elements
from running import first

from beowulf import mpi, paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster

NPB = paths.root() / "labs" / "03-parallel-benchmarks" / "npb"
NAMES = sorted(path.stem for path in NPB.glob("*.c"))
SEEDED = ["cg", "ep", "ft", "is", "mg"]
LIGHT = ["cg", "is"]  # whose class W is counted in a moment
SQUARE = ["bt", "sp"]  # they take square numbers of ranks, the others powers of two
# BT takes longest to compile and to run, and has its lines and cells in common with SP.
RUNS = [
    pytest.param(name, ranks, marks=pytest.mark.nightly if name == "bt" or ranks != 4 else ())
    for name in NAMES
    for ranks in (1, 2, 4)
    if ranks != 2 or name not in SQUARE
]
PATIENCE_S = 600.0
Done = subprocess.CompletedProcess[str]
Ran, Programs = Callable[[str, int], Done], Callable[[str], Path]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """The benchmarks by name, compiled when they are asked for."""
    folder = tmp_path_factory.mktemp("npb")
    return cache(lambda name: mpi.build(NPB / f"{name}.c", output=folder / name))


def run(program: Path, ranks: int, *arguments: str) -> Done:
    """On this machine alone, over its loopback: ranks that wait in shared memory would spin on its few cores."""
    mpiexec = paths.mpi_prefix("classic") / "bin" / "mpiexec"
    environment = {
        "MPIR_CVAR_NOLOCAL": "1",
        "BEOWULF_PATIENT": "always",
        "LD_PRELOAD": str(paths.native("patient_poll.so")),
    }
    settings = [word for name, value in environment.items() for word in ("-genv", name, value)]
    words = [str(mpiexec), *settings, "-n", str(ranks), str(program), *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def ran(programs: Programs) -> Ran:
    """Class S of a benchmark on so many ranks, run once for all questions about it."""
    return cache(lambda name, ranks: run(programs(name), ranks, "S"))


def lines(text: str, kind: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, text.splitlines()) if line["kind"] == kind]


def result(text: str) -> dict[str, Any]:
    """The one result in what a benchmark printed to its end."""
    assert len(lines(text, "end")) == 1
    [found] = lines(text, "result")
    return found


@pytest.mark.parametrize(("name", "ranks"), RUNS)
def test_every_number_of_ranks_gives_the_published_result(ran: Ran, name: str, ranks: int) -> None:
    done = ran(name, ranks)
    assert (done.returncode, done.stderr) == (0, "")
    found = result(done.stdout)
    assert found["verified"] is True
    assert (found["name"], found["class"], found["ranks"]) == (name.upper(), "S", ranks)
    assert found["seconds"] > 0
    assert found["mops"] > 0
    checks = lines(done.stdout, "check")
    assert len(checks) == found["checks"] > 0
    for line in checks:
        assert line["relative_error"] <= line["tolerance"]
        expected = line["published"] if "source" not in line else line["expected"]
        off, length = math.dist(line["value"], expected), math.hypot(*expected)
        assert line["relative_error"] == pytest.approx(off / (length or 1.0), rel=1e-3, abs=1e-15)
    alone = result(ran(name, 1).stdout)
    assert found["work"] == alone["work"] > 0
    assert found["counted"] == alone["counted"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_the_next_class_gives_its_own_published_result(programs: Programs, name: str) -> None:
    done = run(programs(name), 4, "w")
    assert (done.returncode, done.stderr) == (0, "")
    assert result(done.stdout)["class"] == "W"
    assert result(done.stdout)["verified"] is True


def known(text: str, quantity: str) -> list[float]:
    """What a check holds its quantity against."""
    [line] = [each for each in lines(text, "check") if each["quantity"] == quantity]
    return line["expected"]


@pytest.mark.parametrize(
    "letter", ["S", *(pytest.param(c, marks=pytest.mark.nightly) for c in "WAB")]
)
def test_what_is_not_published_follows_from_the_specification(
    programs: Programs, ran: Ran, letter: str
) -> None:
    def said(name: str) -> str:
        return (ran(name, 1) if letter == "S" else run(programs(name), 1, letter)).stdout

    assert known(said("is"), "digests_of_keys_and_ranks") == digests_of_keys_and_ranks(letter)
    assert known(said("mg"), "digest_of_charges") == [digest_of_charges(letter)]
    outer = 15 if letter in "SWA" else 75
    assert result(said("cg"))["work"] == 26 * outer * elements(letter)


@pytest.mark.nightly
@pytest.mark.parametrize("planted", ERRORS, ids=str)
def test_a_planted_error_is_caught(planted: Planted, tmp_path: Path) -> None:
    done = run(planted.built(tmp_path), 4, "S")
    assert done.returncode == 1
    assert f"{planted.program.upper()} class S " in done.stderr
    assert result(done.stdout)["verified"] is False


@pytest.mark.cluster
@pytest.mark.parametrize("name", first(1, [*LIGHT, *(n for n in NAMES if n not in LIGHT)]))
def test_four_nodes_give_the_published_result(
    cluster: NamespaceCluster, programs: Programs, name: str
) -> None:
    done = mpi.launch(cluster, programs(name), 4, ["S"], timeout_s=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert result(done.stdout)["verified"] is True
    [about] = lines(done.stdout, "about")
    assert about["hosts"] == list(cluster.nodes)


@pytest.mark.parametrize("name", first(2, SEEDED))
def test_other_random_numbers_fail_with_the_figures(programs: Programs, name: str) -> None:
    done = run(programs(name), 2, "S", "--seed", "12345")
    assert done.returncode == 1
    assert f"{name.upper()} class S is wrong: " in done.stderr
    assert "is published" in done.stderr
    assert result(done.stdout)["verified"] is False


@pytest.mark.parametrize(
    ("name", "ranks", "words", "sentence"),
    [
        ("ep", 1, ["SS"], "refused: EP has the classes S, W, A"),
        ("is", 1, [""], "not ''"),
        ("ep", 1, ["S", "--sede", "1"], "There is no argument --sede"),
        ("cg", 3, ["S"], "refused: CG takes 1, "),
        ("sp", 2, ["S"], "not 2"),
        *(
            pytest.param(name, 2 if name in SQUARE else 3, ["S"], " takes 1, ", marks=pytest.mark.nightly)
            for name in ("bt", "ft", "is", "lu", "mg")
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_refused(
    programs: Programs, name: str, ranks: int, words: list[str], sentence: str
) -> None:
    done = run(programs(name), ranks, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr


# EP takes any number; SP and BT with nine have cells of different sizes; eight are a grid.
@pytest.mark.parametrize(
    ("name", "ranks"),
    first(4, [
        *[("ep", 3), ("sp", 9), ("cg", 8), ("mg", 8)],
        *[("bt", 9), ("lu", 8), ("is", 8), ("ft", 8)],
    ]),
)  # fmt: skip
def test_other_numbers_of_ranks_give_the_published_result(ran: Ran, name: str, ranks: int) -> None:
    assert result(ran(name, ranks).stdout)["verified"] is True


@pytest.fixture(scope="module")
def many_ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What makes a program that is alone believe in many others: so many would fill the memory."""
    library = tmp_path_factory.mktemp("many") / "many_ranks.so"
    source = Path(__file__).with_name("many_ranks.c")
    return mpi.build(source, output=library, flags=("-shared", "-fPIC"))


@pytest.mark.parametrize(
    ("name", "ranks", "sentence"),
    [
        ("is", 256, "IS class S takes at most 128 ranks, not 256: it has 512 buckets"),
        ("mg", 16, "MG takes 1, 2, 4 or 8 ranks, not 16: the coarsest cube has a point for 8"),
        ("ft", 128, "FT class S takes at most 64 ranks, not 128: each has at least one plane."),
        ("lu", 32, "LU class S has 12 points along an axis: too few for 32 ranks."),
        ("sp", 49, "SP class S has 12 points along an axis: too few for 49 ranks."),
    ],
)
def test_more_ranks_than_there_is_work_for_are_refused(
    programs: Programs, many_ranks: Path, name: str, ranks: int, sentence: str
) -> None:
    done = subprocess.run(
        [str(programs(name)), "S"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env={**os.environ, "LD_PRELOAD": str(many_ranks), "RANKS": str(ranks)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"refused: {sentence}" in done.stderr
