"""A12: what does the size of a message do to the shares, the overhead and the rate?"""

from __future__ import annotations

import pytest
from made import decided

from beowulf.labs.lab_06 import a12_side_by_side as a12
from beowulf.record import Record
from beowulf.studies.wire_shares import LAUNCHES
from tests.labs.lab_06.wire_records import record
from tests.studies.null_records import Noise, assert_told_apart


def measured(by_size: dict[int, dict[str, float]]) -> Record:
    """A Record with these values for each size, whatever the calls."""
    return record("A12", a12.TALKS, lambda talk: by_size[talk.message_bytes], noise=0.0001)


# As the paper has them: share of data and bytes a second (packets of one size, so many a second).
PAPER = {
    2: {"data": 0.6470, "packets_per_s": 2324.0, "overhead": 0.3},
    1024: {"data": 0.7286, "packets_per_s": 12_619.0, "overhead": 0.3816},
    8192: {"data": 0.7343, "packets_per_s": 10_294.0, "overhead": 0.3873},
}
# As headers that stay the same make it: more segments that only acknowledge, less overhead.
HEADERS = {
    2: {"data": 0.95, "overhead": 0.45, "packet_bytes": 110.0},
    1024: {"data": 0.95, "overhead": 0.06, "packet_bytes": 1100.0},
    8192: {"data": 0.66, "overhead": 0.06, "packet_bytes": 1500.0},
}


RISES = ("size-raises-data-share", "size-raises-overhead", "rate-peaks-at-1024")


def test_the_papers_figures_hold_and_headers_that_stay_contradict_them() -> None:
    found = decided(measured(PAPER))
    assert {found[claim] for claim in (*RISES, "calls-alike")} == {"holds"}
    found = decided(measured(HEADERS))
    assert {found[claim] for claim in RISES} == {"contradicted"}


def noisy(by_size: dict[int, dict[str, float]], noise: Noise) -> Record:
    """With so much noise on each, as many rounds as a full run has."""
    return record(
        "A12", a12.TALKS, lambda talk: by_size[talk.message_bytes], noise=noise, launches=LAUNCHES
    )


@pytest.mark.nightly
@pytest.mark.parametrize("claim", RISES)
def test_noise_alone_rarely_holds_and_the_papers_figures_mostly(claim: str) -> None:
    same = dict.fromkeys(a12.SIZES, PAPER[1024])
    assert_told_apart(a12.STUDY, claim, noisy, same, PAPER)


def test_calls_that_send_other_shares_are_not_equal() -> None:
    made = measured(PAPER)
    for point in made.select(protocol="blocking", message_bytes=2):
        point.facts["talking"]["data_share"] += 0.04
    assert decided(made)["calls-alike"] == "contradicted"


def test_the_picture_has_figure_23s_shares_and_turns_bytes_into_mbit() -> None:
    found = a12.STUDY.picture(measured(PAPER)).table
    blocking = found[found["protocol"] == "blocking"].set_index("message_bytes")
    assert blocking["paper_data_percent"].to_dict() == {2: 64.70, 1024: 72.86, 8192: 73.43}
    assert blocking.loc[1024, "paper_mbit_per_s"] == pytest.approx(8 * 1.38810663)
