"""Are the tools of others found, asked for the right row, and read as they print? What if they print something else?"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from beowulf import paths
from beowulf.cluster import Cluster, Completed
from beowulf.errors import LabError
from beowulf.labs.lab_02.a3_node_benchmarks import LAB
from beowulf.labs.lab_02.node_neighbours import (
    BESIDE,
    LMBENCH,
    NEIGHBOURS,
    PERF,
    TOOL,
    Neighbour,
    beside,
    command,
    installed,
    mean_figure,
    read,
)
from beowulf.labs.lab_02.node_rows import PROGRAMS, label
from beowulf.measure.measurement import Measurement
from beowulf.record import Point
from tests.gold.lab_02 import printed

# Rows of ours that LMBench has and paper A has not.
BEYOND = (
    *("context switch (2 processes)", "context switch (ring of 4)", "TCP connect"),
    *("mmap", "page fault", "TCP bandwidth"),
)
# As perf 6.1 and LMBench 3 print them.
PERF_CALLS = """# Running 'syscall/basic' benchmark:
# Executed 3000000 getppid() calls
     Total time: 0.529 [sec]

       0.176476 usecs/op
        5666492 ops/sec
"""
PERF_COPIES = """# Running 'mem/memcpy' benchmark:
# function 'default' (Default memcpy() provided by glibc)
# Copying 64MB bytes ...

      {} {}/sec
"""


def of(tool: str, row: str) -> Neighbour:
    return next(each for each in NEIGHBOURS[row] if each.tool == tool)


@pytest.mark.parametrize(
    ("tool", "row", "text", "figure"),
    [
        (PERF, "null call", PERF_CALLS, 0.176476),
        (PERF, "Bcopy (libc)", PERF_COPIES.format("10.105747", "GB"), 10.105747 * 1073.741824),
        (
            LMBENCH,
            "null I/O",
            "Simple read: 0.4 microseconds\nSimple write: 0.2 microseconds\n",
            0.3,
        ),
        (LMBENCH, "select", "Select on 100 tcp fd's: 4.7000 microseconds\n", 4.7),
        (LMBENCH, "pipe bandwidth", "Pipe bandwidth: 6605.32 MB/sec\n", 6605.32),
        (LMBENCH, "mem read", "67.11 19894.52\n", 19894.52),
        (LMBENCH, "context switch (2 processes)", '\n"size=0k ovr=1.07\n2 1.90\n', 1.9),
        (LMBENCH, "mmap", "4.194304 12\n", 12.0),
        (LMBENCH, "page fault", "Pagefaults on /tmp/tmp.x: 0.1234 microseconds\n", 0.1234),
        (LMBENCH, "TCP bandwidth", "0.065536 3000.10 MB/sec\n", 3000.1),
        (
            *(LMBENCH, "TCP connect"),
            *("TCP/IP connection cost to localhost: 21.5000 microseconds\n", 21.5),
        ),
    ],
)
def test_what_a_tool_prints_is_read(tool: str, row: str, text: str, figure: float) -> None:
    assert read(of(tool, row), text) == pytest.approx(figure)


@pytest.mark.parametrize("text", ["", "WARNING: perf not found for kernel 9.9\n", "0.0 usecs/op\n"])
def test_what_is_no_figure_is_reported(text: str) -> None:
    with pytest.raises(LabError, match="perf bench printed no figure but:"):
        read(of(PERF, "null call"), text)


def test_every_row_with_a_neighbour_is_a_row_of_ours() -> None:
    ours = {label(program, row) for program, each in printed().items() for row in each}
    assert {row for row in NEIGHBOURS if row not in BEYOND} <= ours
    texts = "".join((paths.root() / "labs" / LAB / f"{name}.c").read_text() for name in PROGRAMS)
    for row in BEYOND:
        assert f'.name = "{row.removesuffix(" bandwidth")}"' in texts


@pytest.mark.parametrize("quick", [True, False])
def test_every_command_is_one_that_a_shell_takes(quick: bool) -> None:
    for each in [each for row in NEIGHBOURS.values() for each in row]:
        line = command(each, "/a folder", 64 << 20, quick=quick)
        assert "{" not in line
        assert subprocess.run(["sh", "-n", "-c", line]).returncode == 0


def test_a_mean_is_over_all_repetitions_and_a_rate_over_all_bytes() -> None:
    samples: list[dict[str, Any]] = [
        {"seconds": 1e-6, "repetitions": 1},
        {"seconds": 6e-6, "repetitions": 3},
    ]
    assert mean_figure(samples) == pytest.approx(1.75)
    rates = [{**sample, "size_bytes": 7} for sample in samples]
    assert mean_figure(rates) == pytest.approx(4)


# ---- On a node ----------------------------------------------------------------------------------


class ThisMachine:
    """A node whose shell is this machine's, and finds programs in these folders first."""

    def __init__(self, *folders: Path) -> None:
        self.path = ":".join(map(str, folders)) + ":/usr/bin:/bin"

    def run(self, node: str, words: str, *, timeout_s: float) -> Completed:
        env = {**os.environ, "PATH": self.path}
        done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, env=env)
        return Completed(done.returncode, done.stdout, done.stderr, 0.0)


