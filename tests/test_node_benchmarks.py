"""The node benchmarks: is every row of paper A there, does none take less than it can, and is what is wrong said?"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest
from running import first, wait_until

from beowulf import mpi, papers, paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.measure.program_output import ProgramOutput

LAB = paths.root() / "labs" / "02-node-benchmarks"
TABLES = {"processes": 1, "latencies": 2, "bandwidths": 3, "memory": 4}
QUICK = ("--passes", "2", "--chunks", "3", "--chunk-us", "300")
# Small areas are enough where no test asks how fast memory is. `memory` takes twice the largest cache at least, which
# on a large processor is most of a minute: here it sees a smaller one.
LITTLE = {"bandwidths": ("--megabytes", "2"), "memory": ("--pages", "small", "--times-cache", "2")}
CACHES = "/sys/devices/system/cpu/cpu0/cache"
LARGEST_CACHE = "4096K"
PATIENCE_S = 400.0
# What a row takes at the very least on any machine, in us: a busy one takes longer, one that leaves its work out less.
LEAST_US = {
    **{"null call": 0.01, "stat": 0.05, "open/close": 0.1, "select": 0.05, "fork proc": 5.0},
    **{"exec proc": 20.0, "shell proc": 40.0, "UDP": 0.5, "TCP": 0.5, "RPC/UDP": 1.0},
    **{"RPC/TCP": 1.0, "fifo": 0.3, "semaphore": 0.3, "TCP connect": 2.0, "file create": 0.5},
    **{"file delete": 0.3, "file create 10K": 0.5, "file delete 10K": 0.3, "mmap": 0.5},
    "page fault": 0.001,
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("node")
    (folder / "caches" / "index0").mkdir(parents=True)
    (folder / "caches" / "index0" / "size").write_text(f"{LARGEST_CACHE}\n")
    copy = shutil.copytree(LAB, folder / "lab")
    text = (copy / "arrays.h").read_text()
    assert text.count(CACHES) == 1
    (copy / "arrays.h").write_text(text.replace(CACHES, str(folder / "caches")))
    return {name: mpi.build(copy / f"{name}.c", output=folder / name) for name in TABLES}


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [str(program), *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def printed(programs: dict[str, Path]) -> dict[str, str]:
    """What each program prints of a short run."""
    found = {}
    for name, program in programs.items():
        done = run(program, *QUICK, *LITTLE.get(name, ()))
        assert (done.returncode, done.stderr) == (0, "")
        found[name] = done.stdout
    return found


def lines(text: str, kind: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, text.splitlines()) if line["kind"] == kind]


def results(text: str) -> dict[str, dict[str, Any]]:
    return {line["row"]: line for line in lines(text, "result")}


def best(text: str) -> dict[str, float]:
    return {name: line["best"] for name, line in results(text).items()}


@pytest.mark.parametrize(("name", "number"), TABLES.items())
def test_every_row_of_the_papers_table_is_there_and_what_is_printed_is_whole(
    printed: dict[str, str], name: str, number: int
) -> None:
    # Which caches a busy machine shows nobody knows; the last row is always there.
    rows = {"Main memory"} if name == "memory" else set(papers.table(f"A-table-{number}")["test"])
    assert rows <= set(results(printed[name]))
    read = ProgramOutput()
    read.write(printed[name])
    assert (read.trouble, read.ended) == ("", True)
    assert read.samples == read.planned > 0
    [about] = lines(printed[name], "about")
    assert about["program"] == name
    assert about["hosts"] == [os.uname().nodename]
    # A sample lasts a hundred steps of the clock.
    shortest = min(line["seconds"] for line in lines(printed[name], "sample"))
    assert shortest >= max(100 * about["clock_resolution_s"], 300e-6 / 2)


@pytest.mark.parametrize("name", ["processes", "latencies", "bandwidths"])
def test_a_result_follows_from_its_samples(printed: dict[str, str], name: str) -> None:
    medians = {}
    for row in results(printed[name]):
        samples = [line for line in lines(printed[name], "sample") if line["row"] == row]
        medians[row] = statistics.median(line["seconds"] / line["repetitions"] for line in samples)
    for row, line in results(printed[name]).items():
        seconds = medians[row] - medians.get(line.get("less"), 0.0)
        if line["quantity"] == "rate_mb_per_s":
            size = next(x["size_bytes"] for x in lines(printed[name], "sample") if x["row"] == row)
            assert line["median"] == pytest.approx(size / seconds / 1e6, rel=1e-5)
        else:
            assert line["quantity"].endswith("_us")
            # Of two rows that other programs disturbed, the difference may be next to nothing.
            assert line["median"] == pytest.approx(seconds * 1e6, rel=1e-5, abs=1e-5)


def test_no_row_takes_less_than_it_can(printed: dict[str, str]) -> None:
    found = best(printed["processes"]) | best(printed["latencies"])
    assert {row: found[row] for row, least in LEAST_US.items() if found[row] <= least} == {}
    # What is left of a row when another is subtracted may be anything on a busy machine.
    whole = [line for line in lines(printed["processes"], "result") if "less" not in line]
    assert all(line["best"] > 0.005 for line in whole)
    # Nothing moves a byte in less than a tenth of a picosecond, or loads one in a fifth of a nanosecond.
    assert all(rate < 1e7 for rate in best(printed["bandwidths"]).values())
    assert all(ns > 0.2 for ns in best(printed["memory"]).values())


# The results of a curve that nobody measured: ns by size from 4 KiB on, two sizes an octave.
CURVE = """
#define main measured
#include "memory.c"
#undef main
int main(int argc, char **argv) {
    struct area area = {.count = argc - 1};
    for (int i = 0; i < area.count; i++) {
        double sample = strtod(argv[i + 1], NULL) * 1e-9;
        area.sizes[i] = ((long)SMALLEST << i / 2) * (i % 2 ? 3 : 2) / 2;
        area.samples[i] = memcpy(malloc(sizeof sample), &sample, sizeof sample);
        area.taken[i] = 1;
    }
    write_results(&area);
    flush_lines();
}
"""


def test_each_cache_is_slower_than_the_one_before_and_memory_the_slowest(tmp_path: Path) -> None:
    source, program = tmp_path / "curve.c", tmp_path / "curve"
    source.write_text(CURVE)
    words = ["gcc", "-std=c11", "-O1", f"-I{LAB}", f"-I{LAB.parent / 'include'}"]
    subprocess.run([*words, str(source), "-o", str(program)], check=True)
    for curve, best in (
        ("1 1 1 1 3 4 4 4 4 9 12 12 12 12 30 70 80 85 88 90", [1, 4, 12, 90]),
        ("1 1 9 1 3 4 4 4 4 20 60 90", [1, 4, 90]),  # a curve that climbs at its end
        ("1 1 1 1 3 4 4 4 4 6 9 12 12 12 12", [1, 4, 12]),
        ("1 1 1 4 4 4 50 70 90 100 108 110", [1, 4, 110]),
        ("1 1 1 1 1.2 1.4 1.4 1.4", [1, 1.4]),  # so small a step is no other cache
        ("1 1 1 2 4 8 16 32", [1, 32]),  # what only climbs is no plateau
        ("1 2 4 8", [8]),
        # Memory is at the largest size, whatever was disturbed.
        ("1 1 1 1 1 1 1 1", [1, 1]),
    ):
        found = lines(run(program, *curve.split()).stdout, "result")
        names = [f"L{number} cache" for number in range(1, len(found))]
        assert [line["row"] for line in found] == [*names, "Main memory"]
        assert [line["best"] for line in found] == pytest.approx(best)
        sizes = len(curve.split())
        assert found[-1]["to_bytes"] == 4096 * 2 ** ((sizes - 1) // 2) * (1 if sizes % 2 else 1.5)
        assert all(line["from_bytes"] <= line["to_bytes"] for line in found)
        assert all(a["to_bytes"] < b["from_bytes"] for a, b in itertools.pairwise(found))


def test_no_load_of_main_memory_is_foreseen(printed: dict[str, str]) -> None:
    """Were the lines in an order that a processor can guess, each would be there when it is asked for."""
    samples = lines(printed["memory"], "sample")
    largest = max(line["size_bytes"] for line in samples)
    loads = [each for each in samples if each["size_bytes"] == largest]
    assert min(each["seconds"] / each["repetitions"] for each in loads) > 5e-9


def test_the_order_goes_by_the_seed(programs: dict[str, Path]) -> None:
    def order(seed: str) -> list[str]:
        wanted = ("--rows", "null call,stat,open/close,null I/O,signal install", "--seed", seed)
        done = run(programs["processes"], *QUICK, *wanted)
        return [line["row"] for line in lines(done.stdout, "sample")]

    assert order("3") == order("3")
    assert order("3") != order("4")


def test_a_row_brings_what_is_subtracted_from_it(programs: dict[str, Path]) -> None:
    for row, other in (
        ("context switch (2 processes)", "ring by one process"),
        ("signal handle/catch", "signal 0"),
    ):
        assert set(results(run(programs["processes"], *QUICK, "--rows", row).stdout)) == {
            row,
            other,
        }


# What goes wrong in a copy of a source, and the sentence with which it must end; one of each program first.
BROKEN = {
    "a page left out": (
        *("processes", "files.h", "page fault"),
        ("for (int j = 0; j < PAGES; j++)", "for (int j = 1; j < PAGES - 1; j++)"),
        "the pages that were read are not those of the file",
    ),
    "half of what is read": (
        *("bandwidths", "bandwidths.c", "mem read"),
        ("sum += sum_of_narrow(source, bytes);", "sum += sum_of_narrow(source, bytes / 2);"),
        "the sum of what was read is not that of what was written",
    ),
    "a semaphore raised twice": (
        *("latencies", "latencies.c", "semaphore"),
        ("change_semaphore(*(int *)what, BACK, 1)", "change_semaphore(*(int *)what, BACK, 2)"),
        "A semaphore was raised and nobody waited for it",
    ),
    "a file that is not made": (
        *("processes", "files.h", "file create 10K"),
        ("if (size && must(write(", "if (!size && must(write("),
        "is not the file that was made",
    ),
    "a file that stays": (
        *("processes", "files.h", "file delete"),
        ("        must(unlink(path), ", "        must(i ? unlink(path) : 0, "),
        "is still there",
    ),
    "a mapping of its own": (
        *("processes", "files.h", "mmap"),
        ("PROT_WRITE, MAP_SHARED, mapped_file", "PROT_WRITE, MAP_PRIVATE, mapped_file"),
        "was written into its mapping",
    ),
    "a connection that nobody takes": (
        *("processes", "connections.h", "TCP connect"),
        ("__atomic_add_fetch(door->taken, 1", "__atomic_add_fetch(door->taken, 0"),
        "connections were made, and 0 taken",
    ),
    "half of what is written": (
        *("bandwidths", "bandwidths.c", "mem write"),
        ("write_everywhere_narrow(target, (uint32_t)i, bytes)", "write_everywhere_narrow(target, 1, bytes / 2)"),
        "what was written is not there",
    ),
}  # fmt: skip


@pytest.mark.parametrize("error", first(3, BROKEN))
def test_a_row_that_does_not_do_its_work_is_refused(tmp_path: Path, error: str) -> None:
    program, file, row, (old, new), sentence = BROKEN[error]
    copy = tmp_path / "lab"
    shutil.copytree(LAB, copy)
    text = (copy / file).read_text()
    assert text.count(old) == 1
    (copy / file).write_text(text.replace(old, new))
    built = mpi.build(copy / f"{program}.c", output=tmp_path / program)
    done = run(built, *QUICK, *LITTLE.get(program, ()), "--rows", row)
    assert done.returncode == 2
    assert sentence in done.stderr


# Runs the words in a place where no other program has semaphores, and prints how many there are; with `kill`, before
# and after the end of the program, which is killed while it measures.
ALONE = r"""
count() { echo "semaphores $(($(wc -l </proc/sysvipc/sem) - 1))"; }
if [[ $1 != kill ]]; then "$@" && count; exit; fi
exec {out}< <(exec "${@:2}")
program=$!
while read -r line <&$out && [[ $line != *'"sample"'* ]]; do :; done
count
kill -KILL $program
while [[ $(count) != "semaphores 0" ]]; do sleep 0.01; done
count
"""


def alone(*words: str | Path) -> list[str]:
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    done = run(Path("unshare"), *user, "--ipc", "bash", "-c", ALONE, "alone", *map(str, words))
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("semaphores")]


@pytest.mark.parametrize("name", ["processes", "latencies"])
def test_nothing_stays_behind(
    programs: dict[str, Path], tmp_path: Path, name: str, namespaces_work: None
) -> None:
    folder = ("--folder", str(tmp_path)) if name == "processes" else ()
    assert alone(programs[name], *QUICK, *folder) == ["semaphores 0"]
    assert list(tmp_path.iterdir()) == []


def test_semaphores_are_removed_when_the_program_is_killed(
    programs: dict[str, Path], namespaces_work: None
) -> None:
    words = [programs["latencies"], "--rows", "semaphore", "--passes", "1000"]
    before, after = alone("kill", *words)
    assert before != "semaphores 0"
    assert after == "semaphores 0"


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("processes", ("--rows", "nul call"), "--rows is one of null call, null I/O,"),
        ("processes", ("--row", "stat"), "There is no argument --row."),
        ("processes", ("--passes", "0"), "--passes takes numbers from 1 to 1000, not 0."),
        ("latencies", ("--chunks", "many"), "--chunks takes whole numbers, not 'many'."),
        ("latencies", ("--cores", "both"), "--cores is one of free, same, apart, not 'both'."),
        ("bandwidths", ("--megabytes", "1000000"), "GB are free."),
        ("bandwidths", ("--folder", "/nowhere"), "No file can be made in /nowhere: No such file"),
        ("processes", ("--folder", "/nowhere"), "No folder can be made in /nowhere: No such file"),
        ("bandwidths", ("--rows",), "--rows needs a value after it."),
    ],
)
def test_what_cannot_be_measured_is_refused(
    programs: dict[str, Path], name: str, arguments: tuple[str, ...], sentence: str
) -> None:
    done = run(programs[name], *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("refused: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_that_does_not_fit_is_refused(
    programs: dict[str, Path], private_mounts: tuple[str, ...], tmp_path: Path
) -> None:
    words = [*private_mounts, f"tmpfs:1m:{tmp_path}", str(programs["bandwidths"]), "--megabytes"]
    done = subprocess.run(
        [*words, "2", "--folder", str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 2
    assert f"refused: A file of 2 MiB does not fit into {tmp_path}" in done.stderr


def test_without_libtirpc_a_sentence_says_so_and_the_other_rows_work(tmp_path: Path) -> None:
    program = tmp_path / "latencies"
    words = ["gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{LAB.parent / 'include'}"]
    subprocess.run([*words, str(LAB / "latencies.c"), "-o", str(program)], check=True)
    done = run(program, *QUICK)
    assert done.returncode == 2
    assert "Install the package libtirpc-dev" in done.stderr
    done = run(program, *QUICK, "--rows", "pipe,AF UNIX,UDP,TCP")
    assert (done.returncode, len(results(done.stdout))) == (0, 4)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["processes", "latencies", "bandwidths"])
def test_no_partner_outlives_a_program_that_is_killed(
    programs: dict[str, Path], tmp_path: Path, name: str
) -> None:
    words = [str(programs[name]), "--passes", "1000", "--chunks", "100", *LITTLE.get(name, ())]
    if name == "processes":  # its files would stay in the temporary folder
        words += ["--folder", str(tmp_path)]
    running = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        assert running.stdout
        while b'"sample"' not in running.stdout.readline():
            assert running.poll() is None
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    finally:
        running.kill()
        running.communicate()
    assert children
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in children), "an end")


@pytest.mark.cluster
def test_a_node_measures_itself(cluster: NamespaceCluster, programs: dict[str, Path]) -> None:
    node, program = cluster.nodes[1], programs["processes"]
    words = (*QUICK, "--rows", "null call,fork proc,TCP connect")
    done = mpi.launch(cluster, program, 1, words, hosts=[node], timeout_s=PATIENCE_S)
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(done.stdout, "about")[0]["hosts"] == [node]
    assert len(results(done.stdout)) == 3
