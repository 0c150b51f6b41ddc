"""E4: are the suite's checks, its nodes and its latency judged, and what moved between two states?"""

from __future__ import annotations

import pytest
from made import decided, outcomes

from beowulf.labs.lab_03 import e4_hpcc
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.record import Point, Record
from beowulf.studies import draw, judge
from tests.labs.lab_03.lab_03_records import USUAL, noisy, suite, suite_tuned
from tests.studies.null_records import assert_told_apart


def as_found(**changes: float) -> Record:
    return suite(("as found", changes))


def test_as_found_what_can_be_judged_is() -> None:
    assert decided(as_found()) == {
        "checks": "holds",
        "nodes-alike": "holds",
        "latency-agrees": "holds",
        "tuned-time": "inconclusive",
        "local-unmoved": "inconclusive",
        "network-moved": "inconclusive",
    }


def test_a_check_that_failed_is_named() -> None:
    results = as_found(ours=30.0)
    results.points[0].facts["failures"] = ["PTRANS: the transposed matrix is wrong"]
    verdicts = judge(results)
    assert verdicts.named("checks").outcome == "contradicted"
    assert "PTRANS" in verdicts.named("checks").evidence
    # A latency that is three times ours does not agree.
    assert verdicts.named("latency-agrees").outcome == "contradicted"


@pytest.mark.parametrize(
    ("fast", "crowded", "expected"),
    [(1.6, 0, "holds"), (3.0, 0, "contradicted"), (3.0, 1, "inconclusive"), (1.6, 1, "holds")],
)
def test_different_nodes_are_seen_where_each_has_a_core(
    fast: float, crowded: float, expected: str
) -> None:
    verdict = judge(as_found(fast=fast, crowded=crowded)).named("nodes-alike")
    assert verdict.outcome == expected
    if expected == "inconclusive":
        assert "beowulf study A3" in verdict.advice


TUNED = ("tuned-time", "local-unmoved", "network-moved")
BETTER = {"latency_us": 10.0, "bandwidth_gb_per_s": 0.02, "ptrans_gb_per_s": 0.03}


def test_what_talks_moves_and_what_is_local_does_not() -> None:
    record = suite_tuned(launch_s=70.0, **BETTER)
    record.sweep["testbed"] = {"moderation": "50"}
    verdicts = judge(record)
    results = outcomes(verdicts)
    for claim in TUNED:
        assert results[claim] == "holds"
        assert "the state before is made up (moderation 50)" in verdicts.named(claim).evidence


@pytest.mark.parametrize("name", [*e4_hpcc.LOCAL, *e4_hpcc.ON_THE_WIRE])
def test_what_is_local_may_not_move_and_what_talks_has_to(name: str) -> None:
    local = name in e4_hpcc.LOCAL
    changed = BETTER | {name: USUAL[name] * (1.5 if local else 1.01)}
    found = decided(suite_tuned(**changed))
    assert found["local-unmoved" if local else "network-moved"] == "contradicted"


def test_without_the_bandwidth_our_own_long_messages_are_judged() -> None:
    """Before and after, b_eff's are cut short."""
    record = suite_tuned(**BETTER)
    record.points = [p for p in record.points if p.quantity != "bandwidth_gb_per_s"]
    verdict = judge(record).named("network-moved")
    assert verdict.outcome == "inconclusive"
    assert "6 pairs of before and after of bandwidth_gb_per_s" in verdict.evidence
    for state, half_us in (("before", 200e3), ("after", 100e3)):
        for launch in range(LEAST_PAIRS):
            at = {"size_bytes": e4_hpcc.LONG_BYTES, "state": state, "launch": launch, "ranks": 2}
            record.points.append(Point(at, HALF, [half_us] * 2))
    assert decided(record)["network-moved"] == "holds"
    assert decided(record)["latency-agrees"] == "holds"


def test_results_around_a_margin_are_open() -> None:
    record = suite_tuned(**BETTER)
    for point in record.select(result="hpl_gflops", state="after"):
        point.samples[0] *= 1.3 if point.at["launch"] % 2 else 1.0
    assert decided(record)["local-unmoved"] == "inconclusive"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("claim", "keys", "without", "with_effect"),
    [
        ("tuned-time", (e4_hpcc.WHOLE,), {}, {"launch_s": 71.0}),
        ("local-unmoved", e4_hpcc.LOCAL, {"hpl_gflops": 0.5 * 1.15}, {}),
        ("network-moved", e4_hpcc.ON_THE_WIRE, {}, BETTER),
    ],
)
def test_noise_alone_rarely_holds(
    claim: str, keys: tuple[str, ...], without: dict[str, float], with_effect: dict[str, float]
) -> None:
    def of(changes: dict[str, float]) -> Record:
        record = suite(("before", {}), ("after", changes), launches=30)
        record.points = [p for p in record.points if p.quantity in keys]
        return record

    assert_told_apart(e4_hpcc.STUDY, claim, noisy, of(without), of(with_effect))


def test_what_moved_the_other_way_is_reported() -> None:
    results = decided(suite_tuned(launch_s=120.0, latency_us=40.0, dgemm_gflops=3.0))
    assert {results[claim] for claim in TUNED} == {"contradicted"}


def test_table_and_picture_have_results_and_sections() -> None:
    results = as_found()
    table = e4_hpcc.table(results)
    assert set(table["result"]) == set(USUAL)
    assert e4_hpcc.sections(results) == {"as found": {"PTRANS": 7.0}}
    figure = draw(results)
    assert "PTRANS 7" in figure.alt
    assert "latency_us 20 µs (as found)" in figure.alt
