"""D4: does the study tell on which rank and at which size overlap gains, and keep the sign?"""

from __future__ import annotations

from pathlib import Path

import pytest
from made import decided

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_05 import d4_both_sides as d4
from beowulf.labs.lab_05 import overlap
from beowulf.labs.lab_05.d5_improvement import exchanges
from beowulf.labs.lab_05.overlap import DEFAULT, ONE_USER, ONE_USER_SOCKET, Way
from beowulf.measure.measurement import Measurement
from beowulf.record import Record
from tests.studies.null_records import Noise
from tests.studies.overlap_records import connected, exchanged, record

WORK_S = 0.02
PAPERS = [
    *("gain-7kb-p0", "gain-7kb-p1", "gain-70kb-p0", "gain-70kb-p1"),
    *("less-at-70kb-p0", "less-at-70kb-p1"),
]
OURS = ["limit-hides-nothing", "buffer-changes-nothing"]


def measured(
    percent: dict[tuple[int, int], float],
    noise: Noise | None = None,
    others: dict[Way, dict[tuple[int, int], float]] | None = None,
    buffer_bytes: int | None = None,
) -> Record:
    """A Record with these improvements in %, by size and rank: by the paper's cause, and in other ways."""
    points = [connected(ONE_USER_SOCKET, buffer_bytes)]
    for way, by_place in {ONE_USER_SOCKET: percent, **(others or {})}.items():
        for (size, rank), each in by_place.items():
            comm, comp = 1e-4 + size * 8e-8, 4e-4
            during = (comm + comp) * (1 + each / 100)
            points += exchanged(way, comm, comp, during, noise, size_bytes=size, rank=rank)
    return record("D4", points)


def test_the_papers_percentages_hold_by_its_own_cause() -> None:
    none = dict.fromkeys(d4.PAPER_PERCENT, 0.0)
    found = decided(measured(d4.PAPER_PERCENT, others={ONE_USER: none, DEFAULT: d4.PAPER_PERCENT}))
    assert found.pop("averages-can-be-hidden") == "contradicted"
    assert found == dict.fromkeys([*PAPERS, *OURS], "holds")
    other = decided(measured(d4.PAPER_PERCENT, others={ONE_USER: d4.PAPER_PERCENT, DEFAULT: none}))
    assert [other[claim] for claim in OURS] == ["contradicted"] * 2


def test_another_buffer_than_the_one_that_was_set_decides_nothing_and_is_reported() -> None:
    verdicts = d4.STUDY.claims(measured(d4.PAPER_PERCENT, buffer_bytes=49_152))
    by_the_buffer = [each for each in verdicts if each.claim in PAPERS]
    assert {each.outcome for each in by_the_buffer} == {"inconclusive"}
    assert all("49,152 bytes by getsockopt" in each.evidence for each in by_the_buffer)


def test_a_record_of_before_and_a_simulated_one_are_not_taken_for_the_papers_cause() -> None:
    made = measured({}, others={ONE_USER: d4.PAPER_PERCENT})
    old = [each for each in d4.STUDY.claims(made) if each.claim in PAPERS]
    assert {each.outcome for each in old} == {"inconclusive"}
    assert all(each.advice for each in old)
    assert len(d4.paper_table(made)) == 4 * 5
    simulated = measured(d4.PAPER_PERCENT, buffer_bytes=0)
    simulated.cluster["kind"] = "simulated"
    (verdict, *_) = d4.STUDY.claims(simulated)
    assert verdict.outcome == "inconclusive"
    assert "simulated by SimGrid, not measured" in verdict.evidence
    assert "the sender has no TCP socket to ask" in verdict.evidence


@pytest.mark.parametrize(("percent", "claim"), [(4.0, "gain-70kb-p0"), (-40.0, "less-at-70kb-p0")])
def test_a_longer_time_and_a_larger_gain_at_70_kb_contradict(percent: float, claim: str) -> None:
    found = decided(measured({**d4.PAPER_PERCENT, (d4.LARGE, 0): percent}))
    assert found[claim] == "contradicted"
    assert found["gain-70kb-p1"] == "holds"


def test_no_change_is_not_called_a_gain_and_a_wide_interval_leaves_it_open() -> None:
    """Alternately 1 % more and 1 % less is no gain; 4 % more and 4 % less may be one."""
    for share, outcome in ((0.01, "contradicted"), (0.04, "inconclusive")):
        made = measured({**d4.PAPER_PERCENT, (d4.LARGE, 0): 0.0})
        for point in made.select(part="during", size_bytes=d4.LARGE, rank=0):
            before = next(iter(made.select(**{**point.at, "part": "before"}))).samples
            point.samples[:] = [
                b * (1 + share * (1 if i % 2 else -1)) for i, b in enumerate(before)
            ]
        assert decided(made)["gain-70kb-p0"] == outcome


def test_less_at_70_kb_is_half_of_the_papers_difference() -> None:
    small = d4.PAPER_PERCENT[d4.SMALL, 0]
    for more, outcome in ((18.0, "holds"), (11.15, "inconclusive"), (5.0, "contradicted")):
        made = measured({**d4.PAPER_PERCENT, (d4.LARGE, 0): small + more})
        assert decided(made)["less-at-70kb-p0"] == outcome


def test_the_picture_has_a_mark_for_each_rank_and_size() -> None:
    figure = d4.STUDY.picture(measured(d4.PAPER_PERCENT))
    assert len(figure.table) == 4
    assert "7 KB, send buffer 24 KB rank 0 -26" in figure.alt
    assert (
        "Marks of paper D's averages, across and up: -26.27 and -0.13, -32.23 and 0.13"
        in figure.alt
    )
    assert "negative is better" in figure.alt


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_long_work_hides_an_eager_exchange_and_not_a_rendezvous(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    with Measurement("D4", cluster, tmp_path) as session:
        for way in (ONE_USER, DEFAULT):  # 70 KB lie above the limit of one and below the other's
            words = [*overlap.sweep_arguments(WORK_S, [d4.LARGE], 25, 0), "--work", "delay"]
            overlap.launch(session, way, "both_sides.c", words, number=0)
    made = session.record()
    # Of each pass the slower rank: a rank that leaves the barrier late seems to wait less. Of so many passes the
    # fastest is hardly disturbed, and 70 KB take 5.7 ms on such a cable however fast the machine is.
    fastest = {
        way: exchanges(made, **way.at).groupby("pass")[["comp", "during"]].max().min()
        for way in (ONE_USER, DEFAULT)
    }
    assert fastest[ONE_USER]["during"] > WORK_S + 0.004, "a rendezvous comes after the work"
    assert fastest[DEFAULT]["during"] < WORK_S + 0.004, "an eager message hides behind it"
    assert fastest[DEFAULT]["during"] > 0.99 * WORK_S, "no work is left out"
    assert fastest[DEFAULT]["comp"] > 0.99 * WORK_S


def test_the_table_is_made_as_the_papers_with_the_sign_of_equation_1() -> None:
    evidence = d4.STUDY.claims(measured(d4.PAPER_PERCENT))[0].evidence
    assert "% by equation 1" in evidence
    assert "at most -13.13 (half of the paper's change, to -26.27) is asked" in evidence
    table = d4.paper_table(measured(d4.PAPER_PERCENT))
    assert len(table) == 4 * 5
    means = table[table.statistic == "mean"].set_index(["message_kb", "process"])
    assert means.loc[(7.0, 1), "percent"] == pytest.approx(-32.23, abs=1.5)
