"""A9: from which size on do the rates of 2, 3 and 4 nodes differ, and does overlap hide its work?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from made import decided, named

from beowulf.labs.lab_05 import a9_overlap_sizes as a9
from beowulf.measure import mpptest
from beowulf.measure.roundtrips import EXCHANGE
from beowulf.record import Record
from tests.studies import mpptest_records
from tests.studies.null_records import Noise
from tests.studies.overlap_records import record, samples

OURS = ["differences-from-100000", "more-nodes", "hides"]
ENDS = (min(a9.OVERLAPS), max(a9.OVERLAPS))
AS_MPPTEST = ["mpptest-differences-from-100000", "mpptest-below-10-mb", "mpptest-more-nodes"]
CLAIMS = [*OURS, *AS_MPPTEST, "work-above-10-mb", "work-one-line"]


def from_100000(at: mpptest_records.At) -> float:
    """So slow a start that only messages of 100,000 bytes have a rate that can be seen."""
    return 20_000 + float(at["size_bytes"]) / 12.5


def beside_work(at: mpptest_records.At) -> float:
    """A nanosecond for every 10 bytes of work, beside an empty message."""
    return 6 + float(at["overlap_bytes"]) / 10_000


def measured(
    exchange_us: Callable[[int, str, int, float], float],
    noise: Noise | None = None,
    launches: int = 2,
    sizes: Sequence[int] = a9.SIZES,
    overlaps: Sequence[int] = ENDS,
    alone: Sequence[int] = a9.SIZES,
    alone_us: Callable[[mpptest_records.At], float] = from_100000,
    work_us: Callable[[mpptest_records.At], float] = beside_work,
) -> Record:
    """A Record of what the functions say: of ranks, protocol, message bytes and work in us; of mpptest's places."""
    points = []
    for ranks in a9.RANKS:
        for protocol in a9.PROTOCOLS:
            for size in sizes:
                for overlap in overlaps:
                    at = {"pattern": "ring", "protocol": protocol, "size_bytes": size}
                    at |= {"overlap_bytes": overlap}
                    us = exchange_us(ranks, protocol, size, overlap / 100)
                    here = samples(EXCHANGE, at, us, launches, noise)
                    for point in here:
                        point.at["ranks"] = ranks
                    points += here
    swept = [(at, alone_us(at)) for at in mpptest_records.places(a9.RANKS, alone, bisect=True)]
    of_work = mpptest_records.places(a9.RANKS, work=alone, bisect=False)
    for at, us in [*swept, *((at, work_us(at)) for at in of_work)]:
        here = samples(mpptest.QUANTITY, at, us, launches, noise)
        for point in here:
            point.at["ranks"] = at["ranks"]
        points += here
    return record("A9", points)


def link(ranks: int, protocol: str, size: int, work_us: float) -> float:
    """Every cable carries a message; non-blocking calls hide the work behind it."""
    wire_us = 20 + size * 0.085
    return max(wire_us, work_us) if protocol == "overlap" else wire_us + work_us


def test_long_work_keeps_the_rates_together_below_100000_bytes() -> None:
    assert decided(measured(link)) == dict.fromkeys(CLAIMS, "holds")


def shared(ranks: int, protocol: str, size: int, work_us: float) -> float:
    """One wire for all: more nodes have the same rate."""
    return ranks * link(ranks, protocol, size, work_us)


def in_the_open(ranks: int, protocol: str, size: int, work_us: float) -> float:
    """No call hides the work."""
    return link(ranks, "blocking", size, work_us)


def in_turns(ranks: int, protocol: str, size: int, work_us: float) -> float:
    """Blocking ranks take turns: they are slower, and nothing is hidden."""
    turns = 2 if protocol == "blocking" else 1
    return turns * link(ranks, "blocking", size, 0) + work_us


@pytest.mark.parametrize(
    ("exchange_us", "claim"),
    [
        (lambda ranks, p, size, w: link(ranks, p, size, w / 20), "differences-from-100000"),
        (lambda ranks, p, size, w: ranks**2 * link(ranks, p, size, w), "more-nodes"),
        (shared, "more-nodes"),
        (in_the_open, "hides"),
        (in_turns, "hides"),
    ],
    ids=["short work", "a lower rate", "the same rate", "not hidden", "in turns"],
)
def test_other_times_contradict(
    exchange_us: Callable[[int, str, int, float], float], claim: str
) -> None:
    assert named(measured(exchange_us), claim).outcome == "contradicted"


