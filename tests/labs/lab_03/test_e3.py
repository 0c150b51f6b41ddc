"""E3: is HPL's check believed, is the network's share seen, and is tuning judged only with both states?"""

from __future__ import annotations

import pytest
from made import decided, outcomes

from beowulf.labs.lab_03 import e3_hpl
from beowulf.record import Record
from beowulf.studies import draw, judge
from tests.labs.lab_03.lab_03_records import hpl, hpl_tuned, noisy, solved
from tests.studies.null_records import assert_told_apart


def test_as_found_the_check_is_judged_and_tuning_is_not() -> None:
    verdicts = judge(hpl())
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
    verdict = judge(hpl(*wrong)).named("residual")
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
    results = decided(hpl_tuned(times))
    assert (results["tuned-time"], results["tuned-rate"]) == (time, rate)


def test_a_before_and_after_says_that_its_before_is_made_up() -> None:
    made_here = hpl_tuned(2.5)
    made_here.sweep["testbed"] = {"moderation": "50", "firewall": "100"}
    evidence = judge(made_here).named("tuned-time").evidence
    assert "of whose gain half is asked: less than 0.72" in evidence
    assert "the state before is made up (moderation 50, firewall 100)" in evidence


@pytest.mark.parametrize(("gflops", "outcome"), [(5.9, "contradicted"), (0.9 * 6, "inconclusive")])
def test_hpl_as_fast_as_dgemm_does_not_lean_on_the_network(gflops: float, outcome: str) -> None:
    assert decided(hpl(*solved(gflops=gflops)))["below-dgemm"] == outcome


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("claim", "without", "effect"),
    [
        ("tuned-time", hpl_tuned(1.0), hpl_tuned(e3_hpl.RATE_AFTER)),
        ("tuned-rate", hpl_tuned(1.0), hpl_tuned(e3_hpl.RATE_AFTER)),
        ("below-dgemm", hpl(*solved(gflops=6.0)), hpl()),
    ],
)
def test_noise_alone_rarely_holds(claim: str, without: Record, effect: Record) -> None:
    assert_told_apart(e3_hpl.STUDY, claim, noisy, without, effect)


def test_table_and_picture_have_each_state() -> None:
    results = hpl_tuned(2.0)
    table = e3_hpl.table(results)
    assert list(table["state"]) == ["before", "after"]
    assert table["gflops"][1] == pytest.approx(2 * table["gflops"][0])
    assert list(table["dgemm_gflops"]) == [6.0, 6.0]
    figure = draw(results)
    assert "after: HPL, together 1" in figure.alt
    assert "before, 2.5 times (the paper: almost): HPL, together 1.25" in figure.alt
    assert "the paper" not in draw(hpl()).alt
    assert len(figure.table) == 2
