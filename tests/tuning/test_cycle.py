"""The measuring cycle: what does it decide, does it take the change out again, and what does it keep?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodeless_cluster import Nodeless
from running import wait_until

from beowulf import mpi
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import Ratio
from beowulf.record import Point, Record
from beowulf.tuning import ab_comparison
from beowulf.tuning.ab_comparison import (
    AFTER,
    BEFORE,
    Length,
    compared,
    decided,
    described,
)
from beowulf.tuning.interactive_run import InteractiveRun

SHORT = Length(blocks=2, most_blocks=2, samples=3)


def visits(undisturbed: Sequence[float], spread: float = 0.01) -> tuple[Point, Point]:
    """The Points of two states whose visits, in the order of a cycle, take so long undisturbed."""
    points = {state: Point({"state": state}, "us", [], {"visit": []}) for state in (BEFORE, AFTER)}
    for visit, us in enumerate(undisturbed):
        point = points[ab_comparison.TURNS[visit % 4]]
        point.samples.extend(us * (1 + spread * d) for d in (0, 0, 2))
        point.facts["visit"].extend([visit] * 3)
    return points[BEFORE], points[AFTER]


def blocks(count: int, effect: float, drift: float = 0.0, noise: float = 0.0) -> list[float]:
    """Medians of `count` blocks of visits: after is `effect` times before, and all get slower meanwhile."""
    draw = np.random.default_rng(5)
    return [
        (effect if ab_comparison.TURNS[n % 4] == AFTER else 1.0)
        * (1 + drift * n)
        * float(np.exp(noise * draw.standard_normal()))
        for n in range(4 * count)
    ]


@pytest.mark.parametrize(
    ("medians", "decision"),
    [
        (blocks(8, 1.0, noise=0.01), "no effect"),
        (blocks(8, 1.02, noise=0.01), "no effect"),
        (blocks(8, 1.1, noise=0.01), "slower"),
        (blocks(8, 0.9, noise=0.01), "faster"),
        (blocks(8, 1.0, drift=0.01), "no effect"),
        (blocks(4, 1.03, noise=0.3), "inconclusive"),
    ],
    ids=["none", "within the margin", "slower", "faster", "a machine that gets slower", "noise"],
)
def test_the_decision_is_what_the_samples_show(medians: list[float], decision: str) -> None:
    found = compared(*visits(medians))
    assert found.decision == decision
    assert str(found).startswith(decision)


@pytest.mark.parametrize(
    ("before", "after", "median", "said"),
    [(10.0, 9.0, 0.9, False), (10.0, 10.5, 0.9, True), (10.0, 10.6, 1.01, True)],
    ids=["alike", "another way", "an effect of none"],
)
def test_two_figures_that_say_otherwise_than_the_pairs_are_noticed(
    before: float, after: float, median: float, said: bool
) -> None:
    found = Ratio(median, 0.99 * median, 1.01 * median, 16)
    assert ab_comparison.otherwise(before, after, found) == said
    assert (ab_comparison.OTHERWISE in ab_comparison.sentence(found, before, after)) == said


def test_what_disturbs_one_state_is_in_its_median_and_not_in_the_decision() -> None:
    before, after = visits(blocks(8, 0.8))
    after.samples[:] = [us * (1.5 if n % 3 else 1) for n, us in enumerate(after.samples)]
    found = compared(before, after)
    assert found.decision == "faster"
    assert described(after).median > described(before).median
    assert str(found).startswith("faster: -")
    assert ab_comparison.OTHERWISE in str(found)


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (1.01, 1.04, "no effect"),
        (1.01, 1.12, "slower"),
        (0.88, 0.99, "faster"),
        (1.01, 1.06, "inconclusive"),
        (0.93, 0.99, "inconclusive"),
        (0.99, 1.06, "inconclusive"),
        (0.5, 2.0, "inconclusive"),
    ],
)
def test_the_rule_is_about_the_whole_interval(low: float, high: float, decision: str) -> None:
    found = Ratio((low + high) / 2, low, high, 16)
    assert decided(found, found) == decision


def test_an_effect_is_to_be_surer_than_that_there_is_none() -> None:
    found, sure = Ratio(1.1, 1.02, 1.2, 16), Ratio(1.1, 0.99, 1.3, 16)
    assert decided(found, sure) == "inconclusive"
    assert decided(Ratio(1.0, 0.97, 1.03, 16), Ratio(1.0, 0.9, 1.1, 16)) == "no effect"


def test_pairs_are_neighbours_and_a_state_has_mean_deviation_and_percentiles() -> None:
    assert len(ab_comparison.pairs(*visits([1.0, 1.1, 1.1]))) == 1
    assert ab_comparison.pairs(*visits([1.0, 1.1, 1.2, 1.3])) == [(1.1, 1.0), (1.2, 1.3)]
    found = described(Point({}, "us", [1.0, 2.0, 3.0, 4.0, 10.0]))
    assert (found.n, found.mean, found.median) == (5, 4.0, 3.0)
    assert found.deviation == pytest.approx(np.std([1, 2, 3, 4, 10]))
    assert found.percentiles[5] < found.percentiles[95]


class FakeRun:
    """In place of a conversation: samples of a chosen length in each state."""

    now_in = False
    launched = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        FakeRun.launched += 1

    def __enter__(self) -> FakeRun:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def take(self, samples: int) -> list[dict[str, Any]]:
        us = 20.0 if FakeRun.now_in else 10.0
        return [{"seconds": us * 2e-6 * 7, "repetitions": 7} for _ in range(samples)]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Measurement]:
    monkeypatch.setattr(ab_comparison, "InteractiveRun", FakeRun)
    monkeypatch.setattr(Measurement, "prepare", lambda *_: tmp_path / "program")
    FakeRun.now_in, FakeRun.launched = False, 0
    with Measurement("E6", Nodeless(tmp_path), tmp_path) as made:
        yield made


def test_the_change_goes_in_and_out_in_turns_and_is_out_at_the_end(session: Measurement) -> None:
    seen: list[bool] = []

    def change(on: bool) -> None:
        seen.append(on)
        FakeRun.now_in = on

    found = ab_comparison.compare(session, change, at={"knob": "made"}, length=SHORT)
    assert seen == [True, False] * 2
    assert found.ratio.median == pytest.approx(2.0)
    assert found.decision == "slower"
    assert found.before.samples == pytest.approx([10.0] * 12)
    assert found.before.facts["visit"] == [v for v in (0, 3, 4, 7) for _ in range(3)]
    assert {point.at["state"] for point in session.points} == {BEFORE, AFTER}
    assert FakeRun.launched == 1
    Record.load(session.record().save_in(session.folder))


def test_a_change_that_needs_new_processes_gets_a_launch_for_every_visit(
    session: Measurement,
) -> None:
    ab_comparison.compare(
        session, lambda on: {"A": "1"} if on else None, relaunch=True, length=SHORT
    )
    assert FakeRun.launched == 8


def test_an_undecided_cycle_goes_on_up_to_its_longest(
    session: Measurement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ab_comparison, "decide", lambda *_: "inconclusive")
    found = ab_comparison.compare(session, lambda on: None, length=Length(2, 5, 1))
    assert found.ratio.n == 10
    assert found.decision == "inconclusive"


def test_a_change_that_fails_half_way_is_taken_out(session: Measurement) -> None:
    seen: list[bool] = []

    def change(on: bool) -> None:
        seen.append(on)
        if on:
            raise LabError("node01 is down.")

    with pytest.raises(LabError, match="node01 is down"):
        ab_comparison.compare(session, change, length=SHORT)
    assert seen == [True, False]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mpi.build(ab_comparison.PROGRAM, output=tmp_path_factory.mktemp("cycle") / "pingpong")


@pytest.mark.cluster
def test_a_program_takes_as_many_samples_as_are_ordered(
    cluster: NamespaceCluster, program: Path
) -> None:
    with InteractiveRun(cluster, program, 2, ["--bytes", 3]) as run:
        assert run.lines.rows[0]["hosts"] == list(cluster.nodes[:2])
        assert [len(run.take(n)) for n in (1, 4)] == [1, 4]
        lines = run.take(2)
    assert {line["pass"] for line in lines} == {2}
    assert {line["size_bytes"] for line in lines} == {3}
    assert run.lines.ended


@pytest.mark.cluster
def test_what_the_program_refuses_is_its_own_sentence(
    cluster: NamespaceCluster, program: Path
) -> None:
    with (
        pytest.raises(UsageError, match="--byte"),
        InteractiveRun(cluster, program, 2, ["--byte", "1"]),
    ):
        pass


def running(cluster: NamespaceCluster, node: str) -> list[str]:
    """The ranks on a node that have not ended (a zombie has)."""
    lines = cluster.administer(node, "ps -eo stat,args").stdout.splitlines()
    return [line for line in lines if "pingpong" in line and not line.startswith("Z")]


@pytest.mark.cluster
def test_no_rank_stays_when_the_conversation_is_broken_off(
    cluster: NamespaceCluster, program: Path
) -> None:
    def broken_off() -> None:
        with InteractiveRun(cluster, program, 2) as run:
            run.take(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    wait_until(
        lambda: not any(running(cluster, node) for node in cluster.nodes[:2]), "no rank runs"
    )
