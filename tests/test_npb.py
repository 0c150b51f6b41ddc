"""The NAS Parallel Benchmarks: is every result the published one, and does everything else end in a sentence?"""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from npb_errors import ERRORS, Planted
from npb_specification import digest_of_charges, digests_of_keys_and_ranks, elements
from running import first

from beowulf import mpi, paths
from beowulf.cluster.namespaces import NamespaceCluster

NPB = paths.root() / "labs" / "03-parallel-benchmarks" / "npb"
NAMES = sorted(path.stem for path in NPB.glob("*.c"))
SEEDED = ["cg", "ep", "ft", "is", "mg"]
LIGHT = ["cg", "is"]  # whose class W is counted in a moment
SQUARE = ["bt", "sp"]  # they take square numbers of ranks, the others powers of two
PATIENCE_S = 600.0


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("npb")
    return {name: mpi.build(NPB / f"{name}.c", output=folder / name) for name in NAMES}


def run(program: Path, ranks: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """On this machine alone, over its loopback: ranks that wait in shared memory would spin on its few cores."""
    mpiexec = paths.mpi_prefix("classic") / "bin" / "mpiexec"
    environment = {
        "MPIR_CVAR_NOLOCAL": "1",
        "BEOWULF_PATIENT": "always",
        "LD_PRELOAD": str(paths.native("patient_poll.so")),
    }
    settings = [word for name, value in environment.items() for word in ("-genv", name, value)]
    return subprocess.run(
        [str(mpiexec), *settings, "-n", str(ranks), str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


@pytest.fixture(scope="module")
def alone(programs: dict[str, Path]) -> dict[str, subprocess.CompletedProcess[str]]:
    """Class S on one rank, once for all questions about it."""
    return {name: run(program, 1, "S") for name, program in programs.items()}


@pytest.fixture(scope="module")
def on_four(programs: dict[str, Path]) -> dict[str, subprocess.CompletedProcess[str]]:
    """The same on four ranks."""
    return {name: run(program, 4, "S") for name, program in programs.items()}


def lines(text: str, kind: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, text.splitlines()) if line["kind"] == kind]


def result(text: str) -> dict[str, Any]:
    """The one result in what a benchmark printed to its end."""
    assert len(lines(text, "end")) == 1
    [found] = lines(text, "result")
    return found


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        pytest.param(name, ranks, marks=pytest.mark.nightly if name == "bt" else ())
        for name in NAMES
        for ranks in (1, 2, 4)
        if ranks != 2 or name not in SQUARE
    ],
)
def test_every_number_of_ranks_gives_the_published_result(
    programs: dict[str, Path],
    alone: dict[str, subprocess.CompletedProcess[str]],
    on_four: dict[str, subprocess.CompletedProcess[str]],
    name: str,
    ranks: int,
) -> None:
    done = {1: alone, 4: on_four}[ranks][name] if ranks != 2 else run(programs[name], 2, "S")
    assert (done.returncode, done.stderr) == (0, "")
    found = result(done.stdout)
    assert found["verified"] is True
    assert (found["name"], found["class"], found["ranks"]) == (name.upper(), "S", ranks)
    assert found["seconds"] > 0
    assert found["mops"] > 0


@pytest.mark.parametrize(
    "name", [n if n in LIGHT else pytest.param(n, marks=pytest.mark.nightly) for n in NAMES]
)
def test_the_next_class_gives_its_own_published_result(
    programs: dict[str, Path], name: str
) -> None:
    done = run(programs[name], 4, "w")
    assert (done.returncode, done.stderr) == (0, "")
    assert result(done.stdout)["class"] == "W"
    assert result(done.stdout)["verified"] is True


@pytest.mark.parametrize("name", NAMES)
def test_every_check_says_what_was_published(
    alone: dict[str, subprocess.CompletedProcess[str]], name: str
) -> None:
    done = alone[name]
    checks = lines(done.stdout, "check")
    assert len(checks) == result(done.stdout)["checks"] > 0
    for line in checks:
        assert line["relative_error"] <= line["tolerance"]
        expected = line["published"] if "source" not in line else line["expected"]
        off, length = math.dist(line["value"], expected), math.hypot(*expected)
        assert line["relative_error"] == pytest.approx(off / (length or 1.0), rel=1e-3, abs=1e-15)


def known(text: str, quantity: str) -> list[float]:
    """What a check holds its quantity against."""
    [line] = [each for each in lines(text, "check") if each["quantity"] == quantity]
    return line["expected"]


