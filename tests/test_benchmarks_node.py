"""The benchmark of the node rows: are pairs taken in turns, read in seconds, and a missing tool reported once?"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from benchmarks import commands, node_bench, npb
from benchmarks.failures import Failures
from benchmarks.node_bench import MIB, Compared
from benchmarks.rows import NOT_MEASURED, answer
from beowulf.errors import LabError
from beowulf.studies.lab_02.node_neighbours import LMBENCH, NEIGHBOURS, PERF

COPY = Compared("memcpy", "bandwidths", "Bcopy (libc)", "Bcopy (libc)", size=4 * MIB)
CALL = Compared("call", "processes", "null call", "null call")


def our_lines(row: str, *seconds: float) -> str:
    samples = [
        {"kind": "sample", "row": row, "repetitions": 2, "seconds": each, "size_bytes": 4 * MIB}
        for each in seconds
    ]
    if row == "null call":
        samples = [{k: v for k, v in each.items() if k != "size_bytes"} for each in samples]
    lines = [{"kind": "about"}, *samples, {"kind": "result", "row": row, "median": 7.0}]
    return "\n".join(json.dumps(line) for line in [*lines, {"kind": "end"}])


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that a pair runs; ours needs 2 ms for a copy or call, the tools theirs."""
    ran: list[list[str]] = []

    def timed(words: list[str], env: object, **more: object) -> tuple[float, str]:
        ran.append(words)
        line = " ".join(words)
        if "memcpy" in line:
            return 0.0, f"  {4 / 1024 / 1e-3} GB/sec"  # 4 MiB in 1 ms
        if "perf" in line:
            return 0.0, "  500.0 usecs/op"
        if "lat_syscall" in line:
            return 0.0, "Simple syscall: 14.0 microseconds"
        return 0.0, our_lines(words[words.index("--rows") + 1], 3e-3, 5e-3)

    monkeypatch.setattr(commands, "timed", timed)
    return ran


def of(tool: str, each: Compared) -> dict[str, float]:
    neighbour = next(x for x in NEIGHBOURS[each.label] if x.tool == tool)
    side = node_bench.pair("/program", each, neighbour, "/where", 1, random.Random(1))
    return dict(side())


def test_a_copy_is_given_in_seconds_on_both_sides(said: list[list[str]]) -> None:
    found = of(PERF, COPY)
    assert found[node_bench.our_name(COPY, PERF)] == pytest.approx(2e-3)
    assert found[node_bench.their_name(COPY, PERF)] == pytest.approx(1e-3)


def test_a_mean_stands_beside_a_mean_and_a_median_beside_a_median(said: list[list[str]]) -> None:
    assert list(of(PERF, CALL).values()) == pytest.approx([2e-3, 500e-6])
    assert list(of(LMBENCH, CALL).values()) == pytest.approx([7e-6, 14e-6])


def test_ours_and_theirs_run_in_turns_on_one_core(said: list[list[str]]) -> None:
    of(PERF, CALL)
    ours = ["/program" in words for words in said]
    assert ours in ([True, False, False, True], [False, True, True, False])
    assert all(words[:3] == ["taskset", "-c", "1"] for words in said)


def test_a_program_that_breaks_off_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = our_lines("null call", 1.0).rpartition("\n")[0]
    monkeypatch.setattr(commands, "timed", lambda *words, **more: (0.0, cut))
    with pytest.raises(LabError, match="breaks off"):
        node_bench.printed(["/program"])


def test_a_tool_that_is_not_here_has_one_row_that_says_how_to_get_it() -> None:
    rows = node_bench.rows_of_lmbench(64 * MIB)
    found = answer(node_bench.absent(LMBENCH, rows), {}, "", seed=1)
    assert found.verdict == NOT_MEASURED
    assert found.what == f"{len(rows)} rows, beside lmbench"
    assert "apt-get install lmbench" in found.why


def test_a_tool_that_failed_has_its_reason_in_its_row() -> None:
    failed = Failures({node_bench.their_name(CALL, PERF): "it fell"})
    found = answer(node_bench.question(CALL, PERF, failed), {}, "", seed=1)
    assert (found.verdict, found.why) == (NOT_MEASURED, "it fell")


def test_every_row_of_a_tool_is_one_that_it_has() -> None:
    asked = {PERF: node_bench.rows_of_perf(MIB), LMBENCH: node_bench.rows_of_lmbench(MIB)}
    for tool, rows in asked.items():
        for each in rows:
            assert node_bench.neighbour_of(tool, each.label).tool == tool
    bars = [each.label for each in asked[PERF] if each.bar]
    assert set(bars) == {"null call", "pipe", "Bcopy (libc)"}


def test_what_is_nowhere_is_not_here(tmp_path: Path) -> None:
    assert node_bench.here(f"command -v {tmp_path}/nothing || true") == ""
    assert node_bench.here("echo found") == "found"


def test_the_cable_of_the_busiest_node_says_how_long_the_bytes_take_at_least() -> None:
    # Sent and received of four nodes; 12.5 MB are a second at 100 Mbit/s, each way by itself.
    before = [0, 10, 0, 0, 500, 0, 0, 0]
    after = [1000, 25_000_010, 0, 12_500_000, 500, 0, 7, 0]
    assert npb.cable_s(before, after) == 2.0


def test_four_nodes_are_also_held_against_the_slower_of_one_node_and_the_cable() -> None:
    """Sorting waits for the cable, EP for the processor; both rows have a bar."""
    samples = {npb.on(name, 1, npb.LINKS[0]): [0.5, 0.7] for name in npb.BENCHMARKS}
    samples |= {npb.on_cable(name): [0.01, 0.01] for name in npb.BENCHMARKS}
    samples[npb.on_cable("IS")] = [0.8, 0.6]
    least = npb.slower_of_two(samples)
    assert least[npb.slower("EP")] == [0.5, 0.7]
    assert least[npb.slower("IS")] == [0.8, 0.7]
    asked = {question.other for question in npb.questions("2600")}
    assert set(least) <= asked
