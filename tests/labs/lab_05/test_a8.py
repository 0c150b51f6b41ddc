"""A8: are short round trips with overlap alike, and what does their rate do?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from made import decided

from beowulf.labs.lab_05 import a8_small_messages_overlap as a8
from beowulf.measure import mpptest
from beowulf.measure.roundtrips import HALF
from beowulf.measure.sweep import PAPER_A_SMALL
from beowulf.record import Record
from tests.studies import mpptest_records
from tests.studies.null_records import Noise
from tests.studies.overlap_records import record, samples

OURS = ["alike", "rate-rises", "rate-saturates"]
AS_MPPTEST = ["mpptest-similar-calls", "mpptest-rate-rises", "mpptest-rate-saturates"]
CLAIMS = [*OURS, *AS_MPPTEST]


def measured(
    times: float = 1.0,
    us_a_byte: float = 0.0,
    noise: Noise | None = None,
    sizes: Sequence[int] = PAPER_A_SMALL,
) -> Record:
    """A Record in which non-blocking takes so many times as long, and a byte of the message or the work so long."""
    points = []
    for size in sizes:
        for protocol, factor in (("blocking", 1.0), ("overlap", times)):
            at = {"pattern": "pingpong", "protocol": protocol}
            at |= {"size_bytes": size, "overlap_bytes": a8.OVERLAP_BYTES}
            points += samples(HALF, at, factor * (20 + size * us_a_byte), noise=noise)
    for at in mpptest_records.places((2,), work=sizes, bisect=False):
        factor = times if at["protocol"] == "async" else 1.0
        us = factor * (20 + at["overlap_bytes"] * us_a_byte)
        points += samples(mpptest.QUANTITY, at, us, noise=noise)
    return record("A8", points)


def test_equal_and_rising_holds_and_a_flat_time_means_that_the_rate_goes_on_rising() -> None:
    assert list(decided(measured()).items()) == list(
        zip(CLAIMS, 2 * ("holds", "holds", "contradicted"), strict=True)
    )


@pytest.mark.parametrize(
    ("changes", "claims", "outcome"),
    [
        ({"us_a_byte": 10}, ("rate-saturates", "mpptest-rate-saturates"), "holds"),
        ({"times": 1.5}, ("alike", "mpptest-similar-calls"), "contradicted"),
        ({"us_a_byte": 1000}, ("rate-rises", "mpptest-rate-rises"), "contradicted"),
    ],
    ids=["in proportion to the size", "half as long again", "a rate that stays"],
)
def test_other_times_have_other_outcomes(
    changes: dict[str, float], claims: tuple[str, ...], outcome: str
) -> None:
    found = decided(measured(**changes))
    assert {found[claim] for claim in claims} == {outcome}


def wide(made: Record, share: float) -> Record:
    """The Record, in which every other sample of the longest messages, and longest work, takes so much less."""
    for point in made.points:
        swept = "size_bytes" if point.quantity == HALF else "overlap_bytes"
        if point.at[swept] == 1024:
            point.samples[:] = [
                each * (1 - share * (n % 2)) for n, each in enumerate(point.samples)
            ]
    return made


def test_wide_intervals_leave_rise_and_saturation_open() -> None:
    for way in ("", "mpptest-"):
        found = decided(wide(measured(us_a_byte=10), 0.3))
        assert found[f"{way}rate-saturates"] == "inconclusive"
        found = decided(wide(measured(us_a_byte=1000), 0.3))
        assert found[f"{way}rate-rises"] == "inconclusive"


def test_a_rate_that_falls_contradicts() -> None:
    made = measured()
    for point in made.points:
        if point.at["size_bytes"] == 1024:
            point.samples[:] = [5 * each for each in point.samples]
    assert decided(made)["rate-rises"] == "contradicted"


def test_the_picture_shows_half_round_trips_of_both_ways() -> None:
    found = a8.STUDY.picture(measured()).table
    assert found["half_round_trip_us"].median() == pytest.approx(20, rel=0.02)
    one = found[found["size_bytes"] == 1000 + 24].iloc[0]
    assert one["rate_mbit_per_s"] == pytest.approx(8 * 1024 / one["half_round_trip_us"])
    assert set(found["way"]) == {"message", "mpptest"}