@pytest.mark.parametrize(
    "letter", ["S", *(pytest.param(c, marks=pytest.mark.nightly) for c in "WAB")]
)
def test_what_is_not_published_follows_from_the_specification(
    programs: dict[str, Path], letter: str
) -> None:
    of_is, of_mg, of_cg = (run(programs[name], 1, letter).stdout for name in ("is", "mg", "cg"))
    assert known(of_is, "digests_of_keys_and_ranks") == digests_of_keys_and_ranks(letter)
    assert known(of_mg, "digest_of_charges") == [digest_of_charges(letter)]
    outer = 15 if letter in "SWA" else 75
    assert result(of_cg)["work"] == 26 * outer * elements(letter)


def test_the_work_is_the_same_on_any_number_of_ranks(
    alone: dict[str, subprocess.CompletedProcess[str]],
    on_four: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    for name in NAMES:
        one, four = result(alone[name].stdout), result(on_four[name].stdout)
        assert four["work"] == one["work"] > 0
        assert four["counted"] == one["counted"]


@pytest.mark.nightly
@pytest.mark.parametrize("planted", ERRORS, ids=str)
def test_a_planted_error_is_caught(planted: Planted, tmp_path: Path) -> None:
    done = run(planted.built(tmp_path), 4, "S")
    assert done.returncode == 1
    assert f"{planted.program.upper()} class S " in done.stderr
    assert result(done.stdout)["verified"] is False


@pytest.mark.cluster
@pytest.mark.parametrize("name", first(2, [*LIGHT, *(n for n in NAMES if n not in LIGHT)]))
def test_four_nodes_give_the_published_result(
    cluster: NamespaceCluster, programs: dict[str, Path], name: str
) -> None:
    done = mpi.launch(cluster, programs[name], 4, ["S"], timeout_s=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert result(done.stdout)["verified"] is True
    [about] = lines(done.stdout, "about")
    assert about["hosts"] == list(cluster.nodes)


@pytest.mark.parametrize("name", first(2, SEEDED))
def test_other_random_numbers_fail_with_the_figures(programs: dict[str, Path], name: str) -> None:
    done = run(programs[name], 2, "S", "--seed", "12345")
    assert done.returncode == 1
    assert f"{name.upper()} class S is wrong: " in done.stderr
    assert "is published" in done.stderr
    assert result(done.stdout)["verified"] is False


@pytest.mark.parametrize(("name", "word"), [("bt", "X"), ("ep", "SS"), ("is", "")])
def test_a_class_that_does_not_exist_is_refused(
    programs: dict[str, Path], name: str, word: str
) -> None:
    done = run(programs[name], 1, word)
    assert done.returncode == 2
    assert f"refused: {name.upper()} has the classes S, W, A" in done.stderr
    assert f"not '{word}'" in done.stderr


@pytest.mark.parametrize("name", first(3, ["cg", *SQUARE, "ft", "is", "lu", "mg"]))
def test_a_number_of_ranks_that_does_not_fit_is_refused(
    programs: dict[str, Path], name: str
) -> None:
    ranks = 2 if name in SQUARE else 3
    done = run(programs[name], ranks, "S")
    assert done.returncode == 2
    assert f"refused: {name.upper()} takes 1, " in done.stderr
    assert f"not {ranks}" in done.stderr
    assert done.stdout == ""


def test_ep_takes_any_number_of_ranks(programs: dict[str, Path]) -> None:
    assert result(run(programs["ep"], 3, "S").stdout)["verified"] is True


@pytest.mark.parametrize("name", first(1, ["sp", "bt"]))
def test_cells_of_different_sizes_give_the_published_result(
    programs: dict[str, Path], name: str
) -> None:
    assert result(run(programs[name], 9, "S").stdout)["verified"] is True


@pytest.mark.parametrize("name", first(2, ["cg", "mg", "lu", "is", "ft"]))
def test_a_grid_of_eight_ranks_gives_the_published_result(
    programs: dict[str, Path], name: str
) -> None:
    assert result(run(programs[name], 8, "S").stdout)["verified"] is True


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
    programs: dict[str, Path], many_ranks: Path, name: str, ranks: int, sentence: str
) -> None:
    done = subprocess.run(
        [str(programs[name]), "S"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env={**os.environ, "LD_PRELOAD": str(many_ranks), "RANKS": str(ranks)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"refused: {sentence}" in done.stderr


def test_a_misspelt_argument_is_refused(programs: dict[str, Path]) -> None:
    done = run(programs["ep"], 1, "S", "--sede", "1")
    assert done.returncode == 2
    assert "There is no argument --sede" in done.stderr
