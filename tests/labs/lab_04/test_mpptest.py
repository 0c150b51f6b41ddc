"""mpptest's way in the studies: what it prints, what its factor makes of a rate, and what an older Record says."""

from __future__ import annotations

from collections.abc import Callable

import lab_04_records as lab_04
import made
import pytest
from lab_04_records import At, a7, message_us, noisy
from made import named

from beowulf.labs.lab_04 import a7_rate_by_nodes
from beowulf.measure import mpptest
from beowulf.record import Point, Record
from beowulf.studies import draw, judge
from tests.labs.lab_05 import test_a8, test_a9
from tests.studies import mpptest_records
from tests.studies.null_records import Noise, assert_told_apart, quieter

A7 = a7_rate_by_nodes.STUDY
SLOWER = {"blocking": 1.0, "async": 1.5}
SIMULATED = {"kind": "simulated", "nodes": ["node00", "node01"], "rate": "100mbit"}


def pair(times: Callable[[At], float], **how: object) -> Record:
    """An A7 whose pairs of mpptest take so many times a message's time."""
    return a7(mpptest_us=lambda at: message_us(at["size_bytes"]) * times(at), **how)


def test_the_best_of_all_runs_is_printed_beside_the_median_and_a_rank_that_looks_on_is_half_a_pair() -> (
    None
):
    at = mpptest_records.places((2, 3), (1000,), bisect=True)
    record = Record("A7", points=mpptest_records.points(lambda _: 100.0, at, noise=0.1))
    samples = next(each for each in record.points if each.at["ranks"] == 3).samples
    row = mpptest.at_the_longest(mpptest.printed(record), "blocking")[3]
    assert row["best_us"] == min(samples)
    assert row["n"] == len(samples) == 30
    assert row["best_mbit_per_s"] == pytest.approx(1.5 * 8 * 1000 / min(samples))
    assert row["low"] < row["rate_mbit_per_s"] < row["high"] < row["best_mbit_per_s"]


def test_the_factor_of_bisect_is_one_pair_for_two_ranks_and_two_for_four() -> None:
    """papers.md of 100,000 bytes at 100 Mbit/s: 97, 146 and 195 Mbit/s; a time of 8,247 us is 97 Mbit/s."""
    at = mpptest_records.places((2, 3, 4), (100_000,), bisect=True)
    record = Record("A7", points=mpptest_records.points(lambda _: 8247.0, at, noise=0.0))
    rows = mpptest.at_the_longest(mpptest.printed(record), "blocking")
    rates = [rows[ranks]["rate_mbit_per_s"] for ranks in (2, 3, 4)]
    assert rates == pytest.approx([97.0, 145.5, 194.0], rel=0.001)


def test_a_record_of_the_older_loops_beside_work_is_not_judged() -> None:
    record = lab_04.b1(lambda at: 500.0)
    record.points.append(asked(work="both ranks"))
    assert named(record, "mpptest-similar-calls").outcome == "holds"
    record.points.append(asked())
    verdict = named(record, "mpptest-similar-calls")
    assert verdict.outcome == "inconclusive"
    assert "both ranks sent first" in verdict.evidence


def test_work_takes_no_time_on_simulated_nodes_and_its_sweep_stays_open() -> None:
    verdict = named(lab_04.b1(lambda at: 500.0, cluster=SIMULATED), "mpptest-little-variation")
    assert verdict.outcome == "inconclusive"
    assert "computing takes no time" in verdict.evidence
    assert "nodes that compute" in verdict.advice


