"""D2: does the study find the size from which on a message waits for its sender?"""

from __future__ import annotations

from pathlib import Path

import pytest
from made import decided
from running import first

from beowulf import papers
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_05 import d2_message_size_sweep as d2
from beowulf.labs.lab_05 import overlap
from beowulf.labs.lab_05.d2_message_size_sweep import CAUSES, EAGER, SOCKETS, WAYS
from beowulf.labs.lab_05.overlap import (
    KB,
    ONE_USER,
    ONE_USER_SOCKET,
    SOLARIS,
    SOLARIS_SOCKET,
    TESTED,
    Way,
)
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import summary
from beowulf.measure.sweep import PAPER_D
from beowulf.record import Point, Record
from tests.studies.overlap_records import connected, record, timed

WORK = 0.1
CLAIMS = [
    "larger-than-the-buffer",
    *("one-user-step", "solaris-step", "one-user-socket-step", "solaris-socket-step"),
    *("one-user-on-the-wire", "solaris-on-the-wire"),
    *("one-user-socket-on-the-wire", "solaris-socket-on-the-wire"),
    *("default-calls-no-step", "one-user-tests-no-step", "one-user-thread-no-step"),
]


# Of the longest message, by what fits: a request, or some of its bytes.
LEFT = {ONE_USER: 80, SOLARIS: 80, ONE_USER_SOCKET: 15_928, SOLARIS_SOCKET: 65_160}


def on_the_wire(way: Way, left_bytes: list[int], asked_first: bool, **capture: int) -> Point:
    """What a capture showed of the longest messages of this way."""
    facts = {
        "left_bytes": left_bytes,
        "asked_first": [asked_first] * len(left_bytes),
        "capture": {"dropped": 0, **capture},
    }
    return Point({**way.at, "size_bytes": max(PAPER_D), "launch": 0}, facts=facts)


def swept(late: dict[Way, set[int]], wire: dict[Way, Point] | None = None) -> Record:
    """A Record in which rank 1 is late at these sizes (in KB) of these ways, and nowhere else."""
    usual = {way: on_the_wire(way, [left] * 10, way in EAGER) for way, left in LEFT.items()}
    points = [*(usual | (wire or {})).values(), *map(connected, WAYS)]
    for way in WAYS:
        for size in PAPER_D:
            message = 2e-4 + size * 8 / 1e8
            waits = size // KB in late.get(way, set())
            points += timed(way, "duration_s", WORK, size_bytes=size, rank=0)
            ended = message + WORK if waits else message
            points += timed(way, "duration_s", ended, size_bytes=size, rank=1)
    return record("D2", points)


SMALL, LARGE = {20, 30, 40, 50, 60, 70, 80}, {70, 80}
PAPER = {ONE_USER: SMALL, SOLARIS: LARGE, ONE_USER_SOCKET: SMALL, SOLARIS_SOCKET: LARGE}


def test_the_steps_of_the_paper_hold() -> None:
    assert decided(swept(PAPER)) == dict.fromkeys(CLAIMS, "holds")


def test_the_papers_own_table_has_these_steps() -> None:
    table = papers.table("D-table-5")
    for way, column in ((ONE_USER, "one_user"), (SOLARIS, "solaris")):
        shares = table[f"{column}_p1_s"] / table[f"{column}_p0_s"]
        sizes = [int(kb) * KB for kb in table.message_kb]
        found = {size: summary([share]) for size, share in zip(sizes, shares, strict=True)}
        below, above = d2.step(found) or (0, 0)
        assert below <= way.limit_bytes < above


