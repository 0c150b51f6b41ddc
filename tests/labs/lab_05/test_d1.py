"""D1: does the study see whether a message waits for its sender's work?"""

from __future__ import annotations

from pathlib import Path

import pytest
from made import decided

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_05 import d1_synchronisation as d1
from beowulf.labs.lab_05 import overlap
from beowulf.labs.lab_05.overlap import (
    ONE_USER,
    ONE_USER_SOCKET,
    SOLARIS,
    SOLARIS_SOCKET,
    TESTED,
    THREADED,
    Way,
)
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from tests.studies.overlap_records import connected, record, timed

LATE, EARLY = 1.05, 0.05  # of the way from rank 1's share to rank 0's work


def points(way: Way, size: int, work: str, place: float) -> list[Point]:
    own, others = 0.1 * d1.SHARES[work], 0.1
    ended = own + place * (others - own)
    at = {"size_bytes": size, "work": work}
    return [
        *timed(way, "posting_s", 1e-5, **at, rank=0, event="posted"),
        *timed(way, "since_barrier_s", others, **at, rank=0, event="worked"),
        *timed(way, "since_barrier_s", others, **at, rank=0, event="ended"),
        *timed(way, "since_barrier_s", own, **at, rank=1, event="worked"),
        *timed(way, "since_barrier_s", ended, **at, rank=1, event="ended"),
    ]


def as_in_the_paper(**places: float) -> Record:
    """One Record in which only MPICH2 at 39.06 KB without help is late, unless `places` says otherwise."""
    usual = {"one_user_large": LATE, "one_user_socket_large": LATE}
    made = [connected(way) for way in {way for way, _ in d1.CASES}]
    for work in d1.SHARES:
        for way, size in d1.CASES:
            name = f"{way.mpich}_{'large' if size == d1.LARGE else 'small'}".replace("-", "_")
            name += "" if way.progress == "calls" else f"_{way.progress}"
            made += points(way, size, work, {**usual, **places}.get(name, EARLY))
    return record("D1", made)


def test_what_the_paper_saw_holds() -> None:
    assert set(decided(as_in_the_paper()).values()) == {"holds"}


@pytest.mark.parametrize(
    ("case", "place", "claim"),
    [
        ("one_user_large", EARLY, "one-user-calls-40000"),
        ("one_user_socket_small", LATE, "one-user-socket-calls-10240"),
        ("default_large", LATE, "default-calls-40000"),
        ("one_user_large_thread", LATE, "one-user-thread-40000"),
    ],
)
def test_the_opposite_contradicts_one_claim_only(case: str, place: float, claim: str) -> None:
    found = decided(as_in_the_paper(**{case: place}))
    wrong = {name for name, outcome in found.items() if outcome == "contradicted"}
    assert wrong == {f"{claim}-delay", f"{claim}-loop"}
    assert set(found.values()) == {"holds", "contradicted"}


def test_an_end_in_the_middle_is_not_reported() -> None:
    verdict = d1.STUDY.claims(as_in_the_paper(solaris_large=0.5))[2]
    assert verdict.outcome == "inconclusive"
    assert "less than 0.5 is asked" in verdict.evidence
    assert "the work longer" in verdict.advice


def test_a_library_without_such_a_limit_makes_it_inconclusive() -> None:
    made = as_in_the_paper()
    made.cluster["mpi"] = "modern"
    verdicts = d1.STUDY.claims(made)
    assert {verdict.outcome for verdict in verdicts} == {"inconclusive"}
    assert "beowulf up --mpi classic" in verdicts[0].advice


