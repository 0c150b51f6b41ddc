"""Do the benchmarks find a ratio that is known, say so when they cannot, and leave nothing behind?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import __main__ as program
from benchmarks import allreduce, commands, install, patience, turns, up_down
from benchmarks.result import Findings, Result, markdown
from benchmarks.rows import Bar, Question, answer, seconds
from benchmarks.scratch_cluster import STATE, scratch_folder
from beowulf import host_state, mpi, paths
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.errors import LabError, UsageError
from beowulf.measure.statistics import ratio

QUIET = {"load_1min": 0.4, "cores": 2, "waiting_for_a_core_percent_10s": 1.0}
SLOW = Question("it", "ours", "other", Bar(1.0))
NOT_SLOWER = Question("it", "ours", "other", Bar(1.0, "ratio", "not slower"))


def silent(done: float, of: float, what: str) -> None:
    """Nothing is reported."""


def pairs(seed: int, factor: float, n: int = 20) -> tuple[list[float], list[float]]:
    """Samples of two sides with noise of their own and a drift that both share."""
    draw = np.random.default_rng(seed)
    drift = np.exp(draw.normal(0, 0.3, n))
    ours, other = (drift * np.exp(draw.normal(0, 0.05, n)) for _ in range(2))
    return (factor * ours).tolist(), other.tolist()


def verdict(question: Question, samples: Mapping[str, list[float]], noise: str = "") -> str:
    row = answer(question, samples, noise, seed=1)
    return f"{row.verdict}: {row.why}" if row.why else row.verdict


# ---------------------------------------------------------------- ratio and interval


@pytest.mark.parametrize("factor", [0.5, 1.3, 20.0])
def test_a_known_ratio_is_found_through_a_drift_that_both_sides_share(factor: float) -> None:
    found = ratio(list(zip(*pairs(7, factor), strict=True)), seed=1)
    # The noise of a pair is 7 %, that of a median of twenty pairs 2 %.
    assert found.median == pytest.approx(factor, rel=0.06)
    assert found.low <= factor <= found.high
    assert (found.high - found.low) / factor < 0.15


def test_the_interval_of_identical_sides_holds_1_in_most_seeds() -> None:
    found = [ratio(list(zip(*pairs(seed, 1.0), strict=True)), seed=seed) for seed in range(200)]
    held = sum(each.low <= 1 <= each.high for each in found)
    # 95 % of 200 are 190; the bootstrap of a median of twenty falls a little short of that.
    assert held >= 180


def test_the_same_seed_gives_the_same_interval() -> None:
    assert ratio(list(zip(*pairs(3, 2.0), strict=True)), seed=5) == ratio(
        list(zip(*pairs(3, 2.0), strict=True)), seed=5
    )


def test_both_sides_run_once_a_round_in_a_drawn_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "busy_percent", lambda: 0.0)
    said: list[str] = []

    def side(name: str) -> turns.Side:
        return lambda: said.append(name) or {name: 1.0}

    sides = {name: side(name) for name in "AB"}
    taken = turns.interleave(sides, 30, 4, silent, warm_up=2)
    rounds = ["".join(said[i : i + 2]) for i in range(0, len(said), 2)]
    assert len(rounds) == 32
    assert set(rounds) == {"AB", "BA"}
    assert taken.order == said[4:]
    assert {name: len(samples) for name, samples in taken.samples.items()} == {"A": 30, "B": 30}
    said.clear()
    assert turns.interleave(sides, 30, 4, silent, warm_up=2).order == taken.order


# ---------------------------------------------------------------- verdicts


def test_a_bar_is_met_or_not_when_the_whole_interval_says_so() -> None:
    assert verdict(SLOW, {"ours": [0.7, 0.8, 0.9]}) == "met"
    assert verdict(SLOW, {"ours": [1.2, 1.3, 1.4]}) == "not met"
    assert verdict(SLOW, {"ours": [0.9, 1.0, 1.2]}).startswith("inconclusive: the bar is within")
    for factor, expected in ((0.5, "met"), (2.0, "not met"), (1.0, "inconclusive")):
        ours, other = pairs(11, factor)
        assert verdict(NOT_SLOWER, {"ours": ours, "other": other}).startswith(expected)


def test_too_few_rounds_are_no_verdict() -> None:
    assert verdict(SLOW, {"ours": [0.1, 0.1]}).startswith("inconclusive: 2 of the 3 rounds")
    few = {"ours": [0.1] * 5, "other": [1.0] * 5}
    assert verdict(NOT_SLOWER, few).startswith("inconclusive: 5 of the 6 rounds")


def test_noise_makes_every_verdict_inconclusive() -> None:
    for value in (0.1, 9.0):
        said = verdict(SLOW, {"ours": [value] * 9}, noise="the load was 7.00 on 2 cores before")
        assert said == "inconclusive: the machine was noisy"


def test_what_is_missing_is_reported_and_the_rest_is_judged() -> None:
    asked = up_down.questions("mininet is not installed")
    samples = {name: [0.1] * 9 for name in (up_down.UP, up_down.DOWN)}
    said = {q.what: verdict(q, samples) for q in asked}
    assert said["up, the whole command"] == "met"
    assert said["down, the whole command"] == "met"
    against = said["up, the whole command, against Mininet"]
    assert against == "not measured: mininet is not installed"


@pytest.mark.parametrize(
    ("before", "after", "busy", "said"),
    [
        ({}, {}, [3.0] * 8, ""),
        ({"load_1min": 2.5}, {}, [], "load was 2.50 on 2 cores before"),
        ({}, {"load_1min": 3.0}, [], "load was 3.00 on 2 cores after"),
        ({"waiting_for_a_core_percent_10s": 60.0}, {}, [], "waited for a core in 60 %"),
        ({"waiting_for_a_core_percent_10s": None}, {}, [], ""),
        ({}, {}, [90.0, 3.0, 80.0, 2.0], "in 2 of 4 pauses"),
        ({}, {}, [90.0, 3.0, 3.0, 2.0], ""),
    ],
)
def test_a_noisy_machine_is_noticed(
    before: dict[str, Any], after: dict[str, Any], busy: list[float], said: str
) -> None:
    heard = turns.noise(QUIET | before, QUIET | after, busy, fills_the_cores=False)
    assert said in heard
    assert bool(said) == bool(heard)


def test_what_a_benchmark_does_itself_is_no_noise() -> None:
    loud = QUIET | {"load_1min": 4.0, "waiting_for_a_core_percent_10s": 80.0}
    assert turns.noise(QUIET, loud, [], fills_the_cores=True) == ""
    assert turns.noise(loud, QUIET, [], fills_the_cores=True) != ""


def test_the_pauses_see_what_others_do() -> None:
    assert 0 <= turns.busy_percent() <= 100


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "1.23 s"), (0.2, "200 ms"), (6.6e-05, "66 µs"), (None, "–")]
)
def test_times_have_the_unit_that_suits_them(value: float | None, text: str) -> None:
    assert seconds(value) == text


# ---------------------------------------------------------------- files


@pytest.fixture
def result() -> Result:
    ours, other = pairs(2, 0.8)
    samples = {"ours": ours, "other": other}
    seen = host_state.now()
    return Result(
        name="trial",
        title="A trial",
        started="2026-01-01T00:00:00.000Z",
        ended="2026-01-01T00:01:00.000Z",
        rounds=20,
        seed=2,
        noise="",
        rows=[answer(NOT_SLOWER, samples, "", 2), answer(up_down.questions("no")[1], {}, "", 2)],
        samples_s=samples,
        order=["A", "B"],
        raw_samples_s={"ours": [[1.0, 2.0], [3.0]]},
        facts={"links": "plain | short"},
        notes=["Mind the gap."],
        circumstances={"before": seen, "after": seen, "pauses_busy_percent": [1.0, 2.0]},
        versions={"commit": "abc"},
    )


def test_a_result_comes_back_as_it_was(result: Result, tmp_path: Path) -> None:
    files = result.save(tmp_path)
    assert [file.name for file in files] == ["trial.json", "trial.md"]
    assert Result.load(files[0]) == result
    assert sorted(os.listdir(tmp_path)) == ["trial.json", "trial.md"]


def test_the_page_has_every_figure_with_its_circumstances(result: Result) -> None:
    page = markdown(result)
    assert "| it | not slower |" in page
    assert "not measured: no" in page
    for needed in ("load_1min", "seed 2", "abc", "plain \\| short", "Mind the gap.", "In 2 pauses"):
        assert needed in page


def test_the_page_says_why_the_machine_was_noisy(result: Result) -> None:
    assert "noisy" not in markdown(result)
    result.noise = "the load was 7.00 on 2 cores before"
    assert "The machine was noisy: the load was 7.00 on 2 cores before." in markdown(result)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "record", "schema": 1}'])
def test_a_file_that_is_no_result_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "trial.json"
    path.write_text(text)
    with pytest.raises(LabError, match=r"is not a benchmark's result"):
        Result.load(path)


def test_a_full_disk_leaves_the_old_result(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result.save(tmp_path)

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result.seed = 99
    with pytest.raises(LabError, match="No space left on device"):
        result.save(tmp_path)
    assert Result.load(tmp_path / "trial.json").seed == 2
    assert sorted(os.listdir(tmp_path)) == ["trial.json", "trial.md"]


# ---------------------------------------------------------------- the command


def benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(words, cwd=paths.root(), capture_output=True, text=True, timeout=240)


def test_an_unknown_name_is_answered_which_there_are() -> None:
    done = benchmarks("nonesuch")
    assert done.returncode == 2
    assert done.stderr == (
        "benchmarks: There is no benchmark 'nonesuch'. There are: "
        f"{', '.join((*program.BENCHMARKS, *program.LONG))}.\n"
    )


def test_no_rounds_are_refused() -> None:
    done = benchmarks("help", "--rounds", "0")
    assert done.returncode == 2
    assert "at least 1 round" in done.stderr


def test_the_list_names_every_benchmark() -> None:
    done = benchmarks("--list")
    assert done.returncode == 0
    named = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert list(named) == [*program.BENCHMARKS, *program.LONG]
    assert [name for name, line in named.items() if "by its name alone" in line] == [*program.LONG]


def test_the_beginning_of_a_name_is_enough() -> None:
    assert program.chosen("up") == "up_down"
    with pytest.raises(UsageError):
        program.chosen("")


def test_one_benchmark_runs_from_end_to_end(tmp_path: Path) -> None:
    done = benchmarks("help", "--rounds", "1", "--seed", "5", "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = Result.load(tmp_path / "help.json")
    assert "beowulf --help" in done.stdout
    assert (found.rounds, found.seed) == (1, 5)
    assert found.samples_s.keys() == {"beowulf --help", "python -c pass"}
    assert found.rows[0].verdict == "inconclusive"
    assert found.versions["commit"]


def test_a_benchmark_that_fails_keeps_the_old_file_and_lets_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> Findings:
        raise LabError("The switch is on fire.", "Pour water on it.")

    def works(*_: object) -> Findings:
        return Findings([SLOW], {"ours": [0.5] * 4, "other": [1.0] * 4})

    modules = {
        name: SimpleNamespace(TITLE=name, ROUNDS=4, FILLS_THE_CORES=True, measure=measure)
        for name, measure in (("bad", fails), ("good", works))
    }
    monkeypatch.setattr(program, "BENCHMARKS", tuple(modules))
    monkeypatch.setattr(program, "find", modules.__getitem__)
    monkeypatch.setattr(program, "REST_S", 0)
    (tmp_path / "bad.json").write_text("old")
    assert program.main(["--results", str(tmp_path)]) == 1
    assert "bad: The switch is on fire. Pour water on it." in capsys.readouterr().err
    assert (tmp_path / "bad.json").read_text() == "old"
    assert Result.load(tmp_path / "good.json").rows[0].n == 4


# ---------------------------------------------------------------- commands that are timed


def test_a_command_that_fails_says_its_last_words() -> None:
    with pytest.raises(LabError, match=r"ended with 3:\nalas"):
        commands.timed(["sh", "-c", "echo alas; exit 3"], commands.environment())


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    words = ["sh", "-c", f"sleep 1000 & echo $! > {mark}; wait"]
    # On a busy machine it may not have begun when its time is over.
    for most_s in (1, 10, 100):
        with pytest.raises(LabError, match=rf"did not end within {most_s} s"):
            commands.timed(words, commands.environment(), timeout_s=most_s)
        if mark.exists():
            break
    assert gone(int(mark.read_text()))


def test_an_interruption_ends_what_talks() -> None:
    def interrupted() -> None:
        # It leaves when nobody talks to it any more.
        words = ["sh", "-c", "echo '{\"pid\": '$$'}'; read -r line; echo '{}'"]
        with commands.talking(words, commands.environment(), "it") as talk:
            pids.append(talk.hear()["pid"])
            raise KeyboardInterrupt

    pids: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert gone(pids[0])


def test_what_does_not_talk_is_quoted() -> None:
    words = ["sh", "-c", "echo 'no such switch' >&2; exit 1"]
    with (
        pytest.raises(LabError, match="it does not go on: no such switch"),
        commands.talking(words, commands.environment(), "it") as talk,
    ):
        talk.turn()


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.cluster
def test_no_cluster_stays_when_a_benchmark_is_interrupted() -> None:
    folders: list[Path] = []

    def interrupted() -> None:
        with scratch_folder() as folder:
            folders.append(folder)
            namespaces.up(ClusterConfig(nodes=2), folder=folder / STATE)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert namespaces.running(folders[0] / STATE) is None
    assert not folders[0].exists()


# ---------------------------------------------------------------- one by one


def test_with_a_core_for_each_rank_patience_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", lambda name: 8)
    found = allreduce.measure(1, 1, silent)
    said = [verdict(question, found.samples) for question in found.questions]
    assert said[0].startswith("not measured: with 8 cores for 4 ranks there is nothing to measure")


@pytest.mark.cluster
@pytest.mark.nightly
def test_patience_is_decided_by_the_ranks_of_a_node_and_of_all(namespaces_work: None) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("each of two nodes is to have a core of its own")
    found = patience.measure(1, 1, silent)
    # It is the launches that say who was patient: a wrong answer ends the benchmark.
    assert {name: len(times) for name, times in found.samples.items()} == dict.fromkeys(
        patience.SETTINGS, 1
    )


def test_a_launch_is_summed_up_by_what_you_get_what_it_costs_and_what_can_be() -> None:
    assert allreduce.summary([1.0, 2.0, 9.0]) == {"median": 2.0, "mean": 4.0, "least": 1.0}


def test_the_allreduce_program_prints_its_samples(tmp_path: Path) -> None:
    built = mpi.build(allreduce.SOURCE, output=tmp_path / "allreduce")
    done = subprocess.run([built, "6", "0"], capture_output=True, text=True, timeout=240)
    facts, *samples, end = [json.loads(line) for line in done.stdout.splitlines()]
    assert facts["ranks"] == 1
    assert facts["repetitions"] >= 1
    assert len(samples) == 6
    assert all(sample["allreduce_s"] > 0 for sample in samples)
    assert end == {"right": True}
    refused = subprocess.run([built, "0", "0"], capture_output=True, text=True, timeout=240)
    assert refused.returncode == 2
    assert "CHUNKS" in refused.stderr


def test_install_asks_for_debian_packages_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = SimpleNamespace(name="tshark", group="lab", path=None)
    monkeypatch.setattr(install.doctor, "tools", lambda: [absent])
    found = install.measure(1, 1, silent)
    said = [verdict(question, found.samples) for question in found.questions]
    assert said == ["not measured: tshark must be there beforehand"] * 2


def test_mininet_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert up_down.mininet_missing() == "Mininet needs root"


def test_a_machine_without_mininet_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(up_down, "MININET_PYTHON", "/nonexistent/python3")
    assert up_down.mininet_missing() == "mininet is not installed"
