"""D5: is equation 1 the paper's, with its sign, and does it change at the limit?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from made import decided, named, outcomes

from beowulf.errors import LabError
from beowulf.labs.lab_05 import d5_improvement as d5
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    KB,
    ONE_USER,
    ONE_USER_SOCKET,
    TESTED,
    THREADED,
    Way,
)
from beowulf.record import Record
from tests.studies.null_records import Noise
from tests.studies.overlap_records import connected, exchanged, record

WORK = 6e-3
HELD = {ONE_USER_SOCKET: 15_928, ONE_USER: 16_384}  # bytes that leave at once, where not all do
CLAIMS = [
    "printed-percentages",
    *("gains-below", "gains-less-above", "limit-gains-nothing-above"),
    *("tests-gains-above", "thread-gains-above"),
]


def measured(
    hides: dict[Way, int] | None = None,
    noise: Noise | None = None,
    ways: Sequence[Way] = d5.WAYS,
) -> Record:
    """A Record in which so many bytes of a message are hidden; of one that asks first, nothing."""
    points = [connected(way) for way in ways]
    for way in ways:
        hidden_bytes = (hides or {}).get(way, HELD.get(way, 1 << 20))
        for size in d5.SIZES:
            comm = size * 8.5e-8
            asks = way == ONE_USER and size > hidden_bytes
            hidden = 0.0 if asks else 8.5e-8 * min(size, hidden_bytes)
            during = comm + WORK - hidden
            for rank in (0, 1):
                points += exchanged(way, comm, WORK, during, noise, size_bytes=size, rank=rank)
    return record("D5", points)


def test_half_the_time_is_minus_fifty_percent_and_negative_is_better() -> None:
    assert d5.improvement_percent(1.0, 2.0) == -50
    assert d5.improvement_percent(3.0, 2.0) == 50
    for nothing in (0.0, float("nan")):
        with pytest.raises(LabError, match="cannot be computed"):
            d5.improvement_percent(1.0, nothing)


def test_gain_below_the_limit_and_with_progress_holds() -> None:
    assert decided(measured()) == dict.fromkeys(CLAIMS, "holds")
    assert [each.name for each in d5.STUDY.judged if each.rests_on == "arithmetic"] == CLAIMS[:1]


@pytest.mark.parametrize(
    ("way", "hides", "claim"),
    [
        (ONE_USER_SOCKET, 0, "gains-below"),
        (ONE_USER_SOCKET, 1 << 20, "gains-less-above"),
        (ONE_USER, 1 << 20, "limit-gains-nothing-above"),
        (TESTED, 0, "tests-gains-above"),
        (THREADED, 0, "thread-gains-above"),
    ],
)
def test_the_opposite_contradicts(way: Way, hides: int, claim: str) -> None:
    assert named(measured({way: hides}), claim).outcome == "contradicted"


def test_one_size_that_gains_as_much_contradicts_a_claim_on_all() -> None:
    made = measured()
    (usual,) = (p for p in made.select(mpich="default", part="during", size_bytes=28 * KB, rank=0))
    for point in made.select(mpich="one-user-socket", part="during", size_bytes=28 * KB):
        point.samples[:] = usual.samples
    assert decided(made)["gains-less-above"] == "contradicted"


def test_a_wide_interval_around_the_margin_is_open() -> None:
    made = measured({ONE_USER_SOCKET: 0})
    for point in made.select(mpich="one-user-socket", part="during"):
        point.samples[:] = [each * (0.95 if n % 2 else 1.0) for n, each in enumerate(point.samples)]
    assert decided(made)["gains-below"] == "inconclusive"


def test_the_papers_own_figures_need_no_record_at_all() -> None:
    cut = measured()
    cut.complete, cut.points = False, cut.points[:3]
    for made in (cut, record("D5", [])):
        found = outcomes(d5.STUDY.claims(made))
        assert found.pop("printed-percentages") == "holds"
        assert set(found.values()) == {"inconclusive"}


def test_the_slower_rank_counts() -> None:
    made = measured()
    for point in made.select(rank=1, part="during"):
        point.samples[:] = [9.0] * len(point.samples)
    assert all(gain.percent > 100 for gain in d5.gains(made, DEFAULT).values())


def test_the_table_has_medians_and_equation_1_of_each_way_and_size() -> None:
    table = d5.medians(measured())
    assert {*d5.TIMES.values(), *d5.OF_EQUATION_1.values()} < set(table.columns)
    assert len(table) == len(d5.WAYS) * len(d5.SIZES)
    long = table[(table["library"] == "limit 16 KB") & (table["size_kb"] == 70)].iloc[0]
    assert long["t_both_s"] == pytest.approx(70 * 1024 * 8.5e-8 + WORK, rel=0.02)
    assert "negative is better" in d5.STUDY.picture(measured()).title
