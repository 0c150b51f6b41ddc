"""A4: are the benchmarks measured on one node and on four, and is table 5 judged by what was measured?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from made import QUIET, decided

from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_03 import a4_parallel_benchmarks as a4
from beowulf.record import Point, Record
from beowulf.studies import draw, judge

NOISE = (1.0, 1.01, 0.99)
# By benchmark: seconds on one node, speed-up on four, Mop/s on four, share of the time in MPI. All claims hold.
USUAL = {
    "EP": (0.8, 3.5, 160.0, 0.05),
    "IS": (0.5, 1.1, 8.0, 0.9),
    "CG": (0.3, 1.3, 170.0, 0.8),
    "MG": (0.2, 1.5, 7.0, 0.6),
    "FT": (0.2, 1.4, 5.0, 0.7),
    "LU": (4.0, 3.0, 390.0, 0.125),
    "SP": (7.0, 2.5, 230.0, 0.5),
    "BT": (5.0, 2.8, 190.0, 0.25),
}
HOLDS = {
    "all-verified",
    *(f"{name.lower()}-faster-on-4" for name in USUAL),
    "mg-communicates-more",
    "ft-communicates-more",
    "ep-communicates-least",
    "mg-ft-slowest",
    "table-5-order",
    "share-slows",
    "profile-is-cheap",
}


def profiled(seconds: float, share: float) -> list[dict[str, Any]]:
    """What four ranks print, of which each was so long in MPI."""
    inside = share * seconds
    calls = {"MPI_Send": {"count": 3, "seconds": inside, "bytes": 30}}
    return [
        {"rank": rank, "seconds": seconds, "communicating_s": inside, "calls": calls}
        for rank in range(4)
    ]


def made(
    changes: Mapping[str, tuple[float, float, float, float]] | None = None,
    *,
    launches: int = 3,
    noise: tuple[float, ...] = NOISE,
    slower: float = 1.0,
    verified: bool = True,
    without: str = "",
) -> Record:
    """A Record of every benchmark, with these changes; profile.c makes a run `slower` times as long."""
    points = []
    for name, (one_s, times, mops, share) in {**USUAL, **(changes or {})}.items():
        if name == without:
            continue
        for launch in range(launches):
            for ranks, profile in ((1, False), (4, False), (4, True)):
                factor = noise[launch] if ranks == 4 else 1.0
                seconds = one_s if ranks == 1 else one_s / times * factor
                seconds *= slower if profile else 1.0
                at = {"benchmark": name, "class": "W", "profiled": profile}
                facts: dict[str, Any] = {"verified": [verified]}
                facts["mops"] = [mops / factor if ranks == 4 else mops / times]
                if profile:
                    facts["profile"] = [profiled(seconds, share)]
                points.append(
                    Point({**at, "ranks": ranks, "launch": launch}, "duration_s", [seconds], facts)
                )
    return Record(
        study="A4",
        points=points,
        cluster={"kind": "namespaces", "nodes": ["node00", "node01", "node02", "node03"]},
        circumstances={"before": QUIET, "after": QUIET},
    )


def test_a_record_in_which_every_claim_holds() -> None:
    assert decided(made()) == dict.fromkeys(HOLDS, "holds")


def test_four_nodes_that_are_slower_than_one_contradict() -> None:
    one_s, _, mops, share = USUAL["BT"]
    found = judge(made({"BT": (one_s, 0.4, mops, share)})).named("bt-faster-on-4")
    assert found.outcome == "contradicted"
    assert found.numbers["median"] == pytest.approx(0.4)
    assert "the four nodes share 2 cores" in found.evidence


def shared(name: str, share: float) -> Record:
    """With another share of one benchmark's time in MPI."""
    return made({name: (*USUAL[name][:3], share)})


SPEEDS = (2, 1, 2.2, 1.2, 2.1, 1.1, 2.3, 1.3)
BY_SHARE = zip(sorted(USUAL.items(), key=lambda item: item[1][3]), SPEEDS, strict=True)
FASTER = {name: (one, 4 * share, mops, share) for name, (one, _, mops, share) in USUAL.items()}
MIXED = {name: (one, times, mops, share) for (name, (one, _, mops, share)), times in BY_SHARE}


