"""D6: does the study tell whether messages add up, and whether more ranks gain less?"""

from __future__ import annotations

import pytest
from made import decided

from beowulf.labs.lab_05 import d6_cumulative_and_processes as d6
from beowulf.labs.lab_05.overlap import DEFAULT, ONE_USER, ONE_USER_SOCKET, Way
from beowulf.record import Point, Record
from tests.studies.null_records import Noise
from tests.studies.overlap_records import connected, exchanged, record

CLAIMS = [
    *("one-user-socket-1-messages", "one-user-socket-8-messages"),
    *("one-user-8-messages", "more-processes-gain-less"),
]
# Of an exchange that could be hidden, what is left in the open, by way and number of messages, or by ranks.
USUAL: dict[tuple[Way, int] | int, float] = {(ONE_USER_SOCKET, 8): 0.8, 3: 0.2, 4: 0.4}


def exchange(
    way: Way, ranks: int, messages: int, size: int, shown: float, noise: Noise | None
) -> list[Point]:
    comm, work = size * messages * (ranks - 1) * 8.5e-8, d6.SECONDS
    at = {"messages": messages, "total_bytes": size * messages * (ranks - 1), "size_bytes": size}
    points = []
    for rank in range(ranks):
        points += exchanged(way, comm, work, work + shown * comm, noise, **at, rank=rank)
    for point in points:
        point.at["ranks"] = ranks
    return points


def measured(
    shown: dict[tuple[Way, int] | int, float] | None = None, noise: Noise | None = None
) -> Record:
    """A Record in which so much of each exchange is not hidden, and nothing where nothing is given."""
    of = USUAL if shown is None else shown
    points = [connected(way) for way in d6.WAYS]
    for way in d6.WAYS:
        for count in d6.COUNTS:
            points += exchange(way, 2, count, d6.PIECE, of.get((way, count), 0.0), noise)
    for ranks in d6.RANKS:
        size = d6.TOTAL // (ranks - 1)
        points += exchange(DEFAULT, ranks, 1, size, of.get(ranks, 0.0), noise)
    return record("D6", points)


def test_what_the_paper_concludes_holds() -> None:
    assert decided(measured()) == dict.fromkeys(CLAIMS, "holds")


@pytest.mark.parametrize(
    ("shown", "claim"),
    [
        ({(ONE_USER_SOCKET, 1): 0.9}, "one-user-socket-1-messages"),
        ({(ONE_USER_SOCKET, 8): 0.0}, "one-user-socket-8-messages"),
        ({(ONE_USER, 8): 0.8}, "one-user-8-messages"),
        ({3: 0.0, 4: 0.0}, "more-processes-gain-less"),
        ({2: 0.9, 3: 0.0, 4: 0.0}, "more-processes-gain-less"),
    ],
)
def test_the_opposite_contradicts_one_claim_only(
    shown: dict[tuple[Way, int] | int, float], claim: str
) -> None:
    found = decided(measured(USUAL | shown))
    assert found.pop(claim) == "contradicted"
    assert set(found.values()) == {"holds"}


@pytest.mark.parametrize("case", [(ONE_USER_SOCKET, 8), (ONE_USER, 8), 4])
def test_a_wide_interval_around_the_margin_is_open(case: tuple[Way, int] | int) -> None:
    made = measured(USUAL | {case: 0.05})
    at = (
        {"ranks": case}
        if isinstance(case, int)
        else {**case[0].at, "messages": case[1], "ranks": 2}
    )
    for point in made.select(part="during", **at):
        point.samples[:] = [
            each * (1.08 if n % 2 else 0.92) for n, each in enumerate(point.samples)
        ]
    (open_,) = [each for each in d6.STUDY.claims(made) if each.outcome == "inconclusive"]
    assert open_.advice


def test_a_cluster_of_two_nodes_leaves_the_processes_open() -> None:
    made = measured()
    made.points = [p for p in made.points if p.at.get("ranks", 2) == 2]
    found = decided(made)
    assert found.pop("more-processes-gain-less") == "inconclusive"
    assert set(found.values()) == {"holds"}


def test_the_picture_has_each_number_of_messages_and_of_ranks() -> None:
    figure = d6.STUDY.picture(measured())
    assert len(figure.table) == len(d6.WAYS) * len(d6.COUNTS) + len(d6.RANKS)
    assert "8 of 10 KB, 2 ranks" in figure.alt