def wide(made: Record, share: float, **at: object) -> Record:
    """The Record, in which every other sample at these coordinates takes so much less."""
    for point in made.select(**at):
        point.samples[:] = [each * (1 - share * (n % 2)) for n, each in enumerate(point.samples)]
    return made


def test_wide_intervals_leave_the_claims_open() -> None:
    seen = decided(wide(measured(shared), 0.2, protocol="overlap"))
    assert seen["more-nodes"] == "inconclusive"
    seen = decided(wide(measured(link), 0.7, size_bytes=10_000))
    assert seen["differences-from-100000"] == "inconclusive"
    made = wide(measured(link, sizes=(1,), overlaps=(1,)), 0.8, bisect=True, size_bytes=10_000)
    assert decided(made)["mpptest-differences-from-100000"] == "inconclusive"


def test_the_size_that_gains_most_is_judged_by_other_launches() -> None:
    """A gain at one size in the even launches alone is chance, and one launch judges nothing."""
    made = measured(in_the_open)
    for point in made.select(size_bytes=100, protocol="overlap", launch=0):
        point.samples[:] = [0.8 * each for each in point.samples]
    verdict = a9.STUDY.claims(made)[2]
    assert (verdict.outcome, verdict.numbers["size_bytes"]) == ("contradicted", 100)
    assert decided(measured(link, launches=1))["hides"] == "inconclusive"


def test_a_gain_around_what_counts_as_hidden_is_open() -> None:
    made = measured(in_the_open)
    for point in made.select(size_bytes=100, protocol="overlap"):
        point.samples[:] = [each * (0.97, 0.9)[n % 2] for n, each in enumerate(point.samples)]
    assert decided(made)["hides"] == "inconclusive"


def on_a_wire(at: mpptest_records.At) -> float:
    """A message without work beside it: the lines part where its rate can be seen."""
    return 20 + float(at["size_bytes"]) / 12.5


def one_line(at: mpptest_records.At) -> float:
    """One wire for all pairs."""
    return float(at["ranks"]) * from_100000(at)


@pytest.mark.parametrize(
    ("alone_us", "outcome"),
    [(from_100000, "holds"), (on_a_wire, "contradicted"), (one_line, "contradicted")],
    ids=["from 100,000 bytes on", "from 1,000 bytes on", "one line for all"],
)
def test_the_lines_of_mpptests_way_part_where_the_message_is_long(
    alone_us: Callable[[mpptest_records.At], float], outcome: str
) -> None:
    made = measured(link, sizes=(1,), overlaps=(1,), alone_us=alone_us)
    assert decided(made)["mpptest-differences-from-100000"] == outcome


@pytest.mark.parametrize(
    ("claim", "changes", "outcome"),
    [
        ("mpptest-below-10-mb", {"alone_us": on_a_wire}, "contradicted"),
        ("work-above-10-mb", {"work_us": lambda at: 0.2 * at["overlap_bytes"]}, "contradicted"),
        ("work-one-line", {"work_us": lambda at: at["ranks"] * beside_work(at)}, "contradicted"),
    ],
)
def test_a_sweep_of_messages_and_one_of_work_are_held_against_10_mb_per_second(
    claim: str, changes: dict[str, Any], outcome: str
) -> None:
    made = measured(link, sizes=(1,), overlaps=(1,), **changes)
    assert named(made, claim).outcome == outcome


def test_rates_that_scatter_around_10_mb_per_second_are_open() -> None:
    around = {
        "alone_us": lambda at: at["size_bytes"] * at["ranks"] / 16,
        "work_us": lambda at: at["overlap_bytes"] / 8,
    }
    made = wide(measured(link, sizes=(1,), overlaps=(1,), **around), 0.4)
    for claim in ("mpptest-below-10-mb", "work-above-10-mb"):
        verdict = named(made, claim)
        assert verdict.outcome == "inconclusive"
        assert "than 80 is asked" in verdict.evidence


def test_the_picture_has_a_line_for_each_number_of_nodes_and_kind_of_call() -> None:
    figure = a9.STUDY.picture(measured(link))
    assert set(figure.table["way"]) == {"message", "work", "mpptest"}
    assert "paper A: less than this (10 MB/s)" in figure.alt
    assert set(figure.table["line"]) == {
        f"np {ranks}, {calls}" for ranks in a9.RANKS for calls in ("blocking", "non-blocking")
    }
    assert "1,000,000 bytes" in figure.title
