"""The benchmark of the cycle: are trials counted against their bars, kept between parts, and made of real rules?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import parts, tuning
from benchmarks.parts import Parts
from benchmarks.rows import INCONCLUSIVE, MET, NOT_MET, answer
from benchmarks.tuning import (
    EFFECT,
    NULL,
    RIGHT,
    ROUNDS,
    Rules,
    Trial,
    earlier_trials,
    findings,
    shorter,
)
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError


def trials(kind: str, right: int, wrong: int = 0, ratio: float = 1.0) -> list[Trial]:
    """So many trials that came out right, and so many that did not, after two blocks."""
    both = [[ratio * (1 + n / 1000), 1.0] for n in range(4)]
    decisions = [RIGHT[kind]] * right + ["inconclusive"] * wrong
    return [Trial(kind, decision, both, 2.0, 150) for decision in decisions]


def verdict(null: tuple[int, int], effect: tuple[int, int], noise: str = "") -> list[str]:
    """The verdicts of both counts."""
    made = [*trials(NULL, *null), *trials(EFFECT, *effect, ratio=1.1)]
    found = findings(made, [60.0] * 3, [], [])
    return [answer(each, found.samples, noise, 1).verdict for each in found.questions[:2]]


def test_a_count_is_held_against_its_bar() -> None:
    assert verdict((95, 5), (90, 10)) == [MET, MET]
    assert verdict((94, 6), (89, 11)) == [NOT_MET, NOT_MET]
    assert verdict((94, 6), (100, 0), noise="it was noisy") == [INCONCLUSIVE, MET]


def test_fewer_than_a_hundred_trials_are_no_verdict() -> None:
    assert verdict((99, 0), (100, 0)) == [INCONCLUSIVE, MET]


def test_the_table_says_how_many_and_what_shorter_cycles_would_have_shown() -> None:
    made = [*trials(NULL, 3, 1), *trials(EFFECT, 2, ratio=1.1)]
    found = findings(made, [60.0], [], [])
    row = answer(found.questions[0], found.samples, "", 1)
    assert (row.ours_median_s, row.n, row.bar) == (3.0, 4, "at least 95 of 100")
    assert "| 4 | 4 of 4 | 2 of 2 |" in shorter(made)
    assert found.facts[f"decisions: {NULL}"] == "1 inconclusive, 3 no effect"
    assert found.facts[f"ratio over all trials: {EFFECT}"].startswith("1.10")


def test_trials_are_kept_until_there_are_a_hundred_of_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "FOLDER", tmp_path / "build")
    mine, another = Parts("trials", "this cycle"), Parts("trials", "another cycle")
    assert earlier_trials(mine) == []
    made = trials(NULL, ROUNDS)
    for each in made:
        mine.add(asdict(each))
    another.add(asdict(made[0]))
    assert earlier_trials(mine) == made
    assert tuning._order(made, 30, seed=1) == [EFFECT] * 30
    for each in trials(EFFECT, ROUNDS):
        mine.add(asdict(each))
    assert earlier_trials(mine) == []
    assert not mine.file.exists()


def test_the_rules_of_an_effect_follow_what_is_measured() -> None:
    # A chain costs 4 % and a rule 0.05 %: 120 rules make 10 %.
    rules = Rules((50, 0.065), (200, 0.14))
    assert rules.number == 120
    # Really a rule adds 0.07 % here: 120 make 12.4 %, and 86 are enough.
    for _ in range(30):
        rules.learn(rules.number, 0.04 + 0.0007 * rules.number)
    assert abs(rules.number - 86) <= 2
    assert Rules((50, 0.20), (200, 0.50)).number == 1
    with pytest.raises(LabError, match="do not make messages slower"):
        Rules((50, 0.05), (200, 0.04))


def test_a_larger_effect_than_was_meant_is_no_ten_percent_effect() -> None:
    for real, verdict in ((1.125, "not measured"), (1.10, "met"), (1.07, "met")):
        found = findings([*trials(NULL, ROUNDS), *trials(EFFECT, ROUNDS, ratio=real)], [], [], [])
        row = answer(found.questions[1], found.samples, "", 1)
        assert (row.verdict, "really" in row.why) == (verdict, verdict == "not measured")


@pytest.mark.cluster
@pytest.mark.parametrize("passed", [True, False])
def test_rules_are_passed_by_every_packet_or_by_none_and_go_again(
    cluster: NamespaceCluster, passed: bool
) -> None:
    change = tuning.with_rules(cluster, 7, passed=passed)
    change(True)
    said = [cluster.administer(node, "nft list ruleset").stdout for node in cluster.nodes]
    change(False)
    assert [text.count(" drop") for text in said] == [7, 7, 0, 0]
    assert [("hook input" in text) for text in said] == [passed, passed, False, False]
    for node in cluster.nodes:
        assert cluster.administer(node, "nft list ruleset").stdout == ""