@pytest.mark.parametrize(
    ("name", "times", "noise", "outcome"),
    [
        # The factor np/2 makes the rate of more nodes higher.
        ("more-nodes", lambda at: 1.0, 0.001, "holds"),
        ("more-nodes", lambda at: at["ranks"] / 2, 0.001, "contradicted"),  # one network for all
        ("more-nodes", lambda at: (at["ranks"] / 2) ** 0.75, 0.2, "inconclusive"),
        # Without it a pair is as fast as before.
        ("same-pair", lambda at: 1.0, 0.001, "holds"),
        ("same-pair", lambda at: 1.3 if at["ranks"] == 4 else 1.0, 0.001, "contradicted"),
        ("same-pair", lambda at: 1.1 if at["ranks"] == 3 else 1.0, 0.05, "inconclusive"),
        ("similar-calls", lambda at: SLOWER[at["protocol"]], 0.001, "contradicted"),
    ],
)
def test_each_claim_in_mpptests_way_has_each_outcome(
    name: str, times: Callable[[At], float], noise: float, outcome: str
) -> None:
    assert named(pair(times, noise=noise), f"mpptest-{name}").outcome == outcome


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("mpptest-more-nodes", lambda at: at["ranks"] / 2),
        ("mpptest-same-pair", lambda at: 1.12 if at["ranks"] > 2 else 1.0),
        ("mpptest-similar-calls", lambda at: 1.12 if at["protocol"] == "async" else 1.0),
    ],
)
def test_noise_alone_rarely_holds_and_the_effect_mostly(
    name: str, without: Callable[[At], float]
) -> None:
    def at_the_longest(times: Callable[[At], float]) -> Record:
        record = pair(times, noise=0)
        most = max(a7_rate_by_nodes.MPPTEST_SIZES)
        record.points = [p for p in record.points if p.at["size_bytes"] == most]
        return record

    same = at_the_longest(lambda at: 1.0)

    def of(record: Record, noise: Noise) -> Record:
        # Four intervals have to lie within 10 %: that needs a quieter machine.
        return noisy(record, (lambda n: quieter(noise(n))) if record is same else noise)

    assert_told_apart(A7, name, of, at_the_longest(without), same)


def asked(**facts: object) -> Point:
    """What the program says of itself, at its start."""
    return Point({"about": True}, facts={"mode": "mpptest", "blocking_calls": "…", **facts})


@pytest.mark.parametrize("name", ["mpptest-more-nodes", "mpptest-same-pair"])
def test_pairs_that_take_each_others_cores_contradict_nothing(name: str) -> None:
    record = pair(lambda at: at["ranks"])
    record.points.append(asked(patient_ranks=0))
    assert named(record, name).outcome == "contradicted"
    record.points.append(asked(patient_ranks=4))
    verdict = named(record, name)
    assert verdict.outcome == "inconclusive"
    assert "the ranks share cores" in verdict.evidence
    assert "a core for each rank" in verdict.advice


def older(record: Record) -> Record:
    """The Record as the program before these ways would have measured it."""
    record.points = [
        p for p in record.points if p.quantity != mpptest.QUANTITY and "way" not in p.at
    ]
    record.points.append(Point({"about": True}, facts={"program": "roundtrip", "mode": "ours"}))
    return record


OLD_RECORDS = {
    "A7": lab_04.a7,
    "A8": test_a8.measured,
    "A9": lambda: test_a9.measured(test_a9.link),
    "B1": lambda: lab_04.b1(lambda at: 500.0),
    "B2": lambda: lab_04.rings("B2", lambda at: 1.0),
    "B3": lambda: lab_04.rings("B3", lambda at: 1.0),
    "B4": lambda: lab_04.b4(lambda at: 50.0, n=4),
}


@pytest.mark.parametrize("study", OLD_RECORDS)
def test_an_older_record_is_drawn_in_the_way_that_it_has(study: str) -> None:
    record = older(OLD_RECORDS[study]())
    assert draw(record).table["way"].nunique() == 1
    for verdict in judge(record):
        if verdict.claim.startswith(("mpptest-", "work-", "moderated-")):
            assert verdict.outcome == "inconclusive"
            assert verdict.advice


def test_a_record_that_was_cut_short_is_not_called_older() -> None:
    record = older(a7())
    record.complete = False
    verdict = named(record, "mpptest-more-nodes")
    assert "cut short" in verdict.evidence
    assert "before this way" not in verdict.evidence
    assert made.outcomes([verdict]) == {"mpptest-more-nodes": "inconclusive"}