@pytest.mark.parametrize(
    ("record", "claim", "outcome"),
    [
        # FT's 0.25 is below that of SP; 0.5 and 0.125 are those of SP and LU themselves.
        (shared("MG", 0.1), "mg-communicates-more", "contradicted"),
        (shared("FT", 0.25), "ft-communicates-more", "contradicted"),
        (shared("FT", 0.5), "ft-communicates-more", "inconclusive"),
        (shared("EP", 0.22), "ep-communicates-least", "contradicted"),
        (shared("EP", 0.125), "ep-communicates-least", "inconclusive"),
        (made({"SP": (7.0, 2.5, 100.0, 0.5)}), "table-5-order", "contradicted"),
        (made({"SP": (7.0, 2.5, 100.0, 0.5)}), "mg-ft-slowest", "holds"),
        (made({"SP": (7.0, 2.5, 190.0, 0.5)}), "table-5-order", "inconclusive"),
        (made({"MG": (0.2, 1.5, 1000.0, 0.6)}), "mg-ft-slowest", "contradicted"),
        (made({"CG": (0.3, 1.0, 170.0, 0.8)}), "cg-faster-on-4", "inconclusive"),
        (made(FASTER), "share-slows", "contradicted"),
        (made(MIXED), "share-slows", "inconclusive"),
        (made(slower=1.2), "profile-is-cheap", "contradicted"),
        (made(slower=1.04), "profile-is-cheap", "holds"),
        (made(verified=False), "all-verified", "contradicted"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_records_have_other_outcomes(record: Record, claim: str, outcome: str) -> None:
    assert decided(record)[claim] == outcome


def test_benchmarks_of_several_classes_have_no_order() -> None:
    """As Records had them whose SP and BT were smaller."""
    record = made()
    for point in record.points:
        point.at["class"] = "W" if point.at["benchmark"] in ("SP", "BT") else "A"
    found = judge(record)
    for claim in ("mg-ft-slowest", "table-5-order"):
        verdict = found.named(claim)
        assert verdict.outcome == "inconclusive"
        assert "its benchmarks are of class A (SP W, BT W), not of one class" in verdict.evidence
    assert found.named("share-slows").outcome == "holds"


def test_wide_launches_and_too_few_decide_nothing() -> None:
    wide = decided(made(noise=(1.0, 6.0, 0.2)))
    assert wide["lu-faster-on-4"] == wide["table-5-order"] == "inconclusive"
    few = decided(made(launches=2))
    assert set(few.values()) == {"holds", "inconclusive"}
    assert [claim for claim, outcome in few.items() if outcome == "holds"] == ["all-verified"]


def test_a_benchmark_that_was_not_measured_leaves_its_claims_open() -> None:
    found = decided(made(without="BT"))
    assert set(found) == HOLDS
    open_ = ("all-verified", "bt-faster-on-4", "share-slows", "table-5-order", "mg-ft-slowest")
    assert {found[claim] for claim in open_} == {"inconclusive"}
    begun = made()
    begun.points = [point for point in begun.points if point.at["benchmark"] == "EP"]
    assert set(decided(begun)) == HOLDS


def test_the_table_has_what_follows_from_the_medians() -> None:
    found = a4.table(made()).set_index("benchmark")
    assert list(found.index) == list(USUAL)
    assert found.loc["LU", "speed_up"] == pytest.approx(3.0)
    assert found.loc["LU", "efficiency"] == pytest.approx(0.75)
    assert found.loc["LU", "karp_flatt"] == pytest.approx((1 / 3 - 1 / 4) / (3 / 4))
    assert found.loc["LU", "communication_percent"] == pytest.approx(12.5)
    assert found.loc["LU", "paper_mops"] == 392.17
    assert math.isnan(found.loc["EP", "paper_mops"])
    assert found.verified.all()


def test_the_rate_is_that_of_the_median_time() -> None:
    # Of two launches that differ, the median of the rates is another rate: a learner who divides would not find it.
    found = a4.table(made(launches=2, noise=(1.0, 1.5))).set_index("benchmark")
    one_s, times, rate, _ = USUAL["LU"]
    assert found.loc["LU", "seconds_4"] == pytest.approx(1.25 * one_s / times)
    assert found.loc["LU", "mops_4"] == pytest.approx(rate / 1.25)
    assert found.loc["LU", "mops_1"] == pytest.approx(rate / times)


def test_the_calls_are_those_of_all_ranks() -> None:
    found = a4.calls(made())
    assert list(found.columns) == ["benchmark", "call", "calls", "bytes", "seconds"]
    row = found.set_index("benchmark").loc["MG"]
    assert (row.call, row.calls, row.bytes) == ("MPI_Send", 12, 120)


def test_what_is_written_beside_the_bars_covers_none_and_says_of_what_it_is() -> None:
    figure = draw(made())
    assert "7.03 in paper A" in figure.alt
    drawing = figure.drawing
    drawing.draw_without_rendering()
    left, right = drawing.axes
    words = [text.get_text() for text in left.texts]
    assert words[list(USUAL).index("LU")] == "12 % inside of MPI\n3 × one node's speed"
    assert len(words) == len(USUAL)
    bars_end = max(bar.get_window_extent().x1 for bar in left.patches)
    boxes = [text.get_window_extent() for text in left.texts]
    assert all(bars_end < box.x0 and box.x1 < right.bbox.x0 for box in boxes)


def test_a_record_without_samples_is_a_sentence() -> None:
    empty = Record(study="A4")
    for look in (a4.table, a4.calls):
        with pytest.raises(LabError, match="Measure again"):
            look(empty)


def test_too_few_nodes_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    class Small:
        nodes = ("node00", "node01")

    with pytest.raises(UsageError, match="needs 4 nodes, but the cluster has 2") as refused:
        a4.STUDY.measure(cast("Cluster", Small()), tmp_path, quick=True)
    assert "`beowulf up --nodes 4`" in (refused.value.hint or "")
