"""A7: does each claim on rates hold, fail and stay open where it should?"""

from __future__ import annotations

from collections.abc import Callable

import made
import pytest
from lab_04_records import US_PER_BYTE, At, a7, message_us, noisy
from null_records import Noise, assert_mostly_holds, assert_rarely_holds, outcome_of

from beowulf.labs.lab_04 import a7_rate_by_nodes
from beowulf.measure.judgement import SIMILAR
from beowulf.record import Record
from beowulf.verdict import Outcome


def test_a7_holds_on_an_ideal_network() -> None:
    results = a7_rate_by_nodes.STUDY.claims(a7())
    assert made.outcomes(results) == {
        "rises-then-saturates": "holds",
        "blocking-alike": "holds",
        "blocking-alike-np-3": "holds",
        "more-nodes-higher-rate": "holds",
        "saturates-at-the-link": "holds",
        "mpptest-more-nodes": "holds",
        "mpptest-same-pair": "holds",
        "mpptest-similar-calls": "holds",
    }
    assert results[0].numbers["saturation_bytes"]["np 2, blocking"] == 4096
    assert results[4].numbers["left_mbit_per_s"] == pytest.approx(94.1, abs=0.1)


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        ({}, "1448 of every 1538 bytes, 94.1 Mbit/s"),
        ({"mtu": "9000"}, "8948 of every 9038 bytes, 99.0 Mbit/s"),
        (
            {"mtu": "1500", "differ": {"mtu": {"node00": "1500", "node01": "1400"}}},
            "1348 of every 1438",
        ),
    ],
)
def test_a7_says_what_headers_leave_of_this_clusters_frames(
    cluster: dict[str, object], said: str
) -> None:
    record = a7()
    record.cluster |= cluster
    assert f"headers leave {said}" in a7_rate_by_nodes.STUDY.claims(record)[4].evidence


def of(time_us: Callable[[At], float], **how: float) -> Record:
    """A Record whose messages take so many times as long as on an ideal network."""
    return a7(lambda at: message_us(at["size_bytes"]) * time_us(at), **how)


@pytest.mark.parametrize(
    ("record", "claim", "outcome"),
    [
        # It falls again; it is the same for all sizes.
        (of(lambda at: 2 if at["size_bytes"] > 3e6 else 1), "rises-then-saturates", "contradicted"),
        (a7(lambda at: at["size_bytes"] * US_PER_BYTE), "rises-then-saturates", "contradicted"),
        (of(lambda at: at["ranks"] ** 2), "more-nodes-higher-rate", "contradicted"),
        (of(lambda at: at["ranks"], noise=0.05), "more-nodes-higher-rate", "inconclusive"),
        (of(lambda at: 2), "saturates-at-the-link", "contradicted"),
    ],
    ids=["falls", "flat", "shared", "intervals that touch", "a slow card"],
)
def test_a7_a_rate_that_does_not_do_as_the_paper_says(
    record: Record, claim: str, outcome: str
) -> None:
    assert made.outcomes(a7_rate_by_nodes.STUDY.claims(record))[claim] == outcome


def test_a7_a_rate_that_still_rises_needs_longer_messages() -> None:
    rising = a7(lambda at: 5e6 + at["size_bytes"] * US_PER_BYTE)
    results = a7_rate_by_nodes.STUDY.claims(rising)[0]
    assert results.outcome == "inconclusive"
    assert "larger messages" in results.advice


def test_a7_a_burst_that_a_shaped_link_lets_pass_is_reported() -> None:
    burst = a7(lambda at: message_us(at["size_bytes"]) * (0.3 if at["size_bytes"] <= 4096 else 1))
    results = a7_rate_by_nodes.STUDY.claims(burst)[0]
    assert results.outcome == "holds"
    assert "before that, faster" in results.evidence


def test_a7_calls_that_differ_are_not_equal() -> None:
    slower = a7(
        lambda at: message_us(at["size_bytes"]) * (1.5 if at["protocol"] == "nonblocking" else 1)
    )
    results = a7_rate_by_nodes.STUDY.claims(slower)[1]
    assert results.outcome == "contradicted"
    assert "1.50 times" in results.evidence


def test_a7_calls_that_differ_with_three_nodes_alone_are_not_equal() -> None:
    def three(at: At) -> float:
        slower = at["ranks"] == 3 and at["protocol"] == "nonblocking"
        return message_us(at["size_bytes"]) * (1.5 if slower else 1)

    pairs, ring = a7_rate_by_nodes.STUDY.claims(a7(three))[1:3]
    assert pairs.outcome == "holds"
    assert ring.outcome == "contradicted"
    assert "np 3" in ring.evidence
    assert ring.numbers["differ"] == ring.numbers["places"]


@pytest.mark.nightly
def test_a7_calls_that_differ_by_more_than_the_margin_are_rarely_equal() -> None:
    def judged(longer: float) -> Callable[[Noise], Outcome]:
        record = a7(lambda at: 20 * (longer if at["protocol"] == "nonblocking" else 1), noise=0)
        record.points = [p for p in record.points if p.at["size_bytes"] == 1]
        return lambda noise: outcome_of(
            a7_rate_by_nodes.STUDY, noisy(record, noise), "blocking-alike"
        )

    assert_rarely_holds(judged(1 + 1.1 * SIMILAR))
    assert_mostly_holds(judged(1.0))


def test_a7_calls_whose_intervals_are_wide_are_not_known_to_be_equal() -> None:
    wide = a7_rate_by_nodes.STUDY.claims(a7(n=12, noise=0.3))[1]
    assert wide.outcome == "inconclusive"
    undecided, places = wide.numbers["undecided"], wide.numbers["places"]
    assert undecided > places / 2
    assert f"undecided at {undecided}" in wide.evidence


def test_a7_a_place_of_ten_may_be_undecided() -> None:
    def at_one_size(at: At) -> float:
        time = message_us(at["size_bytes"])
        return time * (1.1 if at["protocol"] == "nonblocking" and at["size_bytes"] == 64 else 1)

    results = a7_rate_by_nodes.STUDY.claims(a7(at_one_size))[1]
    assert results.outcome == "holds"
    assert results.numbers["undecided"] == 2
    assert (
        "undecided at 2, where the interval holds both; the largest median: non-blocking takes 1.10"
        in results.evidence
    )


def test_a7_a_link_of_unknown_rate_is_not_judged() -> None:
    results = a7_rate_by_nodes.STUDY.claims(a7(cluster=made.CLUSTER | {"rate": "off"}))[4]
    assert results.outcome == "inconclusive"
    assert "--rate 100mbit" in results.advice


def test_a7_pictures_both_ways_with_intervals_and_a_table() -> None:
    figure = a7_rate_by_nodes.STUDY.picture(a7(launches=2, n=8))
    assert set(figure.table["line"]) >= {"np 2, blocking", "np 4, nonblocking"}
    assert {"low", "high"} <= set(figure.table)
    assert "np 3, blocking: from" in figure.alt
    printed = figure.table[figure.table["way"] == "mpptest"]
    assert set(printed["line"]) == {
        f"np {ranks}, {calls}" for ranks in (2, 3, 4) for calls in ("blocking", "non-blocking")
    }
    assert {"best_mbit_per_s", "low", "high"} <= set(printed)