@pytest.mark.parametrize(
    ("late", "claim", "outcome"),
    [
        ({SOLARIS: {60, *LARGE}}, "solaris-step", "contradicted"),
        ({SOLARIS_SOCKET: SMALL}, "solaris-socket-step", "contradicted"),
        ({ONE_USER: set()}, "one-user-step", "contradicted"),
        ({ONE_USER: {20, 30, 60, 70, 80}}, "one-user-step", "inconclusive"),
        ({TESTED: {70, 80}}, "one-user-tests-no-step", "contradicted"),
    ],
    ids=["elsewhere", "elsewhere, by a buffer", "none", "two", "in spite of MPI_Test"],
)
def test_another_step_decides_its_claim_alone(
    late: dict[Way, set[int]], claim: str, outcome: str
) -> None:
    found = decided(swept(PAPER | late))
    assert found.pop(claim) == outcome
    buffers = found.pop("larger-than-the-buffer")
    assert set(found.values()) == {"holds"}
    assert buffers == ("contradicted" if SOLARIS_SOCKET in late else "holds")


def test_what_a_setting_of_ours_places_is_a_demonstration() -> None:
    placed = [v.claim for v in d2.STUDY.claims(swept(PAPER)) if v.rests_on == "demonstration"]
    assert placed == CLAIMS[1:5]


@pytest.mark.parametrize(
    ("late", "outcome"),
    [
        ({30, 40, 50, 60, 70, 80}, "holds"),
        ({40, 50, 60, 70, 80}, "contradicted"),
        (set(), "contradicted"),
        ({30, 70, 80}, "inconclusive"),
    ],
)
def test_messages_larger_than_the_buffer_wait_or_do_not(late: set[int], outcome: str) -> None:
    """The buffer has 24 KB, so 20 KB may leave or wait."""
    made = swept(PAPER | {ONE_USER_SOCKET: late})
    assert decided(made)["larger-than-the-buffer"] == outcome


def test_the_buffer_that_the_kernel_says_is_in_the_evidence() -> None:
    seen = d2.STUDY.claims(swept(PAPER))[3]
    assert "the send buffer 24,576 by getsockopt" in seen.evidence
    assert seen.numbers["send_buffer_bytes"] == 24_576


@pytest.mark.parametrize(
    ("way", "left", "asks", "outcome"),
    [
        (ONE_USER, [80] * 3 + [20_000], True, "inconclusive"),
        (ONE_USER, [65_160] * 4, True, "contradicted"),
        (ONE_USER, [80] * 4, False, "contradicted"),
        (ONE_USER_SOCKET, [82_000] * 4, False, "contradicted"),
        (ONE_USER_SOCKET, [80] * 4, False, "contradicted"),
        (SOLARIS_SOCKET, [65_160, 82_000], False, "inconclusive"),
    ],
)
def test_what_leaves_while_the_sender_works_tells_the_causes_apart(
    way: Way, left: list[int], asks: bool, outcome: str
) -> None:
    found = decided(swept(PAPER, {way: on_the_wire(way, left, asks)}))
    assert found.pop(f"{way.mpich}-on-the-wire") == outcome
    assert set(found.values()) == {"holds"}


def test_without_a_capture_the_cause_is_open_and_a_reason_given() -> None:
    none = Point({**ONE_USER.at, "launch": 0}, facts={"not_captured": "No dumpcap on node00."})
    lost = on_the_wire(SOLARIS, [80] * 4, True, dropped=3)
    made = swept(PAPER, {ONE_USER: none, SOLARIS: lost})
    for claim, why in (("one-user", "No dumpcap on node00"), ("solaris", "packets were dropped")):
        verdict = next(v for v in d2.STUDY.claims(made) if v.claim == f"{claim}-on-the-wire")
        assert verdict.outcome == "inconclusive"
        assert why in verdict.evidence
        assert "beowulf doctor" in verdict.advice


def test_what_progress_costs_the_sender_is_reported() -> None:
    made = swept(PAPER)
    for point in made.select(progress="thread", rank=0):
        point.samples[:] = [2 * each for each in point.samples]
    tests, thread = d2.STUDY.claims(made)[-2:]
    assert "T_P0 is 1.00 times that with limit 16 KB" in tests.evidence
    assert "T_P0 is 2.00 times that with limit 16 KB" in thread.evidence