def machine(*folders: Path) -> Cluster:
    return cast("Cluster", ThisMachine(*folders))


def kept(node: Cluster, tools: dict[str, str]) -> tuple[list[Point], list[str]]:
    """What is kept of the tools of others beside a null call, and what is said."""
    measurement = SimpleNamespace(cluster=node, points=[], warnings=[])
    beside(cast("Measurement", measurement), lines("null call"), AT, tools, quick=True)
    return measurement.points, measurement.warnings


def tool(folder: Path, name: str, *says: str) -> Path:
    """A folder with a program that says these lines on stderr, as LMBench's do."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in says))
    program.chmod(0o755)
    return folder


def lines(row: str) -> list[dict[str, Any]]:
    sample = {"kind": "sample", "row": row, "seconds": 4e-6, "repetitions": 2}
    result = {"kind": "result", "row": row, "median": 2.5}
    return [{"kind": "about"}, sample, sample, result, {"kind": "end"}]


AT = {"program": "processes", "node": "node01", "launch": 2}


def test_an_installed_lmbench_is_found_and_its_figure_stands_beside_our_median(
    tmp_path: Path,
) -> None:
    folder = tool(tmp_path / "lm bench", "lat_syscall", "Simple syscall: 2.0 microseconds")
    node = machine(folder)
    where = installed(node, "node01")[LMBENCH]
    assert where == str(folder)
    points, wrong = kept(node, {LMBENCH: where})
    assert wrong == []
    [point] = points
    assert point.at == {TOOL: LMBENCH, BESIDE: "null call", "node": "node01", "launch": 2}
    assert point.facts == {"theirs": 2.0, "ours": 2.5}


def test_beside_perf_stands_our_mean(tmp_path: Path) -> None:
    node = machine(tool(tmp_path / "bin", "perf", "  0.25 usecs/op"))
    points, _ = kept(node, {PERF: "perf version 6"})
    assert [point.facts for point in points] == [{"theirs": 0.25, "ours": 2.0}]


def test_a_tool_that_is_nowhere_is_left_out(tmp_path: Path) -> None:
    tool(tmp_path / "bin", "perf", "WARNING: perf not found for kernel 9.9")
    node = machine(tmp_path / "bin")
    assert PERF not in installed(node, "node01")
    assert kept(node, {}) == ([], [])


def test_a_tool_that_fails_is_reported_and_ends_nothing(tmp_path: Path) -> None:
    node = machine(tool(tmp_path / "bin", "perf", "Invalid argument"))
    points, wrong = kept(node, {PERF: "perf version 6"})
    assert points == []
    assert wrong == ["node01, null call: perf bench printed no figure but: Invalid argument"]
