"""E3: is HPL's check believed, is the network's share seen, and is tuning judged only with both states?"""

from __future__ import annotations

import pytest
from lab_04_records import noisy
from made import decided, outcomes
from null_records import assert_told_apart
from overlap_records import record

from beowulf.labs.lab_03 import e3_hpl
from beowulf.record import Point, Record
from beowulf.studies import draw, judge

SWEEP = {"quick": False, "n": 960, "nb": 80, "p": 2, "q": 2, "runs": 8, "launches": 1}


def solved(state: str = "as found", gflops: float = 0.5, **changes: object) -> list[Point]:
    """A launch: eight solutions at about that rate; DGEMM at 1.5 a rank."""
    at = {"state": state, "ranks": 4, "launch": 0}
    rates = [gflops * (1 + 0.01 * (number % 3 - 1)) for number in range(8)]
    facts = {"passed": [True] * 8, "residual": [0.007] * 8, **changes}
    return [
        Point(dict(at), "hpl_gflops", rates, facts),
        Point(dict(at), "hpl_s", [0.6 / rate for rate in rates]),
        Point(dict(at), "dgemm_gflops", [1.5]),
    ]


def made(*launches: list[Point], states: tuple[str, ...] = ("as found",)) -> Record:
    points = [point for each in launches for point in each]
    return record("E3", points, sweep={**SWEEP, "states": list(states)})


def before_after(times: float) -> Record:
    """HPL before and after, where the rate is so many times as high."""
    both = ("before", "after")
    return made(solved("before"), solved("after", 0.5 * times), states=both)


def test_as_found_the_check_is_judged_and_tuning_is_not() -> None:
    verdicts = judge(made(solved()))
    assert outcomes(verdicts) == {
        "residual": "holds",
        "below-dgemm": "holds",
        "tuned-time": "inconclusive",
        "tuned-rate": "inconclusive",
    }
    assert "lab 07" in verdicts.named("tuned-time").advice
    assert verdicts.named("below-dgemm").numbers["high"] == pytest.approx(0.5 / 6, rel=0.05)


def test_one_solution_that_fails_is_enough() -> None:
    wrong = solved(passed=[True] * 7 + [False], residual=[0.007] * 7 + [123.0])
    verdict = judge(made(wrong)).named("residual")
    assert verdict.outcome == "contradicted"
    assert "7 of 8" in verdict.evidence
    assert "1.2e+02" in verdict.evidence


@pytest.mark.parametrize(
    ("times", "time", "rate"),
    [
        (2.5, "holds", "holds"),
        (1.4, "holds", "contradicted"),
        (0.8, "contradicted", "contradicted"),
    ],
)
def test_both_states_decide(times: float, time: str, rate: str) -> None:
    results = decided(before_after(times))
    assert (results["tuned-time"], results["tuned-rate"]) == (time, rate)


def test_a_before_and_after_says_that_its_before_is_made_up() -> None:
    made_here = before_after(2.5)
    made_here.sweep["testbed"] = {"moderation": "50", "firewall": "100"}
    evidence = judge(made_here).named("tuned-time").evidence
    assert "of whose gain half has to be there" in evidence
    assert "the state before is made up (moderation 50, firewall 100)" in evidence


@pytest.mark.parametrize(("gflops", "outcome"), [(5.9, "contradicted"), (0.9 * 6, "inconclusive")])
def test_hpl_as_fast_as_dgemm_does_not_lean_on_the_network(gflops: float, outcome: str) -> None:
    assert decided(made(solved(gflops=gflops)))["below-dgemm"] == outcome


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("claim", "without", "effect"),
    [
        ("tuned-time", before_after(1.0), before_after(e3_hpl.RATE_AFTER)),
        ("tuned-rate", before_after(1.0), before_after(e3_hpl.RATE_AFTER)),
        ("below-dgemm", made(solved(gflops=6.0)), made(solved())),
    ],
)
def test_noise_alone_rarely_holds(claim: str, without: Record, effect: Record) -> None:
    assert_told_apart(e3_hpl.STUDY, claim, noisy, without, effect)


def test_table_and_picture_have_each_state() -> None:
    results = before_after(2.0)
    table = e3_hpl.table(results)
    assert list(table["state"]) == ["before", "after"]
    assert table["gflops"][1] == pytest.approx(2 * table["gflops"][0])
    assert list(table["dgemm_gflops"]) == [6.0, 6.0]
    figure = draw(results)
    assert "after: HPL, together 1" in figure.alt
    assert len(figure.table) == 2