@pytest.mark.parametrize(
    ("buffer_bytes", "why"),
    [(2 * ONE_USER_SOCKET.buffer_bytes, "has 49,152 bytes by getsockopt"), (0, "no TCP socket")],
)
def test_a_library_that_does_not_take_the_nodes_buffers_is_reported(
    buffer_bytes: int, why: str
) -> None:
    """As one that asks for a size itself, of which the kernel gives twice as much, and one without sockets."""
    made = as_in_the_paper()
    made.points = [
        connected(ONE_USER_SOCKET, buffer_bytes)
        if p.quantity == "first_message_s" and p.at["mpich"] == "one-user-socket"
        else p
        for p in made.points
    ]
    verdicts = d1.STUDY.claims(made)
    open_ = [each for each in verdicts if each.outcome == "inconclusive"]
    assert {each.claim.rpartition("-")[0] for each in open_} == {
        "one-user-socket-calls-40000",
        "one-user-socket-calls-10240",
    }
    assert all(why in each.evidence and "24,576" in each.evidence for each in open_)
    assert {each.outcome for each in verdicts if each not in open_} == {"holds"}


def test_nodes_whose_buffers_cannot_be_set_are_reported() -> None:
    made = as_in_the_paper()
    made.points = [p for p in made.points if p.at["mpich"] != "solaris-socket"]
    made.points.append(Point(SOLARIS_SOCKET.at, facts={"absent": "socket buffers: not observable"}))
    seen = {each.claim: each for each in d1.STUDY.claims(made)}["solaris-socket-calls-40000-loop"]
    assert seen.outcome == "inconclusive"
    assert "not observable" in seen.evidence
    assert "beowulf up" in seen.advice


def test_the_timeline_says_who_ends_when() -> None:
    figure = d1.STUDY.picture(as_in_the_paper())
    assert "39.06 KB, limit 16 KB: rank 1: works" in figure.alt
    assert set(figure.table["part"]) == {"works", "waits in MPI_Wait", "waits in MPI_Recv"}
    assert len(figure.table) == 2 * 2 * len(d1.CASES)
    # Of 4 s, table 4 has 4.03 s for process 0; ours are 0.1 s.
    marks = figure.alt.partition("across and up: ")[2]
    assert [float(mark.split(" and ")[0]) for mark in marks.rstrip(".").split(", ")][
        4
    ] == pytest.approx(100.75, rel=0.02)


def test_what_a_setting_of_ours_places_is_a_demonstration_and_what_comes_by_itself_is_none() -> (
    None
):
    by_itself = {v.claim for v in d1.STUDY.claims(as_in_the_paper()) if v.rests_on == "measurement"}
    assert {each.rpartition("-")[0] for each in by_itself} == {
        "default-calls-40000",
        "one-user-tests-40000",
        "one-user-thread-40000",
    }


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.parametrize("work", ["delay", "loop"])
def test_a_message_over_the_limit_waits_for_its_sender_and_one_below_does_not(
    cluster: NamespaceCluster, tmp_path: Path, work: str
) -> None:
    words = ["--work", work, "--seconds", "0.2", "--size", d1.LARGE, "--passes", "7"]
    ways = [ONE_USER, SOLARIS, *([TESTED, THREADED] if work == "delay" else [])]
    with Measurement("D1", cluster, tmp_path) as session:
        for way in ways:
            overlap.launch(session, way, "synchronisation.c", words, number=0, at={"work": work})
    made = session.record()
    found = {way: d1.places(made, way, d1.LARGE, work) for way in ways}
    # 0 is the end of rank 1's own share and 1 that of rank 0's work; a message takes 0.03 of that way. On a busy
    # machine anything may take longer: one pass in which a message did not wait is enough to see that it need not.
    assert found[ONE_USER].median > d1.MIDDLE
    assert all(place.min < d1.MIDDLE for way, place in found.items() if way != ONE_USER)


def test_the_table_has_the_papers_columns_and_all_samples() -> None:
    table = d1.paper_table(as_in_the_paper())
    assert {"process", "samples", "min_s", "max_s", "average_s"} <= set(table.columns)
    assert set(table.samples) == {40}
    assert set(table.message_kb) == {39.06, 10.0}