def in_launches(made: Record, *times: float) -> Record:
    """The same in launches in which everything but the work took so many times as long."""
    points = []
    for launch, slower in enumerate(times):
        for point in made.points:
            values = [each if each >= WORK / 2 else each * slower for each in point.samples]
            points.append(
                Point({**point.at, "launch": launch}, point.quantity, values, point.facts)
            )
    made.points, made.sweep["seconds"] = points, WORK
    return made


def test_messages_that_take_twice_as_long_in_one_launch_do_not_hide_the_step() -> None:
    made = in_launches(swept(PAPER), 1.0, 2.0)
    assert decided(made) == dict.fromkeys(CLAIMS, "holds")


def test_launches_that_do_not_agree_where_the_step_is_give_no_verdict() -> None:
    made, other = in_launches(swept(PAPER), 1.0), in_launches(swept({}), 1.0)
    for point in other.points:
        point.at["launch"] = 1
    made.points += other.points
    assert decided(made)["one-user-step"] == "inconclusive"


def test_the_picture_marks_both_steps() -> None:
    figure = d2.STUDY.picture(swept(PAPER))
    assert "limit 16 KB: the step is between 10 KB and 20 KB." in figure.alt
    assert "limit 64 KB: the step is between 60 KB and 70 KB." in figure.alt
    shaded = [round(patch.get_x()) for patch in figure.drawing.axes[0].patches]
    assert shaded == [10, 60]
    assert "Marks of paper D, table 5, both clusters, across and up: 10 and 0.0003263" in figure.alt


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.parametrize("way", first(1, CAUSES), ids=lambda way: way.mpich)
def test_the_step_is_where_the_limit_or_the_buffer_was_set(
    cluster: NamespaceCluster, tmp_path: Path, way: Way
) -> None:
    with Measurement("D2", cluster, tmp_path) as session:
        words = [*overlap.sweep_arguments(0.1, PAPER_D, 5, 0), "--work", "delay"]
        overlap.launch(session, way, "message_sweep.c", words, number=0)
    found = d2.shares(session.record(), way)
    # The longest message takes 7 ms and the work 100: nothing lies near the middle between them. On a busy machine
    # anything may take longer: one pass in which a message did not wait is enough to see that it need not.
    waits = [size for size in PAPER_D if found[size].median > d2.MIDDLE]
    need_not = [size for size in PAPER_D if found[size].min < d2.MIDDLE]
    late = {size for size in PAPER_D if size // KB in PAPER[way]}
    assert set(waits) >= late
    assert set(need_not) >= set(PAPER_D) - late


@pytest.mark.cluster
@pytest.mark.nightly
def test_a_capture_tells_a_send_buffer_from_a_rendezvous(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    about = {"seconds": 0.1, "sizes": [max(PAPER_D)], "passes": 3}
    with Measurement("D2", cluster, tmp_path) as session:
        for way in CAUSES:
            words = [*overlap.sweep_arguments(0.1, about["sizes"], 3, 0), "--work", "delay"]
            with d2.captured(session, way, 0, about):
                overlap.launch(session, way, "message_sweep.c", words, number=0)
    made = session.record()
    assert {way: overlap.send_buffers(made, way) for way in SOCKETS} == {
        way: {way.buffer_bytes} for way in SOCKETS
    }
    for way in CAUSES:
        assert decided(made)[f"{way.mpich}-on-the-wire"] == "holds"
    assert not list(tmp_path.iterdir()), "the capture is read and thrown away"


def test_the_table_has_the_papers_rows() -> None:
    table = d2.paper_table(swept(PAPER))
    one_user = table[(table.mpich == "one-user") & (table.progress == "calls")]
    assert list(one_user.message_kb) == list(papers.table("D-table-5").message_kb)
    assert (one_user.p1_s > WORK / 2).tolist() == [False, *[True] * 7]
